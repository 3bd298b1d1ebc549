/* replay_verify.c: recording, playing and verifying real matches, whole, cut, garbled and forged. */
#include <phalanx/content.h>

#include "replay/record.h"
#include "replay_sample.h"

enum { MAP = 48, UNITS = 24, TICKS = 90 };

static uint8_t *make_content(size_t *size) {
    static uint8_t cost[MAP * MAP];
    PhxContentBuilder *builder;
    uint16_t type;
    const PhxSettings settings = {.match_key = 99, .tick_rate = 10, .ticks_per_turn = 2, .input_delay = 2};
    for (int i = 0; i < MAP * MAP; i++)
        cost[i] = i / MAP == MAP / 2 && i % MAP > 4 && i % MAP < MAP - 4 ? 255 : 1;
    CHECK_OK(phx_content_begin(&settings, MAP, MAP, cost, 64, 64, &builder, NULL));
    CHECK_OK(phx_content_add_player(builder, "Ada", 0, NULL));
    CHECK_OK(phx_content_add_player(builder, "Grace", 1, NULL));
    PhxUnitTypeDef def = phx_content_unit_type_default();
    def.name = "soldier";
    CHECK_OK(phx_content_add_unit_type(builder, &def, &type, NULL));
    for (int i = 0; i < UNITS; i++) {
        const fix16_t x = (4 + i % 12 * 3) * 65536 + 32768, y = (i < 12 ? 5 : MAP - 6) * 65536 + 32768;
        CHECK_OK(phx_content_add_unit(builder, type, i < 12 ? 0 : 1, x, y, 0, NULL));
    }
    uint8_t *content = malloc(phx_content_size(builder));
    CHECK_OK(phx_content_write(builder, content, phx_content_size(builder), size));
    phx_content_end(builder);
    return content;
}

typedef struct Orders {
    uint8_t bytes[8][256];
    PhxCommand commands[8];
    uint32_t count;
} Orders;

static void give(Orders *orders, uint8_t slot, uint32_t tick, const PhxCommandData *data) {
    size_t size;
    uint8_t *bytes = orders->bytes[orders->count];
    CHECK_OK(phx_command_encode(data, bytes, sizeof orders->bytes[0], &size));
    orders->commands[orders->count] = (PhxCommand){
        .slot = slot, .sequence = tick * 8 + orders->count, .size = (uint32_t)size, .bytes = bytes};
    orders->count++;
}

/* Moves, stops, a pause, a player who leaves, and bytes that are no command. */
static void draw_orders(const PhxSim *sim, uint64_t *seed, Orders *orders) {
    const uint32_t tick = phx_sim_tick(sim);
    orders->count = 0;
    for (uint8_t slot = 0; slot < 2; slot++) {
        PhxHandle units[4];
        if (tick > 0 && test_range(seed, 0, 5)) continue;
        for (int i = 0; i < 4; i++)
            units[i] = phx_sim_unit_handle(sim, (uint32_t)test_range(seed, 0, UNITS - 1));
        give(orders, slot, tick,
             &(PhxCommandData){.type = test_range(seed, 0, 6) ? PHX_COMMAND_MOVE : PHX_COMMAND_STOP,
                               .goal_x = (fix16_t)test_range(seed, 0, MAP * 65536 - 1),
                               .goal_y = (fix16_t)test_range(seed, 0, MAP * 65536 - 1),
                               .queued = (uint8_t)test_range(seed, 0, 1),
                               .unit_count = 4,
                               .units = units});
    }
    if (tick == 40 || tick == 44)
        give(orders, PHX_SLOT_HOST, tick, &(PhxCommandData){.type = PHX_COMMAND_PAUSE, .on = tick == 40});
    if (tick == 70)
        give(orders, PHX_SLOT_HOST, tick, &(PhxCommandData){.type = PHX_COMMAND_LEAVE, .slot = 1});
    if (tick == 20) {
        orders->commands[orders->count] =
            (PhxCommand){.slot = 7, .size = 2, .bytes = (const uint8_t *)"\x7f\x01"};
        orders->count++;
    }
}

typedef struct Match {
    uint8_t *content;
    size_t content_size;
    SampleSink sink;
    uint64_t roots[TICKS];
} Match;

static Match record_match(uint64_t seed) {
    Match match = {0};
    PhxSim *sim;
    PhxReplayWriter *writer;
    Orders orders;
    const PhxSimConfig config = {0};
    match.content = make_content(&match.content_size);
    CHECK_OK(phx_sim_create(&config, match.content, match.content_size, NULL, &sim, NULL));
    CHECK_OK(phx_replay_record_begin(sample_sink(&match.sink), sim, match.content, match.content_size, NULL,
                                     &writer, NULL));
    for (uint32_t t = 0; t < TICKS; t++) {
        draw_orders(sim, &seed, &orders);
        if (t % 2) {
            CHECK_OK(phx_replay_record_step(writer, sim, orders.commands, orders.count));
        } else {
            CHECK_OK(phx_sim_step(sim, orders.commands, orders.count));
            CHECK_OK(phx_replay_record_tick(writer, sim, orders.commands, orders.count));
            CHECK_EQ(phx_replay_record_tick(writer, sim, orders.commands, orders.count), PHX_ERROR_STATE);
        }
        match.roots[t] = phx_sim_root(sim);
    }
    CHECK_OK(phx_replay_writer_end(writer));
    phx_replay_writer_destroy(writer);
    CHECK_EQ(phx_replay_record_begin(sample_sink(&match.sink), sim, match.content, match.content_size, NULL,
                                     &writer, NULL),
             PHX_ERROR_STATE); /* not from the middle of a match */
    phx_sim_destroy(sim);
    return match;
}

static PhxReplay *open_bytes(const uint8_t *bytes, size_t size) {
    PhxReplay *replay;
    CHECK_OK(phx_replay_open(bytes, size, NULL, &replay, NULL));
    return replay;
}

static PhxReplayVerification verify(const uint8_t *bytes, size_t size) {
    static PhxReplayVerification result;
    PhxReplay *replay = open_bytes(bytes, size);
    CHECK_OK(phx_replay_verify(replay, NULL, NULL, NULL, &result));
    phx_replay_close(replay); /* names of tables die here: tests that look at them keep it open */
    return result;
}

static void count_progress(void *user, uint32_t done, uint32_t ticks) {
    uint32_t *calls = user;
    CHECK(done == ++*calls && ticks == TICKS);
}

PHX_TEST(replay_verify, whole_match_is_verified_and_played_alike_by_any_number_of_threads) {
    Match match = record_match(1);
    PhxReplay *replay = open_bytes(match.sink.bytes, match.sink.size);
    const PhxReplayInfo *info = phx_replay_info(replay);
    CHECK(info->map_width == MAP && info->map_height == MAP && info->unit_capacity == 64 &&
          info->player_count == 2);
    CHECK_STR(info->players[1].name, "Grace");
    CHECK(info->players[1].team == 1 && info->players[0].commands > 3 && info->host_commands == 3);
    CHECK_EQ(info->milliseconds, TICKS * 100);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        PhxReplayVerification result;
        PhxReplayPlayback *playback;
        PhxReplayTick tick;
        PhxSimConfig config = {0};
        uint32_t calls = 0;
        CHECK_OK(phx_jobs_threads_create(threads, &config.jobs));
        CHECK_OK(phx_replay_verify(replay, &config, count_progress, &calls, &result));
        CHECK_STR(phx_replay_verdict_name(result.verdict), "verified");
        CHECK(result.ticks == TICKS && calls == TICKS && result.error.status == PHX_OK);
        CHECK(result.computed_root == match.roots[TICKS - 1] && result.recorded_root == result.computed_root);
        CHECK_OK(phx_replay_playback_create(replay, &config, &playback, NULL));
        for (uint32_t t = 0; t < TICKS; t++) {
            CHECK(!phx_replay_playback_done(playback));
            CHECK_OK(phx_replay_playback_step(playback, &tick));
            CHECK_THAT(tick.tick == t && phx_sim_root(phx_replay_playback_sim(playback)) == match.roots[t],
                       "tick %u", t);
        }
        CHECK(phx_replay_playback_done(playback));
        CHECK_EQ(phx_replay_playback_step(playback, NULL), PHX_ERROR_NOT_FOUND);
        phx_replay_playback_destroy(playback);
        phx_jobs_threads_destroy(&config.jobs);
    }
    phx_replay_close(replay);
    free(match.content), free(match.sink.bytes);
}

PHX_TEST(replay_verify, cut_match_is_verified_as_far_as_it_goes) {
    Match match = record_match(2);
    uint64_t seed = 5;
    for (int i = 0; i < 40; i++) {
        const size_t first = match.sink.tick_ends[0];
        const size_t cut = i < 4 ? first - (size_t)i
                                 : (size_t)test_range(&seed, (int64_t)first, (int64_t)match.sink.size - 1);
        uint32_t ticks = 0;
        for (uint32_t t = 1; t < match.sink.tick_end_count; t++)
            if (match.sink.tick_ends[t] <= cut) ticks = t;
        const PhxReplayVerification result = verify(match.sink.bytes, cut);
        CHECK_THAT(result.verdict == (cut < first ? PHX_REPLAY_UNREADABLE : PHX_REPLAY_VERIFIED), "cut %zu",
                   cut);
        CHECK_THAT(result.ticks == ticks && result.error.status == PHX_ERROR_TRUNCATED, "cut %zu", cut);
        CHECK_THAT(cut < first || ticks == 0 || result.computed_root == match.roots[ticks - 1], "cut %zu",
                   cut);
    }
    const size_t middle =
        match.sink.tick_ends[30] + 7; /* a garbled tick 30: 0 .. 29 verify, and yet it isn't sound */
    match.sink.bytes[middle] ^= 0x10;
    const PhxReplayVerification result = verify(match.sink.bytes, match.sink.size);
    CHECK_STR(phx_replay_verdict_name(result.verdict), "unreadable");
    CHECK(result.ticks == 30 && result.error.offset == match.sink.tick_ends[30]);
    free(match.content), free(match.sink.bytes);
}

/* ---- forgeries with right checksums ---- */

/* What to change in a copy of a replay. A null pointer changes nothing. */
typedef struct Edit {
    void (*match)(PhxReplayMatch *match, uint64_t *tables, const char **names);
    void (*tick)(PhxReplayTick *tick, uint64_t *tables, PhxCommand *commands, uint8_t *bytes);
    uint32_t at, table; /* which tick, and which table */
} Edit;

static Edit edit; /* tests run one at a time */

static SampleSink forge(const PhxReplay *replay) {
    const PhxReplayInfo *info = phx_replay_info(replay);
    SampleSink sink = {0};
    PhxReplayWriter *writer;
    PhxReplayCursor *cursor;
    PhxReplayTick tick;
    const char *names[PHX_REPLAY_TABLE_LIMIT];
    uint64_t tables[PHX_REPLAY_TABLE_LIMIT];
    memcpy(names, info->table_names, sizeof names);
    memcpy(tables, phx_replay_start_hashes(replay), sizeof tables);
    PhxReplayMatch match = {.sim_revision = info->sim_revision,
                            .schema_hash = info->schema_hash,
                            .content_hash = info->content_hash,
                            .settings = info->settings,
                            .table_count = info->table_count,
                            .table_names = names,
                            .root = info->start_root,
                            .table_hashes = tables};
    match.content = phx_replay_content(replay, &match.content_size);
    if (edit.match) edit.match(&match, tables, names);
    CHECK_OK(phx_replay_writer_create(sample_sink(&sink), &match, NULL, &writer));
    CHECK_OK(phx_replay_cursor_create(replay, &cursor));
    while (phx_replay_cursor_next(cursor, &tick)) {
        static PhxCommand commands[16];
        static uint8_t bytes[256];
        memcpy(commands, tick.commands, tick.command_count * sizeof *commands);
        memcpy(tables, tick.table_hashes, info->table_count * sizeof *tables);
        if (edit.tick && tick.tick == edit.at) edit.tick(&tick, tables, commands, bytes);
        CHECK_OK(phx_replay_writer_commands(writer, commands, tick.command_count));
        CHECK_OK(phx_replay_writer_hashes(writer, tick.root, tables));
    }
    CHECK_OK(phx_replay_writer_end(writer));
    phx_replay_cursor_destroy(cursor);
    phx_replay_writer_destroy(writer);
    return sink;
}

static PhxReplayVerification verify_forged(const PhxReplay *replay) {
    SampleSink sink = forge(replay);
    const PhxReplayVerification result = verify(sink.bytes, sink.size);
    free(sink.bytes);
    edit = (Edit){0};
    return result;
}

static void forge_table(PhxReplayTick *tick, uint64_t *tables, PhxCommand *commands, uint8_t *bytes) {
    (void)tick, (void)commands, (void)bytes;
    tables[edit.table] ^= 1;
}
static void forge_root(PhxReplayTick *tick, uint64_t *tables, PhxCommand *commands, uint8_t *bytes) {
    (void)tables, (void)commands, (void)bytes;
    tick->root ^= 1;
}
static void change_goal(PhxReplayTick *tick, uint64_t *tables, PhxCommand *commands, uint8_t *bytes) {
    (void)tick, (void)tables;
    memcpy(bytes, commands[0].bytes, commands[0].size);
    bytes[1] ^= 0x80; /* the lowest byte of the goal */
    commands[0].bytes = bytes;
}
static void drop_command(PhxReplayTick *tick, uint64_t *tables, PhxCommand *commands, uint8_t *bytes) {
    (void)tables, (void)commands, (void)bytes;
    tick->command_count--;
}
static void forge_start(PhxReplayMatch *match, uint64_t *tables, const char **names) {
    (void)match, (void)names;
    tables[edit.table] ^= 1;
}

PHX_TEST(replay_verify, forged_hash_is_named_by_tick_and_table) {
    Match match = record_match(3);
    PhxReplay *replay = open_bytes(match.sink.bytes, match.sink.size);
    uint64_t seed = 17;
    for (uint32_t t = 0; t < phx_replay_info(replay)->table_count; t++) {
        const uint32_t at = t == 0 ? 0 : t == 1 ? TICKS - 1 : (uint32_t)test_range(&seed, 0, TICKS - 1);
        edit = (Edit){.tick = forge_table, .at = at, .table = t};
        SampleSink sink = forge(replay);
        PhxReplay *forged = open_bytes(sink.bytes, sink.size);
        PhxReplayVerification result;
        CHECK_OK(phx_replay_verify(forged, NULL, NULL, NULL, &result));
        CHECK_STR(phx_replay_verdict_name(result.verdict), "diverged");
        CHECK_EQ(result.tick, at);
        CHECK_EQ(result.ticks, at);
        CHECK(result.difference_count == 1 && result.differences[0].table == t);
        CHECK_STR(result.differences[0].name, phx_replay_info(replay)->table_names[t]);
        CHECK((result.differences[0].recorded ^ result.differences[0].computed) == 1);
        CHECK(strstr(result.error.text, result.differences[0].name) &&
              result.recorded_root == match.roots[at]);
        phx_replay_close(forged);
        free(sink.bytes);
    }
    edit = (Edit){.tick = forge_root, .at = 33};
    PhxReplayVerification result = verify_forged(replay);
    CHECK(result.verdict == PHX_REPLAY_DIVERGED && result.tick == 33 && result.difference_count == 0);
    CHECK((result.recorded_root ^ result.computed_root) == 1 && result.computed_root == match.roots[33]);
    edit = (Edit){.match = forge_start, .table = 3};
    result = verify_forged(replay);
    CHECK(result.verdict == PHX_REPLAY_DIVERGED && result.tick == PHX_REPLAY_BEFORE_FIRST &&
          result.ticks == 0);
    CHECK(result.difference_count == 1 && result.differences[0].table == 3);
    phx_replay_close(replay);
    free(match.content), free(match.sink.bytes);
}

PHX_TEST(replay_verify, changed_or_dropped_command_diverges_at_its_tick) {
    Match match = record_match(4);
    PhxReplay *replay = open_bytes(match.sink.bytes, match.sink.size);
    PhxReplayCursor *cursor;
    PhxReplayTick tick;
    uint32_t changed = 0, dropped = 0;
    CHECK_OK(phx_replay_cursor_create(replay, &cursor));
    while (phx_replay_cursor_next(cursor, &tick)) {
        if (tick.command_count == 0) continue;
        const uint32_t at = tick.tick;
        edit = (Edit){.tick = drop_command, .at = at};
        PhxReplayVerification result = verify_forged(replay);
        CHECK_THAT(result.verdict == PHX_REPLAY_DIVERGED && result.tick == at, "tick %u: %s", at,
                   result.error.text);
        CHECK_THAT(strstr(result.error.text, "match"), "tick %u: %s", at,
                   result.error.text); /* it counts commands */
        dropped++;
        if (at != 0)
            continue; /* later a goal may go unused: a unit that isn't the player's, a queue that is full */
        edit = (Edit){.tick = change_goal, .at = at};
        result = verify_forged(replay);
        CHECK_THAT(result.verdict == PHX_REPLAY_DIVERGED && result.tick == at, "tick %u: %s", at,
                   result.error.text);
        changed++;
    }
    CHECK(changed == 1 && dropped > 10);
    phx_replay_cursor_destroy(cursor);
    phx_replay_close(replay);
    free(match.content), free(match.sink.bytes);
}

static void other_revision(PhxReplayMatch *match, uint64_t *tables, const char **names) {
    (void)tables, (void)names;
    match->sim_revision++;
}
static void other_schema(PhxReplayMatch *match, uint64_t *tables, const char **names) {
    (void)tables, (void)names;
    match->schema_hash++;
}
static void other_table_name(PhxReplayMatch *match, uint64_t *tables, const char **names) {
    (void)match, (void)tables;
    names[2] = "unit_tribe";
}
static void fewer_tables(PhxReplayMatch *match, uint64_t *tables, const char **names) {
    (void)tables, (void)names;
    match->table_count--;
}
static void other_content_hash(PhxReplayMatch *match, uint64_t *tables, const char **names) {
    (void)tables, (void)names;
    match->content_hash++;
}
static void cut_content(PhxReplayMatch *match, uint64_t *tables, const char **names) {
    (void)tables, (void)names;
    PhxContentInfo info;
    match->content_size -= 10;
    CHECK_OK(phx_content_info(match->content, match->content_size, &info, NULL));
    match->content_hash = info.content_hash;
}
static void no_content(PhxReplayMatch *match, uint64_t *tables, const char **names) {
    (void)tables, (void)names;
    match->content = "PHX", match->content_size = 3;
}
static void other_key(PhxReplayMatch *match, uint64_t *tables, const char **names) {
    (void)tables, (void)names;
    match->settings.match_key++;
}

PHX_TEST(replay_verify, what_cannot_be_played_is_told_apart) {
    static const struct {
        void (*change)(PhxReplayMatch *match, uint64_t *tables, const char **names);
        PhxReplayVerdict verdict;
        PhxStatus status;
        const char *word;
    } cases[] = {{other_revision, PHX_REPLAY_NOT_VERIFIABLE, PHX_ERROR_VERSION, "revision"},
                 {other_schema, PHX_REPLAY_NOT_VERIFIABLE, PHX_ERROR_MISMATCH, "tables"},
                 {other_table_name, PHX_REPLAY_NOT_VERIFIABLE, PHX_ERROR_MISMATCH, "tables"},
                 {fewer_tables, PHX_REPLAY_NOT_VERIFIABLE, PHX_ERROR_MISMATCH, "tables"},
                 {other_content_hash, PHX_REPLAY_UNREADABLE, PHX_ERROR_MISMATCH, "content"},
                 {cut_content, PHX_REPLAY_UNREADABLE, PHX_ERROR_TRUNCATED, ""},
                 {no_content, PHX_REPLAY_UNREADABLE, PHX_ERROR_TRUNCATED, ""},
                 {other_key, PHX_REPLAY_DIVERGED, PHX_ERROR_MISMATCH, "before tick 0: match"}};
    Match match = record_match(5);
    PhxReplay *replay = open_bytes(match.sink.bytes, match.sink.size);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        edit = (Edit){.match = cases[i].change};
        const PhxReplayVerification result = verify_forged(replay);
        CHECK_THAT(result.verdict == cases[i].verdict, "case %zu: %s: %s", i,
                   phx_replay_verdict_name(result.verdict), result.error.text);
        CHECK_THAT(result.error.status == cases[i].status && strstr(result.error.text, cases[i].word),
                   "case %zu: %s: %s", i, phx_status_name(result.error.status), result.error.text);
        CHECK_EQ(result.ticks, 0);
    }
    phx_replay_close(replay);
    free(match.content), free(match.sink.bytes);
}

/* A replay that ends with commands: those of the step in which the recorder died. */
PHX_TEST(replay_verify, commands_of_a_step_that_never_ended_are_kept_and_change_nothing) {
    Match match = record_match(6);
    PhxReplay *replay = open_bytes(match.sink.bytes, match.sink.size);
    PhxReplayRecord record;
    uint64_t at = PHX_REPLAY_PREAMBLE, cut = 0;
    while (phx_replay_record_read(match.sink.bytes, match.sink.size, at, &record, NULL) == PHX_OK) {
        if (record.kind == PHX_REPLAY_KIND_COMMANDS) cut = record.next;
        if (record.kind == PHX_REPLAY_KIND_END) break;
        at = record.next;
    }
    phx_replay_close(replay);
    replay = open_bytes(match.sink.bytes, cut);
    PhxReplayVerification result;
    CHECK(phx_replay_info(replay)->pending_commands > 0 && phx_replay_info(replay)->lost_bytes == 0);
    CHECK_OK(phx_replay_verify(replay, NULL, NULL, NULL, &result));
    CHECK(result.verdict == PHX_REPLAY_VERIFIED && result.ticks == phx_replay_info(replay)->ticks);
    phx_replay_close(replay);
    free(match.content), free(match.sink.bytes);
}
