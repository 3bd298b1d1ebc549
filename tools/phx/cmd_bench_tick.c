/* cmd_bench_tick.c: phx bench tick: whole ticks of large crowds, and what all that isn't avoidance costs of
 * them.
 *
 * The worlds are made here: an open map with some bars of wall, soldiers scattered over it at one to ten
 * cells, and eight groups that cross each other's ways: those of the left half go to the right border, those
 * of the right half to the left one, all for the whole run. The first ticks, in which flow fields are made
 * for hundreds of goals and cells, are told apart. Times by phase are means over the ticks, of the processor
 * with one thread, of the clock with more. Roots of one crowd must be equal for all numbers of threads; if
 * they aren't, that is said, and the exit code is 1.
 *
 * The ratio is (tick - orca) / orca. What the grid of neighbours, the bending of ways, feelings and walls'
 * stops cost is not ORCA's in it; in the second figure the phase "crowd" counts as avoidance.
 */
#include "phx/cmd_bench.h"

#include <inttypes.h>
#include <math.h>
#include <phalanx/content.h>
#include <phalanx/rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIST_LIMIT = 16,
    ROW_LIMIT = LIST_LIMIT * LIST_LIMIT,
    LEAST_UNITS = 10,
    MOST_UNITS = 200000,
    MOST_TICKS = 100000,
    USUAL_TICKS = 100,
    WARM_TICKS = 20, /* behind the one of the orders */
    RATE = 20,
    SPACING = 3, /* cells from a unit to the next */
    MARGIN = 4,  /* cells free at the border */
    AREA = 32,   /* cells; a bar of wall in each such square */
    BANDS = 4,
    GROUPS = 2 * BANDS,
    CALIBRATION = 1001
};
#define ONE ((fix16_t)65536)
static const double target = 0.6;

static const PhxCliUsage usage = {
    .synopsis = "tick",
    .about =
        "Plays crowds of soldiers that cross each other's ways on an open map with some walls, and measures "
        "whole\n"
        "ticks by phase: what all that isn't avoidance (phase orca) costs, as a share of what avoidance "
        "costs, "
        "and\n"
        "the same where the phase crowd counts as avoidance. Means over the ticks; of the processor's time "
        "with one\n"
        "thread, of the clock's with more. A target that isn't met is said; it doesn't change the exit code.",
    .examples = "  phx bench tick\n"
                "  phx bench tick --units 10000 --threads 1,2 --ticks 400\n"
                "  phx bench tick --json | jq '.rows[] | [.units, .ratio]'\n",
    .least = 1,
    .most = 1};

typedef struct Timer { /* hears the phases */
    uint64_t ns[PHX_CLI_PHASE_LIMIT];
    const char *names[PHX_CLI_PHASE_LIMIT];
    uint32_t count;
    uint64_t begun, cost; /* of asking the clock */
    bool one;             /* thread */
} Timer;

typedef struct Row {
    uint32_t units, side, walls, threads, ticks, moving;
    double first_ms, ms, orca_ms, crowd_ms; /* a tick */
    double phase_ms[PHX_CLI_PHASE_LIMIT];
    uint64_t root;
    size_t state_bytes, memory_bytes;
} Row;

typedef struct Ticks {
    PhxCli *cli;
    uint32_t units[LIST_LIMIT], unit_counts, threads[LIST_LIMIT], thread_count, ticks;
    const char *phases[PHX_CLI_PHASE_LIMIT];
    uint32_t phase_count;
    Row rows[ROW_LIMIT];
    uint32_t row_count;
} Ticks;

static uint64_t read_clock(const Timer *timer) { return timer->one ? phx_cli_cpu() : phx_cli_now(); }

static void observe(void *user, uint32_t tick, uint32_t phase, const char *name, bool begin, uint64_t hash) {
    Timer *timer = user;
    (void)tick, (void)hash;
    if (phase >= PHX_CLI_PHASE_LIMIT) return;
    const uint64_t now = read_clock(timer);
    if (begin) {
        timer->begun = now;
        return;
    }
    const uint64_t spent = now - timer->begun;
    timer->ns[phase] += spent > timer->cost ? spent - timer->cost : 0;
    timer->names[phase] = name;
    if (phase >= timer->count) timer->count = phase + 1;
}

static uint64_t clock_cost(const Timer *timer) {
    static uint64_t costs[CALIBRATION];
    for (uint32_t i = 0; i < CALIBRATION; i++) {
        const uint64_t begin = read_clock(timer);
        costs[i] = read_clock(timer) - begin;
    }
    return phx_bench_median(costs, CALIBRATION);
}

/* ---- the world */

static uint64_t draw(uint64_t what, uint32_t which) { return phx_random(1, 0x7469636b, what, 0, which); }

static uint32_t side_of(uint32_t units) {
    uint32_t columns = 1;
    while (columns * columns < units + units / 8 + 4) columns++; /* some places are under walls */
    return columns * SPACING + 2 * MARGIN;
}

/* A bar, two cells thick and six to fourteen long, in each square of the map. Returns how many cells. */
static uint32_t draw_walls(uint8_t *cost, uint32_t side) {
    uint32_t walls = 0;
    for (uint32_t y = 0; y + AREA <= side; y += AREA)
        for (uint32_t x = 0; x + AREA <= side; x += AREA) {
            const uint64_t drawn = draw((uint64_t)y * side + x, 1);
            const uint32_t length = 6 + (uint32_t)(drawn & 0xff) % 9;
            const bool upright = drawn >> 8 & 1;
            const uint32_t left = x + 8 + (uint32_t)(drawn >> 16 & 0xff) % 8,
                           top = y + 8 + (uint32_t)(drawn >> 24 & 0xff) % 8;
            for (uint32_t i = 0; i < 2 * length; i++) {
                const uint32_t along = i / 2, beside = i % 2;
                cost[(size_t)(top + (upright ? along : beside)) * side + left + (upright ? beside : along)] =
                    255;
            }
            walls += 2 * length;
        }
    return walls;
}

/* Whether the body of a soldier, less than a cell wide, is clear of walls there. */
static bool is_clear(const uint8_t *cost, uint32_t side, fix16_t x, fix16_t y, fix16_t radius) {
    const uint32_t x0 = (uint32_t)((x - radius) / ONE), x1 = (uint32_t)((x + radius) / ONE),
                   y0 = (uint32_t)((y - radius) / ONE), y1 = (uint32_t)((y + radius) / ONE);
    return cost[(size_t)y0 * side + x0] != 255 && cost[(size_t)y0 * side + x1] != 255 &&
           cost[(size_t)y1 * side + x0] != 255 && cost[(size_t)y1 * side + x1] != 255;
}

static PhxStatus add_units(PhxContentBuilder *builder, const uint8_t *cost, uint32_t side, uint32_t units,
                           PhxError *error) {
    const uint32_t columns = (side - 2 * MARGIN) / SPACING;
    PhxUnitTypeDef soldier = phx_content_unit_type_default();
    uint16_t type = 0;
    uint32_t made = 0;
    soldier.name = "soldier";
    PhxStatus status = phx_content_add_player(builder, "Crowd", 0, error);
    if (status == PHX_OK) status = phx_content_add_unit_type(builder, &soldier, &type, error);
    for (uint32_t i = 0; i < columns * columns && made < units && status == PHX_OK; i++) {
        /* Off its place by less than 1.8, so that no two touch. */
        const uint64_t drawn = draw(i, 2);
        const fix16_t x = (fix16_t)(MARGIN + i % columns * SPACING) * ONE + (fix16_t)(drawn % 117964),
                      y = (fix16_t)(MARGIN + i / columns * SPACING) * ONE + (fix16_t)((drawn >> 20) % 117964);
        if (!is_clear(cost, side, x, y, soldier.radius)) continue;
        status = phx_content_add_unit(builder, type, 0, x, y, (PhxAngle)(drawn >> 48), error);
        made++;
    }
    return status == PHX_OK && made < units ? PHX_ERROR_FULL : status;
}

static PhxStatus create_from(PhxContentBuilder *builder, PhxJobs jobs, PhxSim **out, PhxError *error) {
    size_t size = phx_content_size(builder);
    void *blob = malloc(size);
    if (blob == NULL) return PHX_ERROR_MEMORY;
    PhxStatus status = phx_content_write(builder, blob, size, &size);
    const PhxSimConfig config = {.jobs = jobs};
    if (status == PHX_OK) status = phx_sim_create(&config, blob, size, NULL, out, error);
    free(blob);
    return status;
}

static PhxStatus open_world(Row *row, PhxJobs jobs, PhxSim **out, PhxError *error) {
    const PhxSettings settings = {.match_key = 1, .tick_rate = RATE, .ticks_per_turn = 1, .input_delay = 1};
    const uint32_t side = row->side = side_of(row->units);
    PhxContentBuilder *builder = NULL;
    uint8_t *cost = malloc((size_t)side * side);
    PhxStatus status = PHX_ERROR_MEMORY;
    if (cost != NULL) {
        memset(cost, 1, (size_t)side * side);
        row->walls = draw_walls(cost, side);
        status = phx_content_begin(&settings, side, side, cost, row->units, row->units, &builder, error);
    }
    if (status == PHX_OK) status = add_units(builder, cost, side, row->units, error);
    if (status == PHX_OK) status = create_from(builder, jobs, out, error);
    phx_content_end(builder);
    free(cost);
    return status;
}

/* ---- orders */

/* Bands of the left half, then of the right half, each a group. */
static uint32_t group_of(const PhxUnitView *view, uint32_t slot, uint32_t side) {
    const uint32_t x = (uint32_t)(view->pos_x[slot] / ONE), y = (uint32_t)(view->pos_y[slot] / ONE);
    return (x < side / 2 ? 0 : BANDS) + y * BANDS / side;
}

/* Across the map, and into the next band. */
static PhxStatus order_group(uint32_t side, uint32_t group, const PhxHandle *handles, uint32_t count,
                             uint8_t *bytes, PhxCommand *out) {
    const uint32_t band = (group % BANDS + 1) % BANDS;
    const PhxCommandData move = {.type = PHX_COMMAND_MOVE,
                                 .goal_x = (fix16_t)(group < BANDS ? side - 3 : 2) * ONE + ONE / 2,
                                 .goal_y = (fix16_t)((2 * band + 1) * side / (2 * BANDS)) * ONE + ONE / 2,
                                 .unit_count = (uint16_t)count,
                                 .units = handles};
    size_t size = 0;
    const PhxStatus status = phx_command_encode(&move, bytes, PHX_COMMAND_SIZE_LIMIT, &size);
    out->size = (uint32_t)size, out->bytes = bytes;
    return status;
}

static PhxStatus order_all(PhxSim *sim, uint32_t side, uint32_t units) {
    const PhxUnitView view = phx_sim_units(sim);
    const uint32_t limit = units / PHX_COMMAND_UNIT_LIMIT + GROUPS + 1;
    PhxHandle handles[PHX_COMMAND_UNIT_LIMIT];
    uint8_t *bytes = malloc((size_t)limit * PHX_COMMAND_SIZE_LIMIT);
    PhxCommand *commands = calloc(limit, sizeof *commands);
    PhxStatus status = bytes && commands ? PHX_OK : PHX_ERROR_MEMORY;
    uint32_t count = 0;
    for (uint32_t group = 0; group < GROUPS && status == PHX_OK; group++) {
        uint32_t held = 0;
        for (uint32_t slot = 0; slot <= view.used && status == PHX_OK; slot++) {
            const bool last = slot == view.used;
            if (!last && group_of(&view, slot, side) == group)
                handles[held++] = phx_sim_unit_handle(sim, slot);
            if (held == 0 || (!last && held < PHX_COMMAND_UNIT_LIMIT)) continue;
            commands[count].sequence = count;
            status = order_group(side, group, handles, held, bytes + (size_t)count * PHX_COMMAND_SIZE_LIMIT,
                                 &commands[count]);
            count++;
            held = 0;
        }
    }
    if (status == PHX_OK) status = phx_sim_step(sim, commands, count);
    free(bytes);
    free(commands);
    return status;
}

/* ---- measuring */

static uint32_t moving(const PhxSim *sim) {
    const PhxUnitView view = phx_sim_units(sim);
    uint32_t count = 0;
    for (uint32_t i = 0; i < view.used; i++) count += view.activity[i] == 1;
    return count;
}

/* The times so far, a tick, into the row. */
static void take_times(Ticks *ticks, Row *row, const Timer *timer, uint64_t spent) {
    const double each = 1e6 * row->ticks;
    const uint64_t clocks = 2 * timer->cost * timer->count * row->ticks;
    row->ms = (double)(spent > clocks ? spent - clocks : 0) / each;
    ticks->phase_count = timer->count;
    for (uint32_t p = 0; p < timer->count; p++) {
        const char *name = ticks->phases[p] = timer->names[p];
        row->phase_ms[p] = (double)timer->ns[p] / each;
        if (name != NULL && strcmp(name, "orca") == 0) row->orca_ms = row->phase_ms[p];
        if (name != NULL && strcmp(name, "crowd") == 0) row->crowd_ms = row->phase_ms[p];
    }
}

static PhxStatus play(Ticks *ticks, Row *row, PhxSim *sim) {
    Timer timer = {.one = row->threads == 1};
    timer.cost = clock_cost(&timer);
    char words[80];
    snprintf(words, sizeof words, "%" PRIu32 " units, threads %" PRIu32, row->units, row->threads);
    uint64_t begin = read_clock(&timer);
    PhxStatus status = order_all(sim, row->side, row->units);
    row->first_ms = (double)(read_clock(&timer) - begin) / 1e6;
    for (uint32_t t = 0; t < WARM_TICKS && status == PHX_OK; t++) status = phx_sim_step(sim, NULL, 0);
    phx_sim_observe_phases(sim, observe, &timer, false);
    uint64_t spent = 0;
    for (uint32_t t = 0; t < row->ticks && status == PHX_OK; t++) {
        begin = read_clock(&timer);
        status = phx_sim_step(sim, NULL, 0);
        spent += read_clock(&timer) - begin;
        phx_cli_progress(ticks->cli, t + 1, row->ticks, words);
    }
    if (status != PHX_OK) return status;
    take_times(ticks, row, &timer, spent);
    row->moving = moving(sim);
    row->root = phx_sim_root(sim);
    row->state_bytes = phx_sim_state_bytes(sim), row->memory_bytes = phx_sim_memory_bytes(sim);
    return PHX_OK;
}

static int measure(Ticks *ticks, uint32_t units, uint32_t threads) {
    Row *row = &ticks->rows[ticks->row_count];
    PhxJobs jobs;
    PhxSim *sim = NULL;
    PhxError error = {0};
    int code = phx_cli_jobs_begin(ticks->cli, threads, &jobs);
    if (code != PHX_CLI_GO) return code;
    *row = (Row){.units = units, .threads = threads, .ticks = ticks->ticks};
    PhxStatus status = open_world(row, jobs, &sim, &error);
    if (status == PHX_OK) status = play(ticks, row, sim);
    if (status != PHX_OK) code = phx_cli_fail_status(ticks->cli, "tick", status, &error);
    ticks->row_count += status == PHX_OK;
    phx_sim_destroy(sim);
    phx_cli_jobs_end(&jobs, threads);
    return code;
}

static int measure_crowd(Ticks *ticks, uint32_t units) {
    const uint32_t first = ticks->row_count;
    int code = PHX_CLI_GO;
    for (uint32_t i = 0; i < ticks->thread_count && code == PHX_CLI_GO; i++)
        code = measure(ticks, units, ticks->threads[i]);
    for (uint32_t i = first + 1; i < ticks->row_count && code == PHX_CLI_GO; i++)
        if (ticks->rows[i].root != ticks->rows[first].root)
            code = phx_cli_false(ticks->cli,
                                 "%" PRIu32 " units: the root with %" PRIu32 " threads is %016" PRIx64
                                 ", with %" PRIu32 " it is %016" PRIx64,
                                 units, ticks->rows[i].threads, ticks->rows[i].root,
                                 ticks->rows[first].threads, ticks->rows[first].root);
    return code;
}

/* ---- what it says */

static double ratio(const Row *row, double avoidance) {
    return avoidance > 0 ? (row->ms - avoidance) / avoidance : 0;
}

static void print_table(const Ticks *ticks) {
    const PhxCli *cli = ticks->cli;
    phx_cli_print(cli, "%7s %6s %7s %6s %7s %9s %9s %9s %9s %7s %7s  %s\n", "units", "side", "threads",
                  "ticks", "moving", "first ms", "ms/tick", "orca", "the rest", "ratio", "with", "root");
    for (uint32_t i = 0; i < ticks->row_count; i++) {
        const Row *row = &ticks->rows[i];
        const double all = ratio(row, row->orca_ms);
        phx_cli_print(cli,
                      "%7" PRIu32 " %6" PRIu32 " %7" PRIu32 " %6" PRIu32 " %6.1f%% %9.2f %9.4f %9.4f %9.4f "
                      "%7.3f %7.3f  %016" PRIx64 "%s\n",
                      row->units, row->side, row->threads, row->ticks, 100.0 * row->moving / row->units,
                      row->first_ms, row->ms, row->orca_ms, row->ms - row->orca_ms, all,
                      ratio(row, row->orca_ms + row->crowd_ms), row->root, all <= target ? "" : "  NOT MET");
    }
    phx_cli_print(
        cli,
        "\nratio: the rest to orca, at most %g is wanted; with: the phase crowd counted as avoidance, "
        "not as rest\n\nms a tick by phase\n%7s %7s",
        target, "units", "threads");
    for (uint32_t p = 0; p < ticks->phase_count; p++)
        phx_cli_print(cli, " %9.9s", ticks->phases[p] ? ticks->phases[p] : "?");
    phx_cli_print(cli, "\n");
    for (uint32_t i = 0; i < ticks->row_count; i++) {
        const Row *row = &ticks->rows[i];
        phx_cli_print(cli, "%7" PRIu32 " %7" PRIu32, row->units, row->threads);
        for (uint32_t p = 0; p < ticks->phase_count; p++) phx_cli_print(cli, " %9.4f", row->phase_ms[p]);
        phx_cli_print(cli, "\n");
    }
}

static void set_json(const Ticks *ticks) {
    json_t *rows = json_array();
    for (uint32_t i = 0; i < ticks->row_count; i++) {
        const Row *row = &ticks->rows[i];
        const double all = ratio(row, row->orca_ms);
        json_t *object = json_pack(
            "{s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:b, s:I, s:I}", "units",
            (json_int_t)row->units, "side", (json_int_t)row->side, "wall_cells", (json_int_t)row->walls,
            "threads", (json_int_t)row->threads, "ticks", (json_int_t)row->ticks, "moving",
            (json_int_t)row->moving, "first_ms", row->first_ms, "ms_per_tick", row->ms, "orca_ms",
            row->orca_ms, "ratio", all, "ratio_with_crowd", ratio(row, row->orca_ms + row->crowd_ms),
            "target", target, "met", all <= target, "state_bytes", (json_int_t)row->state_bytes,
            "memory_bytes", (json_int_t)row->memory_bytes);
        json_t *phases = json_object();
        for (uint32_t p = 0; p < ticks->phase_count; p++)
            if (ticks->phases[p] != NULL)
                json_object_set_new(phases, ticks->phases[p], json_real(row->phase_ms[p]));
        json_object_set_new(object, "ms_by_phase", phases);
        json_object_set_new(object, "root", phx_cli_hash_json(row->root));
        json_array_append_new(rows, object);
    }
    phx_cli_set(ticks->cli, "rows", rows);
}

static int parse(Ticks *ticks, int argc, const char **argv) {
    PhxCli *cli = ticks->cli;
    char *units = NULL, *threads = NULL;
    long long count = PHX_CLI_DEFAULT;
    const struct poptOption table[] = {
        {"units", 'u', POPT_ARG_STRING, &units, 0,
         "numbers of units, with commas between (default 1000,10000,50000)", "LIST"},
        {"threads", 'j', POPT_ARG_STRING, &threads, 0, "numbers of threads, with commas between (default 1)",
         "LIST"},
        {"ticks", 't', POPT_ARG_LONGLONG, &count, 0, "ticks that are measured (default 100)", "N"},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO) code = phx_cli_optional(cli, "--ticks", &count, 1, MOST_TICKS, "100");
    ticks->ticks = count > 0 ? (uint32_t)count : USUAL_TICKS;
    if (code == PHX_CLI_GO)
        code = phx_cli_list(cli, "--units", units ? units : "1000,10000,50000", LEAST_UNITS, MOST_UNITS,
                            ticks->units, LIST_LIMIT, &ticks->unit_counts);
    if (code != PHX_CLI_GO) return code;
    return phx_cli_list(cli, "--threads", threads ? threads : "1", 1, PHX_JOBS_WORKERS_MAX, ticks->threads,
                        LIST_LIMIT, &ticks->thread_count);
}

int phx_bench_tick(PhxCli *cli, int argc, const char **argv) {
    Ticks *ticks = calloc(1, sizeof *ticks);
    if (ticks == NULL) return phx_cli_fail_status(cli, "bench tick", PHX_ERROR_MEMORY, NULL);
    ticks->cli = cli;
    int code = parse(ticks, argc, argv);
    if (code == PHX_CLI_GO) {
        for (uint32_t i = 0; i < ticks->unit_counts && code == PHX_CLI_GO; i++)
            code = measure_crowd(ticks, ticks->units[i]);
        if (ticks->row_count > 0) {
            set_json(ticks);
            print_table(ticks);
        }
        if (code == PHX_CLI_GO) code = PHX_EXIT_OK;
    }
    free(ticks);
    return code;
}
