/* worker_main.c: the options of phx-worker, without popt. */
#include <stdlib.h>
#include <string.h>

#include "bisect/worker.h"
#ifdef PHX_FAULT_HOOK
#include "step/fault.h"
#endif

static const char help[] =
    "usage: phx-worker [--threads N] [--cold] [--reload]\n\n"
    "Plays a replay and answers questions about it on standard input and output, a line each\n"
    "(tools/bisect/PROTOCOL.md). `phx bisect REPLAY --left CMD --right CMD` starts two and compares them.\n\n"
    "  --threads N   threads of the simulation, 1 to 64\n"
    "  --cold        throw away all that is derived before each tick\n"
    "  --reload      save and load the state before each tick\n"
#ifdef PHX_FAULT_HOOK
    "  --fault TICK,PHASE,TABLE,COLUMN,ROW,LANE,BIT   plant a fault (test build); all are numbers\n"
#endif
    ;

static bool read_number(const char *text, uint32_t low, uint32_t high, uint32_t *out) {
    char *end;
    const unsigned long value = strtoul(text, &end, 10);
    if (end == text || *end || value < low || value > high) return false;
    *out = (uint32_t)value;
    return true;
}

#ifdef PHX_FAULT_HOOK
static PhxFault fault;

static bool read_fault(const char *text) {
    uint32_t *const fields[] = {&fault.tick, &fault.phase, &fault.table, &fault.column,
                                &fault.row,  &fault.lane,  &fault.bit};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        char *end;
        *fields[i] = (uint32_t)strtoul(text, &end, 10);
        if (end == text || *end != (i + 1 < sizeof fields / sizeof fields[0] ? ',' : 0)) return false;
        text = end + 1;
    }
    phx_fault_plan(&fault);
    return true;
}
#endif

int phx_worker_main(int argc, char **argv) {
    PhxSubjectOptions options = {.threads = 1};
    for (int i = 1; i < argc; i++) {
        const bool more = i + 1 < argc;
        if (strcmp(argv[i], "--help") == 0) return fputs(help, stdout) < 0 ? 2 : 0;
        if (strcmp(argv[i], "--cold") == 0)
            options.cold = true;
        else if (strcmp(argv[i], "--reload") == 0)
            options.reload = true;
        else if (strcmp(argv[i], "--threads") == 0 && more &&
                 read_number(argv[i + 1], 1, PHX_JOBS_WORKERS_MAX, &options.threads))
            i++;
#ifdef PHX_FAULT_HOOK
        else if (strcmp(argv[i], "--fault") == 0 && more && read_fault(argv[i + 1]))
            i++;
#endif
        else
            return fprintf(stderr, "phx-worker: %s: not understood; phx-worker --help\n", argv[i]), 2;
    }
    return phx_worker_serve(&options, stdin, stdout);
}
