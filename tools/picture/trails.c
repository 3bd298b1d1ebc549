/* trails.c: positions of all units over time, in bounded memory.
 *
 * A sample is the positions of all unit slots at one tick, each coordinate in 1/8 of a world unit as 16 bits
 * (the plane of +-8192 units would need one bit more, but a map lies within 0 .. 4096). When the samples are
 * full, every second one is dropped and the interval doubles, so that a trail always spans the whole match.
 */
#include "picture/paint.h"

#include <stdlib.h>
#include <string.h>

enum {
    TRAIL_BYTES = 32 << 20, /* most memory of a recorder */
    SAMPLES_MOST = 1024,
    SAMPLES_LEAST = 16,
    SUBUNIT_SHIFT = 13 /* Q16.16 to eighths */
};

typedef struct Point {
    uint16_t x, y; /* NOWHERE, NOWHERE: no unit */
} Point;

#define NOWHERE UINT16_MAX

struct PhxTrails {
    uint32_t units, samples, count;
    uint32_t interval, next; /* ticks between samples; the tick of the next */
    uint32_t *generation;    /* of each unit at the last sample */
    Point *points;           /* samples x units */
    bool *arrived;           /* of each unit: it has, at least once */
    PhxVec2 *goals;          /* of each unit: its last order's; negative: none yet */
};

/* Unit slots that the trails have room for: what the world has used, rounded up for those that are born
 * later. */
static uint32_t room_for(uint32_t used) { return used + used / 2 + 64; }

PhxTrails *phx_trails_create(const PhxSim *sim) {
    PhxTrails *trails = calloc(1, sizeof *trails);
    if (!trails) return NULL;
    trails->units = room_for(phx_sim_units(sim).used);
    const size_t fitting = TRAIL_BYTES / (trails->units * sizeof(Point));
    trails->samples = fitting > SAMPLES_MOST    ? SAMPLES_MOST
                      : fitting < SAMPLES_LEAST ? SAMPLES_LEAST
                                                : (uint32_t)fitting & ~1u;
    trails->interval = 1;
    trails->generation = calloc(trails->units, sizeof *trails->generation);
    trails->points = malloc((size_t)trails->samples * trails->units * sizeof(Point));
    trails->goals = malloc(trails->units * sizeof *trails->goals);
    trails->arrived = calloc(trails->units, sizeof *trails->arrived);
    if (!trails->generation || !trails->points || !trails->goals || !trails->arrived) {
        phx_trails_destroy(trails);
        return NULL;
    }
    for (uint32_t i = 0; i < trails->units; i++) trails->goals[i] = phx_vec2(-1, -1);
    trails->next = phx_sim_tick(sim);
    phx_trails_record(trails, sim);
    return trails;
}

void phx_trails_destroy(PhxTrails *trails) {
    if (!trails) return;
    free(trails->generation);
    free(trails->points);
    free(trails->goals);
    free(trails->arrived);
    free(trails);
}

static void halve(PhxTrails *trails) {
    for (uint32_t s = 1; s < trails->count / 2; s++)
        memcpy(trails->points + (size_t)s * trails->units, trails->points + (size_t)s * 2 * trails->units,
               trails->units * sizeof(Point));
    trails->count /= 2;
    trails->interval *= 2;
}

static uint16_t coordinate(fix16_t value) {
    const int32_t eighths = value / (1 << SUBUNIT_SHIFT);
    return (uint16_t)(eighths < 0 ? 0 : eighths < NOWHERE ? eighths : NOWHERE - 1);
}

static void note_arrivals(PhxTrails *trails, const PhxSim *sim) {
    uint32_t count;
    const PhxEvent *events = phx_sim_events(sim, &count);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].kind == PHX_EVENT_ARRIVED && phx_handle_slot(events[i].unit) < trails->units)
            trails->arrived[phx_handle_slot(events[i].unit)] = true;
}

void phx_trails_record(PhxTrails *trails, const PhxSim *sim) {
    if (!trails) return;
    note_arrivals(trails, sim);
    if (phx_sim_tick(sim) < trails->next) return;
    if (trails->count == trails->samples) halve(trails);
    const PhxUnitView view = phx_sim_units(sim);
    Point *points = trails->points + (size_t)trails->count++ * trails->units;
    for (uint32_t i = 0; i < trails->units; i++) {
        const bool here = i < view.used && phx_generation_alive(view.generation[i]);
        points[i] =
            here ? (Point){coordinate(view.pos_x[i]), coordinate(view.pos_y[i])} : (Point){NOWHERE, NOWHERE};
        /* Another unit in the slot: its first sample is left out, so that no line leads from one to the
         * other. */
        if (here && trails->generation[i] && trails->generation[i] != view.generation[i])
            points[i] = (Point){NOWHERE, NOWHERE};
        if (here && view.activity[i]) trails->goals[i] = phx_vec2(view.goal_x[i], view.goal_y[i]);
        trails->generation[i] = here ? view.generation[i] : 0;
    }
    trails->next = phx_sim_tick(sim) + trails->interval;
}

static PhxVec2 world_point(Point point) {
    return (PhxVec2){(fix16_t)point.x * (1 << SUBUNIT_SHIFT), (fix16_t)point.y * (1 << SUBUNIT_SHIFT)};
}

bool phx_trails_path(const PhxTrails *trails, const PhxCanvas *canvas, uint32_t unit) {
    bool any = false, down = false;
    Point last = {NOWHERE, NOWHERE};
    if (unit >= trails->units) return false;
    for (uint32_t s = 0; s < trails->count; s++) {
        const Point at = trails->points[(size_t)s * trails->units + unit];
        if (at.x == NOWHERE) {
            down = false;
            continue;
        }
        if (down && at.x == last.x && at.y == last.y) continue;
        const PhxVec2 to = world_point(at);
        if (down)
            cairo_line_to(canvas->cairo, phx_canvas_x(canvas, to.x), phx_canvas_y(canvas, to.y));
        else
            cairo_move_to(canvas->cairo, phx_canvas_x(canvas, to.x), phx_canvas_y(canvas, to.y));
        any |= down;
        down = true;
        last = at;
    }
    return any;
}

bool phx_trails_start(const PhxTrails *trails, uint32_t unit, PhxVec2 *out) {
    for (uint32_t s = 0; unit < trails->units && s < trails->count; s++) {
        const Point at = trails->points[(size_t)s * trails->units + unit];
        if (at.x == NOWHERE) continue;
        *out = world_point(at);
        return true;
    }
    return false;
}

bool phx_trails_goal(const PhxTrails *trails, uint32_t unit, PhxVec2 *out) {
    if (unit >= trails->units || trails->goals[unit].x < 0) return false;
    *out = trails->goals[unit];
    return true;
}

bool phx_trails_arrived(const PhxTrails *trails, uint32_t unit) {
    return unit < trails->units && trails->arrived[unit];
}
