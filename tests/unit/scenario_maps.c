/* scenario_maps.c: the shipped scenarios, the shipped map, and the demo on real maps. */
#include "bots/bots.h"
#include "content/make_map.h"
#include "content/scenario.h"

#include "harness.h"

#include <stdlib.h>

static PhxSim *load(const char *path, const char *map, PhxScenarioFile *file) {
    const PhxScenarioChanges changes = {.map = map};
    PhxYamlError fault = {0};
    CHECK_THAT(phx_scenario_load(path, &changes, file, &fault) == PHX_OK, "%s", fault.text);
    PhxSim *sim;
    PhxError error = {0};
    const PhxSimConfig config = {.game = NULL};
    CHECK_THAT(phx_sim_create(&config, file->blob, file->blob_size, NULL, &sim, &error) == PHX_OK, "%s: %s",
               path, error.text);
    return sim;
}

PHX_TEST(scenario, each_shipped_one_loads_and_its_bots_exist) {
    const char *const names[] = {"clash", "duel", "door", "crowd1000", "melee8", "siege"};
    const uint32_t units[] = {400, 24, 60, 1000, 96, 204};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char relative[64];
        snprintf(relative, sizeof relative, "tests/scenario/%s.yaml", names[i]);
        PhxScenarioFile file;
        PhxSim *sim = load(test_source(relative), NULL, &file);
        CHECK_STR(file.scenario->name, names[i]);
        CHECK_EQ(phx_sim_units(sim).live, units[i]);
        CHECK_EQ(strlen(file.letters), file.width * file.height);
        for (uint32_t p = 0; p < file.scenario->player_count; p++)
            CHECK(phx_bot_find(file.scenario->players[p].bot) != NULL);
        phx_sim_destroy(sim);
        phx_scenario_unload(&file);
    }
}

/* The shipped map is what its maker makes; it looks alike when turned; both corners are on one piece of
 * ground. */
PHX_TEST(scenario, the_made_map_is_fair_and_connected) {
    const uint32_t sides[] = {512, 64, 333};
    const uint64_t seeds[] = {1, 2, 3};
    for (size_t i = 0; i < 3; i++) {
        const uint32_t side = sides[i], cells = side * side;
        char *letters = malloc(cells);
        uint8_t *cost = malloc(cells);
        CHECK(letters != NULL && cost != NULL);
        CHECK_OK(phx_make_map(seeds[i], side, letters));
        uint32_t turned = 0;
        for (uint32_t cell = 0; cell < cells; cell++) {
            CHECK(strchr(".SWT@", letters[cell]) != NULL);
            turned += letters[cell] != letters[cells - 1 - cell];
            cost[cell] = letters[cell] == '.' || letters[cell] == 'S' ? 1 : PHX_NAV_IMPASSABLE;
        }
        CHECK_THAT(turned == 0, "seed %d: %u cells differ from their image", (int)seeds[i], turned);
        PhxGround *ground;
        const PhxNavGrid grid = {.width = side, .height = side, .cost = cost};
        CHECK_OK(phx_ground_create(&grid, 0, &ground));
        for (uint32_t cell = 0; cell < cells; cell++)
            CHECK(cost[cell] != 1 || ground->piece[cell] == ground->largest);
        const uint32_t north_west = phx_ground_corner(ground, ground->largest, PHX_CORNER_NORTH_WEST);
        const uint32_t south_east = phx_ground_corner(ground, ground->largest, PHX_CORNER_SOUTH_EAST);
        CHECK(north_west % side < side / 8 && north_west / side < side / 8);
        CHECK(south_east % side > side - side / 8 && south_east / side > side - side / 8);
        phx_ground_destroy(ground);
        if (i == 0) {
            PhxScenarioFile file;
            phx_sim_destroy(load(test_source("tests/scenario/clash.yaml"), NULL, &file));
            CHECK(file.width == side && memcmp(file.letters, letters, cells) == 0);
            phx_scenario_unload(&file);
        }
        free(letters);
        free(cost);
    }
    char few[4];
    CHECK_EQ(phx_make_map(1, 63, few), PHX_ERROR_RANGE);
}

static void ignore(void *user, const uint8_t *bytes, uint32_t size) {
    PhxCommandData command;
    CHECK_OK(phx_command_decode(bytes, size, &command, NULL));
    PhxVec2 *goals = user;
    while (goals->x != 0 || goals->y != 0) goals++;
    *goals = (PhxVec2){command.goal_x, command.goal_y};
}

/* On any real map: all units of the demo stand, and each bot's goals can be reached from where its units are.
 */
PHX_TEST(scenario, the_demo_can_be_played_on_real_maps) {
    const char *const maps[] = {"maps/sc1/Aftershock.map",       "maps/sc1/Archipelago.map",
                                "maps/sc1/Labyrinth.map",        "maps/dao/orz900d.map",
                                "maps/da2/ht_chantry.map",       "maps/mazes/maze512-8-0.map",
                                "maps/random/random512-40-0.map"};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s", test_shared(maps[i]));
        PhxScenarioFile file;
        PhxSim *sim = load(test_source("tests/scenario/clash.yaml"), path, &file);
        CHECK_EQ(phx_sim_units(sim).live, 400);
        const PhxUnitView units = phx_sim_units(sim);
        const PhxNavGrid map = phx_sim_map(sim);
        PhxGround *ground;
        CHECK_OK(phx_ground_create(&map, 29491, &ground)); /* 0.45: the widest of the scenario */
        for (uint8_t slot = 0; slot < 2; slot++) {
            PhxVec2 goals[64] = {{0, 0}};
            phx_bot_find("corner")->run(sim, slot, 0, ignore, goals);
            CHECK(goals[0].x != 0);
            for (PhxVec2 *goal = goals; goal->x != 0 || goal->y != 0; goal++)
                CHECK_THAT(ground->piece[phx_nav_cell_at(&map, goal->x, goal->y)] == ground->largest, "%s",
                           maps[i]);
        }
        for (uint32_t unit = 0; unit < units.used; unit++)
            CHECK_EQ(ground->piece[phx_nav_cell_at(&map, units.pos_x[unit], units.pos_y[unit])],
                     ground->largest);
        phx_ground_destroy(ground);
        phx_sim_destroy(sim);
        phx_scenario_unload(&file);
    }
}

PHX_TEST(scenario, files_that_are_missing_or_wrong_are_named) {
    PhxScenarioFile file;
    PhxYamlError error = {0};
    CHECK_EQ(phx_scenario_load("/nowhere/x.yaml", NULL, &file, &error), PHX_ERROR_IO);
    CHECK_STR(error.text, "/nowhere/x.yaml: No such file or directory");
    CHECK(file.scenario == NULL && file.blob == NULL);
    const PhxScenarioChanges no_map = {.map = "/nowhere/x.map"};
    CHECK_EQ(phx_scenario_load(test_source("tests/scenario/duel.yaml"), &no_map, &file, &error),
             PHX_ERROR_IO);
    CHECK_STR(error.text, "/nowhere/x.map: No such file or directory");
    char path[512];
    snprintf(path, sizeof path, "%s", test_source("tests/scenario/duel.yaml"));
    const PhxScenarioChanges text_as_map = {.map = path};
    CHECK(phx_scenario_load(path, &text_as_map, &file, &error) != PHX_OK);
    CHECK(strstr(error.text, "duel.yaml") != NULL);
}

/* Bots. */

typedef struct Record {
    uint8_t bytes[1 << 16];
    size_t used;
    uint32_t commands;
} Record;

static void record(void *user, const uint8_t *bytes, uint32_t size) {
    Record *all = user;
    CHECK(all->used + size <= sizeof all->bytes);
    memcpy(all->bytes + all->used, bytes, size);
    all->used += size;
    all->commands++;
}

PHX_TEST(bots, are_pure_functions_of_world_slot_and_tick) {
    uint32_t bot_count;
    const PhxBot *bots = phx_bots(&bot_count);
    CHECK(bot_count >= 3 && phx_bot_find("nobody") == NULL);
    PhxScenarioFile file;
    PhxSim *sim = load(test_source("tests/scenario/melee8.yaml"), NULL, &file);
    uint32_t given[16] = {0};
    for (uint32_t tick = 0; tick < 200; tick++) {
        PhxSim *twin;
        CHECK_OK(phx_sim_clone(sim, &twin));
        const uint64_t root = phx_sim_root(sim);
        static Record first, second;
        for (uint32_t b = 0; b < bot_count; b++)
            for (uint8_t slot = 0; slot < 8; slot++) {
                first.used = second.used = first.commands = 0;
                bots[b].run(sim, slot, tick, record, &first);
                bots[b].run(twin, slot, tick, record, &second); /* and in another order of slots before it */
                CHECK_THAT(first.used == second.used && memcmp(first.bytes, second.bytes, first.used) == 0,
                           "bot %s, slot %u, tick %u", bots[b].name, slot, tick);
                given[b] += first.commands;
            }
        CHECK(phx_sim_root(sim) == root);
        /* The world moves on by one bot's commands. */
        first.used = 0;
        phx_bot_find("wander")->run(sim, (uint8_t)(tick % 8), tick, record, &first);
        const PhxCommand command = {
            .slot = (uint8_t)(tick % 8), .size = (uint32_t)first.used, .bytes = first.bytes};
        CHECK_OK(phx_sim_step(sim, &command, first.used > 0));
        phx_sim_destroy(twin);
    }
    for (uint32_t b = 0; b < bot_count; b++) {
        if (strcmp(bots[b].name, "idle") == 0) CHECK_EQ(given[b], 0);
        if (strcmp(bots[b].name, "corner") == 0)
            CHECK_EQ(given[b], 8); /* twelve units are one group; at tick 0 only */
        if (strcmp(bots[b].name, "wander") == 0) CHECK_EQ(given[b], 8 * 10);
        if (strcmp(bots[b].name, "mason") == 0) CHECK(given[b] > 8 * 10 + 5); /* wanders too */
    }
    phx_sim_destroy(sim);
    phx_scenario_unload(&file);
}
