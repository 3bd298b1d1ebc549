/* draw.c: walks a world and names what is to be painted.
 *
 * In: a const PhxSim. Out: calls of the sink's functions. Cost: one pass over the cells or the units, no
 * memory. Determinism: order is row-major for cells, by ascending slot for units and players; corners come
 * from the sine table and symmetric rounding, so that a picture of equal states is equal too.
 */
#include <phalanx/draw.h>

#include <phalanx/building.h>

#include <string.h>

enum { BODY_CORNERS = 12 };

/* The point at `length` from `center` in direction `heading`. */
static PhxVec2 at_angle(PhxVec2 center, PhxAngle heading, fix16_t length) {
    return phx_vec2_add(center, phx_dir_scale(phx_dir_of_angle(heading), length));
}

static PhxDrawColor with_alpha(PhxDrawColor color, uint32_t alpha) { return (color & 0xffffff00u) | alpha; }

PhxDrawColor phx_draw_player_color(uint8_t player) {
    /* After M. Okabe and K. Ito, "Color Universal Design" (2008), reordered so that 0 and 1 differ most. */
    static const uint32_t rgb[8] = {0xd55e00, 0x0072b2, 0x009e73, 0xcc79a7,
                                    0xe69f00, 0x56b4e9, 0xf0e442, 0x8c6bb1};
    uint32_t color = rgb[player % 8];
    if (player >= 8) color = (color >> 1) & 0x7f7f7f;
    return color << 8 | 0xff;
}

PhxDrawColor phx_draw_cost_color(uint8_t cost) {
    if (cost == PHX_NAV_IMPASSABLE) return 0x20242cff;
    /* Cost 1 is 230; each doubling takes 20 away, which leaves 90 for the costliest. */
    uint32_t shade = 230;
    for (uint32_t left = cost; left > 1; left >>= 1) shade -= 20;
    return shade << 24 | shade << 16 | (shade - 20) << 8 | 0xff;
}

void phx_draw_terrain(const PhxSim *sim, const PhxDrawSink *sink) {
    if (!sink->cells) return;
    const PhxNavGrid map = phx_sim_map(sim);
    for (uint32_t y = 0; y < map.height; y++) {
        const uint8_t *row = map.cost + (size_t)y * map.width;
        for (uint32_t x = 0, end; x < map.width; x = end) {
            for (end = x + 1; end < map.width && row[end] == row[x];) end++;
            sink->cells(sink->user, x, y, end - x, 1, row[x], phx_draw_cost_color(row[x]));
        }
    }
}

static PhxVec2 unit_position(const PhxUnitView *units, uint32_t i) {
    return (PhxVec2){units->pos_x[i], units->pos_y[i]};
}

void phx_draw_units(const PhxSim *sim, const PhxDrawSink *sink) {
    const PhxUnitView units = phx_sim_units(sim);
    for (uint32_t i = 0; i < units.used; i++) {
        PhxUnitTypeInfo type;
        if (!phx_generation_alive(units.generation[i]) || !phx_sim_unit_type(sim, units.type[i], &type))
            continue;
        const PhxVec2 at = unit_position(&units, i);
        const PhxDrawColor color = phx_draw_player_color(units.player[i]);
        if (sink->polygon) {
            PhxVec2 body[BODY_CORNERS];
            for (uint32_t c = 0; c < BODY_CORNERS; c++)
                body[c] = at_angle(at, (PhxAngle)(units.heading[i] + c * 65536u / BODY_CORNERS), type.radius);
            sink->polygon(sink->user, body, BODY_CORNERS,
                          with_alpha(color, units.activity[i] == 2 ? 0x80 : 0xff));
        }
        if (sink->line) sink->line(sink->user, at, at_angle(at, units.heading[i], type.radius), 0x101010ff);
    }
}

void phx_draw_buildings(const PhxSim *sim, const PhxDrawSink *sink) {
    PhxBuildingInfo building;
    for (uint32_t slot = 0; slot < phx_sim_building_used(sim); slot++) {
        if (!phx_sim_building(sim, phx_sim_building_handle(sim, slot), &building)) continue;
        const fix16_t left = building.cells.x0 * PHX_FIX_ONE, right = building.cells.x1 * PHX_FIX_ONE;
        const fix16_t top = building.cells.y0 * PHX_FIX_ONE, below = building.cells.y1 * PHX_FIX_ONE;
        const PhxVec2 corner[4] = {{left, top}, {right, top}, {right, below}, {left, below}};
        const uint8_t alpha = building.open_teams != 0 ? 0x50 : building.gate ? 0x90 : 0xd0;
        if (sink->polygon)
            sink->polygon(sink->user, corner, 4, with_alpha(phx_draw_player_color(building.player), alpha));
        for (uint32_t c = 0; c < 4 && sink->line; c++)
            sink->line(sink->user, corner[c], corner[(c + 1) % 4], 0x101010ff);
    }
}

void phx_draw_goals(const PhxSim *sim, const PhxDrawSink *sink) {
    if (!sink->arrow) return;
    const PhxUnitView units = phx_sim_units(sim);
    for (uint32_t i = 0; i < units.used; i++) {
        if (!phx_generation_alive(units.generation[i]) || units.activity[i] == 0) continue;
        sink->arrow(sink->user, unit_position(&units, i), (PhxVec2){units.goal_x[i], units.goal_y[i]},
                    with_alpha(phx_draw_player_color(units.player[i]), 0x40));
    }
}

void phx_draw_velocities(const PhxSim *sim, const PhxDrawSink *sink) {
    if (!sink->arrow) return;
    const PhxUnitView units = phx_sim_units(sim);
    for (uint32_t i = 0; i < units.used; i++) {
        if (!phx_generation_alive(units.generation[i]) || (!units.vel_x[i] && !units.vel_y[i])) continue;
        const PhxVec2 at = unit_position(&units, i);
        sink->arrow(sink->user, at, phx_vec2_add(at, (PhxVec2){units.vel_x[i], units.vel_y[i]}),
                    with_alpha(phx_draw_player_color(units.player[i]), 0xc0));
    }
}

/* Appends `number` in decimal; the caller has kept room for 10 digits. */
static uint32_t append_number(char *text, uint32_t length, uint32_t number) {
    char digits[10];
    uint32_t count = 0;
    do digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count) text[length++] = digits[--count];
    return length;
}

void phx_draw_players(const PhxSim *sim, const PhxDrawSink *sink) {
    if (!sink->text) return;
    const PhxUnitView units = phx_sim_units(sim);
    PhxPlayerInfo player;
    for (uint8_t slot = 0; slot < PHX_PLAYER_LIMIT && phx_sim_player(sim, slot, &player); slot++) {
        int64_t sum_x = 0, sum_y = 0;
        uint32_t count = 0;
        for (uint32_t i = 0; i < units.used; i++) {
            if (!phx_generation_alive(units.generation[i]) || units.player[i] != slot) continue;
            sum_x += units.pos_x[i], sum_y += units.pos_y[i], count++;
        }
        if (!count) continue;
        char text[PHX_DRAW_TEXT_LIMIT];
        uint32_t length = (uint32_t)strlen(player.name); /* at most 16 */
        memcpy(text, player.name, length);
        text[length++] = ' ';
        length = append_number(text, length, count);
        const PhxVec2 mean = {(fix16_t)phx_div_round(sum_x, count), (fix16_t)phx_div_round(sum_y, count)};
        sink->text(sink->user, mean, text, length, phx_draw_player_color(slot));
    }
}

void phx_draw_sim(const PhxSim *sim, uint32_t layers, const PhxDrawSink *sink) {
    if (layers & PHX_DRAW_TERRAIN) phx_draw_terrain(sim, sink);
    if (layers & PHX_DRAW_BUILDINGS) phx_draw_buildings(sim, sink);
    if (layers & PHX_DRAW_GOALS) phx_draw_goals(sim, sink);
    if (layers & PHX_DRAW_UNITS) phx_draw_units(sim, sink);
    if (layers & PHX_DRAW_VELOCITIES) phx_draw_velocities(sim, sink);
    if (layers & PHX_DRAW_PLAYERS) phx_draw_players(sim, sink);
}
