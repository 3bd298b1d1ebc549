/* soak.c: what hunts faults must find them: the fewest of many by planted conditions, each way in which a
 * game can break the contract by planted games, and random matches without a fault give none: 12 of them,
 * with PHX_LONG=1 5,000; under a sanitizer only the small ones of the 12.
 */
#include "soak/soak.h"

#include "harness.h"
#include "little_match.h"

#include <phalanx/replay.h>
#include <stdlib.h>
#include <unistd.h>

#include "soak/minimise.h"
#include "step/sim_internal.h"

/* Delta debugging. A planted condition fails when all of `wanted` are kept, or (any) one of them, or when
 * the number of kept things is odd, which no order of leaving out can foresee. */

typedef struct Planted {
    enum { ALL_OF, ONE_OF, ODD } kind;
    uint32_t wanted[40], count;
    uint32_t calls, things;
} Planted;

static bool planted_fails(void *user, const uint32_t *kept, uint32_t count) {
    Planted *planted = user;
    uint32_t found = 0;
    planted->calls++;
    for (uint32_t i = 0; i < count; i++) {
        CHECK(kept[i] < planted->things && (i == 0 || kept[i] > kept[i - 1]));
        for (uint32_t w = 0; w < planted->count; w++) found += kept[i] == planted->wanted[w];
    }
    if (planted->kind == ODD) return count % 2 == 1;
    return planted->kind == ALL_OF ? found == planted->count : found > 0;
}

static PhxMinimised minimise(Planted *planted, uint32_t things, uint32_t limit) {
    PhxMinimised found;
    planted->things = things;
    CHECK_OK(phx_minimise(things, planted_fails, planted, limit, &found));
    CHECK_EQ(found.tests, planted->calls);
    return found;
}

PHX_TEST(minimise, finds_exactly_what_is_needed) {
    uint64_t seed = 3;
    for (int round = 0; round < 300; round++) {
        const uint32_t things = (uint32_t)test_range(&seed, 1, 600);
        Planted planted = {.kind = ALL_OF};
        while (planted.count < 12 && planted.count < things && test_range(&seed, 0, 9) > 0) {
            const uint32_t thing = (uint32_t)test_range(&seed, 0, things - 1);
            bool there = false;
            for (uint32_t w = 0; w < planted.count; w++) there |= planted.wanted[w] == thing;
            if (!there) planted.wanted[planted.count++] = thing;
        }
        PhxMinimised found = minimise(&planted, things, UINT32_MAX);
        CHECK_THAT(found.fails && found.minimal && found.count == planted.count, "round %d: %u of %u, not %u",
                   round, found.count, things, planted.count);
        CHECK_THAT(planted_fails(&planted, found.kept, found.count), "round %d", round);
        /* k log n, with room: far from trying each alone for the few that matter. */
        CHECK_THAT(found.tests <= 8 + 24 * (planted.count + 1) * 3, "round %d: %u tests for %u of %u", round,
                   found.tests, planted.count, things);
        free(found.kept);
    }
}

PHX_TEST(minimise, one_of_several_an_odd_number_none_and_a_limit) {
    Planted one = {.kind = ONE_OF, .wanted = {3, 300, 301, 999}, .count = 4};
    PhxMinimised found = minimise(&one, 1000, UINT32_MAX);
    CHECK(found.minimal && found.count == 1);
    free(found.kept);
    Planted odd = {.kind = ODD};
    found = minimise(&odd, 333, UINT32_MAX);
    CHECK(found.fails && found.minimal && found.count % 2 == 1);
    free(found.kept);
    Planted passes = {.kind = ALL_OF, .wanted = {7}, .count = 1};
    found = minimise(&passes, 5, UINT32_MAX); /* there is no thing 7 */
    CHECK(!found.fails && found.count == 5 && found.tests == 1);
    free(found.kept);
    Planted always = {.kind = ALL_OF};
    found = minimise(&always, 100, UINT32_MAX);
    CHECK(found.fails && found.minimal && found.count == 0);
    free(found.kept);
    Planted many = {.kind = ALL_OF, .count = 40};
    for (uint32_t i = 0; i < 40; i++) many.wanted[i] = 17 * i;
    found = minimise(&many, 1000, 30);
    CHECK(found.fails && !found.minimal && found.tests <= 30 && found.count >= 40);
    CHECK(planted_fails(&many, found.kept, found.count));
    free(found.kept);
}

/* Games that break the contract, each in one way, from the tick or the number of malformed commands on that
 * is said. */

typedef enum Breach {
    SOUND,
    KEEPS_DERIVED,
    READS_SCRATCH,
    SEES_THREADS,
    HIDES_STATE,
    OFF_MAP,
    UNMARKED,
    CRASHES
} Breach;
typedef struct Faulty {
    Breach breach;
    uint32_t from_tick, from_malformed;
    uint32_t hidden;
} Faulty;

static const PhxColumnDesc gauge_columns[] = {
    {"generation", PHX_TYPE_U32, 1, PHX_CLASS_STATE, 0, UINT32_MAX, "odd while alive"},
    {"value", PHX_TYPE_U32, 1, PHX_CLASS_STATE, 0, UINT32_MAX, "what was seen"},
    {"hoard", PHX_TYPE_U32, 1, PHX_CLASS_DERIVED, 0, UINT32_MAX, "said to be derived"},
    {"rest", PHX_TYPE_U32, 1, PHX_CLASS_SCRATCH, 0, UINT32_MAX, "of the tick before"}};
static const PhxTableDesc gauge = {"gauge", PHX_KIND_ROWS, gauge_columns, 4, "a gauge"};
static const PhxTableSpec gauge_table = {&gauge, 3, 0, 0};

static uint32_t *column(const PhxPhaseContext *context, const char *table, const char *name) {
    return phx_world_column(context->world, table, name);
}

static void run_faulty(const PhxPhaseContext *context, void *user) {
    Faulty *faulty = user;
    PhxTable *table = phx_world_table(context->world, "gauge");
    while (phx_table_used(table) < 2) CHECK(phx_table_insert(table) != PHX_HANDLE_NONE);
    uint32_t *value = column(context, "gauge", "value") + 1, *hoard = column(context, "gauge", "hoard") + 1,
             *rest = column(context, "gauge", "rest") + 1;
    const bool now = context->tick >= faulty->from_tick &&
                     column(context, "match", "commands_malformed")[0] >= faulty->from_malformed;
    ++*hoard;
    faulty->hidden++;
    if (now && faulty->breach == KEEPS_DERIVED) *value = *hoard;
    if (now && faulty->breach == READS_SCRATCH) *value = *rest;
    if (now && faulty->breach == SEES_THREADS) *value = context->jobs->workers;
    if (now && faulty->breach == HIDES_STATE) *value = faulty->hidden;
    if (now && faulty->breach == OFF_MAP)
        ((fix16_t *)phx_world_column(context->world, "unit", "pos_x"))[0] = -1;
    if (now && faulty->breach == UNMARKED)
        ((uint8_t *)phx_world_column(context->world, "terrain", "cost"))[0] ^= 1;
    if (now && faulty->breach == CRASHES) abort();
    *rest = context->tick + 1;
}

static const PhxPhaseDesc faulty_phase = {
    "faulty", run_faulty, "match.commands_malformed",
    "gauge.generation gauge.value gauge.hoard gauge.rest unit.pos_x terrain.cost", "arrive"};

static PhxGame faulty_game(Faulty *faulty) {
    return (PhxGame){
        .tables = &gauge_table, .table_count = 1, .phases = &faulty_phase, .phase_count = 1, .user = faulty};
}

/* Thirty ticks of the little match in all kinds of world; the first fault. */
static PhxSyncFault synctest(Breach breach, uint32_t every) {
    Faulty faulty = {.breach = breach, .from_tick = 7};
    const PhxGame game = faulty_game(&faulty);
    const PhxSyncOptions options = {.every = every,
                                    .threads = {3},
                                    .thread_count = 1,
                                    .cold = true,
                                    .poison = true,
                                    .poison_byte = 0x5a,
                                    .game = &game};
    PhxSyncFault fault = {.kind = PHX_SYNC_EQUAL};
    PhxSim *sim;
    PhxSync *sync;
    PhxError error = {0};
    size_t size;
    uint8_t *blob = little_content(5, 24, 6, &size), *bytes = malloc((size_t)4 * PHX_COMMAND_SIZE_LIMIT);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){.game = &game}, blob, size, NULL, &sim, &error));
    CHECK_OK(phx_sync_create(sim, blob, size, NULL, &options, &sync, &error));
    CHECK_EQ(phx_sync_world_count(sync), every > 0 ? 4 : 3);
    for (int t = 0; t < 30 && fault.kind == PHX_SYNC_EQUAL; t++) {
        PhxCommand commands[4];
        const uint32_t count = little_commands(sim, 5, commands, bytes);
        CHECK_OK(phx_sync_step(sync, commands, count, &fault));
    }
    phx_sync_destroy(sync);
    phx_sim_destroy(sim);
    free(bytes);
    free(blob);
    return fault;
}

PHX_TEST(synctest, each_kind_of_breach_is_named_and_a_sound_game_is_not) {
    const struct {
        Breach breach;
        uint32_t every;
        PhxSyncKind kind;
        uint32_t tick;
        const char *way;
    } cases[] = {
        {SOUND, 1, PHX_SYNC_EQUAL, 0, ""},
        {SOUND, 7, PHX_SYNC_EQUAL, 0, ""},
        {KEEPS_DERIVED, 1, PHX_SYNC_DIFFERENCE, 7, "loaded every tick"},
        {KEEPS_DERIVED, 0, PHX_SYNC_DIFFERENCE, 7, "caches dropped"},
        {READS_SCRATCH, 0, PHX_SYNC_DIFFERENCE, 7, "caches dropped"},
        {SEES_THREADS, 1, PHX_SYNC_DIFFERENCE, 7, "3 threads"},
        {HIDES_STATE, 5, PHX_SYNC_DIFFERENCE, 7, "loaded every 5 ticks"},
        {OFF_MAP, 1, PHX_SYNC_INVARIANT, 7, ""},
        {UNMARKED, 1, PHX_SYNC_DIFFERENCE, 7, "caches dropped"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const PhxSyncFault fault = synctest(cases[i].breach, cases[i].every);
        CHECK_THAT(fault.kind == cases[i].kind && fault.tick == cases[i].tick,
                   "case %zu: kind %s tick %u: %s", i, phx_sync_kind_name(fault.kind), fault.tick,
                   fault.text);
        CHECK_STR(fault.way, cases[i].way);
        if (cases[i].breach == UNMARKED) CHECK(strstr(fault.text, "tables: terrain; no value differs"));
        if (fault.kind != PHX_SYNC_DIFFERENCE || cases[i].breach == UNMARKED) continue;
        CHECK_STR(fault.table, "gauge");
        CHECK_STR(fault.column, "value");
        CHECK_EQ(fault.row, 1);
        CHECK_EQ(fault.differences, 1);
        CHECK(fault.value != fault.other_value && fault.root != fault.other_root);
        CHECK(strstr(fault.text, "gauge.value of row 1") && strstr(fault.text, "tables: gauge;"));
    }
}

/* Soak. */

/* Reducing runs a match some hundred times: ones that are played in a moment show as much. */
static bool is_small(const PhxSoakMatch *match) {
    return match->units <= 12 && match->ticks <= 160 && match->info.width * match->info.height <= 2048;
}

/* A game sees them only while the match isn't paused. */
static bool sees_malformed(void *user, const PhxSim *sim) {
    const PhxMatchTable *match = &sim->world->match;
    return match->commands_malformed[0] >= *(const uint32_t *)user && !match->paused[0];
}

/* Of the worlds that run beside, those on which what is reduced here depends: none is loaded or dropped. */
static void only_threads(PhxSoakMatch *match) {
    match->sync = (PhxSyncOptions){.threads = {3}, .thread_count = 1, .game = match->sync.game};
}

/* A match in which a game can see at least `malformed` malformed commands, and not too large. */
static PhxSoakMatch match_with(uint32_t malformed, const PhxGame *game, uint64_t first_seed) {
    for (uint64_t seed = first_seed;; seed++) {
        PhxSoakMatch match;
        PhxSoakRun run;
        PhxError error = {0};
        CHECK_OK(phx_soak_make(seed, NULL, &match, &error));
        if (match.units >= 1 && is_small(&match) && match.stream.count > 20) {
            match.planted = sees_malformed, match.planted_user = &malformed;
            only_threads(&match);
            phx_soak_run(&match, &match.stream, match.ticks, &run);
            CHECK_OK(run.status);
            if (run.fault.kind == PHX_SYNC_PLANTED) {
                match.planted = NULL, match.planted_user = NULL;
                match.sync.game = game;
                return match;
            }
        }
        phx_soak_free(&match);
        CHECK_THAT(seed < first_seed + 200, "no match with %u malformed commands", malformed);
    }
}

/* Those that no world executes, for their bytes or for their slot. */
static uint32_t malformed_in(const PhxSoakMatch *match, const PhxStream *stream) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < stream->count; i++) {
        const PhxStreamCommand *command = &stream->commands[i];
        const uint8_t *bytes = stream->bytes + command->offset;
        PhxCommandData data;
        count += (command->slot >= match->players && command->slot != PHX_SLOT_HOST) ||
                 phx_command_check(bytes, command->size, command->slot, NULL) != PHX_OK ||
                 phx_command_decode(bytes, command->size, &data, NULL) != PHX_OK; /* no such game here */
    }
    return count;
}

/* A failure that needs `needed` malformed commands, whatever else is in the stream. */
static void reduce_and_write(Breach breach, uint32_t needed, PhxSyncKind kind, const char *name) {
    Faulty faulty = {.breach = breach, .from_malformed = needed};
    const PhxGame game = faulty_game(&faulty);
    PhxSoakMatch match = match_with(needed, &game, 40);
    PhxSoakRun run;
    PhxSoakMinimised least;
    PhxError error = {0};
    char prefix[600], path[640];
    phx_soak_run_apart(&match, &match.stream, match.ticks, 60, &run);
    CHECK_THAT(run.fault.kind == kind, "seed %" PRIu64 ": %s", match.seed, run.fault.text);
    CHECK_OK(phx_soak_minimise(&match, &run, 2000, 60, NULL, NULL, &least));
    CHECK(least.minimal && least.run.fault.kind == kind);
    CHECK_EQ(least.stream.count, needed);
    CHECK_EQ(malformed_in(&match, &least.stream), needed);
    snprintf(prefix, sizeof prefix, "%s/found", test_scratch(name));
    CHECK_OK(phx_soak_write(&match, &least, prefix, &error));
    snprintf(path, sizeof path, "%s.txt", prefix);
    char *text = test_read_file(path, NULL);
    CHECK(text && strstr(text, "none can be left out"));
    CHECK(strstr(text, "malformed (") || strstr(text, "not this slot's to give: "));
    CHECK(strstr(text, "\nrepeat: phx synctest ") && strstr(text, "found.phxr --threads 3"));
    free(text);
    PhxReplay *replay;
    snprintf(path, sizeof path, "%s.phxr", prefix);
    CHECK_OK(phx_replay_load(path, 0, &replay, &error));
    const PhxReplayInfo *info = phx_replay_info(replay);
    CHECK_EQ(info->state, kind == PHX_SYNC_CRASH ? PHX_REPLAY_CUT : PHX_REPLAY_COMPLETE);
    CHECK(info->commands + info->pending_commands == needed);
    if (kind != PHX_SYNC_CRASH) CHECK_EQ(info->ticks, least.run.fault.tick + 1);
    phx_replay_close(replay);
    phx_stream_free(&least.stream);
    phx_soak_free(&match);
}

PHX_TEST(soak, a_failing_stream_is_reduced_to_its_fewest_commands_and_written) {
    reduce_and_write(SEES_THREADS, 1, PHX_SYNC_DIFFERENCE, "soak-difference");
    reduce_and_write(SEES_THREADS, 3, PHX_SYNC_DIFFERENCE, "soak-difference-3");
}

PHX_TEST(soak, a_crash_is_an_answer_and_is_reduced_like_any_other) {
    reduce_and_write(CRASHES, 2, PHX_SYNC_CRASH, "soak-crash");
}

/* Two players have left: a condition on the world itself, needing two different commands of the host. */
static bool two_have_left(void *user, const PhxSim *sim) {
    uint32_t left = 0;
    (void)user;
    for (uint32_t slot = 0; slot < PHX_PLAYER_LIMIT; slot++) {
        PhxPlayerInfo player;
        if (phx_sim_player(sim, slot, &player)) left += player.left;
    }
    return left >= 2;
}

PHX_TEST(soak, a_planted_condition_on_the_world_is_reduced_to_the_two_commands_behind_it) {
    for (uint64_t seed = 1;; seed++) {
        PhxSoakMatch match;
        PhxSoakRun run;
        PhxSoakMinimised least;
        PhxError error = {0};
        CHECK_THAT(seed < 500, "in no match two players leave");
        CHECK_OK(phx_soak_make(seed, NULL, &match, &error));
        match.planted = two_have_left;
        only_threads(&match);
        if (!is_small(&match) || match.players < 4) {
            phx_soak_free(&match);
            continue;
        }
        phx_soak_run(&match, &match.stream, match.ticks, &run);
        CHECK_OK(run.status);
        if (run.fault.kind == PHX_SYNC_PLANTED) {
            CHECK_OK(phx_soak_minimise(&match, &run, 2000, 60, NULL, NULL, &least));
            CHECK(least.minimal);
            CHECK_EQ(least.stream.count, 2);
            for (uint32_t i = 0; i < 2; i++)
                CHECK_EQ(least.stream.bytes[least.stream.commands[i].offset], PHX_COMMAND_LEAVE);
            phx_stream_free(&least.stream);
            phx_soak_free(&match);
            return;
        }
        phx_soak_free(&match);
    }
}

PHX_TEST(soak, random_matches_are_the_same_twice_hold_every_kind_of_command_and_no_fault) {
    const uint64_t matches = test_count(12, 12, 5000);
    const uint32_t most = test_count(2500, 8000, UINT32_MAX); /* ticks of a unit, in five worlds: seconds */
    PhxSoakRun all = {0};
    uint32_t moved = 0;
    for (uint64_t seed = 1; seed <= matches; seed++) {
        PhxSoakMatch match, again;
        PhxSoakRun run;
        PhxError error = {0};
        CHECK_THAT(phx_soak_make(seed, NULL, &match, &error) == PHX_OK, "seed %" PRIu64 ": %s", seed,
                   error.text);
        CHECK_OK(phx_soak_make(seed, NULL, &again, &error));
        CHECK(match.blob_size == again.blob_size && memcmp(match.blob, again.blob, match.blob_size) == 0);
        CHECK(match.stream.used == again.stream.used &&
              memcmp(match.stream.bytes, again.stream.bytes, match.stream.used) == 0);
        phx_soak_free(&again);
        if (match.units * match.ticks > most) {
            phx_soak_free(&match);
            continue;
        }
        phx_soak_run(&match, &match.stream, match.ticks, &run);
        CHECK_THAT(run.status == PHX_OK && run.fault.kind == PHX_SYNC_EQUAL, "seed %" PRIu64 ": %s", seed,
                   run.fault.text);
        CHECK_EQ(run.ticks, match.ticks);
        all.executed += run.executed, all.malformed += run.malformed, all.late += run.late;
        all.full += run.full, all.arrived += run.arrived;
        moved += match.units > 0;
        phx_soak_free(&match);
    }
    fprintf(stderr, "%u moved, %u arrived; commands: %u executed, %u malformed, %u late, %u full\n", moved,
            all.arrived, all.executed, all.malformed, all.late, all.full);
    CHECK(moved > matches / 4 && all.arrived >= moved);
    if (most < 8000) return; /* the few are too small to hold every kind */
    CHECK(moved > matches / 2 && all.arrived > 100);
    CHECK(all.executed > 500 && all.malformed > 50 && all.late > 500 && all.full > 100);
}
