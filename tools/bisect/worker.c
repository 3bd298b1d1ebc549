/* worker.c: the requests of PROTOCOL.md. Each is a function and a line in the table at the end.
 *
 * A request that looks into the middle of a tick (`stop`) is answered from inside the step: the observer of
 * phases reads the next requests itself, and lets the tick go on when one comes that can't be answered there.
 * So the values that are told are the very ones that the next phase will see, without a copy.
 */
#include "bisect/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/hash_stream.h"
#include "step/sim_internal.h"

enum { ARGUMENTS = 5 };
#define NO_PHASE UINT32_MAX

typedef struct Worker {
    PhxSubjectOptions options;
    PhxSubject subject;
    bool open, quit;
    FILE *in, *out;
    char line[PHX_WORKER_REQUEST];
    bool pending; /* `line` holds a request that waits for the tick to end */
    bool stopped; /* answering from inside a tick */
    uint32_t stop_phase;
    bool stop_begin;
    PhxHashStream deep; /* of the tick that is played */
} Worker;

typedef struct Words {
    const char *rest; /* all behind the request's name */
    char text[PHX_WORKER_REQUEST];
    const char *word[ARGUMENTS];
    uint32_t count;
} Words;

/* ---- answers */

static void ok(Worker *worker) { fputs("ok\n", worker->out); }

static void refuse(Worker *worker, const char *what, const char *text) {
    fprintf(worker->out, "error %s %.*s\n", what, PHX_ERROR_TEXT, text);
}

static void refuse_status(Worker *worker, PhxStatus status, const PhxError *error) {
    refuse(worker, phx_status_name(status), error->text[0] ? error->text : phx_status_text(status));
}

static bool number(const Words *words, uint32_t i, uint32_t *out) {
    if (i >= words->count) return false;
    char *end;
    const char *text = words->word[i];
    if (text[0] < '0' || text[0] > '9') return false;
    const unsigned long long value = strtoull(text, &end, 10);
    *out = (uint32_t)value;
    return *end == 0 && value <= UINT32_MAX;
}

static bool word_is(const Words *words, uint32_t i, const char *text) {
    return i < words->count && strcmp(words->word[i], text) == 0;
}

static void print_state(Worker *worker) {
    const PhxSim *sim = worker->subject.sim;
    fprintf(worker->out, "ok %" PRIu32 " %016" PRIx64, worker->subject.tick, phx_sim_root(sim));
    for (uint32_t t = 0; t < phx_sim_table_count(sim); t++)
        fprintf(worker->out, " %016" PRIx64, phx_sim_table_hashes(sim)[t]);
    fputc('\n', worker->out);
}

/* ---- requests */

static void do_hello(Worker *worker, const Words *words) {
    uint32_t version = 0;
    if (!number(words, 0, &version) || version != PHX_WORKER_VERSION) {
        refuse(worker, "version", "this worker speaks version 1");
        return;
    }
    fprintf(worker->out, "ok %d revision=%u api=%d.%d pointer=%d threads=%" PRIu32 " cold=%d reload=%d\n",
            PHX_WORKER_VERSION, PHX_SIM_REVISION, PHX_API_VERSION_MAJOR, PHX_API_VERSION_MINOR,
            (int)(8 * sizeof(void *)), worker->options.threads, worker->options.cold, worker->options.reload);
}

static void do_open(Worker *worker, const Words *words) {
    PhxError error = {0};
    if (worker->open) phx_subject_close(&worker->subject);
    worker->open = false;
    const PhxStatus status = phx_subject_open(&worker->subject, &worker->options, words->rest, &error);
    if (status != PHX_OK) {
        refuse_status(worker, status, &error);
        return;
    }
    worker->open = true;
    const PhxSim *sim = worker->subject.sim;
    const PhxReplayInfo *info = phx_replay_info(worker->subject.replay);
    fprintf(worker->out,
            "ok ticks=%" PRIu32 " schema=%016" PRIx64 " content=%016" PRIx64 " phases=%" PRIu32
            " tables=%" PRIu32 "\n",
            info->ticks, phx_sim_schema_hash(sim), info->content_hash, phx_sim_phase_count(sim),
            phx_sim_table_count(sim));
}

static void print_list(FILE *out, const char *name, const char *list) {
    fprintf(out, " %s=", name);
    for (const char *at = list ? list : ""; *at; at++)
        if (*at != ' ')
            fputc(*at, out);
        else if (at[1] && at[1] != ' ')
            fputc(',', out);
}

static void do_phases(Worker *worker, const Words *words) {
    (void)words;
    for (uint32_t p = 0; p < worker->subject.sim->phase_count; p++) {
        const PhxPhase *phase = &worker->subject.sim->phases[p];
        fprintf(worker->out, "phase %" PRIu32 " %s", p, phase->name);
        print_list(worker->out, "reads", phase->reads);
        print_list(worker->out, "writes", phase->writes);
        fputc('\n', worker->out);
    }
    ok(worker);
}

static void do_tables(Worker *worker, const Words *words) {
    static const char *const kinds[] = {"rows", "child", "grid"};
    static const char *const classes[] = {"state", "derived", "scratch"};
    static const char *const types[] = {
#define TYPE_NAME(name, ctype, bytes, is_signed) #name,
        PHX_TYPE_LIST(TYPE_NAME)
#undef TYPE_NAME
    };
    (void)words;
    for (uint32_t t = 0; t < worker->subject.sim->world->table_count; t++) {
        const PhxTable *table = &worker->subject.sim->world->tables[t];
        fprintf(worker->out, "table %" PRIu32 " %s %s %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", t,
                table->desc->name, kinds[table->desc->kind], table->capacity, table->used, table->width);
        for (uint32_t c = 0; c < table->desc->column_count; c++) {
            const PhxColumnDesc *column = &table->desc->columns[c];
            fprintf(worker->out, "column %" PRIu32 " %" PRIu32 " %s %s %u %s\n", t, c, column->name,
                    types[column->type], column->lanes, classes[column->klass]);
        }
    }
    ok(worker);
}

static void do_hash(Worker *worker, const Words *words) {
    (void)words;
    print_state(worker);
}

static void look_deep(void *user, PhxSubject *subject, uint32_t phase, bool begin) {
    Worker *worker = user;
    uint8_t bytes[16];
    if (begin) return;
    phx_store_u64(bytes, phase);
    phx_store_u64(bytes + 8, phx_tree_hash(&subject->clock, subject->sim).all);
    phx_hash_stream_feed(&worker->deep, bytes, sizeof bytes);
}

/* Roots of the ticks up to `T`; with `deep`, hashes of all that the phases of each tick left behind. */
static void do_play(Worker *worker, const Words *words) {
    PhxSubject *subject = &worker->subject;
    const bool deep = word_is(words, 1, "deep");
    PhxError error = {0};
    uint32_t to;
    if (!number(words, 0, &to) || to < subject->tick || (words->count > 1 && !deep)) {
        refuse(worker, "argument", "play TICK [deep], forward");
        return;
    }
    PhxStatus status = phx_subject_mark(subject);
    const uint32_t first = subject->tick;
    while (status == PHX_OK && subject->tick < to) {
        phx_hash_stream_begin(&worker->deep);
        status = phx_subject_step(subject, deep ? look_deep : NULL, worker, &error);
        if (status != PHX_OK) break;
        const uint64_t hash = deep ? phx_hash_stream_end(&worker->deep) : phx_sim_root(subject->sim);
        const uint32_t at = subject->tick - 1 - first;
        if (at % PHX_WORKER_ROOTS == 0) fprintf(worker->out, "%sroots %" PRIu32, at ? "\n" : "", first + at);
        fprintf(worker->out, " %016" PRIx64, hash);
    }
    if (subject->tick > first) fputc('\n', worker->out);
    if (status != PHX_OK) {
        refuse_status(worker, status, &error);
        return;
    }
    print_state(worker);
}

static void do_seek(Worker *worker, const Words *words) {
    PhxError error = {0};
    uint32_t to;
    const bool afresh = word_is(words, 1, "afresh");
    if (!number(words, 0, &to) || (words->count > 1 && !afresh)) {
        refuse(worker, "argument", "seek TICK [afresh]");
        return;
    }
    const PhxStatus status = phx_subject_seek(&worker->subject, to, afresh, &error);
    if (status != PHX_OK) {
        refuse_status(worker, status, &error);
        return;
    }
    print_state(worker);
}

static void look_trace(void *user, PhxSubject *subject, uint32_t phase, bool begin) {
    Worker *worker = user;
    if (begin) {
        fprintf(worker->out, "begin %" PRIu32 "\n", phase);
    } else {
        const PhxTreeHash hash = phx_tree_hash(&subject->clock, subject->sim);
        fprintf(worker->out, "end %" PRIu32 " %016" PRIx64 " %016" PRIx64 "\n", phase, hash.all, hash.state);
    }
    fflush(worker->out); /* so that it is known where a side dies */
}

static void do_trace(Worker *worker, const Words *words) {
    PhxError error = {0};
    (void)words;
    const PhxStatus status = phx_subject_step(&worker->subject, look_trace, worker, &error);
    if (status != PHX_OK) {
        refuse_status(worker, status, &error);
        return;
    }
    print_state(worker);
}

static void serve(Worker *worker);

static void look_stop(void *user, PhxSubject *subject, uint32_t phase, bool begin) {
    Worker *worker = user;
    (void)subject;
    if (phase != worker->stop_phase || begin != worker->stop_begin) return;
    worker->stop_phase = NO_PHASE;
    ok(worker);
    worker->stopped = true;
    serve(worker);
    worker->stopped = false;
}

static void do_stop(Worker *worker, const Words *words) {
    PhxError error = {0};
    worker->stop_begin = word_is(words, 1, "begin");
    if (!number(words, 0, &worker->stop_phase) || (!worker->stop_begin && !word_is(words, 1, "end"))) {
        refuse(worker, "argument", "stop PHASE begin|end");
        return;
    }
    if (worker->stopped) return; /* answered when the tick gets there */
    const PhxStatus status = phx_subject_step(&worker->subject, look_stop, worker, &error);
    /* The request that ended the stop stands in `line` and is answered next. */
    if (worker->pending) return;
    if (status != PHX_OK) {
        refuse_status(worker, status, &error);
        return;
    }
    if (!worker->quit) refuse(worker, "not-reached", "the tick ended without that moment");
}

static void do_columns(Worker *worker, const Words *words) {
    PhxSubject *subject = &worker->subject;
    (void)words;
    for (uint32_t t = 0; t < subject->sim->world->table_count; t++) {
        const PhxTable *table = &subject->sim->world->tables[t];
        fprintf(worker->out, "columns %" PRIu32 " %" PRIu32, t, table->used);
        for (uint32_t c = 0; c < table->desc->column_count; c++)
            fprintf(worker->out, " %016" PRIx64, phx_tree_column(&subject->clock, subject->sim, t, c));
        fputc('\n', worker->out);
    }
    ok(worker);
}

/* Table and column of a request's first two words. */
static bool column_words(const Worker *worker, const Words *words, uint32_t *table, uint32_t *column) {
    const PhxWorld *world = worker->subject.sim->world;
    return number(words, 0, table) && number(words, 1, column) && *table < world->table_count &&
           *column < world->tables[*table].desc->column_count;
}

static void do_rows(Worker *worker, const Words *words) {
    const PhxSubject *subject = &worker->subject;
    uint32_t table, column, begin, end;
    if (!column_words(worker, words, &table, &column) || !number(words, 2, &begin) ||
        !number(words, 3, &end)) {
        refuse(worker, "argument", "rows TABLE COLUMN BEGIN END");
        return;
    }
    fprintf(worker->out, "ok %016" PRIx64 "\n",
            phx_tree_rows(&subject->clock, subject->sim, table, column, begin, end));
}

static void do_value(Worker *worker, const Words *words) {
    const PhxSubject *subject = &worker->subject;
    uint32_t table, column, row;
    if (!column_words(worker, words, &table, &column) || !number(words, 2, &row)) {
        refuse(worker, "argument", "value TABLE COLUMN ROW");
        return;
    }
    const uint32_t lanes = subject->sim->world->tables[table].desc->columns[column].lanes;
    fputs("ok", worker->out);
    for (uint32_t lane = 0; lane < lanes; lane++)
        fprintf(worker->out, " %" PRIx64,
                phx_tree_value(&subject->clock, subject->sim, table, column, row, lane));
    fputc('\n', worker->out);
}

static void do_quit(Worker *worker, const Words *words) {
    (void)words;
    worker->quit = true;
    ok(worker);
}

/* ---- dispatch */

typedef struct Request {
    const char *name;
    void (*run)(Worker *, const Words *);
    bool needs_match; /* an opened replay */
    bool inside;      /* may be asked in the middle of a tick */
} Request;

static const Request requests[] = {
    {"hello", do_hello, false, true},    {"open", do_open, false, false},  {"phases", do_phases, true, true},
    {"tables", do_tables, true, true},   {"hash", do_hash, true, false},   {"play", do_play, true, false},
    {"seek", do_seek, true, false},      {"trace", do_trace, true, false}, {"stop", do_stop, true, true},
    {"columns", do_columns, true, true}, {"rows", do_rows, true, true},    {"value", do_value, true, true},
    {"quit", do_quit, false, true}};

static const Request *find_request(const char *line, size_t *length) {
    *length = strcspn(line, " ");
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        if (strlen(requests[i].name) == *length && strncmp(line, requests[i].name, *length) == 0)
            return &requests[i];
    return NULL;
}

static void split(Words *words, const char *rest) {
    words->rest = rest;
    words->count = 0;
    snprintf(words->text, sizeof words->text, "%s", rest);
    for (char *at = strtok(words->text, " "); at; at = strtok(NULL, " "))
        if (words->count < ARGUMENTS) words->word[words->count++] = at;
}

/* The next byte, or EOF. Where standard input doesn't wait for bytes (WebAssembly under node), this does. */
static int read_byte(FILE *in) {
    for (;;) {
        const int byte = getc(in);
        if (byte != EOF || !ferror(in) || errno != EAGAIN) return byte;
        clearerr(in);
#ifdef __wasi__
        (void)nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
#endif
    }
}

/* Reads a line into worker->line, without its line feed. A longer one than the limit, or one with a zero in
 * it, ends the worker. */
static bool read_line(Worker *worker) {
    size_t length = 0;
    int byte;
    while ((byte = read_byte(worker->in)) != '\n') {
        if (byte == EOF && length == 0) return false;
        if (byte == EOF || byte == 0 || length == sizeof worker->line - 1) {
            refuse(worker, "line", "a request is a line of text, of at most 4095 bytes");
            return false;
        }
        worker->line[length++] = (char)byte;
    }
    if (length > 0 && worker->line[length - 1] == '\r') length--;
    worker->line[length] = 0;
    return true;
}

static void serve(Worker *worker) {
    const bool inside = worker->stopped;
    Words words;
    while (!worker->quit) {
        fflush(worker->out);
        if (!worker->pending && !read_line(worker)) {
            worker->quit = true;
            break;
        }
        worker->pending = false;
        size_t length;
        const Request *request = find_request(worker->line, &length);
        if (inside && request && !request->inside) {
            worker->pending = true;
            break;
        }
        split(&words, worker->line[length] ? worker->line + length + 1 : "");
        if (!request)
            refuse(worker, "request", "no such request");
        else if (request->needs_match && !worker->open)
            refuse(worker, "closed", "open a replay first");
        else
            request->run(worker, &words);
        if (inside && worker->stop_phase != NO_PHASE) break; /* `stop`: on to a later moment of this tick */
    }
    fflush(worker->out);
}

int phx_worker_serve(const PhxSubjectOptions *options, FILE *in, FILE *out) {
    Worker *worker = calloc(1, sizeof *worker);
    if (!worker) return 2;
    worker->options = *options;
    worker->in = in;
    worker->out = out;
    worker->stop_phase = NO_PHASE;
    serve(worker);
    if (worker->open) phx_subject_close(&worker->subject);
    const bool failed = ferror(in) || ferror(out);
    free(worker);
    return failed ? 2 : 0;
}
