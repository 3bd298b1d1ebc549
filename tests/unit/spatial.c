/* spatial.c: the uniform grid equals brute force, whatever the positions, the threads and the cell size. */
#include <phalanx/spatial.h>
#include <stdlib.h>

#include "base/arena.h"
#include "harness.h"

enum { ROWS = 1500, SETS = 40 };

typedef struct Fixture {
    PhxArena arena;
    PhxSpatial spatial;
} Fixture;

static Fixture fixture_make(uint32_t capacity) {
    Fixture f = {.arena = phx_arena_measure()};
    phx_spatial_layout(&f.spatial, &f.arena, capacity);
    const size_t size = f.arena.used;
    CHECK_OK(phx_arena_create(&f.arena, phx_allocator_default(), size));
    phx_spatial_layout(&f.spatial, &f.arena, capacity);
    return f;
}

/* Kinds: spread, crowded, on lattice points (many equal distances), a few spots, the whole world, a line. */
static void place(uint64_t *seed, int kind, uint32_t count, fix16_t *x, fix16_t *y) {
    const int64_t spans[] = {100 << 16, 8 << 16, 30, 2, 8191 << 16, 500 << 16};
    const int64_t span = spans[kind];
    for (uint32_t i = 0; i < count; i++) {
        x[i] = (fix16_t)test_range(seed, -span, span);
        y[i] = (fix16_t)(kind == 5 ? 7 : test_range(seed, -span, span));
        if (kind == 2 || kind == 3) x[i] *= 65536, y[i] *= 65536;
    }
}

static int by_key(const void *a, const void *b) {
    const PhxNear *p = a, *q = b;
    if (p->distance_sq != q->distance_sq) return p->distance_sq < q->distance_sq ? -1 : 1;
    return p->slot < q->slot ? -1 : p->slot > q->slot;
}

static uint32_t brute(const fix16_t *x, const fix16_t *y, const uint32_t *slots, uint32_t count, PhxVec2 at,
                      fix16_t range, uint32_t exclude, PhxNear *out) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t dx = (int64_t)x[slots[i]] - at.x, dy = (int64_t)y[slots[i]] - at.y;
        const uint64_t d = (uint64_t)(dx * dx + dy * dy);
        if (d < (uint64_t)range * (uint64_t)range && slots[i] != exclude)
            out[found++] = (PhxNear){.distance_sq = d, .slot = slots[i]};
    }
    qsort(out, found, sizeof *out, by_key);
    return found;
}

static void check_queries(const PhxSpatial *spatial, uint64_t *seed, const fix16_t *x, const fix16_t *y,
                          const uint32_t *slots, uint32_t count, fix16_t range, int set) {
    static PhxNear want[ROWS], got[PHX_SPATIAL_MAX_NEAREST];
    for (int q = 0; q < 60; q++) {
        const uint32_t own = slots[test_range(seed, 0, (int64_t)count - 1)];
        PhxVec2 at = {x[own], y[own]};
        if (q % 3 == 0)
            at.x += (fix16_t)test_range(seed, -range, range),
                at.y += (fix16_t)test_range(seed, -range, range);
        const uint32_t exclude = q % 2 ? own : UINT32_MAX;
        const uint32_t limit = (uint32_t)test_range(seed, 1, PHX_SPATIAL_MAX_NEAREST);
        const fix16_t within = q % 4 ? range : (fix16_t)test_range(seed, 1, range);
        uint32_t expected = brute(x, y, slots, count, at, within, exclude, want);
        if (expected > limit) expected = limit;
        const uint32_t found = phx_spatial_nearest(spatial, at, within, exclude, limit, got);
        CHECK_THAT(found == expected, "set %d query %d: %u rows, not %u", set, q, found, expected);
        for (uint32_t i = 0; i < found; i++) {
            CHECK_THAT(got[i].slot == want[i].slot && got[i].distance_sq == want[i].distance_sq,
                       "set %d query %d", set, q);
            CHECK_EQ(spatial->slot[got[i].row], got[i].slot);
        }
    }
}

PHX_TEST(spatial, equals_brute_force_under_any_number_of_threads) {
    static fix16_t x[ROWS], y[ROWS];
    static uint32_t slots[ROWS];
    const uint32_t threads[] = {1, 2, 3, 8};
    PhxJobs jobs[4];
    for (int t = 0; t < 4; t++) CHECK_OK(phx_jobs_threads_create(threads[t], &jobs[t]));
    Fixture reference = fixture_make(ROWS), other = fixture_make(ROWS);
    for (int set = 0; set < SETS; set++) {
        uint64_t seed = (uint64_t)set + 77;
        const uint32_t rows = (uint32_t)test_range(&seed, 1, ROWS);
        place(&seed, set % 6, rows, x, y);
        uint32_t count = 0;
        for (uint32_t i = 0; i < rows; i++)
            if (set % 2 == 0 || test_range(&seed, 0, 2)) slots[count++] = i;
        if (count == 0) continue;
        const fix16_t range = (fix16_t)test_range(&seed, 1 << 14, PHX_SPATIAL_MAX_RANGE);
        const uint32_t *list = set % 2 ? slots : NULL;
        const PhxJobs serial = phx_jobs_serial();
        phx_spatial_build(&reference.spatial, &serial, x, y, list, count, range);
        const PhxSpatial *r = &reference.spatial, *o = &other.spatial;
        CHECK((uint64_t)r->width * r->height <= PHX_SPATIAL_MAX_CELLS);
        CHECK_EQ(r->cell_start[r->width * r->height], count);
        for (int t = 0; t < 4; t++) {
            phx_spatial_build(&other.spatial, &jobs[t], x, y, list, count, range);
            CHECK(o->width == r->width && o->height == r->height && o->cell_shift == r->cell_shift);
            CHECK(memcmp(o->slot, r->slot, count * sizeof *o->slot) == 0);
            CHECK(memcmp(o->position, r->position, count * sizeof *o->position) == 0);
            CHECK(memcmp(o->cell_start, r->cell_start, (o->width * o->height + 1) * sizeof *o->cell_start) ==
                  0);
        }
        for (uint32_t row = 1; row < count; row++) /* order: cell, then slot */
            if (r->slot[row] < r->slot[row - 1]) {
                const PhxVec2 a = r->position[row - 1], b = r->position[row];
                CHECK((a.x - r->origin_x) >> r->cell_shift != (b.x - r->origin_x) >> r->cell_shift ||
                      (a.y - r->origin_y) >> r->cell_shift != (b.y - r->origin_y) >> r->cell_shift);
            }
        check_queries(r, &seed, x, y, slots, count, range, set);
    }
    for (int t = 0; t < 4; t++) phx_jobs_threads_destroy(&jobs[t]);
    phx_arena_destroy(&reference.arena);
    phx_arena_destroy(&other.arena);
}

/* A query's answer, looked up by any worker in any order. */
enum { MANY = 7000, NEAREST = 10 }; /* more than three ranges of the build */

typedef struct Lookup {
    const PhxSpatial *spatial;
    const fix16_t *x, *y;
    PhxNear (*near)[NEAREST];
    uint32_t *found;
} Lookup;

static void look_up(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    const Lookup *lookup = context;
    (void)worker;
    for (uint32_t row = begin; row < end; row++) {
        const uint32_t slot = lookup->spatial->slot[row],
                       k = 1 + slot % NEAREST; /* k and range are their own */
        const fix16_t range = (fix16_t)(1 + slot % 7) << 16;
        lookup->found[slot] = phx_spatial_nearest(lookup->spatial, phx_vec2(lookup->x[slot], lookup->y[slot]),
                                                  range, slot, k, lookup->near[slot]);
    }
}

/* Enough rows for every thread to have some, up to the very edges of the world: threads build and ask; who
 * asks gets the nearest of its own number and range, by a plain search. */
PHX_TEST(spatial, threads_share_a_large_crowd) {
    static fix16_t x[MANY], y[MANY];
    static PhxNear want[MANY], near[2][MANY][NEAREST];
    static uint32_t found[2][MANY], slots[MANY], rows[MANY];
    const uint32_t threads[] = {1, 2, 3, 8};
    Fixture f = fixture_make(MANY);
    for (uint32_t i = 0; i < MANY; i++) slots[i] = i;
    for (int kind = 0; kind < 3; kind++) {
        uint64_t seed = 400 + (uint64_t)kind;
        const int64_t edge = (int64_t)8192 << 16, span = kind == 0 ? 60 << 16 : kind == 1 ? 4 << 16 : edge;
        for (uint32_t i = 0; i < MANY; i++) {
            const int64_t corner = kind == 2 ? test_range(&seed, 0, 3) : 4; /* a quarter in each corner */
            const int64_t near_x = test_range(&seed, 0, 20 << 16), near_y = test_range(&seed, 0, 20 << 16);
            x[i] = (fix16_t)(corner == 4  ? test_range(&seed, -span, span)
                             : corner & 1 ? edge - near_x
                                          : near_x - edge);
            y[i] = (fix16_t)(corner == 4  ? test_range(&seed, -span, span)
                             : corner & 2 ? edge - near_y
                                          : near_y - edge);
        }
        for (int t = 0; t < 4; t++) {
            PhxJobs jobs;
            CHECK_OK(phx_jobs_threads_create(threads[t], &jobs));
            phx_spatial_build(&f.spatial, &jobs, x, y, NULL, MANY, 7 << 16);
            const int now = t > 0;
            if (t == 0) memcpy(rows, f.spatial.slot, sizeof rows);
            CHECK_THAT(memcmp(rows, f.spatial.slot, sizeof rows) == 0, "kind %d, %" PRIu32 " threads", kind,
                       threads[t]);
            Lookup lookup = {&f.spatial, x, y, near[now], found[now]};
            phx_parallel_for(&jobs, MANY, 64, look_up, &lookup);
            phx_jobs_threads_destroy(&jobs);
            CHECK_THAT(memcmp(found[0], found[now], sizeof found[0]) == 0, "kind %d, %" PRIu32 " threads",
                       kind, threads[t]);
            for (uint32_t i = 0; i < MANY; i++)
                for (uint32_t k = 0; k < found[0][i]; k++)
                    CHECK_THAT(near[0][i][k].slot == near[now][i][k].slot &&
                                   near[0][i][k].row == near[now][i][k].row &&
                                   near[0][i][k].distance_sq == near[now][i][k].distance_sq,
                               "kind %d, %" PRIu32 " threads, slot %" PRIu32, kind, threads[t], i);
        }
        for (uint32_t i = (uint32_t)kind; i < MANY; i += 37) {
            uint32_t expected =
                brute(x, y, slots, MANY, phx_vec2(x[i], y[i]), (fix16_t)(1 + i % 7) << 16, i, want);
            if (expected > 1 + i % NEAREST) expected = 1 + i % NEAREST;
            CHECK_THAT(found[0][i] == expected, "kind %d slot %" PRIu32, kind, i);
            for (uint32_t k = 0; k < expected; k++)
                CHECK_THAT(near[0][i][k].slot == want[k].slot &&
                               near[0][i][k].distance_sq == want[k].distance_sq,
                           "kind %d slot %" PRIu32, kind, i);
        }
    }
    phx_arena_destroy(&f.arena);
}

/* The window holds the cell of every row that is near enough. */
PHX_TEST(spatial, windows_hold_all_that_is_near) {
    static fix16_t x[ROWS], y[ROWS];
    Fixture f = fixture_make(ROWS);
    const PhxJobs serial = phx_jobs_serial();
    uint32_t seen = 0;
    for (int set = 0; set < SETS; set++) {
        uint64_t seed = 5000 + (uint64_t)set;
        place(&seed, set % 6, ROWS, x, y);
        const fix16_t range = (fix16_t)test_range(&seed, 1 << 14, PHX_SPATIAL_MAX_RANGE);
        phx_spatial_build(&f.spatial, &serial, x, y, NULL, ROWS, range);
        const PhxSpatial *s = &f.spatial;
        for (int q = 0; q < 40; q++) {
            const uint32_t own = (uint32_t)test_range(&seed, 0, ROWS - 1);
            const int64_t off_x = test_range(&seed, -range, range), off_y = test_range(&seed, -range, range);
            const PhxVec2 at = {(fix16_t)(x[own] + off_x), (fix16_t)(y[own] + off_y)};
            PhxSpatialWindow w;
            const bool any = phx_spatial_window(s, at, range, &w);
            CHECK(!any || (w.first_x <= w.last_x && w.last_x < s->width && w.first_y <= w.last_y &&
                           w.last_y < s->height));
            for (uint32_t i = 0; i < ROWS; i++) {
                const int64_t dx = (int64_t)x[i] - at.x, dy = (int64_t)y[i] - at.y;
                if (dx > range || dx < -range || dy > range || dy < -range) continue;
                const uint32_t cx = (uint32_t)((int64_t)x[i] - s->origin_x) >> s->cell_shift,
                               cy = (uint32_t)((int64_t)y[i] - s->origin_y) >> s->cell_shift;
                CHECK_THAT(any && cx >= w.first_x && cx <= w.last_x && cy >= w.first_y && cy <= w.last_y,
                           "set %d query %d row %" PRIu32, set, q, i);
                seen++;
            }
        }
    }
    CHECK(seen > 10000);
    phx_arena_destroy(&f.arena);
}

PHX_TEST(spatial, empty_grids_and_queries_beside_the_grid_find_nothing) {
    Fixture f = fixture_make(4);
    const PhxJobs serial = phx_jobs_serial();
    const fix16_t x[] = {0, 65536}, y[] = {0, 0};
    PhxNear near[4];
    phx_spatial_build(&f.spatial, &serial, x, y, NULL, 0, 65536);
    CHECK_EQ(phx_spatial_nearest(&f.spatial, phx_vec2(0, 0), 65536, UINT32_MAX, 4, near), 0);
    phx_spatial_build(&f.spatial, &serial, x, y, NULL, 2, 65536);
    CHECK_EQ(phx_spatial_nearest(&f.spatial, phx_vec2(0, 0), 65536, UINT32_MAX, 4, near),
             1); /* strictly nearer */
    CHECK_EQ(phx_spatial_nearest(&f.spatial, phx_vec2(0, 0), 65537, UINT32_MAX, 4, near), 2);
    CHECK_EQ(phx_spatial_nearest(&f.spatial, phx_vec2(-(8192 << 16), 0), 64 << 16, UINT32_MAX, 4, near), 0);
    CHECK_EQ(phx_spatial_nearest(&f.spatial, phx_vec2(0, 8192 << 16), 64 << 16, UINT32_MAX, 4, near), 0);
    phx_arena_destroy(&f.arena);
}
