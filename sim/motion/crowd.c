/* crowd.c: see crowd.h.
 *
 * A unit's directions, by `bend`: its wish; 30 degrees to the right, to the left; 60, 90, 120, 150 to the
 * right. Each costs what comes against the unit in five cells along it (half of what bodies cover there, less
 * the part that goes its way), a turn, and more where the unit has tried it and isn't let: so it doesn't
 * press along a wall for ever. The first of the cheapest counts, and holds until it looks again.
 */
#include <phalanx/crowd.h>
#include <string.h>

#include "base/arena.h"
#include "base/assert.h"

enum {
    AHEAD = 5,      /* cells that a unit looks ahead */
    CLEAR = 2,      /* cells aside that have to be without walls */
    TURN = 9830,    /* Q16: what 30 degrees cost, in parts of a cell covered by bodies that come head-on */
    LEFT = 1311,    /* what the left costs besides */
    FAILED = 65536, /* what a direction costs that was tried in vain */
    RETURN = 29, /* 64ths of its preferred speed by which a unit changes its speed across its way, a second */
    STILL = 256, /* raw: a 256th of a unit a second is no movement */
    SHIFT_MIN = 16, /* of cells: one unit */
    SHIFT_MAX = 22,
    CELLS_A_UNIT = 8, /* where units are few and far between, cells become larger */
    CELLS_MIN = 1024,
    WIDE = 6 /* radii of the largest unit that a cell is wide at least */
};

/* The directions: turns in steps of 30 degrees, and their cosine and sine in Q30. */
typedef struct Way {
    int32_t cosine, sine;
    uint32_t cost;
} Way;

static const Way ways[PHX_CROWD_WAYS] = {
    {1 << 30, 0, 0},
    {929887697, -536870912, TURN},
    {929887697, 536870912, TURN + LEFT},
    {536870912, -929887697, 2 * TURN},
    {0, -(1 << 30), 3 * TURN},
    {-536870912, -929887697, 4 * TURN},
    {-929887697, -536870912, 5 * TURN},
};

void phx_crowd_layout(PhxCrowdWork *work, PhxArena *arena, uint32_t capacity) {
    *work = (PhxCrowdWork){.capacity = capacity};
    work->cell = PHX_ARENA_ARRAY(arena, PhxCrowdCell, PHX_CROWD_CELLS);
    work->way = PHX_ARENA_ARRAY(arena, PhxDir, capacity);
}

static const PhxOrcaClass *class_of(const PhxCrowdScene *scene, uint32_t slot) {
    return &scene->classes[scene->class_of ? scene->class_of[slot] : 0];
}

static PhxDir turned(PhxDir way, const Way *by) {
    return phx_dir((int32_t)phx_round_shift(phx_dot32(way.x, way.y, by->cosine, -by->sine), 30),
                   (int32_t)phx_round_shift(phx_dot32(way.x, way.y, by->sine, by->cosine), 30));
}

static uint64_t cells_of(uint64_t span_x, uint64_t span_y, uint32_t shift) {
    return ((span_x >> shift) + 1) * ((span_y >> shift) + 1);
}

/* Cells over all that the spatial grid covers, six to twelve radii of the largest unit wide. */
static void fit_cells(const PhxCrowdScene *scene) {
    PhxCrowdWork *work = scene->work;
    const PhxSpatial *spatial = scene->spatial;
    const uint64_t span_x = (uint64_t)spatial->width << spatial->cell_shift;
    const uint64_t span_y = (uint64_t)spatial->height << spatial->cell_shift;
    fix16_t widest = 0;
    for (uint32_t i = 0; i < scene->class_count; i++)
        if (scene->classes[i].radius > widest) widest = scene->classes[i].radius;
    uint32_t shift = SHIFT_MIN;
    while (shift < SHIFT_MAX && (int64_t)1 << shift < WIDE * (int64_t)widest) shift++;
    const uint64_t most = (uint64_t)spatial->count * CELLS_A_UNIT + CELLS_MIN;
    while (cells_of(span_x, span_y, shift) > (most < PHX_CROWD_CELLS ? most : PHX_CROWD_CELLS)) shift++;
    work->shift = shift;
    work->width = (uint32_t)(span_x >> shift) + 1;
    work->height = (uint32_t)(span_y >> shift) + 1;
    work->origin_x = spatial->origin_x;
    work->origin_y = spatial->origin_y;
    memset(work->cell, 0, sizeof *work->cell * work->width * work->height);
}

/* Null: beyond the crowd. */
static const PhxCrowdCell *cell_at(const PhxCrowdWork *work, int64_t x, int64_t y) {
    const int64_t dx = x - work->origin_x, dy = y - work->origin_y;
    if (dx < 0 || dy < 0) return NULL;
    const uint64_t cx = (uint64_t)dx >> work->shift, cy = (uint64_t)dy >> work->shift;
    return cx < work->width && cy < work->height ? &work->cell[cy * work->width + cx] : NULL;
}

static void find_ways(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const PhxCrowdScene *scene = context;
    (void)worker;
    for (uint32_t row = begin; row < end; row++) {
        const uint32_t slot = scene->spatial->slot[row];
        const PhxVec2 wish = {scene->pref_x[slot], scene->pref_y[slot]};
        PhxDir way = {0, 0};
        if (phx_vec2_normalize(wish, &way) < (uint32_t)class_of(scene, slot)->max_speed / 8)
            way = phx_dir(0, 0);
        scene->work->way[slot] = way;
    }
}

/* What a body covers of a cell, Q16: pi r^2 / L^2, at most 2^16 * pi / 36 (more where cells had to be small).
 */
static int64_t share_of(const PhxCrowdScene *scene, const PhxOrcaClass *class) {
    enum { PI_Q10 = 3217 };
    const int64_t radius = class->radius; /* <= 2^20 */
    return (radius * radius * PI_Q10 >> 10) >> (2 * scene->work->shift - 16);
}

static bool is_still(fix16_t x, fix16_t y) { return phx_abs64(x) + phx_abs64(y) <= STILL; }

static bool stirs(const PhxCrowdScene *scene, uint32_t slot) {
    return (scene->pref_x[slot] | scene->pref_y[slot]) != 0 ||
           !is_still(scene->vel_x[slot], scene->vel_y[slot]);
}

static void sum_cells(const PhxCrowdScene *scene) {
    PhxCrowdWork *work = scene->work;
    const PhxSpatial *spatial = scene->spatial;
    int64_t share = share_of(scene, &scene->classes[0]);
    for (uint32_t row = 0; row < spatial->count; row++) {
        const uint32_t slot = spatial->slot[row];
        const PhxVec2 at = spatial->position[row];
        const uint32_t cx = (uint32_t)((int64_t)at.x - work->origin_x) >> work->shift,
                       cy = (uint32_t)((int64_t)at.y - work->origin_y) >> work->shift;
        PhxCrowdCell *cell = &work->cell[cy * work->width + cx];
        if (scene->class_of) share = share_of(scene, class_of(scene, slot));
        cell->stirring += stirs(scene, slot);
        cell->area += share;
        cell->x += phx_round_shift(work->way[slot].x * share, 30);
        cell->y += phx_round_shift(work->way[slot].y * share, 30);
    }
}

static bool is_solid(const PhxCrowdScene *scene, int64_t x, int64_t y) {
    if (!scene->solid) return false;
    const uint64_t cx = (uint64_t)x >> PHX_FIX_BITS, cy = (uint64_t)y >> PHX_FIX_BITS;
    return x < 0 || y < 0 || cx >= scene->solid->width || cy >= scene->solid->height ||
           scene->solid->cost[cy * scene->solid->width + cx] == PHX_NAV_IMPASSABLE;
}

/* What comes against a unit that wants to go `way` in the cells along `along`, Q16, as far as the next wall:
 * its way leads around that, and others come around it too. Aside, there has to be room for a while. */
static int64_t against(const PhxCrowdScene *scene, PhxVec2 at, PhxDir way, PhxDir along, uint32_t most,
                       bool aside) {
    const uint32_t shift = scene->work->shift;
    int64_t sum = 0;
    for (uint32_t i = 1; i <= most; i++) {
        const int64_t x = at.x + (int64_t)i * phx_round_shift((int64_t)along.x * ((int64_t)1 << shift), 30);
        const int64_t y = at.y + (int64_t)i * phx_round_shift((int64_t)along.y * ((int64_t)1 << shift), 30);
        if (is_solid(scene, x, y)) return sum + (aside && i <= CLEAR ? FAILED : 0);
        const PhxCrowdCell *cell = cell_at(scene->work, x, y);
        if (cell) sum += (cell->area - phx_round_shift(way.x * cell->x + way.y * cell->y, 30)) / 2;
    }
    return sum;
}

/* How many cells a unit looks ahead: not far beyond its goal. */
static uint32_t sight_of(const PhxCrowdScene *scene, uint32_t slot, PhxVec2 at) {
    if (!scene->goal_x) return AHEAD;
    const PhxVec2 goal = {scene->goal_x[slot], scene->goal_y[slot]};
    const uint32_t cells = (phx_vec2_length(phx_vec2_sub(goal, at)) >> scene->work->shift) + 1;
    return cells < AHEAD ? cells : AHEAD;
}

static uint8_t choose(const PhxCrowdScene *scene, uint32_t slot, PhxVec2 at) {
    const PhxDir way = scene->work->way[slot];
    const PhxVec2 velocity = {scene->vel_x[slot], scene->vel_y[slot]};
    const uint32_t sight = sight_of(scene, slot, at);
    int64_t least = against(scene, at, way, way, sight, false);
    uint8_t best = 0;
    for (uint8_t k = 1; k < PHX_CROWD_WAYS && least > ways[k].cost; k++) {
        int64_t cost = ways[k].cost + against(scene, at, way, turned(way, &ways[k]), sight, true);
        if (scene->bend[slot] == k) {
            /* across its way, to the side of the turn, against a quarter of what was wanted */
            const int64_t across = phx_vec2_dot_dir(velocity, phx_dir_turn_quarter(way)),
                          wish = phx_vec2_length(phx_vec2(scene->pref_x[slot], scene->pref_y[slot]));
            const int64_t done = ways[k].sine < 0 ? -across : across;
            if (4 * done < wish * (int64_t)phx_abs64(ways[k].sine) >> 30) cost += FAILED;
        }
        if (cost < least) least = cost, best = k;
    }
    return best;
}

/* The speed across its way that a unit goes on with: no more than it wants to go; none when it goes back
 * without wanting to, for its way has turned then, and what was noted says nothing of it. */
static int64_t sway_of(const PhxCrowdScene *scene, uint32_t slot, PhxDir way, int64_t speed) {
    const PhxVec2 velocity = {scene->vel_x[slot], scene->vel_y[slot]};
    const int64_t sway = scene->sway[slot];
    if (scene->bend[slot] == 0 && phx_vec2_dot_dir(velocity, way) <= 0) return 0;
    return sway > speed ? speed : sway < -speed ? -speed : sway;
}

/* Whether anyone moves or wants to in a unit's cell and the eight around it, itself included. */
static bool is_stirred(const PhxCrowdScene *scene, PhxVec2 at) {
    const int64_t wide = (int64_t)1 << scene->work->shift;
    for (int64_t y = at.y - wide; y <= at.y + wide; y += wide)
        for (int64_t x = at.x - wide; x <= at.x + wide; x += wide) {
            const PhxCrowdCell *cell = cell_at(scene->work, x, y);
            if (cell && cell->stirring > 0) return true;
        }
    return false;
}

static void bend_one(const PhxCrowdScene *scene, uint32_t row, uint32_t period) {
    const uint32_t slot = scene->spatial->slot[row];
    const PhxDir way = scene->work->way[slot];
    if (scene->asleep && scene->asleep[slot] && is_stirred(scene, scene->spatial->position[row]))
        scene->asleep[slot] = 0;
    if ((way.x | way.y) == 0 || (scene->leave && scene->leave[slot])) {
        scene->bend[slot] = 0;
        scene->work->way[slot] = phx_dir(0, 0);
        return;
    }
    if ((scene->tick + slot) % period == 0)
        scene->bend[slot] = choose(scene, slot, scene->spatial->position[row]);
    const PhxVec2 wish = {scene->pref_x[slot], scene->pref_y[slot]};
    const int64_t speed = phx_vec2_length(wish); /* <= 2^22 */
    const Way *by = &ways[scene->bend[slot] < PHX_CROWD_WAYS ? scene->bend[slot] : 0];
    const int64_t along = phx_round_shift(speed * by->cosine, 30),
                  aside = phx_round_shift(speed * by->sine, 30);
    const int64_t most = speed * RETURN / (64 * (int64_t)scene->tick_rate) + 1;
    const int64_t was = sway_of(scene, slot, way, speed), change = aside - was;
    const int64_t across = was + (change > most ? most : change < -most ? -most : change);
    if (across == 0 && scene->bend[slot] == 0) return; /* bit for bit what it was */
    const PhxVec2 bent = {(fix16_t)phx_round_shift(way.x * along - way.y * across, 30),
                          (fix16_t)phx_round_shift(way.y * along + way.x * across, 30)};
    scene->pref_x[slot] = bent.x, scene->pref_y[slot] = bent.y;
}

static void bend_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const PhxCrowdScene *scene = context;
    const uint32_t period = scene->tick_rate * 2 / 5 > 1 ? scene->tick_rate * 2 / 5 : 1;
    (void)worker;
    for (uint32_t row = begin; row < end; row++) bend_one(scene, row, period);
}

void phx_crowd_bend(const PhxCrowdScene *scene, const PhxJobs *jobs) {
    PhxCrowdScene copy = *scene; /* the context of a job isn't const */
    PHX_ASSERT(scene->spatial->capacity <= scene->work->capacity, scene->spatial->capacity,
               scene->work->capacity);
    if (scene->spatial->count == 0) return;
    fit_cells(scene);
    phx_parallel_for(jobs, scene->spatial->count, PHX_CROWD_GRAIN * 4, find_ways, &copy);
    sum_cells(scene);
    phx_parallel_for(jobs, scene->spatial->count, PHX_CROWD_GRAIN, bend_range, &copy);
}

typedef struct Note {
    const PhxCrowdScene *scene;
    fix16_t *out_x, *out_y;
} Note;

static void note_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const Note *note = context;
    const PhxCrowdScene *scene = note->scene;
    (void)worker;
    for (uint32_t row = begin; row < end; row++) {
        const uint32_t slot = scene->spatial->slot[row];
        const PhxDir across =
            phx_dir_turn_quarter(scene->work->way[slot]); /* (0, 0) where it wants nothing */
        scene->sway[slot] = (fix16_t)phx_vec2_dot_dir(phx_vec2(note->out_x[slot], note->out_y[slot]), across);
        if (!scene->asleep || stirs(scene, slot) || !is_still(note->out_x[slot], note->out_y[slot])) continue;
        scene->asleep[slot] = 1;
        note->out_x[slot] = note->out_y[slot] = 0;
    }
}

void phx_crowd_note(const PhxCrowdScene *scene, fix16_t *out_x, fix16_t *out_y, const PhxJobs *jobs) {
    Note note = {scene, out_x, out_y};
    phx_parallel_for(jobs, scene->spatial->count, PHX_CROWD_GRAIN * 4, note_range, &note);
}
