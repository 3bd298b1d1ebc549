/* sim.c: a match is a pure function of settings, content and commands: whatever is thrown away, saved,
 * reloaded, cloned, shuffled, threaded or poisoned in between.
 */
#include <phalanx/hash.h>
#include <stdlib.h>

#include "harness.h"
#include "little_match.h"
#include "step/sim_internal.h"

enum { TICKS = 300, SIDE = 48, UNITS = 40 };

/* Under a sanitizer a third of them. */
static int match_ticks(void) { return (int)test_count(TICKS / 3, TICKS, TICKS); }

static void record_roots(PhxSim *sim, uint64_t seed, uint64_t *roots) {
    for (int t = 0; t < match_ticks(); t++) {
        little_step(sim, seed);
        roots[t] = phx_sim_root(sim);
    }
}

static void check_root(const PhxSim *sim, const uint64_t *roots, uint64_t seed, int t, const char *how) {
    CHECK_THAT(phx_sim_root(sim) == roots[t], "seed %" PRIu64 " tick %d, %s", seed, t, how);
}

PHX_TEST(sim, things_happen_in_the_little_match) {
    PhxSim *sim = little_sim(&(PhxSimConfig){0}, 1, SIDE, UNITS);
    uint32_t seen[PHX_EVENT_KIND_COUNT] = {0}, queued = 0;
    uint64_t moved = 0;
    for (int t = 0; t < 1500; t++) {
        uint32_t count;
        little_step(sim, 1);
        const PhxEvent *events = phx_sim_events(sim, &count);
        for (uint32_t i = 0; i < count; i++) seen[events[i].kind]++;
        const PhxUnitView units = phx_sim_units(sim);
        for (uint32_t u = 0; u < units.used; u++) moved += units.pos_x[u] != units.prev_x[u];
        queued += sim->world->tables[PHX_TABLE_order].live;
    }
    CHECK(moved > 10000);
    CHECK(seen[PHX_EVENT_ARRIVED] > 30);
    CHECK(seen[PHX_EVENT_UNREACHABLE] > 10);
    CHECK(queued > 100);
    CHECK(sim->world->match.commands_executed[0] > 20);
    CHECK(sim->world->match.commands_malformed[0] > 1);
    CHECK(sim->world->match.commands_late[0] > 1);
    CHECK_EQ(phx_sim_audit_failures(sim), 0);
    phx_sim_destroy(sim);
}

PHX_TEST(sim, save_and_reload_or_dropping_what_is_derived_before_every_tick_changes_nothing) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
        uint64_t roots[TICKS];
        PhxSim *sim = little_sim(&(PhxSimConfig){0}, seed, SIDE, UNITS);
        record_roots(sim, seed, roots);
        phx_sim_destroy(sim);
        sim = little_sim(&(PhxSimConfig){0}, seed, SIDE, UNITS);
        PhxSim *other =
            little_sim(&(PhxSimConfig){0}, seed + 100, SIDE, UNITS); /* reloaded into another match's sim */
        uint8_t *snapshot = malloc(phx_sim_snapshot_size(sim) * 2);
        for (int t = 0; t < match_ticks(); t++) {
            size_t size;
            PhxError error = {0};
            CHECK_OK(phx_sim_snapshot(sim, snapshot, phx_sim_snapshot_size(sim), &size));
            CHECK_THAT(phx_sim_restore(other, snapshot, size, &error) == PHX_OK, "%s", error.text);
            PhxSim *swap = sim;
            sim = other, other = swap;
            little_step(sim, seed);
            check_root(sim, roots, seed, t, "reloaded");
        }
        free(snapshot);
        phx_sim_destroy(other);
        phx_sim_destroy(sim);
        sim = little_sim(&(PhxSimConfig){0}, seed, SIDE, UNITS);
        for (int t = 0; t < match_ticks(); t++) {
            static const uint8_t poison[] = {0x00, 0xff, 0x5a};
            phx_sim_drop_derived(sim, poison[t % 3]);
            little_step(sim, seed);
            check_root(sim, roots, seed, t, "derived data dropped");
        }
        phx_sim_destroy(sim);
    }
}

PHX_TEST(sim, threads_cache_size_and_clones_change_nothing) {
    const uint64_t seed = 9;
    uint64_t roots[TICKS];
    PhxSim *sim = little_sim(&(PhxSimConfig){0}, seed, SIDE, UNITS);
    record_roots(sim, seed, roots);
    phx_sim_destroy(sim);
    static const uint32_t threads[] = {2, 3, 8}, caches[] = {1, 2, 64};
    for (int i = 0; i < 3; i++) {
        PhxSimConfig config = {.field_cache_bytes = caches[i] * PHX_FIELD_TILE_BYTES};
        CHECK_OK(phx_jobs_threads_create(threads[i], &config.jobs));
        sim = little_sim(&config, seed, SIDE, UNITS);
        for (int t = 0; t < match_ticks(); t++) {
            little_step(sim, seed);
            check_root(sim, roots, seed, t, "threads and cache");
            if (t % 50 == 25) { /* go on with a clone */
                PhxSim *clone;
                CHECK_OK(phx_sim_clone(sim, &clone));
                CHECK_EQ(phx_sim_diff(sim, clone, NULL, 0), 0);
                phx_sim_destroy(sim);
                sim = clone;
            }
        }
        phx_sim_destroy(sim);
        phx_jobs_threads_destroy(&config.jobs);
    }
}

/* Cases 7, 31 and 33 of public reports: a second game in one process, and a cursor's query. */
PHX_TEST(sim, a_second_match_equals_the_first_and_queries_change_nothing) {
    const uint64_t seed = 4;
    uint64_t roots[TICKS], dice = 1;
    PhxSim *sim = little_sim(&(PhxSimConfig){0}, seed, SIDE, UNITS);
    record_roots(sim, seed, roots);
    phx_sim_destroy(sim);
    sim = little_sim(&(PhxSimConfig){0}, seed, SIDE, UNITS);
    for (int t = 0; t < match_ticks(); t++) {
        PhxDir direction;
        const fix16_t gx = (fix16_t)test_range(&dice, 0, SIDE << 16),
                      gy = (fix16_t)test_range(&dice, 0, SIDE << 16);
        if (t % 10 == 0) (void)!phx_sim_query_direction(sim, gx, gy, gy, gx, &direction);
        little_step(sim, seed);
        check_root(sim, roots, seed, t, "second match with queries");
    }
    phx_sim_destroy(sim);
}

PHX_TEST(sim, order_of_commands_in_the_list_does_not_matter) {
    const uint64_t seed = 6;
    PhxSim *a = little_sim(&(PhxSimConfig){0}, seed, SIDE, UNITS),
           *b = little_sim(&(PhxSimConfig){0}, seed, SIDE, UNITS);
    uint8_t *bytes = malloc((size_t)4 * PHX_COMMAND_SIZE_LIMIT);
    for (int t = 0; t < match_ticks(); t++) {
        PhxCommand commands[4], reversed[4];
        const uint32_t count = little_commands(a, seed, commands, bytes);
        for (uint32_t i = 0; i < count; i++) reversed[i] = commands[count - 1 - i];
        CHECK_OK(phx_sim_step(a, commands, count));
        CHECK_OK(phx_sim_step(b, reversed, count));
        CHECK_THAT(phx_sim_root(a) == phx_sim_root(b), "tick %d", t);
    }
    const PhxCommand twice[2] = {{0, 5, 1, bytes}, {0, 5, 1, bytes}};
    const uint64_t root = phx_sim_root(a);
    CHECK_EQ(phx_sim_step(a, twice, 2), PHX_ERROR_ARGUMENT);
    CHECK(phx_sim_root(a) == root);
    free(bytes);
    phx_sim_destroy(a);
    phx_sim_destroy(b);
}

/* A phase changes only what phases.def says it writes. */
typedef struct PhaseWatch {
    PhxSim *sim;
    uint64_t before[PHX_TABLE_BUILTIN_COUNT][PHX_SCHEMA_COLUMN_LIMIT];
    uint32_t changes;
} PhaseWatch;

static bool declares(const char *columns, const char *table, const char *column) {
    char name[80];
    const int length = snprintf(name, sizeof name, "%s.%s", table, column);
    for (const char *at = columns; (at = strstr(at, name)); at += length)
        if ((at == columns || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return true;
    return false;
}

static uint64_t hash_storage(const PhxTable *table, uint32_t c) {
    const PhxColumnDesc *desc = &table->desc->columns[c];
    return phx_hash_bytes(table->columns[c],
                          (size_t)table->capacity * desc->lanes * phx_type_size(desc->type));
}

static void watch_phase(void *user, uint32_t tick, uint32_t phase, const char *name, bool begin,
                        uint64_t hash) {
    PhaseWatch *watch = user;
    (void)hash;
    for (uint32_t t = 0; t < PHX_TABLE_BUILTIN_COUNT; t++) {
        const PhxTable *table = &watch->sim->world->tables[t];
        for (uint32_t c = 0; c < table->desc->column_count; c++) {
            const uint64_t now = hash_storage(table, c);
            if (!begin && now != watch->before[t][c]) {
                watch->changes++;
                CHECK_THAT(declares(watch->sim->phases[phase].writes, table->desc->name,
                                    table->desc->columns[c].name),
                           "tick %u: phase %s wrote %s.%s", tick, name, table->desc->name,
                           table->desc->columns[c].name);
            }
            watch->before[t][c] = now;
        }
    }
}

PHX_TEST(sim, each_phase_changes_only_the_columns_it_declares) {
    PhxSim *sim = little_sim(&(PhxSimConfig){0}, 2, SIDE, UNITS);
    PhaseWatch watch = {.sim = sim};
    phx_sim_observe_phases(watch.sim, watch_phase, &watch, false);
    for (int t = 0; t < match_ticks(); t++) little_step(watch.sim, 2);
    CHECK(watch.changes > 1000);
    for (uint32_t p = 0; p < watch.sim->phase_count; p++) { /* and every name it declares exists */
        const char *lists[2] = {watch.sim->phases[p].reads, watch.sim->phases[p].writes};
        for (int l = 0; l < 2; l++) {
            char copy[2048], *save = NULL;
            snprintf(copy, sizeof copy, "%s", lists[l]);
            for (char *name = strtok_r(copy, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
                char *dot = strchr(name, '.');
                CHECK(dot);
                *dot = 0;
                CHECK_THAT(phx_world_column(watch.sim->world, name, dot + 1), "phase %s: %s.%s",
                           watch.sim->phases[p].name, name, dot + 1);
            }
        }
    }
    phx_sim_destroy(watch.sim);
}

/* Case 3 of public reports: garbage of stack or heap reached the state. Here fresh memory is full of it. */
static void *dirty_allocate(void *user, size_t size) {
    unsigned char *memory = aligned_alloc(64, (size + 63) & ~(size_t)63);
    uint64_t *seed = user;
    if (!memory) return NULL;
    for (size_t i = 0; i < size; i++)
        memory[i] = *seed < 256 ? (unsigned char)*seed : (unsigned char)(test_random(seed) | 1u);
    return memory;
}

static void dirty_release(void *user, void *memory, size_t size) {
    (void)user, (void)size;
    free(memory);
}

PHX_TEST(sim, garbage_in_fresh_memory_changes_nothing) {
    uint64_t roots[TICKS], garbage[3] = {0x00, 0xff, 12345};
    PhxSim *sim = little_sim(&(PhxSimConfig){0}, 8, SIDE, UNITS);
    record_roots(sim, 8, roots);
    phx_sim_destroy(sim);
    for (int i = 0; i < 3; i++) {
        const PhxSimConfig config = {.allocator = {dirty_allocate, dirty_release, &garbage[i]}};
        sim = little_sim(&config, 8, SIDE, UNITS);
        for (int t = 0; t < match_ticks(); t++) {
            little_step(sim, 8);
            check_root(sim, roots, 8, t, "dirty memory");
        }
        phx_sim_destroy(sim);
    }
}
