/* draw.c (test): what debug draw names is what the world holds, and naming it changes nothing. */
#include <math.h>
#include <phalanx/building.h>
#include <phalanx/draw.h>
#include <phalanx/hash.h>

#include "draw_sample.h"

typedef struct Seen {
    uint32_t cells, lines, arrows, polygons, texts;
    uint64_t hash; /* of all calls in order */
    uint8_t cost[SAMPLE_WIDTH * SAMPLE_HEIGHT];
    uint32_t painted[SAMPLE_WIDTH * SAMPLE_HEIGHT];
    uint32_t runs;
    PhxVec2 polygon[SAMPLE_UNITS][PHX_DRAW_POLYGON_LIMIT];
    uint32_t corners[SAMPLE_UNITS];
    PhxDrawColor polygon_color[SAMPLE_UNITS];
    PhxVec2 line_from[SAMPLE_UNITS], line_to[SAMPLE_UNITS];
    PhxVec2 arrow_from[2 * SAMPLE_UNITS], arrow_to[2 * SAMPLE_UNITS];
    char text[4][PHX_DRAW_TEXT_LIMIT + 1];
    PhxVec2 text_at[4];
} Seen;

static void mark(Seen *seen, const void *bytes, size_t size) {
    const uint64_t pair[2] = {seen->hash, phx_hash_bytes(bytes, size)};
    seen->hash = phx_hash_bytes(pair, sizeof pair);
}

static void on_cells(void *user, uint32_t x, uint32_t y, uint32_t width, uint32_t height, uint8_t cost,
                     PhxDrawColor color) {
    Seen *seen = user;
    const uint32_t values[6] = {x, y, width, height, cost, color};
    mark(seen, values, sizeof values);
    seen->runs++;
    CHECK_EQ(color, phx_draw_cost_color(cost));
    for (uint32_t j = y; j < y + height; j++)
        for (uint32_t i = x; i < x + width; i++) {
            CHECK(i < SAMPLE_WIDTH && j < SAMPLE_HEIGHT);
            seen->painted[j * SAMPLE_WIDTH + i]++;
            seen->cost[j * SAMPLE_WIDTH + i] = cost;
        }
}

static void on_line(void *user, PhxVec2 from, PhxVec2 to, PhxDrawColor color) {
    Seen *seen = user;
    const uint32_t values[5] = {(uint32_t)from.x, (uint32_t)from.y, (uint32_t)to.x, (uint32_t)to.y, color};
    mark(seen, values, sizeof values);
    CHECK(seen->lines < SAMPLE_UNITS);
    seen->line_from[seen->lines] = from;
    seen->line_to[seen->lines++] = to;
}

static void on_arrow(void *user, PhxVec2 from, PhxVec2 to, PhxDrawColor color) {
    Seen *seen = user;
    const uint32_t values[5] = {(uint32_t)from.x, (uint32_t)from.y, (uint32_t)to.x, (uint32_t)to.y, color};
    mark(seen, values, sizeof values);
    CHECK(seen->arrows < 2 * SAMPLE_UNITS);
    seen->arrow_from[seen->arrows] = from;
    seen->arrow_to[seen->arrows++] = to;
}

static void on_polygon(void *user, const PhxVec2 *points, uint32_t count, PhxDrawColor color) {
    Seen *seen = user;
    CHECK(seen->polygons < SAMPLE_UNITS && count >= 3 && count <= PHX_DRAW_POLYGON_LIMIT);
    mark(seen, points, count * sizeof *points);
    memcpy(seen->polygon[seen->polygons], points, count * sizeof *points);
    seen->polygon_color[seen->polygons] = color;
    seen->corners[seen->polygons++] = count;
}

static void on_text(void *user, PhxVec2 at, const char *text, uint32_t length, PhxDrawColor color) {
    Seen *seen = user;
    CHECK(seen->texts < 4 && length <= PHX_DRAW_TEXT_LIMIT);
    mark(seen, text, length);
    mark(seen, &color, sizeof color);
    memcpy(seen->text[seen->texts], text, length);
    seen->text_at[seen->texts++] = at;
}

static PhxDrawSink sink_of(Seen *seen) {
    *seen = (Seen){0};
    return (PhxDrawSink){on_cells, on_line, on_arrow, on_polygon, on_text, seen};
}

PHX_TEST(draw, terrain_covers_each_cell_once_with_its_cost_in_maximal_runs) {
    static Seen seen;
    PhxSim *sim = sample_sim();
    const PhxDrawSink sink = sink_of(&seen);
    phx_draw_terrain(sim, &sink);
    uint32_t runs = 0;
    for (uint32_t y = 0; y < SAMPLE_HEIGHT; y++)
        for (uint32_t x = 0; x < SAMPLE_WIDTH; x++) {
            CHECK_EQ(seen.painted[y * SAMPLE_WIDTH + x], 1);
            CHECK_EQ(seen.cost[y * SAMPLE_WIDTH + x], sample_cost(x, y));
            runs += x == 0 || sample_cost(x, y) != sample_cost(x - 1, y);
        }
    CHECK_EQ(seen.runs, runs);
    phx_sim_destroy(sim);
}

PHX_TEST(draw, bodies_are_circles_of_their_radius_with_a_nose_in_their_heading) {
    static Seen seen;
    PhxSim *sim = sample_sim();
    for (int tick = 0; tick < 40; tick++) sample_step(sim);
    const PhxDrawSink sink = sink_of(&seen);
    phx_draw_units(sim, &sink);
    const PhxUnitView units = phx_sim_units(sim);
    CHECK_EQ(seen.polygons, SAMPLE_UNITS);
    CHECK_EQ(seen.lines, SAMPLE_UNITS);
    for (uint32_t i = 0; i < SAMPLE_UNITS; i++) {
        PhxUnitTypeInfo type;
        CHECK(phx_sim_unit_type(sim, units.type[i], &type));
        for (uint32_t c = 0; c < seen.corners[i]; c++) {
            const double dx = seen.polygon[i][c].x - units.pos_x[i],
                         dy = seen.polygon[i][c].y - units.pos_y[i];
            CHECK_THAT(fabs(hypot(dx, dy) - type.radius) <= 2, "unit %u corner %u", i, c);
        }
        const double angle = units.heading[i] * 6.283185307179586 / 65536;
        CHECK_EQ(seen.line_from[i].x, units.pos_x[i]);
        CHECK_THAT(fabs(seen.line_to[i].x - units.pos_x[i] - cos(angle) * type.radius) <= 1.5, "unit %u", i);
        CHECK_THAT(fabs(seen.line_to[i].y - units.pos_y[i] - sin(angle) * type.radius) <= 1.5, "unit %u", i);
        CHECK_EQ(seen.polygon_color[i] >> 8, phx_draw_player_color(units.player[i]) >> 8);
    }
    phx_sim_destroy(sim);
}

PHX_TEST(draw, arrows_lead_to_goals_and_along_velocities_and_names_stand_at_the_mean) {
    static Seen seen;
    PhxSim *sim = sample_sim();
    PhxDrawSink sink = sink_of(&seen);
    phx_draw_goals(sim, &sink);
    phx_draw_velocities(sim, &sink);
    CHECK_EQ(seen.arrows, 0); /* nobody has an order yet */
    for (int tick = 0; tick < 10; tick++) sample_step(sim);
    const PhxUnitView units = phx_sim_units(sim);
    sink = sink_of(&seen);
    phx_draw_goals(sim, &sink);
    CHECK_EQ(seen.arrows, SAMPLE_UNITS);
    for (uint32_t i = 0; i < SAMPLE_UNITS; i++) {
        CHECK(seen.arrow_from[i].x == units.pos_x[i] && seen.arrow_from[i].y == units.pos_y[i]);
        CHECK(seen.arrow_to[i].x == units.goal_x[i] && seen.arrow_to[i].y == units.goal_y[i]);
    }
    sink = sink_of(&seen);
    phx_draw_velocities(sim, &sink);
    CHECK(seen.arrows > 0);
    sink = sink_of(&seen);
    phx_draw_players(sim, &sink);
    CHECK_EQ(seen.texts, 2); /* the third has no units */
    CHECK_STR(seen.text[0], "Red 5");
    CHECK_STR(seen.text[1], "Blue 4");
    double mean = 0;
    for (uint32_t i = 0; i < SAMPLE_UNITS; i += 2) mean += units.pos_x[i] / 5.0;
    CHECK(fabs(mean - seen.text_at[0].x) <= 0.5);
    phx_sim_destroy(sim);
}

PHX_TEST(draw, buildings_are_their_cells_in_the_owners_colour_and_open_gates_are_pale) {
    static Seen seen;
    PhxSim *sim = sample_sim();
    const PhxBuildingInfo buildings[2] = {{{20, 22, 23, 24}, 0, false, 0}, {{30, 22, 32, 26}, 1, true, 2}};
    for (uint32_t b = 0; b < 2; b++)
        CHECK_EQ(phx_sim_place_building(sim, &buildings[b], NULL), PHX_PLACEMENT_LEGAL);
    PhxDrawSink sink = sink_of(&seen);
    phx_draw_buildings(sim, &sink);
    CHECK_EQ(seen.polygons, 2);
    CHECK_EQ(seen.lines, 8);
    for (uint32_t b = 0; b < 2; b++) {
        const PhxCellRect cells = buildings[b].cells;
        CHECK_EQ(seen.corners[b], 4);
        CHECK(seen.polygon[b][0].x == cells.x0 * fix16_one && seen.polygon[b][0].y == cells.y0 * fix16_one);
        CHECK(seen.polygon[b][2].x == cells.x1 * fix16_one && seen.polygon[b][2].y == cells.y1 * fix16_one);
        CHECK_EQ(seen.polygon_color[b] >> 8, phx_draw_player_color(buildings[b].player) >> 8);
    }
    CHECK((seen.polygon_color[1] & 255) < (seen.polygon_color[0] & 255));
    phx_sim_destroy(sim);
}

PHX_TEST(draw, drawing_changes_nothing_repeats_exactly_and_skips_null_members) {
    static Seen seen;
    PhxSim *sim = sample_sim(), *undrawn = sample_sim();
    const PhxDrawSink nothing = {0};
    uint64_t last = 0;
    for (int tick = 0; tick < 60; tick++) {
        sample_step(sim);
        sample_step(undrawn);
        PhxDrawSink sink = sink_of(&seen);
        phx_draw_sim(sim, PHX_DRAW_ALL, &sink);
        const uint64_t first = seen.hash;
        sink = sink_of(&seen);
        phx_draw_sim(undrawn, PHX_DRAW_ALL, &sink);
        CHECK_THAT(seen.hash == first, "tick %d: equal states, other primitives", tick);
        CHECK_THAT(first != last, "tick %d: units moved, same primitives", tick);
        last = first;
        phx_draw_sim(sim, PHX_DRAW_ALL, &nothing);
        CHECK_THAT(phx_sim_root(sim) == phx_sim_root(undrawn), "tick %d", tick);
    }
    for (uint8_t player = 0; player < 16; player++)
        for (uint8_t other = 0; other < player; other++)
            CHECK(phx_draw_player_color(player) != phx_draw_player_color(other));
    phx_sim_destroy(sim);
    phx_sim_destroy(undrawn);
}
