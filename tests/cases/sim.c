/* sim.c: public bug reports about what reached the state that should not have, as tests under their numbers
 * (tests/cases/README.md).
 */
#include <stdlib.h>

#include "harness.h"
#include "little_match.h"
#include "soak/synctest.h"

enum { SIDE = 40, UNITS = 30 };

typedef struct Saved {
    uint8_t *bytes;
    size_t size;
} Saved;

static Saved save(const PhxSim *sim) {
    Saved saved = {malloc(phx_sim_snapshot_size(sim)), 0};
    CHECK_OK(phx_sim_snapshot(sim, saved.bytes, phx_sim_snapshot_size(sim), &saved.size));
    return saved;
}

static void load(PhxSim *sim, const Saved *saved) {
    PhxError error = {0};
    CHECK_THAT(phx_sim_restore(sim, saved->bytes, saved->size, &error) == PHX_OK, "%s", error.text);
}

static void check_equal(const PhxSim *a, const PhxSim *b, const char *what) {
    PhxDifference first = {0};
    if (phx_sim_root(a) == phx_sim_root(b)) return;
    const uint32_t count = phx_sim_diff(a, b, &first, 1);
    CHECK_THAT(false, "%s, tick %u: %u differences, the first in %s.%s of row %u", what, phx_sim_tick(a),
               count, first.table ? first.table : "", first.column ? first.column : "", first.row);
}

/* Case 1 (widelands 120): no order of addresses, and none in which things came to be known. Blocks come from
 * falling addresses with random gaps; caches of few fields were filled by another match before. */
typedef struct Downwards {
    uint8_t *block;
    size_t top;
    uint64_t seed;
} Downwards;
enum { DOWNWARDS_BYTES = 96 << 20 };

static void *allocate_downwards(void *user, size_t size) {
    Downwards *from = user;
    const size_t gap = (size_t)test_range(&from->seed, 0, 40) * 64, need = ((size + 63) & ~(size_t)63) + gap;
    if (need > from->top) return NULL;
    from->top -= need;
    return from->block + from->top;
}

static void keep(void *user, void *memory, size_t size) { (void)user, (void)memory, (void)size; }

PHX_TEST(case_1, neither_addresses_nor_the_order_in_which_things_were_met_reach_the_state) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Downwards from = {aligned_alloc(64, DOWNWARDS_BYTES), DOWNWARDS_BYTES, seed};
        CHECK(from.block != NULL);
        const PhxSimConfig config = {.allocator = {allocate_downwards, keep, &from},
                                     .field_cache_bytes = 3 * PHX_FIELD_TILE_BYTES};
        PhxSim *plain = little_sim(&(PhxSimConfig){0}, seed, SIDE, UNITS),
               *other = little_sim(&config, seed, SIDE, UNITS),
               *met = little_sim(&config, seed + 50, SIDE, UNITS);
        const Saved start = save(plain);
        for (int t = 0; t < 120; t++)
            little_step(met, seed + 50); /* other goals, other neighbours, other map */
        load(met, &start);
        for (int t = 0; t < 200; t++) {
            little_step(plain, seed);
            little_step(other, seed);
            little_step(met, seed);
            check_equal(plain, other, "falling addresses");
            check_equal(plain, met, "another match before");
        }
        free(start.bytes);
        phx_sim_destroy(plain);
        phx_sim_destroy(other);
        phx_sim_destroy(met);
        free(from.block);
    }
}

/* Case 5 (OpenRA PR 20084): the sender executed its command as built. Here a command is its bytes: what it
 * was built from (members of other types, units changed afterwards, garbage beside them) can't be executed.
 */
PHX_TEST(case_5, a_command_is_executed_as_decoded_whatever_it_was_built_from) {
    uint64_t seed = 5;
    PhxSim *sender = little_sim(&(PhxSimConfig){0}, 5, SIDE, UNITS), *receiver;
    CHECK_OK(phx_sim_clone(sender, &receiver));
    uint8_t built[PHX_COMMAND_SIZE_LIMIT], again[PHX_COMMAND_SIZE_LIMIT];
    for (uint32_t t = 0; t < 200; t++) {
        PhxHandle units[8], decoded_units[8];
        PhxCommandData data, decoded;
        size_t size, again_size;
        for (size_t i = 0; i < sizeof data; i++) ((uint8_t *)&data)[i] = (uint8_t)test_random(&seed);
        data.type = t % 4 == 3 ? PHX_COMMAND_STOP : PHX_COMMAND_MOVE;
        data.goal_x = (fix16_t)test_range(&seed, 0, SIDE << 16);
        data.goal_y = (fix16_t)test_range(&seed, 0, SIDE << 16);
        data.queued = t & 1;
        data.unit_count = (uint16_t)test_range(&seed, 0, 8);
        data.units = units;
        for (int i = 0; i < 8; i++)
            units[i] = phx_sim_unit_handle(sender, (uint32_t)test_range(&seed, 0, 2 * UNITS - 1));
        CHECK_OK(phx_command_encode(&data, built, sizeof built, &size));
        memset(units, 0xee, sizeof units); /* the builder's own array has no say any more */
        data.goal_x = -1;
        CHECK_OK(phx_command_decode(built, size, &decoded, NULL));
        for (uint32_t i = 0; i < decoded.unit_count; i++) decoded_units[i] = phx_command_unit(&decoded, i);
        decoded.units = decoded_units;
        CHECK_OK(phx_command_encode(&decoded, again, sizeof again, &again_size));
        CHECK_THAT(again_size == size && memcmp(built, again, size) == 0, "tick %u", t);
        const PhxCommand sent = {0, t, (uint32_t)size, built}, received = {0, t, (uint32_t)again_size, again};
        CHECK_OK(phx_sim_step(sender, &sent, 1));
        CHECK_OK(phx_sim_step(receiver, &received, 1));
        check_equal(sender, receiver, "decoded");
    }
    phx_sim_destroy(sender);
    phx_sim_destroy(receiver);
}

/* Case 8 (libfabric 10980): padding was hashed. Worlds in memory full of different bytes, with caches and
 * scratch columns full of them too, give the same snapshots byte by byte, and their hashes are those of the
 * snapshots: a world that has nothing but the snapshot has the same. */
static void *filled(void *user, size_t size) {
    uint8_t *memory = aligned_alloc(64, (size + 63) & ~(size_t)63);
    if (memory != NULL) memset(memory, *(const uint8_t *)user, size);
    return memory;
}
static void release(void *user, void *memory, size_t size) {
    (void)user, (void)size;
    free(memory);
}

PHX_TEST(case_8, only_declared_columns_are_saved_and_hashed) {
    uint8_t bytes[] = {0x00, 0xff, 0xa5};
    PhxSim *sims[3], *loaded = little_sim(&(PhxSimConfig){0}, 9, SIDE, UNITS);
    for (int i = 0; i < 3; i++)
        sims[i] = little_sim(&(PhxSimConfig){.allocator = {filled, release, &bytes[i]}}, 8, SIDE, UNITS);
    for (int t = 0; t < 100; t++) {
        Saved saved[3];
        for (int i = 0; i < 3; i++) {
            little_step(sims[i], 8);
            phx_sim_drop_derived(sims[i], bytes[i]);
            saved[i] = save(sims[i]);
            CHECK_THAT(saved[i].size == saved[0].size &&
                           memcmp(saved[i].bytes, saved[0].bytes, saved[0].size) == 0,
                       "tick %d, byte %02x", t, bytes[i]);
            check_equal(sims[0], sims[i], "memory full of something");
        }
        load(loaded, &saved[1]);
        check_equal(sims[0], loaded, "nothing but the snapshot");
        for (int i = 0; i < 3; i++) free(saved[i].bytes);
    }
    for (int i = 0; i < 3; i++) phx_sim_destroy(sims[i]);
    phx_sim_destroy(loaded);
}

/* Case 10 (OpenRCT2 10420): cosmetic fields in the hash. What is there to be shown (previous positions, the
 * tick's events, who watches phases, what was drawn and dumped) differs, and no hash does. */
static void forget_text(void *user, const char *text, size_t length) { (void)user, (void)text, (void)length; }
static void watch(void *user, uint32_t tick, uint32_t phase, const char *name, bool begin, uint64_t hash) {
    (void)tick, (void)phase, (void)name, (void)begin, (void)hash;
    ++*(uint32_t *)user;
}

PHX_TEST(case_10, what_is_only_shown_is_in_no_hash) {
    PhxSim *shown = little_sim(&(PhxSimConfig){0}, 11, SIDE, UNITS), *bare;
    uint32_t seen = 0, differed = 0, had_events = 0;
    CHECK_OK(phx_sim_clone(shown, &bare));
    phx_sim_observe_phases(shown, watch, &seen, true);
    for (int t = 0; t < 300; t++) {
        uint32_t events, none;
        little_step(shown, 11);
        phx_sim_dump(shown, forget_text, NULL);
        const Saved saved = save(shown);
        load(bare, &saved); /* a world that never saw the tick before */
        free(saved.bytes);
        const PhxUnitView a = phx_sim_units(shown), b = phx_sim_units(bare);
        for (uint32_t u = 0; u < a.used; u++) differed += a.prev_x[u] != b.prev_x[u];
        (void)phx_sim_events(shown, &events);
        (void)phx_sim_events(bare, &none);
        CHECK_EQ(none, 0);
        had_events += events > 0;
        check_equal(shown, bare, "nothing to be shown");
    }
    CHECK(seen > 1000 && differed > 1000 && had_events > 5);
    phx_sim_destroy(shown);
    phx_sim_destroy(bare);
}

/* Case 15 (Recoil 1388, glest 20): a save that isn't the state. At every tick of a busy stretch: save, load,
 * run two hundred ticks; equal after each of them. */
PHX_TEST(case_15, load_at_every_tick_and_run_two_hundred) {
    enum { BUSY = 40, RUN = 200, SMALL = 12 };
    static uint64_t roots[BUSY + RUN];
    Saved saved[BUSY];
    PhxSim *straight = little_sim(&(PhxSimConfig){0}, 21, 24, SMALL),
           *loaded = little_sim(&(PhxSimConfig){0}, 22, 24, SMALL);
    uint64_t moved = 0;
    for (int t = 0; t < BUSY + RUN; t++) {
        if (t < BUSY) saved[t] = save(straight);
        little_step(straight, 21);
        roots[t] = phx_sim_root(straight);
        const PhxUnitView units = phx_sim_units(straight);
        for (uint32_t u = 0; u < units.used && t >= 2 && t < BUSY; u++)
            moved += units.pos_x[u] != units.prev_x[u];
    }
    CHECK_THAT(moved > (BUSY - 2) * SMALL, "only %" PRIu64 " moves while it was saved", moved);
    for (int t = 0; t < BUSY; t++) {
        load(loaded, &saved[t]);
        for (int run = t; run < t + RUN; run++) {
            little_step(loaded, 21);
            CHECK_THAT(phx_sim_root(loaded) == roots[run], "saved before tick %d, differs after tick %d", t,
                       run);
        }
        free(saved[t].bytes);
    }
    phx_sim_destroy(straight);
    phx_sim_destroy(loaded);
}

/* Case 30 (rapier 966): a restore gives an equal state and another future. Loaded now and then, into a world
 * whose caches are of another moment, and run on between; events are part of the future. */
PHX_TEST(case_30, the_future_after_a_restore_is_the_same) {
    static const uint32_t spans[] = {1, 13, 50};
    uint8_t *bytes = malloc((size_t)4 * PHX_COMMAND_SIZE_LIMIT);
    for (int i = 0; i < 3; i++) {
        size_t size;
        PhxSim *sim;
        PhxSync *sync;
        PhxSyncFault fault;
        PhxError error = {0};
        const PhxSyncOptions options = {.every = spans[i], .field_cache = 2};
        uint8_t *blob = little_content(31, SIDE, UNITS, &size);
        CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, blob, size, NULL, &sim, &error));
        CHECK_OK(phx_sync_create(sim, blob, size, NULL, &options, &sync, &error));
        for (int t = 0; t < 300; t++) {
            PhxCommand commands[4];
            const uint32_t count = little_commands(sim, 31, commands, bytes);
            CHECK_OK(phx_sync_step(sync, commands, count, &fault));
            CHECK_THAT(fault.kind == PHX_SYNC_EQUAL, "%s", fault.text);
        }
        phx_sync_destroy(sync);
        phx_sim_destroy(sim);
        free(blob);
    }
    free(bytes);
}
