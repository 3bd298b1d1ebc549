/* crowd.c: see crowd.h.
 *
 * A unit's directions, by `bend`: its wish; 30 degrees to the right, to the left; 60, 90, 120, 150 to the
 * right. Each costs what comes against the unit in five cells along it (half of what bodies cover there, less
 * the part that goes its way), a part of those who are held up there, a turn, and more where the unit has
 * tried it and isn't let: so it doesn't press along a wall for ever. Straight on and to the right it also
 * costs half of what comes against it in 24 far cells. The first of the cheapest counts, and holds until it
 * looks again. Who finds none that is cheaper than straight on, though there is much against it (between
 * walls, say), keeps to the right by 15 degrees: so lanes form in the narrowest corridor.
 */
#include <phalanx/crowd.h>

#include "motion/crowd_cells.h"

enum {
    AHEAD = 5,      /* cells that a unit looks ahead */
    FAR_AHEAD = 24, /* far cells */
    CLEAR = 2,      /* cells aside that have to be without walls */
    TURN = 9830,    /* Q16: what 30 degrees cost, in parts of a cell covered by bodies that come head-on */
    LEFT = 1311,    /* what the left costs besides */
    FAILED = 65536, /* what a direction costs that was tried in vain */
    RETURN = 29, /* 64ths of its preferred speed by which a unit changes its speed across its way, a second */
    QUEUE = 28000, /* Q16 of a cell: covered by more than this, it costs a quarter of those who are held up */
    LOOSE = 36000, /* Q16 of a cell: up to here a unit goes as fast as it wants */
    DENSER = 16384, /* and from so much more on, no faster than those there get on */
    PRESS_SHIFT = 5 /* and a 32nd of its speed more */
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
    {1037154959, -277904834, 0},
};

static PhxDir turned(PhxDir way, const Way *by) {
    return phx_dir((int32_t)phx_round_shift(phx_dot32(way.x, way.y, by->cosine, -by->sine), 30),
                   (int32_t)phx_round_shift(phx_dot32(way.x, way.y, by->sine, by->cosine), 30));
}

/* The place `steps` steps of 2^shift raw along a direction. */
typedef struct Place {
    int64_t x, y;
} Place;

static Place place_along(PhxVec2 at, PhxDir along, uint32_t shift, uint32_t steps) {
    return (Place){at.x + (int64_t)steps * phx_round_shift((int64_t)along.x * ((int64_t)1 << shift), 30),
                   at.y + (int64_t)steps * phx_round_shift((int64_t)along.y * ((int64_t)1 << shift), 30)};
}

static bool is_solid(const PhxCrowdScene *scene, Place at) {
    if (!scene->solid) return false;
    const int64_t x = at.x - scene->solid_origin.x, y = at.y - scene->solid_origin.y;
    const uint64_t cx = (uint64_t)x >> PHX_FIX_BITS, cy = (uint64_t)y >> PHX_FIX_BITS;
    return x < 0 || y < 0 || cx >= scene->solid->width || cy >= scene->solid->height ||
           scene->solid->cost[cy * scene->solid->width + cx] == PHX_NAV_IMPASSABLE;
}

/* What in a cell doesn't go the way of a unit that wants to go `way`; sums <= 2^30, |way| 2^30: 61 bits. */
static int64_t counter(const PhxCrowdCell *cell, PhxDir way) {
    return (cell->area - phx_round_shift(way.x * cell->x + way.y * cell->y, 30)) / 2;
}

/* What a unit that wants to go `way` meets in the cells along `along`, Q16, as far as the next wall: its way
 * leads around that, and others come around it too. Aside, there has to be room for a while. */
static int64_t against(const PhxCrowdScene *scene, PhxVec2 at, PhxDir way, PhxDir along, uint32_t most,
                       bool aside) {
    int64_t sum = 0;
    for (uint32_t i = 1; i <= most; i++) {
        const Place place = place_along(at, along, scene->work->shift, i);
        if (is_solid(scene, place)) return sum + (aside && i <= CLEAR ? FAILED : 0);
        const PhxCrowdCell *cell = phx_crowd_cell_at(scene->work, place.x, place.y);
        if (!cell) continue;
        sum += counter(cell, way);
        if (cell->area > QUEUE) sum += (cell->held + cell->rest) / 4;
    }
    return sum;
}

/* The same for what comes from far off: half of it, as a part of a cell. */
static int64_t against_far(const PhxCrowdScene *scene, PhxVec2 at, PhxDir way, PhxDir along, uint32_t most) {
    int64_t sum = 0;
    for (uint32_t i = 1; i <= most; i++) {
        const Place place = place_along(at, along, scene->work->shift + PHX_CROWD_FAR, i);
        if (is_solid(scene, place)) break;
        const PhxCrowdCell *cell = phx_crowd_far_at(scene->work, place.x, place.y);
        if (cell) sum += counter(cell, way);
    }
    return sum >> (2 * PHX_CROWD_FAR + 1);
}

/* How far it is to a unit's goal, in cells of 2^shift, at most `most`. */
static uint32_t cells_to_goal(const PhxCrowdScene *scene, uint32_t slot, PhxVec2 at, uint32_t shift,
                              uint32_t most) {
    if (!scene->goal_x) return most;
    const PhxVec2 goal = {scene->goal_x[slot], scene->goal_y[slot]};
    const uint32_t cells = phx_vec2_length(phx_vec2_sub(goal, at)) >> shift;
    return cells < most ? cells : most;
}

/* Whether a unit that bent its way doesn't get on there: across its way, to the side of the turn, less than a
 * quarter of what was wanted. */
static bool is_in_vain(const PhxCrowdScene *scene, uint32_t slot, const Way *by) {
    const PhxCrowdWish *wish = &scene->work->wish[slot];
    const PhxVec2 velocity = {scene->vel_x[slot], scene->vel_y[slot]};
    const int64_t across = phx_vec2_dot_dir(velocity, phx_dir_turn_quarter(wish->way));
    const int64_t done = by->sine < 0 ? -across : across;
    return 4 * done < wish->speed * (int64_t)phx_abs64(by->sine) >> 30;
}

static uint8_t choose(const PhxCrowdScene *scene, uint32_t slot, PhxVec2 at) {
    const uint32_t shift = scene->work->shift;
    const PhxDir way = scene->work->wish[slot].way;
    const uint32_t beyond = cells_to_goal(scene, slot, at, shift, AHEAD - 1) + 1,
                   far = cells_to_goal(scene, slot, at, shift + PHX_CROWD_FAR, FAR_AHEAD);
    const int64_t ahead = against_far(scene, at, way, way, far);
    int64_t least = against(scene, at, way, way, beyond, false) + ahead, aside = 0;
    uint8_t best = 0;
    for (uint8_t k = 1; k < PHX_CROWD_KEEP && least > ways[k].cost; k++) {
        const PhxDir along = turned(way, &ways[k]);
        if (k == 1) aside = against_far(scene, at, way, along, far);
        /* masses part to the right */
        int64_t cost =
            ways[k].cost + against(scene, at, way, along, beyond, true) + (ways[k].sine > 0 ? ahead : aside);
        if (scene->bend[slot] == k && is_in_vain(scene, slot, &ways[k])) cost += FAILED;
        if (cost < least) least = cost, best = k;
    }
    return best == 0 && least > ways[1].cost ? PHX_CROWD_KEEP : best;
}

/* The speed across its way that a unit goes on with: no more than it wants to go; none when it goes back
 * without wanting to, for its way has turned then, and what was noted says nothing of it. */
static int64_t sway_of(const PhxCrowdScene *scene, uint32_t slot, PhxDir way, int64_t speed) {
    const PhxVec2 velocity = {scene->vel_x[slot], scene->vel_y[slot]};
    const int64_t sway = scene->sway[slot];
    if (scene->bend[slot] == 0 && phx_vec2_dot_dir(velocity, way) <= 0) return 0;
    return sway > speed ? speed : sway < -speed ? -speed : sway;
}

/* The speed with which a unit goes on along `along`: where the next cell is dense, no more than a little
 * faster than those in it get on. */
static int64_t speed_into(const PhxCrowdScene *scene, uint32_t slot, PhxVec2 at, PhxDir along) {
    const int64_t speed = scene->work->wish[slot].speed;
    const uint32_t shift = scene->work->shift;
    const Place place = place_along(at, along, shift, 1);
    const PhxCrowdCell *cell = phx_crowd_cell_at(scene->work, place.x, place.y);
    if (!cell || cell->area <= LOOSE || cell->held <= 0) return speed;
    if (cells_to_goal(scene, slot, at, shift, 1) == 0) return speed; /* it won't go so far */
    const int64_t least = speed >> PRESS_SHIFT, over = cell->area - LOOSE;
    const int64_t held = speed * cell->held / cell->area; /* <= 2^22 * 2^26 */
    if (held <= least) return speed;
    return speed - (over >= DENSER ? held - least : (held - least) * over / DENSER);
}

/* Whether anyone moves or wants to in a unit's cell and the eight around it, itself included. */
static bool is_stirred(const PhxCrowdScene *scene, PhxVec2 at) {
    const int64_t wide = (int64_t)1 << scene->work->shift;
    for (int64_t y = at.y - wide; y <= at.y + wide; y += wide)
        for (int64_t x = at.x - wide; x <= at.x + wide; x += wide) {
            const PhxCrowdCell *cell = phx_crowd_cell_at(scene->work, x, y);
            if (cell && cell->stirring > 0) return true;
        }
    return false;
}

/* Bends and slows the wish of a unit that wants something. */
static void bend_wish(const PhxCrowdScene *scene, uint32_t slot, PhxVec2 at) {
    const PhxDir way = scene->work->wish[slot].way;
    const int64_t wanted = scene->work->wish[slot].speed;
    const Way *by = &ways[scene->bend[slot] < PHX_CROWD_WAYS ? scene->bend[slot] : 0];
    const int64_t speed = speed_into(scene, slot, at, by == ways ? way : turned(way, by));
    const int64_t along = phx_round_shift(speed * by->cosine, 30),
                  aside = phx_round_shift(speed * by->sine, 30);
    const int64_t most = wanted * RETURN / (64 * (int64_t)scene->tick_rate) + 1;
    const int64_t was = sway_of(scene, slot, way, wanted), change = aside - was;
    const int64_t across = was + (change > most ? most : change < -most ? -most : change);
    if (across == 0 && scene->bend[slot] == 0 && speed == wanted) return; /* bit for bit what it was */
    scene->pref_x[slot] = (fix16_t)phx_round_shift(way.x * along - way.y * across, 30);
    scene->pref_y[slot] = (fix16_t)phx_round_shift(way.y * along + way.x * across, 30);
}

static void bend_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const PhxCrowdScene *scene = context;
    const uint32_t period = scene->tick_rate * 2 / 5 > 1 ? scene->tick_rate * 2 / 5 : 1;
    (void)worker;
    for (uint32_t row = begin; row < end; row++) {
        const uint32_t slot = scene->spatial->slot[row];
        const PhxVec2 at = scene->spatial->position[row];
        if (scene->asleep && scene->asleep[slot] && is_stirred(scene, at)) scene->asleep[slot] = 0;
        if (scene->work->wish[slot].speed == 0 || (scene->leave && scene->leave[slot])) {
            scene->bend[slot] = 0;
            scene->work->wish[slot] = (PhxCrowdWish){.way = {0, 0}};
            continue;
        }
        if ((scene->tick + slot) % period == 0) scene->bend[slot] = choose(scene, slot, at);
        bend_wish(scene, slot, at);
    }
}

void phx_crowd_bend(const PhxCrowdScene *scene, const PhxJobs *jobs) {
    PhxCrowdScene copy = *scene; /* the context of a job isn't const */
    if (scene->spatial->count == 0) return;
    phx_crowd_fill(scene, jobs);
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
            phx_dir_turn_quarter(scene->work->wish[slot].way); /* (0, 0) where it wants nothing */
        scene->sway[slot] = (fix16_t)phx_vec2_dot_dir(phx_vec2(note->out_x[slot], note->out_y[slot]), across);
        if (!scene->asleep || phx_crowd_stirs(scene, slot) ||
            !phx_crowd_is_still(note->out_x[slot], note->out_y[slot]))
            continue;
        scene->asleep[slot] = 1;
        note->out_x[slot] = note->out_y[slot] = 0;
    }
}

void phx_crowd_note(const PhxCrowdScene *scene, fix16_t *out_x, fix16_t *out_y, const PhxJobs *jobs) {
    Note note = {scene, out_x, out_y};
    phx_parallel_for(jobs, scene->spatial->count, PHX_CROWD_GRAIN * 4, note_range, &note);
}
