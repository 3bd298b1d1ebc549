/* random_match.c: random content: map, types of unit at the ends of their ranges, players, capacities. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soak/dice.h"
#include "soak/soak.h"

enum { SIDE_LIMIT = 130, UNIT_LIMIT = 200, PLACE_TRIES = 40 };

static uint32_t pick(PhxDice *dice, const uint32_t *from, uint32_t count) {
    return from[phx_dice(dice) % count];
}

/* Maps. */

static uint8_t open_cost(PhxDice *dice, uint32_t kind) {
    if (kind == 0) return 1;
    return (uint8_t)(kind == 1 ? phx_dice_range(dice, 1, 4) : phx_dice_range(dice, 1, 254));
}

/* Is the cell a wall of this kind of map? */
static bool wall_at(PhxDice *dice, uint32_t kind, uint32_t step, uint32_t x, uint32_t y) {
    switch (kind) {
    case 0: /* open */
        return false;
    case 1: /* single walls */
        return phx_dice_percent(dice, 3);
    case 2: /* rubble */
        return phx_dice_percent(dice, 25);
    case 3: /* hardly a way */
        return phx_dice_percent(dice, 45);
    case 4: /* rooms with doors of one cell in the middle of each wall */
        return (x % step == 0 && y % step != step / 2) || (y % step == 0 && x % step != step / 2);
    case 5: /* corridors */
        return y % 3 == 0 && x % (2 * step) != (y / 3 % 2) * step;
    case 6: /* corners that touch */
        return (x + y) % 2 == 0 && x % step < 3 && y % step < 3;
    default: /* all walls but for a few cells */
        return !phx_dice_percent(dice, 5);
    }
}

static uint8_t *make_map(PhxDice *dice, uint32_t width, uint32_t height) {
    uint8_t *cost = malloc((size_t)width * height);
    if (cost == NULL) return NULL;
    const uint32_t kind = (uint32_t)phx_dice_range(dice, 0, 7), costs = (uint32_t)phx_dice_range(dice, 0, 2),
                   step = (uint32_t)phx_dice_range(dice, 4, 12);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            cost[y * width + x] = wall_at(dice, kind, step, x, y) ? 255 : open_cost(dice, costs);
    return cost;
}

/* Types of unit. Each value is at one end of its range, near it, an ordinary one, or anything between. The
 * ranges are those of sim/state/tables/unit_type.def, which the builder checks. */

static fix16_t limit_value(PhxDice *dice, int64_t low, int64_t high, int64_t ordinary) {
    switch (phx_dice(dice) % 8) {
    case 0:
        return (fix16_t)low;
    case 1:
        return (fix16_t)high;
    case 2:
        return (fix16_t)(low + 1);
    case 3:
        return (fix16_t)(high - 1);
    case 4:
        return (fix16_t)phx_dice_range(dice, low, high);
    default:
        return (fix16_t)ordinary;
    }
}

static void random_flocking(PhxDice *dice, PhxUnitTypeDef *def) {
    const int64_t one = 65536;
    for (int rule = 0; rule < 4; rule++)
        def->flock_weight[rule] = limit_value(dice, 0, 64 * one, def->flock_weight[rule]);
    def->flock_near = limit_value(dice, 0, 64 * one, def->flock_near);
    def->flock_far = limit_value(dice, 0, 64 * one, def->flock_far);
    def->flock_force = limit_value(dice, 0, 64 * one, def->flock_force);
}

/* Half of the types feel nothing while calm, as most do. */
static void random_feelings(PhxDice *dice, PhxUnitTypeDef *def) {
    const int64_t one = 65536;
    def->avoid_ratio = limit_value(dice, one, 4 * one, def->avoid_ratio);
    def->weight = (uint8_t)limit_value(dice, 0, 15, def->weight);
    def->mood_rate = limit_value(dice, 4096, 64 * one, def->mood_rate);
    def->feel_neighbours = (uint8_t)limit_value(dice, 0, 16, def->feel_neighbours);
    def->feel_range = limit_value(dice, 0, 64 * one, def->feel_range);
    def->spread = limit_value(dice, 0, 64 * one, def->spread);
    def->force_clip = limit_value(dice, 0, 64 * one, def->force_clip);
    def->guard_spacing = limit_value(dice, 0, 16 * one, def->guard_spacing);
    def->patrol_spacing = limit_value(dice, 0, 16 * one, def->patrol_spacing);
    for (int mood = PHX_MOOD_ALERT; mood < PHX_MOOD_COUNT; mood++) {
        def->path_bias[mood] = limit_value(dice, 0, one, def->path_bias[mood]);
        def->radius_factor[mood] = limit_value(dice, one, 4 * one, def->radius_factor[mood]);
        def->speed_factor[mood] = limit_value(dice, 0, 4 * one, def->speed_factor[mood]);
    }
    if (phx_dice_percent(dice, 50)) return;
    def->cohesion = limit_value(dice, 0, 64 * one, one);
    def->berth = limit_value(dice, 0, 64 * one, 4 * one);
}

static PhxUnitTypeDef random_type(PhxDice *dice) {
    const PhxUnitTypeDef usual = phx_content_unit_type_default();
    const int64_t one = 65536;
    PhxUnitTypeDef def = usual;
    /* Bodies of the largest size fit few maps: one in four types only. */
    if (phx_dice_percent(dice, 25))
        def.radius = limit_value(dice, 4096, 16 * one, usual.radius);
    else
        def.radius = (fix16_t)phx_dice_range(dice, 4096, one);
    def.speed = limit_value(dice, 655, 64 * one, usual.speed);
    def.acceleration = limit_value(dice, 655, 4096 * one, usual.acceleration);
    def.turn_rate = limit_value(dice, 182, 16 * one, usual.turn_rate);
    def.neighbours = (uint8_t)limit_value(dice, 0, 16, usual.neighbours);
    def.neighbour_range = limit_value(dice, 4096, 64 * one, usual.neighbour_range);
    def.horizon = limit_value(dice, 4096, 60 * one, usual.horizon);
    def.wall_horizon = limit_value(dice, 4096, 60 * one, usual.wall_horizon);
    def.sample_period = (uint8_t)limit_value(dice, 1, 255, usual.sample_period);
    def.rank = (uint8_t)limit_value(dice, 0, 15, 0);
    random_flocking(dice, &def);
    random_feelings(dice, &def);
    return def;
}

/* What ground costs whom: kinds and heights, profiles at the ends of their ranges, buildings, modifiers. */

static PhxStatus add_grids(const PhxSoakMatch *match, PhxDice *dice, PhxContentBuilder *builder,
                           PhxError *error) {
    const size_t cells = (size_t)match->info.width * match->info.height;
    const bool noise = phx_dice_percent(dice, 30);
    uint8_t *kinds = malloc(2 * cells), *heights = kinds + cells;
    if (kinds == NULL) return PHX_ERROR_MEMORY;
    for (size_t c = 0; c < cells; c++) { /* stripes of ground on a slope, or anything */
        kinds[c] = noise ? (uint8_t)phx_dice_range(dice, 0, 15) : (uint8_t)(c % match->info.width / 8 % 3);
        heights[c] = noise ? (uint8_t)phx_dice_range(dice, 0, 255) : (uint8_t)(c / match->info.width / 4);
    }
    PhxStatus status = phx_content_set_kinds(builder, kinds, error);
    if (status == PHX_OK) status = phx_content_set_heights(builder, heights, error);
    free(kinds);
    return status;
}

static PhxStatus add_profiles(PhxDice *dice, PhxContentBuilder *builder, uint32_t count, PhxError *error) {
    PhxStatus status = PHX_OK;
    for (uint32_t i = 0; i < count && status == PHX_OK; i++) {
        PhxCostProfile profile = {.slope_cost = (uint8_t)limit_value(dice, 0, 255, 0)};
        uint8_t index;
        for (uint32_t k = 0; k < PHX_COST_KINDS; k++) {
            profile.kind_percent[k] = (uint8_t)limit_value(dice, 0, 255, 100);
            profile.speed_percent[k] = (uint8_t)limit_value(dice, 0, 255, 100);
        }
        profile.slope_limit = (uint8_t)limit_value(dice, 0, 255, 0);
        profile.margin_cost = (uint8_t)limit_value(dice, 0, 255, 5);
        profile.margin_width = (uint8_t)phx_dice_range(dice, 0, 4);
        profile.density_cost = (uint8_t)limit_value(dice, 0, 255, 2);
        profile.smoothing = (uint8_t)phx_dice_range(dice, 0, 2);
        status = phx_content_add_profile(builder, "profile", &profile, &index, error);
    }
    return status;
}

/* What doesn't fit is left out. */
static void add_buildings(const PhxSoakMatch *match, PhxDice *dice, PhxContentBuilder *builder) {
    for (uint32_t i = (uint32_t)phx_dice_range(dice, 0, 6); i > 0; i--) {
        PhxBuildingDef def = {.gate = phx_dice_percent(dice, 50)};
        def.x = (uint16_t)phx_dice_range(dice, 0, match->info.width - 1);
        def.y = (uint16_t)phx_dice_range(dice, 0, match->info.height - 1);
        def.width = (uint16_t)phx_dice_range(dice, 1, 8);
        def.height = (uint16_t)phx_dice_range(dice, 1, 8);
        def.player = (uint8_t)phx_dice_range(dice, 0, match->players - 1);
        if (def.gate) def.open_teams = (uint16_t)phx_dice(dice);
        (void)!phx_content_add_building(builder, &def, NULL);
    }
    for (uint32_t i = (uint32_t)phx_dice_range(dice, 0, 4); i > 0; i--) {
        PhxCostModifier modifier = {.teams = (uint16_t)phx_dice(dice)};
        modifier.x = limit_value(dice, -8192 * 65536, 8192 * 65536 - 1, (int64_t)match->info.width << 15);
        modifier.y = limit_value(dice, -8192 * 65536, 8192 * 65536 - 1, (int64_t)match->info.height << 15);
        modifier.radius = limit_value(dice, 0, 64 * 65536, 6 * 65536);
        modifier.strength = (int16_t)phx_dice_range(dice, -253, 253);
        (void)!phx_content_add_modifier(builder, &modifier, NULL);
    }
}

/* Units: most anywhere, some at the very same point as the one before, some at the map's edge. Those that
 * don't fit are left out. */
static fix16_t random_place(PhxDice *dice, uint32_t side) {
    const int64_t end = (int64_t)side << 16;
    if (phx_dice_percent(dice, 10)) return (fix16_t)(phx_dice_percent(dice, 50) ? 4096 : end - 4096);
    if (phx_dice_percent(dice, 20)) return (fix16_t)((phx_dice_range(dice, 0, side - 1) << 16) + 32768);
    return (fix16_t)phx_dice_range(dice, 0, end - 1);
}

static PhxStatus add_units(PhxSoakMatch *match, PhxDice *dice, PhxContentBuilder *builder, uint32_t wanted) {
    fix16_t x = 0, y = 0;
    for (uint32_t i = 0; i < wanted; i++) {
        const uint16_t type = (uint16_t)phx_dice_range(dice, 0, match->types - 1);
        const uint8_t player = (uint8_t)phx_dice_range(dice, 0, match->players - 1);
        PhxStatus status = PHX_ERROR_RANGE;
        for (uint32_t tries = 0; tries < PLACE_TRIES && status == PHX_ERROR_RANGE; tries++) {
            if (i == 0 || tries > 0 || !phx_dice_percent(dice, 10)) {
                x = random_place(dice, match->info.width);
                y = random_place(dice, match->info.height);
            }
            status = phx_content_add_unit(builder, type, player, x, y, (PhxAngle)phx_dice(dice), NULL);
        }
        if (status == PHX_OK) match->units++;
        if (status != PHX_OK && status != PHX_ERROR_RANGE) return status;
    }
    return PHX_OK;
}

static PhxStatus fill(PhxSoakMatch *match, PhxDice *dice, PhxContentBuilder *builder, uint32_t units,
                      PhxError *error) {
    static const uint32_t periods[] = {0, 1, 4, 20, 1000};
    const uint32_t profiles = phx_dice_percent(dice, 60) ? 0 : (uint32_t)phx_dice_range(dice, 1, 4);
    PhxStatus status = profiles > 0 ? add_grids(match, dice, builder, error) : PHX_OK;
    char name[17];
    if (status == PHX_OK) status = add_profiles(dice, builder, profiles, error);
    if (status == PHX_OK)
        status = phx_content_set_density_period(
            builder, pick(dice, periods, sizeof periods / sizeof periods[0]), error);
    for (uint32_t i = 0; i < match->types && status == PHX_OK; i++) {
        PhxUnitTypeDef def = random_type(dice);
        uint16_t index;
        snprintf(name, sizeof name, "type %u", (unsigned)i % 100);
        def.name = name;
        def.profile = (uint8_t)phx_dice_range(dice, 0, profiles);
        status = phx_content_add_unit_type(builder, &def, &index, error);
    }
    for (uint32_t i = 0; i < match->players && status == PHX_OK; i++) {
        snprintf(name, sizeof name, "side %u", (unsigned)i % 100);
        status = phx_content_add_player(builder, name, (uint8_t)phx_dice_range(dice, 0, 15), error);
    }
    if (status == PHX_OK) add_buildings(match, dice, builder);
    if (status == PHX_OK) status = add_units(match, dice, builder, units);
    if (status != PHX_OK) return status;
    match->blob_size = phx_content_size(builder);
    match->blob = malloc(match->blob_size);
    if (match->blob == NULL) return PHX_ERROR_MEMORY;
    status = phx_content_write(builder, match->blob, match->blob_size, &match->blob_size);
    if (status == PHX_OK) status = phx_content_info(match->blob, match->blob_size, &match->info, error);
    return status;
}

PhxStatus phx_soak_make_content(PhxSoakMatch *match, PhxError *error) {
    static const uint32_t sides[] = {1, 2, 3, 7, 16, 24, 32, 33, 48, 63, 64, 65, 96, SIDE_LIMIT};
    static const uint32_t rates[] = {1, 2, 10, 20, 20, 20, 30, 60, 1000};
    static const uint32_t crowds[] = {0, 1, 2, 8, 30, 30, 80, 80, UNIT_LIMIT};
    PhxDice dice = {.seed = match->seed};
    const uint32_t width = pick(&dice, sides, sizeof sides / sizeof sides[0]),
                   height = pick(&dice, sides, sizeof sides / sizeof sides[0]),
                   units = pick(&dice, crowds, sizeof crowds / sizeof crowds[0]);
    const PhxSettings settings = {.match_key = phx_dice(&dice),
                                  .tick_rate = (uint16_t)pick(&dice, rates, sizeof rates / sizeof rates[0]),
                                  .ticks_per_turn = (uint16_t)phx_dice_range(&dice, 1, 16),
                                  .input_delay = (uint16_t)phx_dice_range(&dice, 1, 64)};
    match->types = (uint32_t)phx_dice_range(&dice, 1, 6);
    match->players = phx_dice_percent(&dice, 10) ? PHX_PLAYER_LIMIT : (uint32_t)phx_dice_range(&dice, 1, 4);
    match->ticks = (uint32_t)phx_dice_range(&dice, 40, 240);
    match->info = (PhxContentInfo){.settings = settings, .width = width, .height = height};
    const uint32_t unit_room = (uint32_t)phx_dice_range(&dice, 0, 8) + (units > 0 ? units : 1),
                   order_room = (uint32_t)(phx_dice_percent(&dice, 50) ? phx_dice_range(&dice, 1, 8)
                                                                       : phx_dice_range(&dice, 8, 512));
    uint8_t *cost = make_map(&dice, width, height);
    if (cost == NULL) return phx_error_set(error, PHX_ERROR_MEMORY, 0, "no memory for a map");
    PhxContentBuilder *builder;
    PhxStatus status =
        phx_content_begin(&settings, width, height, cost, unit_room, order_room, &builder, error);
    free(cost);
    if (status == PHX_OK) status = fill(match, &dice, builder, units, error);
    phx_content_end(builder);
    return status;
}
