/* bundle.c: what a side of a match keeps of it: snapshots read without a world, states that are computed
 * again where memory was short, and bundles that are damaged. */
#include "bundle/evidence.h"

#include <stdlib.h>

#include "harness.h"
#include "little_match.h"
#include "step/sim_internal.h"

/* Every value of a view is the world's, whatever the world has gone through. */
static void check_view(const PhxSim *sim, const PhxStateView *view, uint64_t *seed) {
    for (uint32_t t = 0; t < sim->world->table_count; t++) {
        const PhxTable *table = &sim->world->tables[t];
        CHECK_EQ(phx_state_columns(view, t), table->desc->column_count);
        for (uint32_t c = 0; c < table->desc->column_count; c++) {
            const PhxColumnDesc *desc = &table->desc->columns[c];
            const uint64_t cells = phx_state_cells(view, t, c);
            CHECK_EQ(cells, desc->klass == PHX_CLASS_STATE ? (uint64_t)table->capacity * desc->lanes : 0);
            for (uint32_t i = 0; i < 50 && cells; i++) {
                const uint64_t cell = test_random(seed) % cells;
                const uint32_t row = (uint32_t)(cell / desc->lanes), lane = (uint32_t)(cell % desc->lanes);
                CHECK_THAT(phx_state_value(view, t, c, cell) == phx_table_get(table, c, row, lane),
                           "%s.%s[%u][%u]", table->desc->name, desc->name, row, lane);
            }
        }
    }
    CHECK_EQ(phx_state_columns(view, sim->world->table_count), 0);
    CHECK_EQ(phx_state_cells(view, 0, 200), 0);
    CHECK_EQ(phx_state_value(view, 99, 0, 0), 0);
}

PHX_TEST(bundle, a_snapshot_is_read_without_a_world_and_a_damaged_one_is_refused) {
    PhxStateView view;
    PhxError error = {0};
    uint64_t seed = 5;
    PhxSim *sim = little_sim(&(PhxSimConfig){0}, 9, 48, 20);
    for (uint32_t tick = 0; tick < 40; tick++) little_step(sim, 9);
    const size_t capacity = phx_sim_snapshot_size(sim);
    uint8_t *bytes = malloc(capacity);
    size_t size;
    CHECK_OK(phx_sim_snapshot(sim, bytes, capacity, &size));
    CHECK_OK(phx_state_view(sim, bytes, size, &view, &error));
    CHECK(view.root == phx_sim_root(sim));
    check_view(sim, &view, &seed);
    /* Ranges of cells: equal hashes for equal values, another where one value differs, whatever is beyond. */
    const uint64_t cells = phx_state_cells(&view, PHX_TABLE_unit, 1);
    CHECK(phx_state_hash(&view, PHX_TABLE_unit, 1, 0, cells) ==
          phx_state_hash(&view, PHX_TABLE_unit, 1, 0, cells + 1000));
    CHECK(phx_state_hash(&view, PHX_TABLE_unit, 1, cells, 7) ==
          phx_state_hash(&view, PHX_TABLE_unit, 1, 9 * cells, 1));
    sim->world->unit.pos_x[2] ^= 1;
    uint8_t *other = malloc(capacity);
    PhxStateView changed;
    CHECK_OK(phx_sim_snapshot(sim, other, capacity, &size));
    CHECK_OK(phx_state_view(sim, other, size, &changed, &error));
    for (uint64_t cell = 0; cell < 4; cell++)
        CHECK((phx_state_hash(&view, PHX_TABLE_unit, 1, cell, 1) !=
               phx_state_hash(&changed, PHX_TABLE_unit, 1, cell, 1)) == (cell == 2));
    for (size_t cut = 0; cut < size; cut += cut < 200 ? 1 : 37) {
        error = (PhxError){0};
        CHECK(phx_state_view(sim, bytes, cut, &changed, &error) != PHX_OK && error.text[0]);
    }
    for (uint32_t i = 0; i < 3000; i++) {
        memcpy(other, bytes, size);
        other[test_random(&seed) % (i % 2 ? 120 : size)] ^= (uint8_t)(1u << test_random(&seed) % 8);
        if (phx_state_view(sim, other, size, &changed, &error) == PHX_OK)
            (void)phx_state_hash(&changed, PHX_TABLE_unit, 3, 0, UINT64_MAX);
    }
    free(bytes), free(other);
    phx_sim_destroy(sim);
}

enum { SPAN = 30, TICKS = 70 };

/* A match that is recorded, with all of its states; `fault` (or UINT32_MAX): the tick after which a value is
 * changed from outside. */
typedef struct Recorded {
    uint8_t *content;
    size_t content_size, size[TICKS + 1];
    PhxSim *sim;
    PhxEvidence *evidence;
    uint8_t *states[TICKS + 1];
} Recorded;

static void keep_state(Recorded *recorded) {
    const uint32_t tick = phx_sim_tick(recorded->sim);
    const size_t capacity = phx_sim_snapshot_size(recorded->sim);
    recorded->states[tick] = malloc(capacity);
    CHECK_OK(phx_sim_snapshot(recorded->sim, recorded->states[tick], capacity, &recorded->size[tick]));
}

static void record(Recorded *recorded, uint64_t seed, size_t memory, uint32_t ticks, uint32_t fault) {
    PhxError error = {0};
    const PhxEvidenceOptions options = {.ticks = SPAN, .memory = memory};
    uint8_t *bytes = malloc((size_t)4 * PHX_COMMAND_SIZE_LIMIT);
    memset(recorded, 0, sizeof *recorded);
    recorded->content = little_content(seed, 40, 16, &recorded->content_size);
    CHECK_OK(phx_sim_create(&(PhxSimConfig){0}, recorded->content, recorded->content_size, NULL,
                            &recorded->sim, &error));
    CHECK_OK(phx_evidence_create(recorded->sim, recorded->content, recorded->content_size, &options,
                                 &recorded->evidence, &error));
    keep_state(recorded);
    for (uint32_t tick = 0; tick < ticks; tick++) {
        PhxCommand commands[4];
        const uint32_t count = little_commands(recorded->sim, seed, commands, bytes);
        CHECK_OK(phx_sim_step(recorded->sim, commands, count));
        if (tick == fault) {
            recorded->sim->world->unit.heading[3] ^= 1;
            phx_sim_refresh_hashes(recorded->sim);
        }
        CHECK_OK(phx_evidence_tick(recorded->evidence, recorded->sim, commands, count));
        keep_state(recorded);
    }
    free(bytes);
}

static void forget(Recorded *recorded) {
    phx_evidence_destroy(recorded->evidence);
    phx_sim_destroy(recorded->sim);
    free(recorded->content);
    for (uint32_t i = 0; i <= TICKS; i++) free(recorded->states[i]);
}

static bool is_state(const Recorded *recorded, const PhxBundleState *state, uint32_t tick) {
    return state->bytes && state->size == recorded->size[tick] &&
           memcmp(state->bytes, recorded->states[tick], state->size) == 0;
}

PHX_TEST(bundle, states_are_kept_exactly_or_computed_again_and_never_wrong) {
    uint64_t seed = 3;
    for (uint32_t run = 0; run < 24; run++) {
        const size_t memories[] = {0, 1, 60000};
        const uint32_t ticks = (uint32_t)test_range(&seed, 1, TICKS);
        const uint32_t oldest = ticks > SPAN ? ticks - SPAN : 0;
        const uint32_t asked = (uint32_t)test_range(&seed, oldest, (int64_t)ticks - 1);
        const bool faulty = run % 2;
        Recorded recorded;
        PhxBundleContents contents;
        PhxBundle bundle;
        PhxError error = {0};
        record(&recorded, run + 1, memories[run % 3], ticks, faulty ? asked : UINT32_MAX);
        CHECK(!phx_evidence_contents(recorded.evidence, &contents));
        phx_evidence_keep(recorded.evidence, ticks); /* not yet played: ignored */
        phx_evidence_keep(recorded.evidence, asked);
        phx_evidence_keep(recorded.evidence, 0); /* the first one counts */
        CHECK(phx_evidence_contents(recorded.evidence, &contents));
        CHECK_EQ(contents.tick, asked);
        CHECK_THAT(is_state(&recorded, &contents.before, asked), "run %u, tick %u of %u", run, asked, ticks);
        /* A fault that came from outside isn't repeated: then there is no state rather than a wrong one. */
        const bool lost = faulty && !phx_evidence_exact(recorded.evidence) && !contents.after.bytes;
        CHECK_THAT(lost || is_state(&recorded, &contents.after, asked + 1), "run %u, tick %u of %u", run,
                   asked, ticks);
        if (run % 3 == 0) CHECK(phx_evidence_exact(recorded.evidence) && !lost);
        if (run == 1) CHECK(lost);
        CHECK_OK(phx_evidence_write(recorded.evidence, "phx_test_unit.bundle", &contents, &error));
        CHECK_OK(phx_bundle_open("phx_test_unit.bundle", &bundle, &error));
        CHECK(bundle.tick == asked && bundle.has_before && bundle.has_after == !lost);
        CHECK_EQ(bundle.slot, PHX_REPLAY_NO_SLOT);
        phx_bundle_close(&bundle);
        forget(&recorded);
    }
    (void)remove("phx_test_unit.bundle");
}

PHX_TEST(bundle, what_is_no_bundle_is_refused_in_words) {
    Recorded recorded;
    PhxBundleContents contents;
    PhxBundle bundle;
    PhxError error = {0};
    record(&recorded, 5, 0, 20, UINT32_MAX);
    CHECK_EQ(phx_bundle_open("phx_no_such.bundle", &bundle, &error), PHX_ERROR_IO);
    CHECK(error.text[0] && !bundle.replay);
    phx_evidence_keep(recorded.evidence, 12);
    CHECK(phx_evidence_contents(recorded.evidence, &contents));
    CHECK_EQ(phx_evidence_write(recorded.evidence, "phx_no_folder/x.bundle", &contents, &error),
             PHX_ERROR_IO);
    contents.tick = 400;
    CHECK_EQ(phx_evidence_write(recorded.evidence, "phx_test_refused.bundle", &contents, &error),
             PHX_ERROR_NOT_FOUND);
    contents.tick = 12;
    contents.before.bytes = contents.after.bytes = NULL;
    CHECK_OK(phx_evidence_write(recorded.evidence, "phx_test_refused.bundle", &contents, &error));
    CHECK_EQ(phx_bundle_open("phx_test_refused.bundle", &bundle, &error), PHX_ERROR_NOT_FOUND);
    CHECK(strstr(error.text, "no evidence"));
    (void)remove("phx_test_refused.bundle");
    forget(&recorded);
}

/* Questions come from the network: whatever they say, an answer is within its size or there is none. */
PHX_TEST(bundle, questions_about_anything_are_answered_within_limits_or_not_at_all) {
    static uint64_t values[PHX_NET_TREE_VALUES_MAX];
    Recorded recorded;
    uint64_t seed = 8;
    uint32_t answered = 0;
    record(&recorded, 6, 0, 15, UINT32_MAX);
    const PhxNetTree tree = phx_evidence_tree(recorded.evidence);
    const PhxNetTreeQuestion early = {.tick = 7, .table = PHX_TABLE_unit};
    CHECK_EQ(tree.size(tree.user, &early), 0); /* nothing was kept yet */
    tree.keep(tree.user, 7);
    CHECK_EQ(tree.size(tree.user, &early),
             2 * recorded.sim->world->tables[PHX_TABLE_unit].desc->column_count);
    for (uint32_t i = 0; i < 20000; i++) {
        const uint32_t wild[] = {0, 1, 2, 16, 1600, UINT32_MAX, UINT32_MAX - 1, (uint32_t)test_random(&seed)};
        PhxNetTreeQuestion question = {.tick = 7,
                                       .level =
                                           (PhxNetTreeLevel)(test_random(&seed) % PHX_NET_TREE_LEVEL_COUNT),
                                       .table = (uint16_t)(test_random(&seed) % 8),
                                       .column = (uint16_t)(test_random(&seed) % 24),
                                       .first = wild[test_random(&seed) % 8],
                                       .count = wild[1 + test_random(&seed) % 7],
                                       .span = wild[1 + test_random(&seed) % 7]};
        if (question.count == 0) question.count = 1;
        if (question.span == 0) question.span = 1;
        const uint32_t size = tree.size(tree.user, &question);
        if (size == 0 || size > PHX_NET_TREE_VALUES_MAX) continue;
        tree.values(tree.user, &question, 0, size, values);
        answered++;
    }
    CHECK(answered > 2000);
    forget(&recorded);
}
