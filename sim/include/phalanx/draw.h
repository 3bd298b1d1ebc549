/* draw.h: debug draw. A world goes in (const), primitives come out, in world units, to a sink that paints
 * them: a window, a picture file, a line of JSON.
 *
 * All numbers are integers: positions are Q16.16 world units, x to the right and y downwards; colours are
 * 0xRRGGBBAA. The calls depend on the state alone, so that equal states give equal primitives in equal order,
 * on every machine. Drawing changes no state, allocates nothing, and may be called between any two ticks.
 */
#ifndef PHALANX_DRAW_H
#define PHALANX_DRAW_H

#include <phalanx/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t PhxDrawColor; /* 0xRRGGBBAA, not premultiplied */

enum {
    PHX_DRAW_POLYGON_LIMIT = 16, /* corners of one polygon */
    PHX_DRAW_TEXT_LIMIT = 64     /* bytes of one text */
};

/* Where primitives go. A null member is skipped. What pointers lead to lives during the call only. */
typedef struct PhxDrawSink {
    /* The cells [x, x + width) x [y, y + height), all of one movement cost (255: impassable). */
    void (*cells)(void *user, uint32_t x, uint32_t y, uint32_t width, uint32_t height, uint8_t cost,
                  PhxDrawColor color);
    void (*line)(void *user, PhxVec2 from, PhxVec2 to, PhxDrawColor color);
    /* The head is at `to`. */
    void (*arrow)(void *user, PhxVec2 from, PhxVec2 to, PhxDrawColor color);
    /* Convex, filled; `count` is 3 .. PHX_DRAW_POLYGON_LIMIT. */
    void (*polygon)(void *user, const PhxVec2 *points, uint32_t count, PhxDrawColor color);
    /* UTF-8, not terminated, at most PHX_DRAW_TEXT_LIMIT bytes, centred on `at`. */
    void (*text)(void *user, PhxVec2 at, const char *text, uint32_t length, PhxDrawColor color);
    void *user;
} PhxDrawSink;

/* Eight colours that stay apart for colour-blind eyes too, opaque; players from 8 on get darker ones of the
 * same. */
PhxDrawColor phx_draw_player_color(uint8_t player);
/* Pale for cheap ground, darker as it gets costlier, near-black for 255. */
PhxDrawColor phx_draw_cost_color(uint8_t cost);

/* The map as it stands: each row as runs of equal cost, row by row. At most width x height calls. */
void phx_draw_terrain(const PhxSim *sim, const PhxDrawSink *sink);
/* A standing building by ascending slot: its cells in its owner's colour, a gate paler and, where some team
 * may pass it, paler still; and lines around it. */
void phx_draw_buildings(const PhxSim *sim, const PhxDrawSink *sink);
/* A living unit by ascending slot: its body as a 12-gon of its radius, and a line from the centre to the rim
 * in its heading's direction. Blocked units' bodies are half transparent. */
void phx_draw_units(const PhxSim *sim, const PhxDrawSink *sink);
/* An arrow from each moving unit to its goal, thin (a quarter opaque), in its player's colour. */
void phx_draw_goals(const PhxSim *sim, const PhxDrawSink *sink);
/* An arrow from each unit that has a velocity to where it would be after a second. */
void phx_draw_velocities(const PhxSim *sim, const PhxDrawSink *sink);
/* One text for each player that has living units, at their mean position: name and number of units. */
void phx_draw_players(const PhxSim *sim, const PhxDrawSink *sink);

/* Layers of phx_draw_sim, in the order they are drawn. */
enum {
    PHX_DRAW_TERRAIN = 1,
    PHX_DRAW_GOALS = 2,
    PHX_DRAW_UNITS = 4,
    PHX_DRAW_VELOCITIES = 8,
    PHX_DRAW_PLAYERS = 16,
    PHX_DRAW_BUILDINGS = 32, /* drawn after the terrain */
    PHX_DRAW_ALL = 63
};
void phx_draw_sim(const PhxSim *sim, uint32_t layers, const PhxDrawSink *sink);

#ifdef __cplusplus
}
#endif
#endif
