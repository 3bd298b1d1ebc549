/* game.c: a game's own tables, phases and commands are covered by hash, save, clone and restore like the
 * engine's. The game: wells. A well is dug by a command of its own, fills by a phase of its own, and scars
 * the terrain of a grid of its own.
 */
#include <phalanx/content.h>
#include <stdlib.h>

#include "harness.h"
#include "little_match.h"

static const PhxColumnDesc well_columns[] = {
    {"generation", PHX_TYPE_U32, 1, PHX_CLASS_STATE, 0, UINT32_MAX, "odd while alive"},
    {"water", PHX_TYPE_U16, 1, PHX_CLASS_STATE, 0, 1000, "buckets"},
    {"owner", PHX_TYPE_U8, 1, PHX_CLASS_STATE, 0, 15, "player"},
};
static const PhxColumnDesc moist_columns[] = {{"level", PHX_TYPE_U8, 1, PHX_CLASS_STATE, 0, 255, "wetness"}};
static const PhxTableDesc well = {"well", PHX_KIND_ROWS, well_columns, 3, "wells"};
static const PhxTableDesc moist = {"moist", PHX_KIND_GRID, moist_columns, 1, "wetness of the ground"};
static const PhxTableSpec tables[] = {{&well, 10, 0, 0}, {&moist, 0, 16, 16}};

static void fill_wells(const PhxPhaseContext *context, void *user) {
    PhxTable *wells = phx_world_table(context->world, "well"),
             *ground = phx_world_table(context->world, "moist");
    uint16_t *water = phx_world_column(context->world, "well", "water");
    uint8_t *level = phx_world_column(context->world, "moist", "level");
    (void)user;
    for (uint32_t slot = 0; slot < phx_table_used(wells); slot++) {
        if (!phx_table_alive(wells, slot)) continue;
        if (++water[slot] < 20) continue;
        level[slot * 16 + 3]++;
        phx_grid_touch(ground, 3, slot);
        phx_table_remove(wells, slot);
    }
}

static PhxStatus check_dig(const uint8_t *bytes, size_t size, uint8_t slot) {
    return size == 2 && bytes[1] < 20 && slot < 16 ? PHX_OK : PHX_ERROR_FORMAT;
}

static void dig(const PhxPhaseContext *context, const uint8_t *bytes, size_t size, uint8_t slot, void *user) {
    PhxTable *wells = phx_world_table(context->world, "well");
    (void)size;
    const PhxHandle made = phx_table_insert(wells);
    if (made == PHX_HANDLE_NONE) return;
    ((uint16_t *)phx_world_column(context->world, "well", "water"))[phx_handle_slot(made)] = bytes[1];
    ((uint8_t *)phx_world_column(context->world, "well", "owner"))[phx_handle_slot(made)] = slot;
    ++*(int *)user;
}

static const PhxPhaseDesc phases[] = {
    {"wells", fill_wells, "well.water", "well.generation well.water moist.level", "arrive"}};
static const PhxGameCommand commands[] = {{200, "dig", check_dig, dig}};

static void step(PhxSim *sim, uint64_t seed) {
    uint8_t bytes[3] = {200, 0, 0};
    seed = seed * 31 + phx_sim_tick(sim);
    bytes[1] = (uint8_t)(test_random(&seed) % 25); /* sometimes refused by the check */
    const PhxCommand command = {(uint8_t)(phx_sim_tick(sim) % 2), 0, 2, bytes};
    CHECK_OK(phx_sim_step(sim, &command, test_random(&seed) % 3 == 0));
}

PHX_TEST(game, own_tables_phases_and_commands_are_state_like_the_engines) {
    int dug = 0;
    const PhxGame game = {tables, 2, phases, 1, commands, 1, &dug};
    const PhxSimConfig config = {.game = &game};
    uint64_t roots[400];
    PhxSim *sim = little_sim(&config, 3, 24, 5), *plain = little_sim(&(PhxSimConfig){0}, 3, 24, 5);
    CHECK_EQ(phx_sim_table_count(sim), phx_sim_table_count(plain) + 2);
    CHECK(phx_sim_schema_hash(sim) != phx_sim_schema_hash(plain));
    CHECK_EQ(phx_sim_phase_count(sim), phx_sim_phase_count(plain) + 1);
    for (int t = 0; t < 400; t++) {
        step(sim, 3);
        roots[t] = phx_sim_root(sim);
        if (t > 0) CHECK(roots[t] != roots[t - 1]);
    }
    CHECK(dug > 50);
    phx_sim_destroy(sim);
    sim = little_sim(&config, 3, 24, 5);
    for (int t = 0; t < 400; t++) {
        if (t % 7 == 3) { /* into a fresh sim, by snapshot */
            size_t size;
            uint8_t *bytes = malloc(phx_sim_snapshot_size(sim));
            PhxSim *fresh = little_sim(&config, 99, 24, 5);
            CHECK_OK(phx_sim_snapshot(sim, bytes, phx_sim_snapshot_size(sim), &size));
            CHECK_OK(phx_sim_restore(fresh, bytes, size, NULL));
            CHECK_EQ(phx_sim_restore(plain, bytes, size, NULL), PHX_ERROR_MISMATCH); /* another schema */
            free(bytes);
            phx_sim_destroy(sim);
            sim = fresh;
        }
        step(sim, 3);
        CHECK_THAT(phx_sim_root(sim) == roots[t], "tick %d", t);
    }
    CHECK_EQ(phx_sim_audit_failures(sim), 0);
    phx_sim_destroy(sim);
    phx_sim_destroy(plain);
}

PHX_TEST(game, bad_games_are_refused_with_a_word) {
    size_t size;
    PhxSim *sim;
    PhxError error;
    uint8_t *blob = little_content(1, 16, 2, &size);
    const PhxPhaseDesc lost = {"lost", fill_wells, "", "", "no_such_phase"},
                       twice = {"orca", fill_wells, "", "", "arrive"};
    const PhxPhaseDesc late = {"late", fill_wells, "", "", "hash"}; /* its changes would not be hashed */
    const PhxGameCommand low = {5, "low", check_dig, dig};
    const PhxTableSpec same = {&well, 10, 0, 0}, pair[2] = {same, same}, wide = {&moist, 0, 5000, 1};
    const PhxGame bad[] = {
        {.phases = &lost, .phase_count = 1},    {.phases = &twice, .phase_count = 1},
        {.commands = &low, .command_count = 1}, {.phases = &late, .phase_count = 1},
        {.tables = pair, .table_count = 2},     {.tables = &wide, .table_count = 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        error.text[0] = 0;
        CHECK(phx_sim_create(&(PhxSimConfig){.game = &bad[i]}, blob, size, NULL, &sim, &error) != PHX_OK);
        CHECK_THAT(!sim && error.text[0], "game %zu", i);
    }
    free(blob);
}
