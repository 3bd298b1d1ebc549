/* builder_ground.c: the parts of a content blob that say what ground costs: kinds, heights, profiles,
 * buildings, modifiers. See phalanx/content.h, and phalanx/cost.h for what they mean. Cost: linear in what is
 * given. Determinism: rows lie in the order in which they were added.
 */
#include "content/builder.h"

static PhxStatus fill_grid(PhxContentBuilder *builder, const char *name, uint8_t *column,
                           const uint8_t *values, uint8_t most, PhxError *error) {
    const PhxTable *terrain = &builder->world->tables[PHX_TABLE_terrain];
    if (!values) return phx_error_set(error, PHX_ERROR_ARGUMENT, 0, "terrain.%s: no values", name);
    for (uint32_t c = 0; c < terrain->capacity; c++)
        if (values[c] > most)
            return phx_error_set(error, PHX_ERROR_RANGE, c, "cell %u,%u has %s %u; the range is 0 to %u",
                                 c % terrain->width, c / terrain->width, name, values[c], most);
    for (uint32_t c = 0; c < terrain->capacity; c++) column[c] = values[c];
    return PHX_OK;
}

PhxStatus phx_content_set_kinds(PhxContentBuilder *builder, const uint8_t *kind, PhxError *error) {
    return fill_grid(builder, "kind", builder->world->terrain.kind, kind, PHX_COST_KINDS - 1, error);
}

PhxStatus phx_content_set_heights(PhxContentBuilder *builder, const uint8_t *height, PhxError *error) {
    return fill_grid(builder, "height", builder->world->terrain.height, height, 255, error);
}

PhxStatus phx_content_set_density_period(PhxContentBuilder *builder, uint32_t ticks, PhxError *error) {
    return phx_content_set_value(&builder->world->tables[PHX_TABLE_match], 0, "density_period", ticks, error);
}

PhxStatus phx_content_add_profile(PhxContentBuilder *builder, const char *name, const PhxCostProfile *profile,
                                  uint8_t *index, PhxError *error) {
    PhxTable *table = &builder->world->tables[PHX_TABLE_cost_profile];
    PhxCostProfileTable *columns = &builder->world->cost_profile;
    uint32_t row = 0;
    PhxStatus status = phx_content_new_row(table, &row, error);
    if (status != PHX_OK) return status;
    status = phx_content_set_name(table, row, name, error);
    for (uint32_t k = 0; k < PHX_COST_KINDS; k++) {
        columns->kind_percent[row * PHX_COST_KINDS + k] = profile->kind_percent[k];
        columns->speed_percent[row * PHX_COST_KINDS + k] = profile->speed_percent[k];
    }
    columns->slope_cost[row] = profile->slope_cost;
    columns->slope_limit[row] = profile->slope_limit;
    columns->margin_cost[row] = profile->margin_cost;
    columns->density_cost[row] = profile->density_cost;
    if (status == PHX_OK)
        status = phx_content_set_value(table, row, "margin_width", profile->margin_width, error);
    if (status == PHX_OK) status = phx_content_set_value(table, row, "smoothing", profile->smoothing, error);
    *index = (uint8_t)row;
    return phx_content_keep_or_drop(table, row, status);
}

static PhxStatus check_site(const PhxWorld *world, const PhxBuildingDef *def, PhxError *error) {
    const PhxTable *terrain = &world->tables[PHX_TABLE_terrain],
                   *buildings = &world->tables[PHX_TABLE_building];
    const uint32_t right = (uint32_t)def->x + def->width, below = (uint32_t)def->y + def->height;
    if (right > terrain->width || below > terrain->height)
        return phx_error_set(error, PHX_ERROR_RANGE, 0,
                             "a building of %u x %u cells at %u,%u leaves the map of %u x %u", def->width,
                             def->height, def->x, def->y, terrain->width, terrain->height);
    if (!phx_table_alive(&world->tables[PHX_TABLE_player], def->player))
        return phx_error_set(error, PHX_ERROR_RANGE, def->player, "there is no player %u", def->player);
    if (def->gate == 0 && def->open_teams != 0)
        return phx_error_set(error, PHX_ERROR_RANGE, 0, "only a gate can be open");
    for (uint32_t y = def->y; y < below; y++)
        for (uint32_t x = def->x; x < right; x++)
            if (world->terrain.cost[y * terrain->width + x] == PHX_NAV_IMPASSABLE)
                return phx_error_set(error, PHX_ERROR_RANGE, y * terrain->width + x,
                                     "a building at %u,%u lies on the wall at %u,%u", def->x, def->y, x, y);
    for (uint32_t b = 0; b < buildings->used; b++) {
        if (!phx_table_alive(buildings, b)) continue;
        const PhxBuildingTable *other = &world->building;
        if (def->x < other->x[b] + other->width[b] && other->x[b] < right &&
            def->y < other->y[b] + other->height[b] && other->y[b] < below)
            return phx_error_set(error, PHX_ERROR_RANGE, b, "a building at %u,%u lies on the one at %u,%u",
                                 def->x, def->y, other->x[b], other->y[b]);
    }
    return PHX_OK;
}

PhxStatus phx_content_add_building(PhxContentBuilder *builder, const PhxBuildingDef *def, PhxError *error) {
    PhxWorld *world = builder->world;
    PhxTable *table = &world->tables[PHX_TABLE_building];
    const struct {
        const char *column;
        int64_t value;
    } values[] = {{"x", def->x},           {"y", def->y},       {"width", def->width},
                  {"height", def->height}, {"gate", def->gate}, {"player", def->player}};
    uint32_t row = 0;
    PhxStatus status = check_site(world, def, error);
    if (status == PHX_OK) status = phx_content_new_row(table, &row, error);
    if (status != PHX_OK) return status;
    for (size_t i = 0; i < sizeof values / sizeof values[0] && status == PHX_OK; i++)
        status = phx_content_set_value(table, row, values[i].column, values[i].value, error);
    world->building.open_teams[row] = def->open_teams;
    return phx_content_keep_or_drop(table, row, status);
}

PhxStatus phx_content_add_modifier(PhxContentBuilder *builder, const PhxCostModifier *modifier,
                                   PhxError *error) {
    PhxTable *table = &builder->world->tables[PHX_TABLE_modifier];
    const struct {
        const char *column;
        int64_t value;
    } values[] = {{"x", modifier->x},
                  {"y", modifier->y},
                  {"radius", modifier->radius},
                  {"strength", modifier->strength}};
    uint32_t row = 0;
    PhxStatus status = phx_content_new_row(table, &row, error);
    if (status != PHX_OK) return status;
    for (size_t i = 0; i < sizeof values / sizeof values[0] && status == PHX_OK; i++)
        status = phx_content_set_value(table, row, values[i].column, values[i].value, error);
    builder->world->modifier.teams[row] = modifier->teams;
    return phx_content_keep_or_drop(table, row, status);
}

/* How far `at` lies outside of [low, high), raw. */
static int64_t outside(fix16_t at, uint32_t low, uint32_t high) {
    const int64_t first = (int64_t)low * PHX_FIX_ONE, last = (int64_t)high * PHX_FIX_ONE;
    return at < first ? first - at : at > last ? at - last : 0;
}

PhxStatus phx_content_check_buildings(const PhxWorld *world, uint8_t player, PhxVec2 at, fix16_t radius,
                                      PhxError *error) {
    const PhxTable *table = &world->tables[PHX_TABLE_building];
    const PhxBuildingTable *buildings = &world->building;
    for (uint32_t b = 0; b < table->used; b++) {
        if (!phx_table_alive(table, b) || buildings->open_teams[b] >> world->player.team[player] & 1)
            continue;
        const int64_t dx = outside(at.x, buildings->x[b], (uint32_t)buildings->x[b] + buildings->width[b]);
        const int64_t dy = outside(at.y, buildings->y[b], (uint32_t)buildings->y[b] + buildings->height[b]);
        if (dx * dx + dy * dy < (int64_t)radius * radius)
            return phx_error_set(error, PHX_ERROR_RANGE, b, "a unit stands in the building at %u,%u",
                                 buildings->x[b], buildings->y[b]);
    }
    return PHX_OK;
}
