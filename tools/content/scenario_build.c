/* scenario_build.c: a parsed scenario and its map to placed units and a content blob. See scenario.h.
 *
 * On the scenario's own map a block stands where `at` says, and a unit in a wall is the author's mistake. On
 * a foreign map every group, and every goal, goes to the nearest place of the largest piece of ground on
 * which the widest body of its profile can walk, so that all groups of a profile can reach each other.
 * Corners and scattered groups use that piece on any map. Nobody begins in a building, nor in an open gate.
 */
#include "content/placer.h"
#include "content/scenario.h"

#include <phalanx/cost.h>
#include <phalanx/rng.h>
#include <stdio.h>
#include <stdlib.h>

/* Purposes of random draws: one for each group and each order. */
enum { PURPOSE_GROUP = 0x53430000, PURPOSE_ORDER = 0x53440000 };

/* Where units of a profile may begin: what is closed to them is PHX_NAV_IMPASSABLE. */
typedef struct Site {
    const uint8_t *cost; /* null: not opened yet */
    uint8_t *own;        /* cost, where it isn't the map's */
    PhxGround *ground;   /* for the widest body; null where nothing needs it */
} Site;

typedef struct Build {
    PhxScenario *scenario;
    PhxNavGrid grid;
    Site sites[PHX_SCENARIO_PROFILE_LIMIT + 1]; /* by slot of the profile */
    PhxPlacer placer;
    PhxYamlError *error;
} Build;

static PhxStatus fail_file(const Build *build, PhxStatus status, const char *what) {
    return phx_yaml_fail(build->error, status, build->scenario->file, 0, 0, "%s: %s", what,
                         phx_status_text(status));
}

/* The map that units are placed on: with another map's path given, not the one that the scenario names. */
static const char *map_name(const Build *build) {
    const PhxScenario *scenario = build->scenario;
    return scenario->map_file[0] ? scenario->map_file : scenario->map;
}

static const char *group_name(const PhxScenarioGroup *group) {
    return group->name[0] ? group->name : "(unnamed)";
}

static PhxStatus fail_room(const Build *build, const PhxScenarioGroup *group, PhxStatus status) {
    if (status != PHX_ERROR_NOT_FOUND) return fail_file(build, status, "placing units");
    return phx_yaml_fail(
        build->error, status, build->scenario->file, group->line, group->column,
        "group \"%s\": count: %u: the map %.160s has no room for so many; take fewer units or less spacing",
        group_name(group), group->count, map_name(build));
}

static fix16_t clamp(int64_t value, int64_t low, int64_t high) {
    return (fix16_t)(value < low ? low : value > high ? high : value);
}

/* A rectangle cut to the map; one that misses a foreign map becomes the whole map. */
static bool scatter_bounds(const Build *build, const PhxPlace *place, PhxVec2 *low, PhxVec2 *high) {
    const int64_t width = (int64_t)build->grid.width * PHX_FIX_ONE,
                  height = (int64_t)build->grid.height * PHX_FIX_ONE;
    *low = (PhxVec2){clamp(place->x, 0, width), clamp(place->y, 0, height)};
    *high = (PhxVec2){clamp(place->high_x, 0, width), clamp(place->high_y, 0, height)};
    if (high->x - low->x >= PHX_FIX_ONE && high->y - low->y >= PHX_FIX_ONE) return true;
    *low = (PhxVec2){0, 0};
    *high = (PhxVec2){(fix16_t)width, (fix16_t)height};
    return build->scenario->foreign_map;
}

/* Unit i of a block around its centre. */
static PhxVec2 block_position(const PhxScenarioGroup *group, fix16_t spacing, uint32_t i, bool *inside) {
    const uint32_t columns = group->columns ? group->columns : phx_isqrt64(group->count - 1) + 1;
    const uint32_t rows = (group->count + columns - 1) / columns;
    const uint32_t used = columns < group->count ? columns : group->count;
    const int64_t right = 2 * (int64_t)(i % columns) - (int64_t)(used - 1);
    const int64_t down = 2 * (int64_t)(i / columns) - (int64_t)(rows - 1);
    const int64_t x = group->place.x + phx_div_round(right * spacing, 2);
    const int64_t y = group->place.y + phx_div_round(down * spacing, 2);
    *inside = x >= 0 && y >= 0 && x < (int64_t)1 << 29 && y < (int64_t)1 << 29;
    return *inside ? (PhxVec2){(fix16_t)x, (fix16_t)y} : (PhxVec2){0, 0};
}

/* A unit that can't stand where its block puts it. `at`: null where it would be beyond all maps. */
static PhxStatus fail_unit(const Build *build, const PhxScenarioGroup *group, uint32_t unit,
                           const PhxVec2 *at) {
    char x[PHX_FIX_TEXT], y[PHX_FIX_TEXT], where[2 * PHX_FIX_TEXT + 16] = "";
    if (at != NULL) {
        phx_fix_format(at->x, x, sizeof x);
        phx_fix_format(at->y, y, sizeof y);
        snprintf(where, sizeof where, " at [%s, %s]", x, y);
    }
    phx_fix_format(group->place.x, x, sizeof x);
    phx_fix_format(group->place.y, y, sizeof y);
    return phx_yaml_fail(build->error, PHX_ERROR_RANGE, build->scenario->file, group->line, group->column,
                         "group \"%s\" at [%s, %s]: unit %u of %u%s is off the map %.160s or touches "
                         "impassable ground: move the group, or give a corner instead of at",
                         group_name(group), x, y, unit, group->count, where, map_name(build));
}

static bool needs_ground(const PhxScenario *scenario) {
    if (scenario->foreign_map) return true;
    for (uint32_t i = 0; i < scenario->group_count; i++)
        if (scenario->groups[i].place.kind != PHX_PLACE_POINT) return true;
    for (uint32_t i = 0; i < scenario->order_count; i++)
        if (scenario->orders[i].kind == PHX_SCENARIO_MOVE && scenario->orders[i].goal.kind != PHX_PLACE_POINT)
            return true;
    return false;
}

/* The map as units of a profile find it, with every building and gate shut. */
static PhxStatus close_cells(Build *build, uint32_t profile, Site *site) {
    const PhxScenario *scenario = build->scenario;
    const uint32_t buildings = scenario->foreign_map ? 0 : scenario->building_count;
    site->cost = build->grid.cost;
    if (profile == 0 && buildings == 0) return PHX_OK;
    site->own = malloc((size_t)build->grid.width * build->grid.height);
    PhxCostBuilding *shut = calloc(buildings + 1, sizeof *shut);
    if (site->own == NULL || shut == NULL) {
        free(shut);
        return fail_file(build, PHX_ERROR_MEMORY, "placing units");
    }
    for (uint32_t i = 0; i < buildings; i++) {
        const PhxBuildingDef *def = &scenario->buildings[i].def;
        shut[i].cells = (PhxCellRect){def->x, def->y, def->x + def->width, def->y + def->height};
    }
    const PhxCostProfile plain = {0};
    const PhxCostSources sources = {.width = build->grid.width,
                                    .height = build->grid.height,
                                    .ground = build->grid.cost,
                                    .kind = scenario->kind_grid,
                                    .height_map = scenario->foreign_map ? NULL : scenario->height_grid,
                                    .buildings = shut,
                                    .building_count = buildings};
    const PhxCellRect all = {0, 0, (int32_t)build->grid.width, (int32_t)build->grid.height};
    phx_cost_compose(&sources, profile ? &scenario->profiles[profile - 1].def : &plain, 0, 1, all, site->own);
    site->cost = site->own;
    free(shut);
    return PHX_OK;
}

/* The site of a profile, made at its first use. */
static PhxStatus open_site(Build *build, uint32_t profile, const Site **out) {
    const PhxScenario *scenario = build->scenario;
    Site *site = &build->sites[profile];
    *out = site;
    if (site->cost != NULL) return PHX_OK;
    PhxStatus status = close_cells(build, profile, site);
    if (status != PHX_OK || !needs_ground(scenario)) return status;
    fix16_t radius = 0;
    for (uint32_t i = 0; i < scenario->group_count; i++) {
        const PhxUnitTypeDef *type = &scenario->types[scenario->groups[i].type];
        if (type->profile == profile && type->radius > radius) radius = type->radius;
    }
    const PhxNavGrid grid = {build->grid.width, build->grid.height, site->cost};
    status = phx_ground_create(&grid, radius, &site->ground);
    if (status != PHX_OK) return fail_file(build, status, "the map's ground");
    if (site->ground->largest != 0) return PHX_OK;
    if (profile == 0)
        return phx_yaml_fail(build->error, PHX_ERROR_NOT_FOUND, scenario->file, 0, 0,
                             "map: %s: no unit fits anywhere on this map", map_name(build));
    return phx_yaml_fail(build->error, PHX_ERROR_NOT_FOUND, scenario->file, 0, 0,
                         "map: %s: no unit of profile \"%s\" fits anywhere on this map", map_name(build),
                         scenario->profiles[profile - 1].name);
}

static PhxStatus place_block(Build *build, const PhxScenarioGroup *group, fix16_t radius, fix16_t spacing) {
    for (uint32_t i = 0; i < group->count; i++) {
        bool inside;
        const PhxVec2 at = block_position(group, spacing, i, &inside);
        if (!inside || !phx_placer_fits(&build->placer.grid, at, radius))
            return fail_unit(build, group, i, inside ? &at : NULL);
        phx_placer_put(&build->placer, at);
    }
    return PHX_OK;
}

static PhxStatus place_group(Build *build, PhxScenarioGroup *group, uint32_t index) {
    const PhxScenario *scenario = build->scenario;
    const PhxPlace *place = &group->place;
    const fix16_t radius = scenario->types[group->type].radius;
    const fix16_t spacing = group->spacing < 0 ? 3 * radius : group->spacing;
    const fix16_t apart = spacing > 2 * radius ? spacing : 2 * radius;
    const Site *site = NULL;
    PhxStatus status = open_site(build, scenario->types[group->type].profile, &site);
    if (status != PHX_OK) return status;
    build->placer.grid.cost = site->cost;
    build->placer.ground = site->ground;
    group->first_unit = build->placer.count;
    if (place->kind == PHX_PLACE_POINT && !scenario->foreign_map)
        return place_block(build, group, radius, spacing);
    if (place->kind == PHX_PLACE_SCATTER) {
        PhxVec2 low, high;
        if (!scatter_bounds(build, place, &low, &high)) return fail_room(build, group, PHX_ERROR_NOT_FOUND);
        status = phx_placer_scatter(&build->placer, low, high, group->count, radius,
                                    group->spacing < 0 ? 2 * radius + 256 : apart,
                                    scenario->settings.match_key, PURPOSE_GROUP + index);
    } else {
        const uint32_t from =
            place->kind == PHX_PLACE_CORNER
                ? phx_ground_corner(site->ground, site->ground->largest, place->corner)
                : phx_ground_nearest(site->ground, site->ground->largest, place->x, place->y);
        status = phx_placer_spread(&build->placer, from, group->count, apart);
    }
    return status == PHX_OK ? PHX_OK : fail_room(build, group, status);
}

/* Goals of units of their own: apart from each other like bodies. */
static PhxStatus scatter_goals(Build *build, PhxScenarioOrder *order, uint32_t index, const Site *site) {
    PhxScenario *scenario = build->scenario;
    uint32_t units = 0;
    fix16_t radius = 0;
    for (uint32_t i = 0; i < order->group_count; i++) {
        const PhxScenarioGroup *group = &scenario->groups[scenario->group_list[order->first_group + i]];
        const fix16_t own = scenario->types[group->type].radius;
        if (own > radius) radius = own;
        units += group->count;
    }
    PhxVec2 low, high;
    const bool on_map = scatter_bounds(build, &order->goal, &low, &high);
    if (!on_map || units > PHX_SCENARIO_GOAL_LIMIT - scenario->goal_count)
        return phx_yaml_fail(build->error, on_map ? PHX_ERROR_LIMIT : PHX_ERROR_RANGE, scenario->file,
                             order->line, order->column, "scatter: %s",
                             on_map ? "too many goals in all orders" : "it misses the map");
    PhxVec2 *larger = realloc(scenario->goals, (scenario->goal_count + units + 1) * sizeof *larger);
    if (larger == NULL) return fail_file(build, PHX_ERROR_MEMORY, "goals");
    scenario->goals = larger;
    PhxPlacer placer;
    const PhxNavGrid grid = {build->grid.width, build->grid.height, site->cost};
    PhxStatus status = phx_placer_begin(&placer, &grid, site->ground, units);
    if (status != PHX_OK) return fail_file(build, status, "goals");
    status = phx_placer_scatter(&placer, low, high, units, radius, 2 * radius + 256,
                                scenario->settings.match_key, PURPOSE_ORDER + index);
    order->first_goal = scenario->goal_count;
    for (uint32_t i = 0; i < placer.count; i++) scenario->goals[scenario->goal_count++] = placer.at[i];
    phx_placer_end(&placer);
    if (status == PHX_OK) return PHX_OK;
    return phx_yaml_fail(build->error, status, scenario->file, order->line, order->column,
                         "scatter: the rectangle has no room for the goals of %u units", units);
}

/* The site of the first group of an order; of all orders without one, that of the first group. */
static PhxStatus order_site(Build *build, const PhxScenarioOrder *order, const Site **out) {
    const PhxScenario *scenario = build->scenario;
    const uint32_t group = order->group_count ? scenario->group_list[order->first_group] : 0;
    return open_site(build, scenario->types[scenario->groups[group].type].profile, out);
}

/* The key under which an order's goal stands. */
static const char *goal_key(PhxScenarioOrderKind kind) {
    return kind == PHX_SCENARIO_AREA      ? "area"
           : kind == PHX_SCENARIO_NEAREST ? "nearest"
           : kind == PHX_SCENARIO_BLEND   ? "blend"
           : kind == PHX_SCENARIO_FORM    ? "form"
           : kind == PHX_SCENARIO_MARCH   ? "march"
                                          : "move";
}

/* Cells of the scenario's own map; on another map such orders are left out. */
static PhxStatus check_cells(const Build *build, const PhxScenarioOrder *order) {
    const uint32_t width = build->grid.width, height = build->grid.height;
    if (build->scenario->foreign_map) return PHX_OK;
    if ((uint32_t)order->cell_x + order->width <= width && (uint32_t)order->cell_y + order->height <= height)
        return PHX_OK;
    return phx_yaml_fail(build->error, PHX_ERROR_RANGE, build->scenario->file, order->line, order->column,
                         "at: %u x %u cells at %u,%u leave the map %.160s of %u x %u", order->width,
                         order->height, order->cell_x, order->cell_y, map_name(build), width, height);
}

/* A goal at home has to lie on the map; abroad it goes to the nearest ground. */
static PhxStatus resolve_goal(const Build *build, const PhxScenarioOrder *order, const Site *site,
                              PhxPlace *goal) {
    const PhxScenario *scenario = build->scenario;
    const uint32_t largest = site->ground ? site->ground->largest : 0;
    uint32_t cell = PHX_NAV_NO_CELL;
    if (goal->kind == PHX_PLACE_CORNER)
        cell = phx_ground_corner(site->ground, largest, goal->corner);
    else if (scenario->foreign_map)
        cell = phx_ground_nearest(site->ground, largest, goal->x, goal->y);
    if (cell != PHX_NAV_NO_CELL) {
        const PhxVec2 at = phx_nav_cell_center(&build->grid, cell);
        goal->x = at.x;
        goal->y = at.y;
    }
    if (phx_nav_cell_at(&build->grid, goal->x, goal->y) != PHX_NAV_NO_CELL) return PHX_OK;
    return phx_yaml_fail(build->error, PHX_ERROR_RANGE, scenario->file, order->line, order->column,
                         "%s: the goal is off the map %.160s of %u x %u", goal_key(order->kind),
                         map_name(build), build->grid.width, build->grid.height);
}

static PhxStatus resolve_order(Build *build, PhxScenarioOrder *order, uint32_t index) {
    const Site *site = NULL;
    if (order->kind == PHX_SCENARIO_STOP || order->kind == PHX_SCENARIO_CHASE ||
        order->kind == PHX_SCENARIO_BEHAVE || order->kind == PHX_SCENARIO_FLOCK)
        return PHX_OK;
    if (order->kind >= PHX_SCENARIO_PLACE) return check_cells(build, order);
    PhxStatus status = order_site(build, order, &site);
    if (status != PHX_OK) return status;
    if (order->goal.kind == PHX_PLACE_SCATTER) return scatter_goals(build, order, index, site);
    if (order->point_count == 0) return resolve_goal(build, order, site, &order->goal);
    for (uint32_t i = 0; i < order->point_count && status == PHX_OK; i++) {
        PhxPlace goal = {.kind = PHX_PLACE_POINT, .x = order->points[i].x, .y = order->points[i].y};
        status = resolve_goal(build, order, site, &goal);
        order->points[i].x = goal.x;
        order->points[i].y = goal.y;
    }
    return status;
}

static PhxStatus place_all(Build *build) {
    PhxScenario *scenario = build->scenario;
    PhxStatus status = phx_placer_begin(&build->placer, &build->grid, NULL, scenario->unit_count);
    if (status != PHX_OK) return fail_file(build, status, "placing units");
    for (uint32_t i = 0; i < scenario->group_count && status == PHX_OK; i++)
        status = place_group(build, &scenario->groups[i], i);
    scenario->goal_count = 0;
    for (uint32_t i = 0; i < scenario->order_count && status == PHX_OK; i++)
        status = resolve_order(build, &scenario->orders[i], i);
    return status;
}

/* A fault that the content builder found. Line 0: of the file. */
static PhxStatus fail_content(const Build *build, PhxStatus status, uint32_t line, uint32_t column,
                              const PhxError *error) {
    if (status == PHX_OK) return PHX_OK;
    return phx_yaml_fail(build->error, status, build->scenario->file, line, column, "%s",
                         error->text[0] ? error->text : phx_status_text(status));
}

/* What lies on the scenario's own map. */
static PhxStatus add_map_features(const Build *build, PhxContentBuilder *builder) {
    const PhxScenario *scenario = build->scenario;
    PhxError error = {0};
    PhxStatus status = PHX_OK;
    if (scenario->foreign_map) return PHX_OK;
    if (scenario->height_grid)
        status = fail_content(build, phx_content_set_heights(builder, scenario->height_grid, &error), 0, 0,
                              &error);
    for (uint32_t i = 0; i < scenario->building_count && status == PHX_OK; i++) {
        const PhxScenarioBuilding *building = &scenario->buildings[i];
        status = fail_content(build, phx_content_add_building(builder, &building->def, &error),
                              building->line, building->column, &error);
    }
    for (uint32_t i = 0; i < scenario->modifier_count && status == PHX_OK; i++) {
        const PhxScenarioModifier *modifier = &scenario->modifiers[i];
        status = fail_content(build, phx_content_add_modifier(builder, &modifier->def, &error),
                              modifier->line, modifier->column, &error);
    }
    return status;
}

/* All but what lies on the map, and the units. */
static PhxStatus add_classes(const Build *build, PhxContentBuilder *builder) {
    const PhxScenario *scenario = build->scenario;
    PhxError error = {0};
    PhxStatus status = PHX_OK;
    uint16_t index;
    uint8_t slot;
    for (uint32_t i = 0; i < scenario->player_count && status == PHX_OK; i++)
        status =
            phx_content_add_player(builder, scenario->players[i].name, scenario->players[i].team, &error);
    if (status == PHX_OK && scenario->kind_grid)
        status = phx_content_set_kinds(builder, scenario->kind_grid, &error);
    if (status == PHX_OK) status = phx_content_set_density_period(builder, scenario->density_period, &error);
    for (uint32_t i = 0; i < scenario->profile_count && status == PHX_OK; i++)
        status = phx_content_add_profile(builder, scenario->profiles[i].name, &scenario->profiles[i].def,
                                         &slot, &error);
    for (uint32_t i = 0; i < scenario->type_count && status == PHX_OK; i++)
        status = phx_content_add_unit_type(builder, &scenario->types[i], &index, &error);
    for (uint32_t i = 0; i < scenario->pattern_count && status == PHX_OK; i++) {
        const PhxScenarioPattern *pattern = &scenario->patterns[i];
        status = phx_content_add_pattern(builder, pattern->name, pattern->slots, pattern->slot_count, &slot,
                                         &error);
        if (status != PHX_OK) return fail_content(build, status, pattern->line, pattern->column, &error);
    }
    return fail_content(build, status, 0, 0, &error);
}

static PhxStatus add_units(const Build *build, PhxContentBuilder *builder) {
    const PhxScenario *scenario = build->scenario;
    PhxError error = {0};
    PhxStatus status = PHX_OK;
    for (uint32_t i = 0; i < scenario->group_count && status == PHX_OK; i++) {
        const PhxScenarioGroup *group = &scenario->groups[i];
        for (uint32_t k = 0; k < group->count && status == PHX_OK; k++) {
            const PhxVec2 at = build->placer.at[group->first_unit + k];
            status =
                phx_content_add_unit(builder, group->type, group->player, at.x, at.y, group->facing, &error);
            if (status == PHX_OK)
                status = phx_content_set_behaviour(builder, group->first_unit + k, (PhxMood)group->mood,
                                                   (PhxBehaviour)group->behaviour, &error);
            if (status == PHX_OK)
                status = phx_content_set_flock(builder, group->first_unit + k, group->flock, &error);
        }
        status = fail_content(build, status, group->line, group->column, &error);
    }
    return status;
}

static PhxStatus write_blob(const Build *build, const PhxContentBuilder *builder, void **blob, size_t *size) {
    const size_t capacity = phx_content_size(builder);
    *blob = malloc(capacity);
    const PhxStatus status =
        *blob == NULL ? PHX_ERROR_MEMORY : phx_content_write(builder, *blob, capacity, size);
    if (status == PHX_OK) return PHX_OK;
    free(*blob);
    *blob = NULL;
    return fail_file(build, status, "the content");
}

static PhxStatus make_blob(Build *build, void **blob, size_t *size) {
    PhxScenario *scenario = build->scenario;
    if (scenario->unit_capacity == 0) scenario->unit_capacity = scenario->unit_count;
    if (scenario->order_capacity == 0)
        scenario->order_capacity = scenario->unit_count < 64 ? 64 : scenario->unit_count;
    PhxError error = {0};
    PhxContentBuilder *builder = NULL;
    PhxStatus status =
        phx_content_begin(&scenario->settings, build->grid.width, build->grid.height, build->grid.cost,
                          scenario->unit_capacity, scenario->order_capacity, &builder, &error);
    if (status != PHX_OK) return fail_content(build, status, 0, 0, &error);
    status = add_classes(build, builder);
    if (status == PHX_OK) status = add_map_features(build, builder);
    if (status == PHX_OK) status = place_all(build);
    if (status == PHX_OK) status = add_units(build, builder);
    if (status == PHX_OK) status = write_blob(build, builder, blob, size);
    phx_content_end(builder);
    return status;
}

PhxStatus phx_scenario_build(PhxScenario *scenario, const PhxNavGrid *map, void **blob, size_t *size,
                             PhxYamlError *error) {
    *blob = NULL;
    *size = 0;
    if (scenario->unit_capacity != 0 && scenario->unit_capacity < scenario->unit_count)
        return phx_yaml_fail(error, PHX_ERROR_RANGE, scenario->file, 0, 0,
                             "unit_capacity: %u: the groups have %u units; leave the key out, or raise it",
                             scenario->unit_capacity, scenario->unit_count);
    Build build = {.scenario = scenario, .grid = *map, .error = error};
    const PhxStatus status = make_blob(&build, blob, size);
    phx_placer_end(&build.placer);
    for (uint32_t i = 0; i <= PHX_SCENARIO_PROFILE_LIMIT; i++) {
        free(build.sites[i].own);
        phx_ground_destroy(build.sites[i].ground);
    }
    return status;
}
