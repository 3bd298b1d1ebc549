/* feelings.c: preferred velocities, avoidance radii and responsibilities by mood, behaviour and company.
 *
 * See <phalanx/feelings.h> for what goes in and out. Method: social forces (Helbing, Molnar, "Social force
 * model for pedestrian dynamics", 1995) reduced to what keeps a velocity steady: forces that are inverse
 * squares, clipped, and shifted to zero at the end of their range, as is done in molecular dynamics, so that
 * neither a neighbour that comes or goes nor the bound on their number makes the sum jump.
 *
 * Determinism: see the header; a row reads other units' positions, classes, owners, behaviours, posts and
 * velocities and whether they move, none of which is written here.
 */
#include <phalanx/feelings.h>

#include <phalanx/rng.h>

#include "base/assert.h"

enum {
    ONE = PHX_FIX_ONE,
    PART_KEY = 0x6665656c, /* of phx_random; any number would do */
    GAP_MIN = 1 << 12,     /* raw: forces grow no more when bodies are nearer than that */
    COMFORT = 1 << 15,     /* raw: over this way the draw of a friend fades as their discs come to touch */
    TOLERANCE = 1 << 8,    /* raw: guards are content with a spacing that lacks no more */
    RELIEF = 3 << 15,      /* raw: guards that change over take no notice of each other within this gap */
    GUARDS_SEEN = 8,       /* at least so many neighbours, by guards */
    RADII_A_SECOND = 2,    /* avoidance grows or shrinks by at most two bodies' radii a second */
};

PhxFeelingsClass phx_feelings_class_default(fix16_t radius, fix16_t speed) {
    return (PhxFeelingsClass){
        .radius = radius,
        .avoid_ratio = 91750, /* 1.4 */
        .speed = speed,
        .mood_rate = 2 * ONE,
        .range = 6 * ONE,
        .spread = 8 * ONE,
        .clip = 4 * ONE,
        .path_bias = {45875, 45875, 22938},    /* 0.7, 0.35 */
        .radius_factor = {ONE, 78643, 117965}, /* 1.2, 1.8 */
        .speed_factor = {ONE, ONE, ONE + ONE / 4},
        .spacing = {0, 13107, ONE / 2}, /* 0.2 */
        .neighbours = 8,
        .weight = 8,
    };
}

static fix16_t clamp(fix16_t value, fix16_t low, fix16_t high) {
    return value < low ? low : value > high ? high : value;
}

static void clamp_all(fix16_t *values, uint32_t count, fix16_t low, fix16_t high) {
    for (uint32_t i = 0; i < count; i++) values[i] = clamp(values[i], low, high);
}

/* Never less than the body. */
static fix16_t scale_radius(const PhxFeelingsClass *class, fix16_t radius, fix16_t factor) {
    return clamp(phx_fix_mul(radius, factor), class->radius, PHX_FEELINGS_RADIUS_MAX);
}

static void prepare_class(PhxFeelingsClass *c) {
    c->radius = clamp(c->radius, ONE / 16, PHX_FEELINGS_RADIUS_MAX);
    c->avoid_ratio = clamp(c->avoid_ratio, ONE, 4 * ONE);
    c->mood_rate = clamp(c->mood_rate, ONE / 16, 64 * ONE);
    c->range = clamp(c->range, 0, PHX_SPATIAL_MAX_RANGE);
    clamp_all(&c->speed, 1, 0, PHX_FEELINGS_SPEED_MAX);
    clamp_all(&c->cohesion, 1, 0, 64 * ONE);
    clamp_all(&c->berth, 1, 0, 64 * ONE);
    clamp_all(&c->spread, 1, 0, 64 * ONE);
    clamp_all(&c->clip, 1, 0, PHX_FEELINGS_SPEED_MAX);
    clamp_all(c->path_bias, PHX_MOOD_COUNT, 0, ONE);
    clamp_all(c->radius_factor, PHX_MOOD_COUNT, ONE, 4 * ONE);
    clamp_all(c->speed_factor, PHX_MOOD_COUNT, 0, 4 * ONE);
    clamp_all(c->spacing, PHX_BEHAVIOUR_COUNT, 0, 16 * ONE);
    if (c->neighbours > PHX_FEELINGS_NEIGHBOURS) c->neighbours = PHX_FEELINGS_NEIGHBOURS;
    if (c->weight > PHX_FEELINGS_WEIGHT_MAX) c->weight = PHX_FEELINGS_WEIGHT_MAX;
    c->calm_radius = scale_radius(c, phx_fix_mul(c->radius, c->avoid_ratio), c->radius_factor[PHX_MOOD_CALM]);
    c->feels = c->cohesion > 0 || c->berth > 0 || c->speed_factor[PHX_MOOD_CALM] != ONE;
}

void phx_feelings_prepare(PhxFeelingsScene *scene) {
    PHX_ASSERT(scene->class_count >= 1, scene->class_count, 0);
    PHX_ASSERT(scene->tick_rate >= 1 && scene->tick_rate <= 1000, scene->tick_rate, 0);
    scene->widest = 0;
    for (uint32_t i = 0; i < scene->class_count; i++) {
        prepare_class(&scene->classes[i]);
        const fix16_t wide = scene->classes[i].radius + scene->classes[i].spacing[PHX_BEHAVIOUR_GUARD] / 2;
        if (wide > scene->widest) scene->widest = wide;
    }
}

/* `value` nearer to `target` by at most what `rate` (a second) makes in a tick, at least one raw unit. */
static fix16_t approach(fix16_t value, fix16_t target, fix16_t rate, uint32_t tick_rate) {
    int64_t step = phx_div_round(rate, tick_rate);
    if (step < 1) step = 1;
    const int64_t way = (int64_t)target - value;
    if ((int64_t)phx_abs64(way) <= step) return target;
    return (fix16_t)(value + (way > 0 ? step : -step));
}

static const PhxFeelingsClass *class_of(const PhxFeelingsScene *scene, uint32_t slot) {
    const uint32_t index = scene->class_of ? scene->class_of[slot] : 0;
    PHX_ASSERT(index < scene->class_count, index, scene->class_count);
    return &scene->classes[index];
}

static uint8_t behaviour_of(const PhxFeelingsScene *scene, uint32_t slot) {
    const uint8_t behaviour = scene->behaviour ? scene->behaviour[slot] : 0;
    return behaviour < PHX_BEHAVIOUR_COUNT ? behaviour : PHX_BEHAVIOUR_NONE;
}

static bool is_moving(const PhxFeelingsScene *scene, uint32_t slot) {
    return !scene->moving || scene->moving[slot] != 0;
}

typedef enum Bond { STRANGER, FRIEND, ENEMY } Bond;

static Bond bond_of(const PhxFeelingsScene *scene, uint32_t a, uint32_t b) {
    if (!scene->owner) return STRANGER;
    uint8_t one = scene->owner[a], other = scene->owner[b];
    if (scene->team) one = scene->team[one], other = scene->team[other];
    return one == other ? FRIEND : ENEMY;
}

/* A unit, and what it feels. Velocities and strengths are raw; shares and levels Q16. */
typedef struct Feeling {
    const PhxFeelingsScene *scene;
    const PhxFeelingsClass *class;
    uint32_t slot;
    PhxVec2 at, path;
    PhxDir way;               /* of the path */
    fix16_t level, top;       /* top: the greatest speed in its mood */
    fix16_t going;            /* share of the greatest speed at which the path goes */
    fix16_t panic;            /* 0 alert or less, ONE panicked */
    fix16_t draw, push, fear; /* strengths of friends', enemies' and everybody's force, now */
    bool guard, stands, relieved;
    int64_t sum_x, sum_y; /* of forces */
} Feeling;

/* A neighbour, as it's seen. */
typedef struct Other {
    const PhxFeelingsClass *class;
    uint32_t slot;
    Bond bond;
    PhxDir away;      /* from it to the unit */
    int64_t distance; /* of centres, raw, < 2^22 */
    int64_t bodies;   /* sum of both radii, raw, <= 2^21 */
    bool fellow;      /* both are guards of one team */
} Other;

/* The direction in which two units on one spot part: a function of their slots, opposite for the two. */
static PhxDir drawn_direction(uint32_t slot, uint32_t other) {
    const uint32_t low = slot < other ? slot : other, high = slot < other ? other : slot;
    const uint64_t value = phx_random(PART_KEY, 0, (uint64_t)low << 32 | high, 0, 0);
    const PhxDir drawn = phx_dir_of_angle((PhxAngle)(value >> 48));
    return slot < other ? drawn : phx_dir_neg(drawn);
}

static Other see(const Feeling *self, const PhxNear *near) {
    Other other = {.class = class_of(self->scene, near->slot),
                   .slot = near->slot,
                   .bond = bond_of(self->scene, self->slot, near->slot)};
    const PhxVec2 from = self->scene->spatial->position[near->row];
    other.distance = phx_vec2_normalize(phx_vec2_sub(self->at, from), &other.away);
    if (other.distance == 0) other.away = drawn_direction(self->slot, near->slot);
    other.bodies = (int64_t)self->class->radius + other.class->radius;
    other.fellow =
        self->guard && other.bond == FRIEND && behaviour_of(self->scene, near->slot) == PHX_BEHAVIOUR_GUARD;
    return other;
}

/* strength / gap^2 less strength / end^2, where the force ends: raw units a second. 0 <= strength <= 2^22,
 * end <= 2^22; dividends to 2^54 and a little, squares 2^24..2^44, quotients to 2^30. */
static int64_t inverse_square(int64_t strength, int64_t gap, int64_t end) {
    const int64_t near = gap < GAP_MIN ? GAP_MIN : gap;
    if (end <= near || strength == 0) return 0;
    return phx_div_round(strength * ((int64_t)1 << 32), near * near) -
           phx_div_round(strength * ((int64_t)1 << 32), end * end);
}

/* At most 2^22 a neighbour and 2^26 in all. */
static void add_force(Feeling *self, PhxDir direction, int64_t force) {
    if (force > self->class->clip) force = self->class->clip;
    if (force < -self->class->clip) force = -self->class->clip;
    PhxVec2 part = phx_dir_scale(direction, (fix16_t)force);
    if (force < 0) { /* a draw: friends behind don't hold up who goes ahead, or all would slow down */
        const int64_t along = phx_vec2_dot_dir(part, self->way);
        if (along < 0) part = phx_vec2_sub(part, phx_dir_scale(self->way, (fix16_t)along));
    }
    self->sum_x += part.x;
    self->sum_y += part.y;
}

/* How much of a friend's draw is left: none where the two avoidance discs touch, all from COMFORT on. */
static int64_t fade(const Feeling *self, const Other *other) {
    const int64_t room = other->distance - self->class->calm_radius - other->class->calm_radius;
    if (room <= 0) return 0;
    return room < COMFORT ? room * (ONE / COMFORT) : ONE;
}

/* How far a friend goes the unit's way: the cosine of the angle between its velocity and the path, Q16, 0
 * from a right angle on. Friends that come across would but hold each other up. */
static int64_t company(const Feeling *self, const Other *other) {
    const PhxFeelingsScene *scene = self->scene;
    if (!scene->vel_x) return ONE;
    PhxDir going;
    (void)phx_vec2_normalize(phx_vec2(scene->vel_x[other->slot], scene->vel_y[other->slot]), &going);
    const int64_t along = phx_round_shift(phx_dir_dot(going, self->way), 2 * PHX_DIR_BITS - 16);
    return along > 0 ? along : 0;
}

/* What a neighbour within `cut` (raw, of centres) makes the unit feel. */
static void feel_other(Feeling *self, const Other *other, int64_t cut) {
    if (other->distance >= cut || other->fellow) return;
    int64_t strength = self->fear;
    if (other->bond == ENEMY) strength += self->push;
    if (other->bond == FRIEND && self->draw > 0)
        strength -=
            phx_round_shift(phx_round_shift(self->draw * fade(self, other), 16) * company(self, other), 16);
    if (strength > 64 * ONE) strength = 64 * ONE;
    const int64_t force =
        inverse_square((int64_t)phx_abs64(strength), other->distance - other->bodies, cut - other->bodies);
    add_force(self, other->away, strength < 0 ? -force : force);
}

static bool bound_for(const PhxFeelingsScene *scene, uint32_t slot, PhxVec2 place, int64_t reach) {
    const PhxVec2 post = {scene->post_x[slot], scene->post_y[slot]};
    return phx_vec2_distance_sq(post, place) < (uint64_t)(reach * reach);
}

/* Whether one comes to about where another is, who goes elsewhere. One that stands has come, and is left only
 * by who is on the same spot: others pass by. */
static bool change_over(const PhxFeelingsScene *scene, uint32_t comer, uint32_t goer, PhxVec2 goer_at,
                        int64_t bodies) {
    const int64_t reach = bodies + RELIEF;
    return is_moving(scene, goer) && !bound_for(scene, goer, goer_at, reach) &&
           bound_for(scene, comer, goer_at, is_moving(scene, comer) ? reach : bodies);
}

/* Guards of one team: those that stand too close part; those that change over take no notice. */
static void feel_fellow(Feeling *self, const Other *other, PhxVec2 other_at) {
    const PhxFeelingsScene *scene = self->scene;
    const int64_t gap = other->distance - other->bodies;
    if (!other->fellow) return;
    if (self->stands) {
        const int64_t spacing = ((int64_t)self->class->spacing[PHX_BEHAVIOUR_GUARD] +
                                 other->class->spacing[PHX_BEHAVIOUR_GUARD]) /
                                2;
        if (spacing - gap > TOLERANCE && !is_moving(scene, other->slot))
            add_force(self, other->away, spacing - gap - TOLERANCE); /* half of it within half a second */
    } else if (gap < RELIEF && scene->post_x) {
        self->relieved = self->relieved ||
                         change_over(scene, self->slot, other->slot, other_at, other->bodies) ||
                         change_over(scene, other->slot, self->slot, self->at, other->bodies);
    }
}

/* Looks around. One neighbour more than is felt says where forces end. */
static void look_around(Feeling *self) {
    const PhxFeelingsClass *class = self->class;
    PhxNear near[PHX_FEELINGS_NEIGHBOURS + 1];
    const bool forces = (self->fear | self->push | self->draw) != 0 && class->clip > 0;
    if (!forces && !self->guard) return;
    uint32_t most = forces ? class->neighbours : 0;
    int64_t range = forces ? class->range : 0;
    if (self->guard) {
        const int64_t beside = (int64_t) class->radius + class->spacing[PHX_BEHAVIOUR_GUARD] / 2 +
                               self->scene->widest + RELIEF; /* nobody is minded farther off; < 50 units */
        if (most < GUARDS_SEEN) most = GUARDS_SEEN;
        if (range < beside) range = beside;
    }
    const uint32_t found =
        phx_spatial_nearest(self->scene->spatial, self->at, (fix16_t)range, self->slot, most + 1, near);
    int64_t cut = forces ? class->range : 0;
    const uint32_t felt = found < class->neighbours ? found : class->neighbours;
    if (found > class->neighbours) {
        const int64_t end = phx_isqrt64(near[class->neighbours].distance_sq);
        if (end < cut) cut = end;
    }
    for (uint32_t i = 0; i < found; i++) {
        const Other other = see(self, &near[i]);
        if (i < felt) feel_other(self, &other, cut);
        if (self->guard) feel_fellow(self, &other, self->scene->spatial->position[near[i].row]);
    }
}

/* Q16 share of the greatest speed, at most ONE. */
static fix16_t share_of(uint32_t length, fix16_t top) {
    if (top <= 0) return 0;
    const int64_t share = phx_div_round((int64_t)length * ONE, top);
    return share < ONE ? (fix16_t)share : ONE;
}

/* The path's velocity and the forces, mixed. With s = |forces| / top, m = |path| / top, b the path's bias:
 * path (1 - (1 - b) s) + forces (1 - b m): at most top where both are. */
static PhxVec2 mix(const Feeling *self) {
    const PhxVec2 path = phx_vec2_clamp_length(self->path, self->top);
    const PhxVec2 forces =
        phx_vec2_clamp_length(phx_vec2((fix16_t)self->sum_x, (fix16_t)self->sum_y), self->top);
    if (phx_vec2_is_zero(forces)) return path;
    const fix16_t bias = phx_feelings_at(self->class->path_bias, self->level);
    const fix16_t strength = share_of(phx_vec2_length(forces), self->top);
    const int64_t of_path = ONE - phx_fix_mul(ONE - bias, strength);
    const int64_t of_forces = ONE - phx_fix_mul(bias, self->going);
    const PhxVec2 mixed = {(fix16_t)phx_round_shift(path.x * of_path + forces.x * of_forces, 16),
                           (fix16_t)phx_round_shift(path.y * of_path + forces.y * of_forces, 16)};
    return phx_vec2_clamp_length(mixed, self->top);
}

/* The level of the mood moves on; strengths follow from it. */
static Feeling begin_feeling(const PhxFeelingsScene *scene, uint32_t row, uint32_t slot) {
    const PhxFeelingsClass *class = class_of(scene, slot);
    const uint8_t mood = scene->mood && scene->mood[slot] < PHX_MOOD_COUNT ? scene->mood[slot] : 0;
    Feeling self = {.scene = scene,
                    .class = class,
                    .slot = slot,
                    .at = scene->spatial->position[row],
                    .path = {scene->pref_x[slot], scene->pref_y[slot]}};
    self.level = approach(clamp(scene->mood_level[slot], 0, PHX_FEELINGS_LEVEL_MAX), mood * ONE,
                          class->mood_rate, scene->tick_rate);
    self.top = clamp(phx_fix_mul(scene->speed ? scene->speed[slot] : class->speed,
                                 phx_feelings_at(class->speed_factor, self.level)),
                     0, PHX_FEELINGS_SPEED_MAX);
    self.going = share_of(phx_vec2_normalize(self.path, &self.way), self.top);
    self.panic = clamp(self.level - ONE, 0, ONE);
    if (!scene->arriving || scene->arriving[slot] == 0)
        self.draw = phx_fix_mul(phx_fix_mul(class->cohesion, self.going), ONE - self.panic);
    self.push = phx_fix_mul(class->berth, self.going);
    self.fear = phx_fix_mul(class->spread, self.panic);
    self.guard = self.panic == 0 && behaviour_of(scene, slot) == PHX_BEHAVIOUR_GUARD;
    self.stands = !is_moving(scene, slot);
    return self;
}

/* Whether the margin beyond the body counts: on the way. Those at rest, or about to take their places, stand
 * as close as bodies do. */
static bool has_margin(const PhxFeelingsScene *scene, uint32_t slot) {
    return is_moving(scene, slot) && !(scene->arriving && scene->arriving[slot] != 0);
}

/* On the way: without behaviour the class's ratio counts, with one the spacing between bodies. Else the body
 * (and a guard's spacing), and more only with panic. */
static fix16_t avoidance_of(const Feeling *self) {
    const PhxFeelingsClass *class = self->class;
    const uint8_t behaviour = behaviour_of(self->scene, self->slot);
    const fix16_t spaced = class->radius + class->spacing[behaviour] / 2;
    const fix16_t radius =
        behaviour == PHX_BEHAVIOUR_NONE ? phx_fix_mul(class->radius, class->avoid_ratio) : spaced;
    const fix16_t full = scale_radius(class, radius, phx_feelings_at(class->radius_factor, self->level));
    if (has_margin(self->scene, self->slot)) return full;
    const fix16_t rest = scale_radius(class, behaviour == PHX_BEHAVIOUR_GUARD ? spaced : class->radius, ONE);
    return (fix16_t)(rest + phx_fix_mul(full - rest, self->panic));
}

static void ramp_radius(const PhxFeelingsScene *scene, const PhxFeelingsClass *class, uint32_t slot,
                        fix16_t target) {
    fix16_t *avoid = &scene->avoid[slot];
    *avoid =
        *avoid == 0 ? target : approach(*avoid, target, RADII_A_SECOND * class->radius, scene->tick_rate);
}

static void feel_row(const PhxFeelingsScene *scene, uint32_t row, uint32_t slot) {
    Feeling self = begin_feeling(scene, row, slot);
    look_around(&self);
    const PhxVec2 preferred = mix(&self);
    scene->pref_x[slot] = preferred.x;
    scene->pref_y[slot] = preferred.y;
    scene->mood_level[slot] = self.level;
    if (scene->speed) scene->speed[slot] = self.top;
    scene->weight[slot] = self.guard && (self.stands || self.relieved) ? 0 : self.class->weight;
    ramp_radius(scene, self.class, slot, avoidance_of(&self));
}

void phx_feelings_solve(const PhxFeelingsScene *scene, uint32_t begin, uint32_t end) {
    for (uint32_t row = begin; row < end; row++) {
        const uint32_t slot = scene->spatial->slot[row];
        const PhxFeelingsClass *class = class_of(scene, slot);
        if (phx_feelings_stirred(scene, slot)) {
            feel_row(scene, row, slot);
            continue;
        }
        scene->weight[slot] = class->weight;
        const fix16_t target = has_margin(scene, slot) ? class->calm_radius : class->radius;
        if (scene->avoid[slot] != target) ramp_radius(scene, class, slot, target);
    }
}

static void solve_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    phx_feelings_solve(context, begin, end);
}

void phx_feelings_run(PhxFeelingsScene *scene, const PhxJobs *jobs) {
    phx_feelings_prepare(scene);
    phx_parallel_for(jobs, scene->spatial->count, PHX_FEELINGS_GRAIN, solve_range, scene);
}
