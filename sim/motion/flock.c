/* flock.c: preferred velocities by separation, alignment and cohesion.
 *
 * See <phalanx/flock.h> for what goes in and out. Two levels of cells, for the two radii, are walked one
 * after the other: the far one notes for each member how its flockmates go and where their middle is, the
 * near one adds separation and writes the preferred velocity. Members of one cell share a walk: the cells
 * around it are found by one pointer a row, which only moves forwards, as cells come by key.
 *
 * Determinism: see the header. Ranges of cells have no member in common.
 */
#include <phalanx/flock.h>
#include <phalanx/rng.h>
#include <string.h>

#include "base/arena.h"
#include "base/assert.h"

enum {
    ONE = PHX_FIX_ONE,
    CORNER = 1 << 29, /* raw: the world begins at -CORNER */
    SHIFT_MIN = 14,   /* cells are a quarter of a unit or more: 16 bits for a column */
    REACH_MAX = 3,    /* cells on each side */
    ROWS = 2 * REACH_MAX + 1,
    ONE_BY_ONE = 8,        /* in its own cell a unit sees so many one by one */
    DIGIT = 8,             /* bits of a sort's pass */
    PART_KEY = 0x666c6f6b, /* of phx_random; any number would do */
};

PhxFlockClass phx_flock_class_default(fix16_t speed) {
    return (PhxFlockClass){.weight = {2 * ONE, ONE, ONE, ONE + ONE / 2},
                           .near_radius = 3 * ONE,
                           .far_radius = 8 * ONE,
                           .force = speed,
                           .speed = speed};
}

static void layout_level(PhxFlockLevel *level, PhxArena *arena, uint32_t capacity) {
    level->cell = PHX_ARENA_ARRAY(arena, PhxFlockCell, capacity);
    level->member = PHX_ARENA_ARRAY(arena, uint32_t, capacity);
}

void phx_flock_layout(PhxFlockWork *work, PhxArena *arena, uint32_t capacity) {
    work->capacity = capacity;
    layout_level(&work->near, arena, capacity);
    layout_level(&work->far, arena, capacity);
    for (uint32_t i = 0; i < 2; i++) {
        work->key[i] = PHX_ARENA_ARRAY(arena, uint64_t, capacity);
        work->slot[i] = PHX_ARENA_ARRAY(arena, uint32_t, capacity);
    }
    work->velocity = PHX_ARENA_ARRAY(arena, PhxVec2, capacity);
    work->centre = PHX_ARENA_ARRAY(arena, PhxVec2, capacity);
    work->company = PHX_ARENA_ARRAY(arena, uint8_t, capacity);
    work->speed = PHX_ARENA_ARRAY(arena, fix16_t, capacity);
}

static fix16_t clamp(fix16_t value, fix16_t low, fix16_t high) {
    return value < low ? low : value > high ? high : value;
}

static const PhxFlockClass *class_of(const PhxFlockScene *scene, uint32_t slot) {
    const uint32_t index = scene->class_of ? scene->class_of[slot] : 0;
    PHX_ASSERT(index < scene->class_count, index, scene->class_count);
    return &scene->classes[index];
}

static int64_t total_weight(const PhxFlockClass *class) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < PHX_FLOCK_RULES; i++) sum += class->weight[i];
    return sum;
}

/* The smallest cells of which REACH_MAX span the radius. */
static void fit_level(PhxFlockLevel *level, fix16_t radius) {
    level->shift = SHIFT_MIN;
    while (((int64_t)REACH_MAX << level->shift) < radius) level->shift++;
    level->reach = (int32_t)((radius + ((int64_t)1 << level->shift) - 1) >> level->shift);
}

static void prepare(PhxFlockScene *scene) {
    fix16_t near = 0, far = 0;
    for (uint32_t i = 0; i < scene->class_count; i++) {
        PhxFlockClass *class = &scene->classes[i];
        for (uint32_t r = 0; r < PHX_FLOCK_RULES; r++)
            class->weight[r] = clamp(class->weight[r], 0, PHX_FLOCK_SPEED_MAX);
        class->near_radius = clamp(class->near_radius, 0, PHX_FLOCK_RADIUS_MAX);
        class->far_radius = clamp(class->far_radius, 0, PHX_FLOCK_RADIUS_MAX);
        class->force = clamp(class->force, 0, PHX_FLOCK_SPEED_MAX);
        class->speed = clamp(class->speed, 0, PHX_FLOCK_SPEED_MAX);
        if (class->near_radius > near) near = class->near_radius;
        if (class->far_radius > far) far = class->far_radius;
    }
    fit_level(&scene->work->near, near);
    fit_level(&scene->work->far, far);
}

/* A key is flock, row and column: 32, 16 and 16 bits. */
static uint64_t key_at(uint64_t flock, PhxVec2 at, uint32_t shift) {
    const uint64_t column = (uint32_t)(at.x + CORNER) >> shift, row = (uint32_t)(at.y + CORNER) >> shift;
    return flock << 32 | row << 16 | column;
}

/* One pass of a counting sort by a digit, from side `from` to the other. */
static void sort_digit(PhxFlockWork *work, uint32_t count, uint32_t shift, uint32_t from) {
    uint32_t start[1 << DIGIT] = {0};
    for (uint32_t i = 0; i < count; i++) start[work->key[from][i] >> shift & ((1 << DIGIT) - 1)]++;
    uint32_t next = 0;
    for (uint32_t d = 0; d < 1 << DIGIT; d++) {
        const uint32_t size = start[d];
        start[d] = next;
        next += size;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t to = start[work->key[from][i] >> shift & ((1 << DIGIT) - 1)]++;
        work->key[!from][to] = work->key[from][i];
        work->slot[!from][to] = work->slot[from][i];
    }
}

/* Sorts by key; digits that all keys share are passed over. Returns the side on which the result is. */
static uint32_t sort_members(PhxFlockWork *work, uint32_t count) {
    uint64_t differ = 0;
    uint32_t from = 0;
    for (uint32_t i = 1; i < count; i++) differ |= work->key[0][i] ^ work->key[0][0];
    for (uint32_t shift = 0; shift < 64; shift += DIGIT)
        if (differ >> shift & ((1 << DIGIT) - 1)) {
            sort_digit(work, count, shift, from);
            from = !from;
        }
    return from;
}

static void add_member(const PhxFlockScene *scene, PhxFlockCell *cell, uint32_t slot) {
    const PhxVec2 at = scene->spatial->position[scene->spatial->row_of[slot]];
    cell->count++;
    cell->x += at.x;
    cell->y += at.y;
    cell->vel_x += scene->vel_x[slot];
    cell->vel_y += scene->vel_y[slot];
}

/* Sorts the members into the level's cells. Returns how many members there are. */
static uint32_t fill_level(const PhxFlockScene *scene, PhxFlockLevel *level) {
    const PhxSpatial *spatial = scene->spatial;
    PhxFlockWork *work = scene->work;
    uint32_t count = 0;
    for (uint32_t row = 0; row < spatial->count; row++) {
        const uint32_t slot = spatial->slot[row];
        if (scene->flock[slot] == 0 || total_weight(class_of(scene, slot)) == 0) continue;
        work->key[0][count] = key_at(scene->flock[slot], spatial->position[row], level->shift);
        work->slot[0][count++] = slot;
    }
    const uint32_t side = sort_members(work, count);
    level->cell_count = 0;
    PhxFlockCell *cell = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!cell || cell->key != work->key[side][i]) {
            cell = &level->cell[level->cell_count++];
            *cell = (PhxFlockCell){.key = work->key[side][i], .first = i};
        }
        level->member[i] = work->slot[side][i];
        add_member(scene, cell, level->member[i]);
    }
    for (uint32_t c = 0; c < level->cell_count; c++) {
        cell = &level->cell[c];
        cell->middle = phx_vec2((fix16_t)phx_div_round(cell->x, cell->count),
                                (fix16_t)phx_div_round(cell->y, cell->count));
    }
    return count;
}

/* The cells of a level around one of them: a range a row. `last` is where a row's range ends. */
typedef struct Walk {
    const PhxFlockLevel *level;
    uint32_t own, first[ROWS], last[ROWS];
} Walk;

/* The first cell from `from` on whose key isn't less. */
static uint32_t find_cell(const PhxFlockLevel *level, uint64_t key, uint32_t from) {
    uint32_t low = from, high = level->cell_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (level->cell[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A few steps forwards from where the cell before had it; farther off by halving. */
static uint32_t advance(const PhxFlockLevel *level, uint64_t key, uint32_t from) {
    for (uint32_t i = 0; i < 8; i++, from++)
        if (from >= level->cell_count || level->cell[from].key >= key) return from;
    return find_cell(level, key, from);
}

/* Keys that are looked for ascend with the own key, so that pointers only move forwards. */
static void walk_to(Walk *walk, uint32_t own) {
    const PhxFlockLevel *level = walk->level;
    const uint64_t key = level->cell[own].key, flock = key >> 32;
    const int32_t row = (int32_t)(key >> 16 & 0xffff), column = (int32_t)(key & 0xffff);
    const int32_t left = column > level->reach ? column - level->reach : 0;
    const int32_t right = column + level->reach < 0xffff ? column + level->reach : 0xffff;
    walk->own = own;
    for (int32_t r = 0; r <= 2 * level->reach; r++) {
        const int32_t y = row + r - level->reach;
        if (y < 0 || y > 0xffff) {
            walk->last[r] = walk->first[r];
            continue;
        }
        const uint64_t line = flock << 32 | (uint64_t)y << 16;
        walk->first[r] = advance(level, line | (uint64_t)left, walk->first[r]);
        walk->last[r] = advance(level, line | ((uint64_t)right + 1), walk->first[r]);
    }
}

static Walk begin_walk(const PhxFlockLevel *level, uint32_t own) {
    Walk walk = {.level = level};
    const uint64_t key = level->cell[own].key;
    /* nothing before the flock's first cell is looked for */
    const uint32_t first = find_cell(level, key >> 32 << 32, 0);
    for (uint32_t r = 0; r < ROWS; r++) walk.first[r] = first;
    return walk;
}

static PhxVec2 position_of(const PhxFlockScene *scene, uint32_t slot) {
    return scene->spatial->position[scene->spatial->row_of[slot]];
}

/* Notes how the flockmates within the far radius go, in the mean, and the way to their middle. Sums: 2^20
 * members of 2^29 raw. */
static void note_company(const PhxFlockScene *scene, const Walk *walk, uint32_t slot) {
    PhxFlockWork *work = scene->work;
    const PhxVec2 at = position_of(scene, slot);
    const int64_t radius = class_of(scene, slot)->far_radius;
    const PhxFlockCell *own = &walk->level->cell[walk->own];
    int64_t count = own->count - 1, x = own->x - at.x, y = own->y - at.y;
    int64_t vel_x = own->vel_x - scene->vel_x[slot], vel_y = own->vel_y - scene->vel_y[slot];
    if (count > 0 && radius < (int64_t)2 << walk->level->shift) { /* they may be out of reach */
        const PhxVec2 middle = {(fix16_t)phx_div_round(x, count), (fix16_t)phx_div_round(y, count)};
        if (phx_vec2_distance_sq(middle, at) >= (uint64_t)(radius * radius))
            count = x = y = vel_x = vel_y = 0;
    }
    for (int32_t r = 0; r <= 2 * walk->level->reach; r++)
        for (uint32_t c = walk->first[r]; c < walk->last[r]; c++) {
            const PhxFlockCell *cell = &walk->level->cell[c];
            if (c == walk->own || phx_vec2_distance_sq(cell->middle, at) >= (uint64_t)(radius * radius))
                continue;
            count += cell->count;
            x += cell->x, y += cell->y;
            vel_x += cell->vel_x, vel_y += cell->vel_y;
        }
    work->company[slot] = count > 0;
    if (count == 0) return;
    work->velocity[slot] =
        phx_vec2((fix16_t)phx_div_round(vel_x, count), (fix16_t)phx_div_round(vel_y, count));
    work->centre[slot] = phx_vec2((fix16_t)phx_div_round(x - count * at.x, count),
                                  (fix16_t)phx_div_round(y - count * at.y, count));
}

/* The way from `count` flockmates at `place`, as long as they are nearer than the radius each, added up. */
static void push_away(int64_t sum[2], const PhxFlockScene *scene, uint32_t slot, PhxVec2 place, int64_t count,
                      fix16_t radius) {
    PhxDir away;
    const int64_t distance = phx_vec2_normalize(phx_vec2_sub(position_of(scene, slot), place), &away);
    if (distance >= radius) return;
    if (distance == 0) /* in a direction drawn from its slot, other units in others */
        away = phx_dir_of_angle((PhxAngle)(phx_random(PART_KEY, 0, slot, 0, 0) >> 48));
    const PhxVec2 push = phx_dir_scale(away, (fix16_t)(radius - distance));
    sum[0] += push.x * count;
    sum[1] += push.y * count;
}

/* A vector of at most `max`, from sums that may be larger than fix16_t. */
static PhxVec2 clamp_sum(int64_t x, int64_t y, fix16_t max) {
    while (phx_abs64(x) >> 29 || phx_abs64(y) >> 29) x /= 2, y /= 2;
    return phx_vec2_clamp_length(phx_vec2((fix16_t)x, (fix16_t)y), max);
}

/* The part of `way` that `radius` is of `speed`: raw units a second. */
static PhxVec2 as_speed(PhxVec2 way, fix16_t speed, fix16_t radius) {
    return phx_vec2((fix16_t)phx_div_round((int64_t)way.x * speed, radius),
                    (fix16_t)phx_div_round((int64_t)way.y * speed, radius));
}

static PhxVec2 separation(const PhxFlockScene *scene, const Walk *walk, uint32_t slot, fix16_t speed) {
    const fix16_t radius = class_of(scene, slot)->near_radius;
    const PhxVec2 at = position_of(scene, slot);
    const PhxFlockLevel *level = walk->level;
    const PhxFlockCell *own = &level->cell[walk->own];
    int64_t sum[2] = {0, 0};
    if (radius == 0) return phx_vec2(0, 0);
    if (own->count <= ONE_BY_ONE) {
        for (uint32_t i = own->first; i < own->first + own->count; i++)
            if (level->member[i] != slot)
                push_away(sum, scene, slot, position_of(scene, level->member[i]), 1, radius);
    } else {
        const int64_t others = own->count - 1;
        const PhxVec2 middle = {(fix16_t)phx_div_round(own->x - at.x, others),
                                (fix16_t)phx_div_round(own->y - at.y, others)};
        push_away(sum, scene, slot, middle, others, radius);
    }
    for (int32_t r = 0; r <= 2 * walk->level->reach; r++)
        for (uint32_t c = walk->first[r]; c < walk->last[r]; c++) {
            const PhxFlockCell *cell = &walk->level->cell[c];
            if (c != walk->own) push_away(sum, scene, slot, cell->middle, cell->count, radius);
        }
    return as_speed(clamp_sum(sum[0], sum[1], radius), speed, radius);
}

/* The mean of the wishes by weight, as a change of the preferred velocity. Sums below 2^50. */
static void steer(const PhxFlockScene *scene, const Walk *walk, uint32_t slot) {
    const PhxFlockClass *class = class_of(scene, slot);
    const PhxFlockWork *work = scene->work;
    const PhxVec2 path = {scene->pref_x[slot], scene->pref_y[slot]};
    const fix16_t speed = scene->speed ? scene->speed[slot] : class->speed;
    const fix16_t *weight = class->weight;
    if (phx_vec2_is_zero(path) || speed <= 0) return;
    const PhxVec2 apart = separation(scene, walk, slot, speed);
    int64_t x = (int64_t)weight[PHX_FLOCK_SEPARATION] * apart.x,
            y = (int64_t)weight[PHX_FLOCK_SEPARATION] * apart.y;
    if (work->company[slot] && class->far_radius > 0) {
        const PhxVec2 change = phx_vec2_sub(work->velocity[slot], path);
        const PhxVec2 home =
            as_speed(phx_vec2_clamp_length(work->centre[slot], class->far_radius), speed, class->far_radius);
        x += (int64_t)weight[PHX_FLOCK_ALIGNMENT] * change.x + (int64_t)weight[PHX_FLOCK_COHESION] * home.x;
        y += (int64_t)weight[PHX_FLOCK_ALIGNMENT] * change.y + (int64_t)weight[PHX_FLOCK_COHESION] * home.y;
    }
    if (x == 0 && y == 0) return;
    const int64_t total = total_weight(class);
    const PhxVec2 force = phx_vec2_clamp_length(
        phx_vec2((fix16_t)phx_div_round(x, total), (fix16_t)phx_div_round(y, total)), class->force);
    const PhxVec2 wish = phx_vec2_clamp_length(phx_vec2_add(path, force), speed);
    scene->pref_x[slot] = wish.x;
    scene->pref_y[slot] = wish.y;
}

static void walk_range(const PhxFlockScene *scene, const PhxFlockLevel *level, uint32_t begin, uint32_t end,
                       void (*visit)(const PhxFlockScene *scene, const Walk *walk, uint32_t slot)) {
    Walk walk = begin_walk(level, begin);
    for (uint32_t c = begin; c < end; c++) {
        const PhxFlockCell *cell = &level->cell[c];
        walk_to(&walk, c);
        for (uint32_t i = 0; i < cell->count; i++) visit(scene, &walk, level->member[cell->first + i]);
    }
}

static void far_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const PhxFlockScene *scene = context;
    (void)worker;
    walk_range(scene, &scene->work->far, begin, end, note_company);
}

static void near_range(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const PhxFlockScene *scene = context;
    (void)worker;
    walk_range(scene, &scene->work->near, begin, end, steer);
}

void phx_flock_run(PhxFlockScene *scene, const PhxJobs *jobs) {
    PhxFlockWork *work = scene->work;
    PHX_ASSERT(scene->class_count >= 1, scene->class_count, 0);
    PHX_ASSERT(scene->spatial->count <= work->capacity, scene->spatial->count, work->capacity);
    prepare(scene);
    if (fill_level(scene, &work->far) == 0) return;
    (void)fill_level(scene, &work->near);
    phx_parallel_for(jobs, work->far.cell_count, PHX_FLOCK_GRAIN, far_range, scene);
    phx_parallel_for(jobs, work->near.cell_count, PHX_FLOCK_GRAIN, near_range, scene);
}
