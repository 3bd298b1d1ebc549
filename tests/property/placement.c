/* placement.c: the question what a building would do, against brute force: every cell looked at, every way
 * flooded before and after, on random maps with walls, kinds of ground, slopes, gates and units of several
 * sizes. By default 100 maps, under a sanitizer 50, with PHX_LONG=1 1,000.
 */
#include <phalanx/building.h>
#include <phalanx/content.h>
#include <stdlib.h>

#include "harness.h"
#include "nav/components.h"
#include "step/sim_internal.h"

enum { TYPES = 4, PLAYERS = 3, SIDE_MOST = 150 };

typedef struct Scene {
    uint64_t seed;
    uint32_t width, height;
    PhxSim *sim;
    uint32_t sequence;
} Scene;

static uint32_t pick(Scene *scene, uint32_t low, uint32_t high) {
    return (uint32_t)test_range(&scene->seed, low, high);
}

/* Rooms with doors, and noise in between. */
static void fill_ground(Scene *scene, uint8_t *cost, uint8_t *kind, uint8_t *heights) {
    const uint32_t room = pick(scene, 6, 24), noise = pick(scene, 0, pick(scene, 0, 2) ? 2 : 25);
    const size_t cells = (size_t)scene->width * scene->height;
    for (size_t c = 0; c < cells; c++) {
        const uint32_t x = (uint32_t)(c % scene->width), y = (uint32_t)(c / scene->width);
        const bool wall = (x % room == room - 1 && y % room > 3) || (y % room == room - 1 && x % room > 2);
        cost[c] = wall || pick(scene, 0, 99) < noise ? 255 : (uint8_t)pick(scene, 1, 254);
        kind[c] = pick(scene, 0, 39) == 0 ? 3 : 0;
        heights[c] = pick(scene, 0, 59) == 0 ? 9 : 0;
    }
}

/* Types 0 to 3 are of radius 0.4, 0.9, 1.2 and 2.2; odd ones can't pass kind 3, the last no slope over 5. */
static void add_types(PhxContentBuilder *builder) {
    static const fix16_t radius[TYPES] = {26214, 58982, 78643, 144179};
    static const char *const name[TYPES] = {"a", "b", "c", "d"};
    PhxError error = {0};
    for (int i = 0; i < TYPES; i++) {
        PhxUnitTypeDef def = phx_content_unit_type_default();
        PhxCostProfile profile = {.slope_limit = i == TYPES - 1 ? 5 : 0, .margin_cost = 3, .margin_width = 2};
        uint16_t type;
        if (i % 2 == 1) profile.kind_percent[3] = 255;
        CHECK_OK(phx_content_add_profile(builder, name[i], &profile, &def.profile, &error));
        def.name = name[i], def.radius = radius[i];
        CHECK_OK(phx_content_add_unit_type(builder, &def, &type, &error));
    }
}

static Scene make_scene(const PhxSimConfig *config, uint64_t seed) {
    const PhxSettings settings = {seed, 20, 1, 2};
    Scene scene = {.seed = seed};
    PhxContentBuilder *builder;
    PhxError error = {0};
    scene.width = pick(&scene, 1, SIDE_MOST), scene.height = pick(&scene, 1, SIDE_MOST);
    const size_t cells = (size_t)scene.width * scene.height;
    uint8_t *cost = malloc(3 * cells);
    fill_ground(&scene, cost, cost + cells, cost + 2 * cells);
    CHECK_OK(phx_content_begin(&settings, scene.width, scene.height, cost, 60, 16, &builder, &error));
    CHECK_OK(phx_content_set_kinds(builder, cost + cells, &error));
    CHECK_OK(phx_content_set_heights(builder, cost + 2 * cells, &error));
    for (uint8_t p = 0; p < PLAYERS; p++) CHECK_OK(phx_content_add_player(builder, "p", p, &error));
    add_types(builder);
    for (int i = 0; i < 60; i++) { /* where one doesn't fit, none stands */
        const uint16_t type = (uint16_t)pick(&scene, 0, TYPES - 1);
        const uint8_t player = (uint8_t)pick(&scene, 0, PLAYERS - 1);
        const fix16_t x = (fix16_t)pick(&scene, 0, scene.width << 16);
        const fix16_t y = (fix16_t)pick(&scene, 0, scene.height << 16);
        (void)!phx_content_add_unit(builder, type, player, x, y, 0, &error);
    }
    size_t size = phx_content_size(builder);
    uint8_t *blob = malloc(size);
    CHECK_OK(phx_content_write(builder, blob, size, &size));
    phx_content_end(builder);
    CHECK_THAT(phx_sim_create(config, blob, size, NULL, &scene.sim, &error) == PHX_OK, "%s", error.text);
    free(blob);
    free(cost);
    return scene;
}

static PhxBuildingInfo random_building(Scene *scene) {
    PhxBuildingInfo building = {.gate = pick(scene, 0, 3) == 0};
    const int32_t across = (int32_t)pick(scene, 1, pick(scene, 0, 9) ? 5 : 64);
    const int32_t down = (int32_t)pick(scene, 1, pick(scene, 0, 9) ? 5 : 64);
    const int32_t x = (int32_t)pick(scene, 0, scene->width);
    const int32_t y = (int32_t)pick(scene, 0, scene->height);
    building.cells = (PhxCellRect){x, y, x + across, y + down};
    building.player = (uint8_t)pick(scene, 0, pick(scene, 0, 9) ? PLAYERS - 1 : PLAYERS);
    building.open_teams = (uint16_t)(1u << pick(scene, 0, PLAYERS));
    return building;
}

static PhxPlacementReason naive_reason(const Scene *scene, const PhxBuildingInfo *building) {
    const PhxCellRect cells = building->cells;
    const PhxNavGrid map = phx_sim_map(scene->sim);
    PhxPlayerInfo player;
    if (!phx_sim_player(scene->sim, building->player, &player) || player.left) return PHX_PLACEMENT_PLAYER;
    if (cells.x1 > (int32_t)scene->width || cells.y1 > (int32_t)scene->height) return PHX_PLACEMENT_OUTSIDE;
    bool wall = false, built = false;
    for (int32_t y = cells.y0; y < cells.y1; y++)
        for (int32_t x = cells.x0; x < cells.x1; x++) {
            wall |= map.cost[y * (int32_t)scene->width + x] == 255;
            built |= phx_sim_building_at(scene->sim, x, y) != PHX_HANDLE_NONE;
        }
    return wall ? PHX_PLACEMENT_GROUND : built ? PHX_PLACEMENT_OCCUPIED : PHX_PLACEMENT_LEGAL;
}

/* Whom a building would displace, in doubles (exact: products of 2^-16 below 2^53). */
static uint32_t naive_displaced(const Scene *scene, const PhxBuildingInfo *building, PhxHandle *list) {
    const PhxUnitView units = phx_sim_units(scene->sim);
    uint32_t count = 0;
    for (uint32_t u = 0; u < units.used; u++) {
        PhxPlayerInfo player;
        PhxUnitTypeInfo type;
        if (!(units.generation[u] & 1)) continue;
        CHECK(phx_sim_player(scene->sim, units.player[u], &player));
        CHECK(phx_sim_unit_type(scene->sim, units.type[u], &type));
        if (building->gate && building->open_teams >> player.team & 1) continue;
        const double x = units.pos_x[u] / 65536.0, y = units.pos_y[u] / 65536.0, r = type.radius / 65536.0;
        const double nx = x < building->cells.x0   ? building->cells.x0
                          : x > building->cells.x1 ? building->cells.x1
                                                   : x;
        const double ny = y < building->cells.y0   ? building->cells.y0
                          : y > building->cells.y1 ? building->cells.y1
                                                   : y;
        if ((x - nx) * (x - nx) + (y - ny) * (y - ny) >= r * r) continue;
        list[count++] = phx_sim_unit_handle(scene->sim, u);
    }
    return count;
}

typedef struct Layer {
    uint8_t *plane;
    uint32_t *part;
} Layer;

/* The layer of a type and team, with one building more, and its connected parts. */
static Layer naive_layer(const Scene *scene, uint32_t type, uint32_t team, const PhxBuildingInfo *extra) {
    const PhxWorld *world = scene->sim->world;
    const size_t cells = (size_t)scene->width * scene->height;
    const uint32_t row = world->unit_type.profile[type];
    PhxCostBuilding buildings[256];
    PhxCostProfile profile = {.slope_limit = world->cost_profile.slope_limit[row]};
    uint32_t count = 0, largest;
    for (uint32_t b = 0; b < phx_sim_building_used(scene->sim); b++) {
        PhxBuildingInfo info;
        if (phx_sim_building(scene->sim, phx_sim_building_handle(scene->sim, b), &info))
            buildings[count++] = (PhxCostBuilding){info.cells, info.open_teams};
    }
    if (extra) buildings[count++] = (PhxCostBuilding){extra->cells, extra->gate ? extra->open_teams : 0};
    memcpy(profile.kind_percent, world->cost_profile.kind_percent + (size_t)row * PHX_COST_KINDS,
           PHX_COST_KINDS);
    const PhxCostSources sources = {.width = scene->width,
                                    .height = scene->height,
                                    .ground = world->terrain.cost,
                                    .kind = world->terrain.kind,
                                    .height_map = world->terrain.height,
                                    .buildings = buildings,
                                    .building_count = count};
    Layer layer = {malloc(cells), malloc(cells * sizeof(uint32_t))};
    uint32_t *stack = malloc(cells * sizeof *stack);
    phx_cost_compose(&sources, &profile, team, phx_cost_size_of(world->unit_type.radius[type]),
                     (PhxCellRect){0, 0, (int32_t)scene->width, (int32_t)scene->height}, layer.plane);
    const PhxNavGrid grid = {scene->width, scene->height, layer.plane};
    phx_components_build(&grid, layer.part, stack, &largest);
    free(stack);
    return layer;
}

static uint64_t naive_sealed(const Scene *scene, const PhxPlacementQuestion *question) {
    const Layer before = naive_layer(scene, question->unit_type, question->team, NULL),
                after = naive_layer(scene, question->unit_type, question->team, &question->building);
    const uint32_t size = phx_cost_size_of(scene->sim->world->unit_type.radius[question->unit_type]);
    const PhxNavGrid grid = {scene->width, scene->height, before.plane};
    uint32_t at[PHX_PLACEMENT_PLACE_LIMIT];
    uint64_t sealed = 0;
    for (uint32_t i = 0; i < question->place_count; i++) {
        at[i] = phx_cost_cell_of(&grid, size, question->places[i].x, question->places[i].y);
        if (before.plane[at[i]] == 255) continue;
        if (after.plane[at[i]] == 255) {
            sealed |= (uint64_t)1 << i;
            continue;
        }
        uint32_t first = 0;
        while (before.part[at[first]] != before.part[at[i]] || after.plane[at[first]] == 255) first++;
        if (after.part[at[first]] != after.part[at[i]]) sealed |= (uint64_t)1 << i;
    }
    free(before.plane), free(before.part), free(after.plane), free(after.part);
    return sealed;
}

static fix16_t random_axis(Scene *scene, int32_t building, uint32_t side, bool near) {
    int32_t cell = near ? building + (int32_t)pick(scene, 0, 16) - 8 : (int32_t)pick(scene, 0, side);
    cell = cell < 0 ? 0 : cell >= (int32_t)side ? (int32_t)side - 1 : cell;
    return cell * 65536 + (fix16_t)pick(scene, 0, 65535);
}

static PhxVec2 random_place(Scene *scene, const PhxBuildingInfo *building) {
    const bool near = pick(scene, 0, 2) > 0; /* so that some are in pockets */
    const fix16_t x = random_axis(scene, building->cells.x0, scene->width, near);
    const fix16_t y = random_axis(scene, building->cells.y0, scene->height, near);
    return phx_vec2(x, y);
}

typedef struct Counts {
    uint32_t reason[PHX_PLACEMENT_REASON_COUNT], displaced, sealed, covered_none;
} Counts;

static PhxPlacement ask(Scene *scene, const PhxBuildingInfo *building, Counts *counts) {
    PhxVec2 places[PHX_PLACEMENT_PLACE_LIMIT];
    PhxHandle displaced[64], expected[64];
    PhxPlacementQuestion question = {.building = *building, .places = places, .displaced = displaced};
    question.unit_type = (uint16_t)pick(scene, 0, TYPES - 1);
    question.team = (uint8_t)pick(scene, 0, PLAYERS);
    question.place_count = pick(scene, 0, pick(scene, 0, 9) ? 8 : 64);
    question.displaced_capacity = pick(scene, 0, 3) ? 64 : 2;
    const uint64_t start = scene->seed;
    for (uint32_t i = 0; i < question.place_count; i++) places[i] = random_place(scene, building);
    PhxPlacement answer;
    CHECK_OK(phx_sim_placement(scene->sim, &question, &answer));
    CHECK_THAT(answer.reason == naive_reason(scene, building), "seed %" PRIu64 ": %s", start,
               phx_placement_reason_text(answer.reason));
    counts->reason[answer.reason]++;
    if (answer.reason != PHX_PLACEMENT_LEGAL) {
        CHECK(answer.displaced_count == 0 && answer.sealed == 0);
        return answer;
    }
    const uint32_t count = naive_displaced(scene, building, expected);
    CHECK_THAT(answer.displaced_count == count, "seed %" PRIu64 ": %u, not %u", start, answer.displaced_count,
               count);
    for (uint32_t i = 0; i < count && i < question.displaced_capacity; i++)
        CHECK(displaced[i] == expected[i]);
    const uint64_t sealed = naive_sealed(scene, &question);
    CHECK_THAT(answer.sealed == sealed,
               "seed %" PRIu64 ", %ux%u, building %d,%d to %d,%d, type %u: %" PRIx64 ", not %" PRIx64, start,
               scene->width, scene->height, building->cells.x0, building->cells.y0, building->cells.x1,
               building->cells.y1, question.unit_type, answer.sealed, sealed);
    counts->displaced += count > 0;
    counts->sealed += sealed != 0;
    return answer;
}

/* The command does what the question said. */
static void place(Scene *scene, const PhxBuildingInfo *building, PhxPlacementReason expected) {
    const PhxCommandData data = {.type = PHX_COMMAND_PLACE,
                                 .cell_x = (uint16_t)building->cells.x0,
                                 .cell_y = (uint16_t)building->cells.y0,
                                 .width = (uint16_t)(building->cells.x1 - building->cells.x0),
                                 .height = (uint16_t)(building->cells.y1 - building->cells.y0),
                                 .gate = building->gate};
    uint8_t bytes[32];
    size_t size;
    uint32_t count;
    CHECK_OK(phx_command_encode(&data, bytes, sizeof bytes, &size));
    const PhxCommand command = {building->player, scene->sequence++, (uint32_t)size, bytes};
    CHECK_OK(phx_sim_step(scene->sim, &command, 1));
    const PhxEvent *events = phx_sim_events(scene->sim, &count);
    if (expected == PHX_PLACEMENT_PLAYER) { /* who doesn't play gives no commands */
        CHECK_EQ(count, 0);
        return;
    }
    CHECK(count > 0 && events[0].player == building->player);
    CHECK_EQ(events[0].kind, expected == PHX_PLACEMENT_LEGAL ? PHX_EVENT_BUILT : PHX_EVENT_REFUSED);
    CHECK_EQ(events[0].reason, expected);
    if (expected == PHX_PLACEMENT_LEGAL)
        CHECK(phx_sim_building_at(scene->sim, building->cells.x1 - 1, building->cells.y1 - 1) ==
              events[0].building);
}

PHX_TEST(placement, what_is_told_beforehand_is_what_brute_force_finds_and_what_happens) {
    const uint32_t scenes = test_count(50, 100, 1000);
    Counts counts = {{0}, 0, 0, 0};
    for (uint64_t seed = 1; seed <= scenes; seed++) {
        Scene scene = make_scene(&(PhxSimConfig){0}, seed);
        Scene unasked = scene; /* the same match, in which nobody asks */
        CHECK_OK(phx_sim_clone(scene.sim, &unasked.sim));
        for (int i = 0; i < 20; i++) {
            const PhxBuildingInfo building = random_building(&scene);
            const uint64_t root = phx_sim_root(scene.sim);
            const PhxPlacement answer = ask(&scene, &building, &counts);
            phx_sim_refresh_hashes(scene.sim);
            CHECK(phx_sim_root(scene.sim) == root && phx_sim_diff(scene.sim, unasked.sim, NULL, 0) == 0);
            if (i % 2 == 1) continue;
            place(&scene, &building, answer.reason);
            place(&unasked, &building, answer.reason);
            CHECK_EQ(phx_sim_root(scene.sim), phx_sim_root(unasked.sim));
        }
        phx_sim_destroy(unasked.sim);
        phx_sim_destroy(scene.sim);
    }
    printf("legal %u, off the map %u, on walls %u, on buildings %u; displacing %u, sealing %u\n",
           counts.reason[PHX_PLACEMENT_LEGAL], counts.reason[PHX_PLACEMENT_OUTSIDE],
           counts.reason[PHX_PLACEMENT_GROUND], counts.reason[PHX_PLACEMENT_OCCUPIED], counts.displaced,
           counts.sealed);
    CHECK(counts.reason[PHX_PLACEMENT_LEGAL] > 3 * scenes &&
          counts.reason[PHX_PLACEMENT_PLAYER] > scenes / 10);
    CHECK(counts.reason[PHX_PLACEMENT_OUTSIDE] > scenes / 2 &&
          counts.reason[PHX_PLACEMENT_GROUND] > scenes / 2);
    CHECK(counts.reason[PHX_PLACEMENT_OCCUPIED] > scenes / 10);
    CHECK(counts.displaced > scenes * 3 / 10 && counts.sealed > scenes * 7 / 10);
}

/* An allocator that gives only so many more blocks, and counts the bytes that are out. */
typedef struct Purse {
    uint32_t left;
    size_t out;
} Purse;

static void *take_from(void *user, size_t size) {
    Purse *purse = user;
    if (purse->left == 0) return NULL;
    purse->left--;
    purse->out += size;
    return aligned_alloc(64, (size + 63) & ~(size_t)63);
}

static void give_back(void *user, void *memory, size_t size) {
    ((Purse *)user)->out -= size;
    free(memory);
}

PHX_TEST(placement, bad_questions_and_a_lack_of_memory_give_a_status_and_leave_nothing_behind) {
    Purse purse = {UINT32_MAX, 0};
    const PhxVec2 places[] = {{0, 0}, {1 << 16, 1 << 16}, {-1, 0}};
    PhxPlacement answer;
    const uint32_t scenes = test_count(8, 30, 30);
    uint32_t short_of = 0, sealed = 0;
    for (uint64_t seed = 1; seed <= scenes; seed++) {
        purse = (Purse){UINT32_MAX, 0};
        Scene scene = make_scene(&(PhxSimConfig){.allocator = {take_from, give_back, &purse}}, seed);
        PhxVec2 near[8];
        PhxPlacementQuestion question = {.places = near, .place_count = 8};
        for (int i = 0; i < 20; i++) {
            const size_t out = purse.out;
            PhxStatus status = PHX_ERROR_MEMORY;
            question.building = random_building(&scene);
            for (int p = 0; p < 8; p++) near[p] = random_place(&scene, &question.building);
            for (uint32_t given = 0; status == PHX_ERROR_MEMORY; given++) {
                purse.left = given;
                status = phx_sim_placement(scene.sim, &question, &answer);
                CHECK_EQ(purse.out, out);
                short_of += status == PHX_ERROR_MEMORY;
            }
            CHECK_OK(status);
            sealed += answer.sealed != 0;
        }
        purse.left = UINT32_MAX;
        question = (PhxPlacementQuestion){.places = places, .place_count = 3};
        CHECK_EQ(phx_sim_placement(scene.sim, &question, &answer), PHX_ERROR_RANGE);
        question.place_count = PHX_PLACEMENT_PLACE_LIMIT + 1;
        CHECK_EQ(phx_sim_placement(scene.sim, &question, &answer), PHX_ERROR_LIMIT);
        question.place_count = 1, question.unit_type = TYPES;
        CHECK_EQ(phx_sim_placement(scene.sim, &question, &answer), PHX_ERROR_RANGE);
        question.unit_type = 0, question.team = 16;
        CHECK_EQ(phx_sim_placement(scene.sim, &question, &answer), PHX_ERROR_RANGE);
        question.team = 0; /* a footprint that says nothing, or too much */
        CHECK(phx_sim_placement(scene.sim, &question, &answer) == PHX_OK &&
              answer.reason == PHX_PLACEMENT_SIZE);
        question.building.cells = (PhxCellRect){INT32_MIN, 0, INT32_MAX, 4};
        CHECK(phx_sim_placement(scene.sim, &question, &answer) == PHX_OK &&
              answer.reason == PHX_PLACEMENT_SIZE);
        question.building.cells = (PhxCellRect){INT32_MAX - 1, -5, INT32_MAX, 4};
        CHECK(phx_sim_placement(scene.sim, &question, &answer) == PHX_OK &&
              answer.reason == PHX_PLACEMENT_OUTSIDE);
        phx_sim_destroy(scene.sim);
        CHECK_EQ(purse.out, 0);
    }
    CHECK(short_of > 10 * scenes && sealed > scenes / 6);
    CHECK_STR(phx_placement_reason_text(PHX_PLACEMENT_OCCUPIED), "another building stands there");
    CHECK_STR(phx_placement_reason_text(PHX_PLACEMENT_REASON_COUNT), "unknown");
}
