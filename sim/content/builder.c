/* builder.c: from plain values to the canonical content blob.
 *
 * The builder is a world of tick 0 that is filled row by row; the blob is its encoding. So the blob is
 * checked by the one decoder that checks every snapshot, and equal values give equal bytes. Cost: linear in
 * map and units. Determinism: rows lie in the order in which they were added.
 */
#include <phalanx/content.h>

#include <inttypes.h>
#include <phalanx/formation.h>
#include <phalanx/walls.h>
#include <string.h>

#include "base/assert.h"
#include "content/builder.h"
#include "state/codec.h"
#include "state/hash.h"

PhxUnitTypeDef phx_content_unit_type_default(void) {
    return (PhxUnitTypeDef){
        .radius = 26214, /* 0.4 */
        .speed = 2 * PHX_FIX_ONE,
        .acceleration = 8 * PHX_FIX_ONE,
        .turn_rate = 65536,
        .neighbours = 10,
        .neighbour_range = 6 * PHX_FIX_ONE,
        .horizon = 2 * PHX_FIX_ONE,
        .wall_horizon = PHX_FIX_ONE / 2,
        .sample_period = 1,
        .avoid_ratio = 91750, /* 1.4 */
        .weight = 8,
        .mood_rate = 2 * PHX_FIX_ONE,
        .path_bias = {45875, 45875, 22938},                /* 0.7, 0.35 */
        .radius_factor = {PHX_FIX_ONE, 78643, 117965},     /* 1.2, 1.8 */
        .speed_factor = {PHX_FIX_ONE, PHX_FIX_ONE, 81920}, /* 1.25 */
        .feel_neighbours = 8,
        .feel_range = 6 * PHX_FIX_ONE,
        .spread = 8 * PHX_FIX_ONE,
        .force_clip = 4 * PHX_FIX_ONE,
        .guard_spacing = 13107, /* 0.2 */
        .patrol_spacing = PHX_FIX_ONE / 2,
        .flock_weight = {2 * PHX_FIX_ONE, PHX_FIX_ONE, PHX_FIX_ONE, 3 * PHX_FIX_ONE / 2},
        .flock_near = 3 * PHX_FIX_ONE,
        .flock_far = 8 * PHX_FIX_ONE,
        .flock_force = 2 * PHX_FIX_ONE,
    };
}

static PhxStatus fill_terrain(PhxWorld *world, const uint8_t *cost, PhxError *error) {
    const PhxTable *terrain = &world->tables[PHX_TABLE_terrain];
    for (uint32_t c = 0; c < terrain->capacity; c++) {
        if (cost[c] == 0)
            return phx_error_set(error, PHX_ERROR_RANGE, c,
                                 "cell %u,%u has cost 0; costs are 1 to 254, or 255 for a wall",
                                 c % terrain->width, c / terrain->width);
        world->terrain.cost[c] = cost[c];
    }
    return PHX_OK;
}

/* The profile that every content has: ground as it is. */
static PhxStatus add_default_profile(PhxContentBuilder *builder, PhxError *error) {
    const PhxCostProfile plain = {0};
    uint8_t index;
    return phx_content_add_profile(builder, "plain", &plain, &index, error);
}

static PhxStatus make_builder(const PhxContentHead *head, PhxContentBuilder **out, PhxError *error) {
    PhxArena arena;
    PhxTableSpec specs[PHX_TABLE_BUILTIN_COUNT];
    PhxStatus status = phx_arena_create(&arena, phx_allocator_default(), sizeof(PhxContentBuilder));
    if (status != PHX_OK) return phx_error_set(error, status, 0, "no memory for a content builder");
    PhxContentBuilder *builder = phx_arena_push(&arena, 1, sizeof *builder);
    builder->arena = arena;
    builder->head = *head;
    phx_sim_builtin_specs(specs, head->width, head->height, head->unit_capacity, head->order_capacity);
    status =
        phx_world_create(phx_allocator_default(), specs, PHX_TABLE_BUILTIN_COUNT, &builder->world, error);
    if (status != PHX_OK) {
        phx_content_end(builder);
        return status;
    }
    *out = builder;
    return PHX_OK;
}

PhxStatus phx_content_begin(const PhxSettings *settings, uint32_t width, uint32_t height, const uint8_t *cost,
                            uint32_t unit_capacity, uint32_t order_capacity, PhxContentBuilder **out,
                            PhxError *error) {
    const PhxContentHead head = {*settings, width, height, unit_capacity, order_capacity};
    *out = NULL;
    if (!cost) return phx_error_set(error, PHX_ERROR_ARGUMENT, 0, "a map needs costs");
    PhxStatus status = phx_settings_check(settings, error);
    if (status == PHX_OK) status = make_builder(&head, out, error);
    if (status != PHX_OK) return status;
    PhxWorld *world = (*out)->world;
    /* The row's key and tick rate are settings, which are not content: phx_sim_create sets them. */
    const bool made = phx_table_insert(&world->tables[PHX_TABLE_match]) != PHX_HANDLE_NONE;
    PHX_ASSERT(made, world->tables[PHX_TABLE_match].capacity, 0);
    world->match.tick_rate[0] = 1;
    status = add_default_profile(*out, error);
    if (status == PHX_OK) status = fill_terrain(world, cost, error);
    if (status != PHX_OK) {
        phx_content_end(*out);
        *out = NULL;
    }
    return status;
}

PhxStatus phx_content_set_lane(PhxTable *table, uint32_t row, const char *column, uint32_t lane,
                               int64_t value, PhxError *error) {
    const uint32_t c = phx_table_column_index(table, column);
    const PhxColumnDesc *desc = &table->desc->columns[c];
    if (value < desc->low || value > desc->high)
        return phx_error_set(error, PHX_ERROR_RANGE, row,
                             "%s.%s is %" PRId64 ", its range is %" PRId64 " to %" PRId64 " (%s)",
                             table->desc->name, column, value, desc->low, desc->high, desc->unit);
    phx_table_set(table, c, row, lane, (uint64_t)value);
    return PHX_OK;
}

PhxStatus phx_content_set_value(PhxTable *table, uint32_t row, const char *column, int64_t value,
                                PhxError *error) {
    return phx_content_set_lane(table, row, column, 0, value, error);
}

PhxStatus phx_content_set_name(PhxTable *table, uint32_t row, const char *name, PhxError *error) {
    const uint32_t c = phx_table_column_index(table, "name");
    const size_t length = name ? strlen(name) : 0;
    if (length < 1 || length > 16)
        return phx_error_set(error, PHX_ERROR_RANGE, row,
                             "a name in table %s has %zu bytes; 1 to 16 are allowed", table->desc->name,
                             length);
    for (uint32_t i = 0; i < length; i++) phx_table_set(table, c, row, i, (uint8_t)name[i]);
    return PHX_OK;
}

/* A new row; on a later failure the whole builder is of no use, so that nothing need be taken back. */
PhxStatus phx_content_new_row(PhxTable *table, uint32_t *row, PhxError *error) {
    const PhxHandle handle = phx_table_insert(table);
    if (handle == PHX_HANDLE_NONE)
        return phx_error_set(error, PHX_ERROR_FULL, table->capacity, "table %s holds %u rows and no more",
                             table->desc->name, table->capacity);
    *row = phx_handle_slot(handle);
    return PHX_OK;
}

/* A row that was refused is taken out again and its slot made as good as new. */
PhxStatus phx_content_keep_or_drop(PhxTable *table, uint32_t row, PhxStatus status) {
    if (status == PHX_OK) return status;
    phx_table_remove(table, row);
    table->generation[row] = 0;
    if (row + 1 == table->used) table->used = row;
    return status;
}

PhxStatus phx_content_add_player(PhxContentBuilder *builder, const char *name, uint8_t team,
                                 PhxError *error) {
    PhxTable *table = &builder->world->tables[PHX_TABLE_player];
    uint32_t row = 0;
    PhxStatus status = phx_content_new_row(table, &row, error);
    if (status != PHX_OK) return status;
    status = phx_content_set_name(table, row, name, error);
    if (status == PHX_OK) status = phx_content_set_value(table, row, "team", team, error);
    return phx_content_keep_or_drop(table, row, status);
}

/* What a type has of each mood. */
static PhxStatus set_moods(PhxTable *table, uint32_t row, const PhxUnitTypeDef *def, PhxError *error) {
    PhxStatus status = PHX_OK;
    for (uint32_t mood = 0; mood < PHX_MOOD_COUNT && status == PHX_OK; mood++) {
        status = phx_content_set_lane(table, row, "path_bias", mood, def->path_bias[mood], error);
        if (status == PHX_OK)
            status = phx_content_set_lane(table, row, "radius_factor", mood, def->radius_factor[mood], error);
        if (status == PHX_OK)
            status = phx_content_set_lane(table, row, "speed_factor", mood, def->speed_factor[mood], error);
    }
    return status;
}

PhxStatus phx_content_add_unit_type(PhxContentBuilder *builder, const PhxUnitTypeDef *def, uint16_t *index,
                                    PhxError *error) {
    PhxTable *table = &builder->world->tables[PHX_TABLE_unit_type];
    const struct {
        const char *column;
        int64_t value;
    } values[] = {
        {"profile", def->profile},
        {"sample_period", def->sample_period},
        {"radius", def->radius},
        {"speed", def->speed},
        {"acceleration", def->acceleration},
        {"turn_rate", def->turn_rate},
        {"neighbours", def->neighbours},
        {"neighbour_range", def->neighbour_range},
        {"horizon", def->horizon},
        {"wall_horizon", def->wall_horizon},
        {"avoid_ratio", def->avoid_ratio},
        {"weight", def->weight},
        {"mood_rate", def->mood_rate},
        {"feel_neighbours", def->feel_neighbours},
        {"feel_range", def->feel_range},
        {"cohesion", def->cohesion},
        {"berth", def->berth},
        {"spread", def->spread},
        {"force_clip", def->force_clip},
        {"guard_spacing", def->guard_spacing},
        {"patrol_spacing", def->patrol_spacing},
        {"flock_near", def->flock_near},
        {"flock_far", def->flock_far},
        {"flock_force", def->flock_force},
        {"rank", def->rank},
    };
    uint32_t row = 0;
    PhxStatus status = phx_content_new_row(table, &row, error);
    if (status != PHX_OK) return status;
    status = phx_content_set_name(table, row, def->name, error);
    for (size_t i = 0; i < sizeof values / sizeof values[0] && status == PHX_OK; i++)
        status = phx_content_set_value(table, row, values[i].column, values[i].value, error);
    if (status == PHX_OK) status = set_moods(table, row, def, error);
    for (uint32_t i = 0; i < sizeof def->flock_weight / sizeof def->flock_weight[0] && status == PHX_OK; i++)
        status = phx_content_set_lane(table, row, "flock_weight", i, def->flock_weight[i], error);
    *index = (uint16_t)row;
    return phx_content_keep_or_drop(table, row, status);
}

static PhxStatus check_place(const PhxWorld *world, uint16_t type, uint8_t player, fix16_t x, fix16_t y,
                             PhxError *error) {
    const PhxNavGrid grid = {world->tables[PHX_TABLE_terrain].width, world->tables[PHX_TABLE_terrain].height,
                             world->terrain.cost};
    if (!phx_table_alive(&world->tables[PHX_TABLE_unit_type], type))
        return phx_error_set(error, PHX_ERROR_RANGE, type, "there is no unit type %u", type);
    if (!phx_table_alive(&world->tables[PHX_TABLE_player], player))
        return phx_error_set(error, PHX_ERROR_RANGE, player, "there is no player %u", player);
    if (phx_nav_cell_at(&grid, x, y) == PHX_NAV_NO_CELL ||
        !phx_walls_clear(&grid, phx_vec2(x, y), world->unit_type.radius[type])) {
        char text_x[PHX_FIX_TEXT], text_y[PHX_FIX_TEXT];
        phx_fix_format(x, text_x, sizeof text_x);
        phx_fix_format(y, text_y, sizeof text_y);
        return phx_error_set(error, PHX_ERROR_RANGE, 0,
                             "a unit at %s, %s touches a wall or the edge of the map; move it to open ground",
                             text_x, text_y);
    }
    return phx_content_check_buildings(world, player, phx_vec2(x, y), world->unit_type.radius[type], error);
}

PhxStatus phx_content_add_unit(PhxContentBuilder *builder, uint16_t type, uint8_t player, fix16_t x,
                               fix16_t y, PhxAngle heading, PhxError *error) {
    PhxWorld *world = builder->world;
    uint32_t row = 0;
    PhxStatus status = check_place(world, type, player, x, y, error);
    if (status == PHX_OK) status = phx_content_new_row(&world->tables[PHX_TABLE_unit], &row, error);
    if (status != PHX_OK) return status;
    world->unit.pos_x[row] = world->unit.goal_x[row] = x;
    world->unit.pos_y[row] = world->unit.goal_y[row] = y;
    world->unit.heading[row] = heading;
    world->unit.type[row] = type;
    world->unit.player[row] = player;
    return PHX_OK;
}

PhxStatus phx_content_add_pattern(PhxContentBuilder *builder, const char *name, const PhxFormationSlot *slots,
                                  uint32_t count, uint8_t *index, PhxError *error) {
    enum { SLOTS = 128 }; /* lanes of formation_pattern */
    PhxTable *table = &builder->world->tables[PHX_TABLE_formation_pattern];
    uint32_t row = 0;
    if (count == 0 || count > SLOTS)
        return phx_error_set(error, PHX_ERROR_LIMIT, count, "a pattern has 1 to %d slots, not %u", SLOTS,
                             count);
    PhxStatus status = phx_content_new_row(table, &row, error);
    if (status != PHX_OK) return status;
    status = phx_content_set_name(table, row, name, error);
    if (status == PHX_OK) status = phx_content_set_value(table, row, "count", count, error);
    for (uint32_t i = 0; i < count && status == PHX_OK; i++) {
        status = phx_content_set_lane(table, row, "forward", i, slots[i].at.x, error);
        if (status == PHX_OK) status = phx_content_set_lane(table, row, "right", i, slots[i].at.y, error);
        if (status == PHX_OK) status = phx_content_set_lane(table, row, "rank", i, slots[i].rank, error);
    }
    *index = (uint8_t)row;
    return phx_content_keep_or_drop(table, row, status);
}

PhxStatus phx_content_set_flock(PhxContentBuilder *builder, uint32_t unit, uint16_t flock, PhxError *error) {
    PhxTable *table = &builder->world->tables[PHX_TABLE_unit];
    if (!phx_table_alive(table, unit))
        return phx_error_set(error, PHX_ERROR_RANGE, unit, "there is no unit %u", unit);
    return phx_content_set_value(table, unit, "flock", flock, error);
}

PhxStatus phx_content_set_behaviour(PhxContentBuilder *builder, uint32_t unit, PhxMood mood,
                                    PhxBehaviour behaviour, PhxError *error) {
    PhxTable *table = &builder->world->tables[PHX_TABLE_unit];
    if (!phx_table_alive(table, unit))
        return phx_error_set(error, PHX_ERROR_RANGE, unit, "there is no unit %u", unit);
    PhxStatus status = phx_content_set_value(table, unit, "mood", (int64_t)mood, error);
    if (status == PHX_OK) status = phx_content_set_value(table, unit, "behaviour", (int64_t)behaviour, error);
    return status;
}

size_t phx_content_size(const PhxContentBuilder *builder) {
    return PHX_CONTENT_HEADER_BYTES + phx_world_encoded_size(builder->world);
}

PhxStatus phx_content_write(const PhxContentBuilder *builder, void *buffer, size_t capacity, size_t *size) {
    PhxWriter writer = phx_writer_make(buffer, capacity);
    if (!buffer) return PHX_ERROR_ARGUMENT;
    phx_world_rederive(builder->world);
    phx_content_head_write(&builder->head, &writer);
    phx_world_encode(builder->world, phx_world_hash(builder->world, NULL), &writer);
    *size = writer.at;
    return writer.status;
}

void phx_content_end(PhxContentBuilder *builder) {
    if (!builder) return;
    phx_world_destroy(builder->world);
    PhxArena arena = builder->arena;
    phx_arena_destroy(&arena);
}
