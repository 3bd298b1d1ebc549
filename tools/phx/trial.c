/* trial.c: see trial.h. */
#include "phx/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* The generator of the peer's program, so that scattered starts are the same: xorshift64*, begun with seed 1.
 */
typedef struct Draw {
    uint64_t state;
} Draw;

static uint64_t draw(Draw *from) {
    from->state ^= from->state << 13;
    from->state ^= from->state >> 7;
    from->state ^= from->state << 17;
    return from->state * 0x2545F4914F6CDD1DULL;
}

static double draw_unit(Draw *from) { return (double)(draw(from) >> 11) * 0x1p-53; }

static Draw draw_begin(void) {
    Draw made = {88172645463325252ULL ^ 0x9E3779B97F4A7C15ULL};
    for (int i = 0; i < 16; i++) draw(&made);
    return made;
}

static bool room_for(PhxTrial *scene, uint32_t count) {
    scene->count = count;
    scene->start = calloc(count, sizeof *scene->start);
    scene->goal = calloc(count, sizeof *scene->goal);
    return scene->start && scene->goal;
}

/* Two units to a step apart on a circle, each to the opposite point. */
static bool make_circle(PhxTrial *scene, uint32_t count) {
    const double around = count * 3.0 * 1.5 / (2 * pi);
    scene->radius = 1.5, scene->range = 15, scene->horizon = scene->wall_horizon = 10, scene->rate = 4;
    scene->arrived_within = 3;
    if (!room_for(scene, count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        const double angle = 2 * pi * i / count;
        scene->start[i] = (PhxTrialPoint){around * cos(angle), around * sin(angle)};
        scene->goal[i] = (PhxTrialPoint){-scene->start[i].x, -scene->start[i].y};
    }
    return true;
}

/* Four square blocks in the corners, each to the centre of the opposite one, past four boxes that leave a
 * cross open. */
static bool make_blocks(PhxTrial *scene, uint32_t count) {
    static const double sign_x[4] = {-1, 1, 1, -1}, sign_y[4] = {1, 1, -1, -1};
    const double spacing = 10;
    const uint32_t quarter = (count + 3) / 4, side = (uint32_t)ceil(sqrt(quarter));
    uint32_t made = 0;
    scene->radius = 2, scene->range = 15, scene->horizon = scene->wall_horizon = 5, scene->rate = 4;
    scene->arrived_within = fmax(20, 1.6 * 2 * sqrt(quarter));
    if (!room_for(scene, count)) return false;
    for (uint32_t t = 0; t < side * side && made < count; t++)
        for (uint32_t c = 0; c < 4 && made < count; c++, made++) {
            const double x = 55 + t / side * spacing, y = 55 + t % side * spacing,
                         middle = 55 + (side - 1) * spacing / 2;
            scene->start[made] = (PhxTrialPoint){c & 1 ? -x : x, c & 2 ? -y : y};
            scene->goal[made] = (PhxTrialPoint){c & 1 ? middle : -middle, c & 2 ? middle : -middle};
        }
    for (int i = 0; i < 4; i++) {
        const double x = sign_x[i] > 0 ? 10 : -40, y = sign_y[i] > 0 ? 10 : -40;
        scene->box[scene->boxes++] = (PhxTrialBox){x, y, x + 30, y + 30};
    }
    return true;
}

/* Uniform in a square of that side, none nearer than `apart` to another. */
static bool scatter(Draw *from, uint32_t count, double side, double apart, PhxTrialPoint *out) {
    const long width = (long)(side / apart) + 1;
    int32_t *cell = malloc((size_t)width * (size_t)width * sizeof *cell);
    uint32_t placed = 0;
    if (!cell) return false;
    memset(cell, -1, (size_t)width * (size_t)width * sizeof *cell);
    for (uint64_t tries = 0; placed < count && tries < (uint64_t)count * 1000; tries++) {
        const double x = draw_unit(from) * side, y = draw_unit(from) * side;
        const long cx = (long)(x / apart), cy = (long)(y / apart);
        bool free_here = cell[cy * width + cx] < 0;
        for (long j = cy > 2 ? cy - 2 : 0; j <= cy + 2 && j < width && free_here; j++)
            for (long i = cx > 2 ? cx - 2 : 0; i <= cx + 2 && i < width; i++) {
                const int32_t k = cell[j * width + i];
                if (k >= 0 && hypot((float)out[k].x - x, (float)out[k].y - y) < apart) free_here = false;
            }
        if (!free_here) continue;
        cell[cy * width + cx] = (int32_t)placed;
        out[placed++] = (PhxTrialPoint){x, y};
    }
    free(cell);
    return placed == count;
}

static bool make_random(PhxTrial *scene, uint32_t count) {
    const double side = sqrt(count / 0.1);
    Draw from = draw_begin();
    scene->radius = 0.5, scene->range = 5, scene->horizon = scene->wall_horizon = 2, scene->rate = 20;
    scene->arrived_within = 1;
    return room_for(scene, count) && scatter(&from, count, side, 2.02 * 0.5, scene->start) &&
           scatter(&from, count, side, 2.02 * 0.5, scene->goal);
}

/* Two blocks head-on in a corridor 40 wide, each unit to its place moved past the other block. */
static bool make_counterflow(PhxTrial *scene, uint32_t count) {
    const double radius = 0.5, spacing = 1.5, half = 20, gap = 10;
    const uint32_t columns = (uint32_t)floor((2 * half - 3 * radius) / spacing) + 1, block = count / 2;
    const double first = -(columns - 1.0) * spacing / 2;
    double farthest = 0;
    uint32_t made = 0;
    Draw from = draw_begin();
    scene->radius = radius, scene->range = 5, scene->horizon = scene->wall_horizon = 2, scene->rate = 20;
    scene->arrived_within = 1;
    if (!room_for(scene, 2 * block)) return false;
    for (int side = -1; side <= 1; side += 2)
        for (uint32_t t = 0; t < block; t++, made++) {
            PhxTrialPoint *at = &scene->start[made];
            at->x = side * (gap + t / columns * spacing);
            at->y = first + t % columns * spacing + (draw_unit(&from) - 0.5) * 0.2 * radius;
            at->x += (draw_unit(&from) - 0.5) * 0.2 * radius;
            farthest = fmax(farthest, fabs(at->x));
        }
    for (uint32_t i = 0; i < made; i++) {
        const double shift = gap + farthest;
        scene->goal[i] =
            (PhxTrialPoint){scene->start[i].x + (scene->start[i].x < 0 ? shift : -shift), scene->start[i].y};
    }
    const double length = farthest * 3 + 50;
    scene->box[0] = (PhxTrialBox){-length, half, length, half + 10};
    scene->box[1] = (PhxTrialBox){-length, -half - 10, length, -half};
    scene->boxes = 2;
    return true;
}

/* Thirty and thirty through a gap of 2.6 between walls two thick. */
static bool make_door(PhxTrial *scene, uint32_t count) {
    scene->radius = 1, scene->range = 15, scene->horizon = scene->wall_horizon = 5, scene->rate = 4;
    scene->fastest = 1.5, scene->passed_x = 2, scene->arrived_within = 2;
    if (!room_for(scene, count)) return false;
    const uint32_t left = count / 2;
    for (uint32_t i = 0; i < count; i++) {
        const double side = i < left ? -1 : 1;
        const uint32_t k = i < left ? i : i - left;
        scene->start[i] = (PhxTrialPoint){side * (8 + 2.5 * (k / 6)), -7.5 + 3 * (k % 6)};
        scene->goal[i] = (PhxTrialPoint){-side * 30, 0};
    }
    scene->box[0] = (PhxTrialBox){-1, 1.3, 1, 50};
    scene->box[1] = (PhxTrialBox){-1, -50, 1, -1.3};
    scene->boxes = 2;
    return true;
}

static bool make_crossing(PhxTrial *scene, uint32_t count) {
    static const PhxTrialPoint from[4] = {{-20, 0}, {20, 0}, {0, -20}, {0, 20}};
    scene->radius = 1, scene->range = 15, scene->horizon = scene->wall_horizon = 10, scene->rate = 4;
    scene->arrived_within = 2;
    if (!room_for(scene, count)) return false;
    for (int i = 0; i < 4; i++) {
        scene->start[i] = from[i];
        scene->goal[i] = (PhxTrialPoint){-from[i].x, -from[i].y};
    }
    return true;
}

static bool make_point(PhxTrial *scene, uint32_t count) {
    scene->radius = 1, scene->range = 15, scene->horizon = scene->wall_horizon = 10, scene->rate = 4;
    scene->arrived_within = 2;
    if (!room_for(scene, count)) return false;
    for (uint32_t i = 0; i < count; i++) scene->goal[i].x = 20;
    return true;
}

/* Ten of radius 0.4 that stand in a room of 3 x 3. */
static bool make_packed(PhxTrial *scene, uint32_t count) {
    static const double row[4] = {3, 4, 3, 0};
    scene->radius = 0.4, scene->range = 5, scene->horizon = scene->wall_horizon = 2, scene->rate = 20;
    scene->arrived_within = 0.5, scene->stands = true;
    if (!room_for(scene, count)) return false;
    uint32_t made = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < (int)row[j]; i++, made++)
            scene->start[made] = scene->goal[made] =
                (PhxTrialPoint){(i + 0.5) * 3 / row[j] - 1.5, (j - 1) * 0.9};
    const PhxTrialBox boxes[4] = {
        {-2.5, -2.5, 2.5, -1.5}, {-2.5, 1.5, 2.5, 2.5}, {-2.5, -1.5, -1.5, 1.5}, {1.5, -1.5, 2.5, 1.5}};
    memcpy(scene->box, boxes, sizeof boxes);
    scene->boxes = 4;
    return true;
}

typedef struct Maker {
    const char *name;
    bool (*make)(PhxTrial *scene, uint32_t count);
    PhxTrialRange range;
    uint32_t steps;
} Maker;

static const Maker makers[] = {{"circle", make_circle, {2, 10000, 250}, 0},
                               {"blocks", make_blocks, {4, 1000000, 1000}, 4000},
                               {"random", make_random, {2, 1000000, 1000}, 2000},
                               {"counterflow", make_counterflow, {2, 90000, 1000}, 6000},
                               {"door", make_door, {2, 100, 60}, 8000},
                               {"crossing", make_crossing, {4, 4, 4}, 4000},
                               {"point", make_point, {2, 1000, 2}, 400},
                               {"packed", make_packed, {10, 10, 10}, 1200}};

/* Other numbers of steps, where the peer's figures have them. */
static const struct {
    const char *name;
    uint32_t count, steps;
} peer_steps[] = {
    {"blocks", 100, 0}, {"random", 10000, 5000}, {"random", 50000, 100}, {"counterflow", 10000, 10000}};

static const Maker *find(const char *name) {
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++)
        if (strcmp(makers[i].name, name) == 0) return &makers[i];
    return NULL;
}

bool phx_trial_range(const char *name, PhxTrialRange *range) {
    const Maker *maker = find(name);
    if (maker) *range = maker->range;
    return maker != NULL;
}

bool phx_trial_make(PhxTrial *scene, const char *name, uint32_t count) {
    const Maker *maker = find(name);
    *scene = (PhxTrial){0};
    if (!maker) return false;
    if (count == 0) count = maker->range.usual;
    if (count < maker->range.least || count > maker->range.most) return false;
    *scene = (PhxTrial){
        .name = maker->name, .preferred = 1, .fastest = 2, .neighbours = 10, .steps = maker->steps};
    for (size_t i = 0; i < sizeof peer_steps / sizeof peer_steps[0]; i++)
        if (strcmp(peer_steps[i].name, name) == 0 && peer_steps[i].count == count)
            scene->steps = peer_steps[i].steps;
    return maker->make(scene, count);
}

void phx_trial_free(PhxTrial *scene) {
    free(scene->start);
    free(scene->goal);
    *scene = (PhxTrial){0};
}
