/* passage.c: the room along routes, on random maps: what is promised is there, and narrow places are found.
 *
 * The oracle looks from each point of a simplified route to both sides in steps of 1/64 of a cell.
 */
#include "nav/passage.h"

#include <phalanx/trig.h>

#include "base/arena.h"
#include "nav_random.h"

enum { ONE = 65536, WAYPOINTS = 256, POINTS = 64 };

typedef struct Work {
    PhxArena arena;
    PhxPathGround *ground;
    PhxPathSearch *search;
} Work;

static Work make(const TestMap *map) {
    Work made = {.arena = phx_arena_measure()};
    for (int pass = 0; pass < 2; pass++) {
        if (pass) CHECK_OK(phx_arena_create(&made.arena, phx_allocator_default(), made.arena.used));
        made.ground = phx_path_ground_layout(&made.arena, map->grid.width, map->grid.height);
        made.search = phx_path_search_layout(&made.arena, map->grid.width * map->grid.height, 0);
    }
    CHECK_OK(phx_path_ground_build(made.ground, &map->grid));
    return made;
}

static bool is_open(const TestMap *map, PhxVec2 at) {
    return phx_nav_passable(&map->grid, at.x >> 16, at.y >> 16);
}

/* How far it is from a point to a wall, up to `most`. */
static fix16_t free_way(const TestMap *map, PhxVec2 at, PhxDir way, fix16_t most) {
    fix16_t far = 0;
    while (far < most && is_open(map, phx_vec2_add(at, phx_dir_scale(way, far)))) far += ONE / 64;
    return far;
}

/* A narrow point lies in the middle of what it says is there, within a sixteenth. */
static void check_narrow(const TestMap *map, const PhxPassage *point, fix16_t rest, fix16_t need) {
    const PhxDir across = phx_dir_of_angle(point->across);
    const fix16_t least = point->left + rest, one = free_way(map, point->at, across, 20 * ONE),
                  other = free_way(map, point->at, phx_dir_neg(across), 20 * ONE);
    CHECK_THAT(one + ONE / 8 >= least && other + ONE / 8 >= least, "(%d, %d): %d and %d, promised %d",
               point->at.x, point->at.y, one, other, least);
    CHECK_EQ(point->left, point->right);
    CHECK(2 * point->left < need + ONE);
}

static void check_samples(const TestMap *map, const PhxPassage *sample, uint32_t count, fix16_t rest,
                          fix16_t need) {
    for (uint32_t i = 0; i < count; i++) {
        CHECK(is_open(map, sample[i].at));
        CHECK(sample[i].left >= 0 && sample[i].right >= 0 && sample[i].left <= PHX_PASSAGE_REACH * ONE);
        if (sample[i].narrow) check_narrow(map, &sample[i], rest, need);
    }
}

/* How many lines of a simplified route lead over a wall. */
static uint32_t count_blocked(const TestMap *map, const PhxPassage *point, uint32_t count) {
    uint32_t blocked = 0;
    for (uint32_t i = 1; i < count; i++) {
        PhxDir way;
        const fix16_t length = (fix16_t)phx_vec2_normalize(phx_vec2_sub(point[i].at, point[i - 1].at), &way);
        blocked += free_way(map, point[i - 1].at, way, length) < length;
    }
    return blocked;
}

PHX_TEST(passage, room_that_is_promised_is_there) {
    static PhxPassage sample[PHX_PASSAGE_SAMPLES];
    static PhxVec2 way[WAYPOINTS];
    uint64_t seed = 31;
    uint32_t routes = 0, narrow = 0, closed = 0, lines = 0, blocked = 0;
    for (uint32_t i = 0; i < test_count(60, 500, 6000); i++) {
        TestMap map = test_map_random(&seed, i % 8 == 0 ? 120 : 40);
        uint32_t ends[2];
        Work work = make(&map);
        const fix16_t radius = (fix16_t)test_range(&seed, 4096, 32768),
                      need = (fix16_t)test_range(&seed, 0, 14 * ONE);
        for (int q = 0; q < 4 && test_map_goals(&map, &seed, 2, ends); q++) {
            PhxPath path = {.waypoints = way, .waypoint_capacity = WAYPOINTS};
            CHECK_OK(
                phx_path_find(work.search, work.ground, &(PhxPathQuery){ends[0], ends[1], radius, 0}, &path));
            if (path.waypoint_count < 2) continue;
            uint32_t count = phx_passage_sample(work.ground, way, path.waypoint_count, radius, need, sample);
            check_samples(&map, sample, count, radius, need);
            const uint32_t least = phx_passage_narrowest(sample, count);
            if (least < count) {
                uint32_t cells[PHX_PASSAGE_CHORD];
                const uint32_t shut = phx_passage_close(work.ground, &sample[least], cells);
                for (uint32_t c = 0; c < shut; c++) {
                    CHECK(map.cost[cells[c]] != PHX_NAV_IMPASSABLE);
                    CHECK(phx_path_shut(work.ground, (int32_t)(cells[c] % map.grid.width),
                                        (int32_t)(cells[c] / map.grid.width)));
                }
                /* nobody slides through any more */
                PhxPath other = {0};
                CHECK_OK(phx_path_find(work.search, work.ground, &(PhxPathQuery){ends[0], ends[1], radius, 0},
                                       &other));
                CHECK(other.reach != PHX_PATH_WHOLE || other.cost >= path.cost);
                phx_passage_open(work.ground, cells, shut);
                PhxPath again = {0};
                CHECK_OK(phx_path_find(work.search, work.ground, &(PhxPathQuery){ends[0], ends[1], radius, 0},
                                       &again));
                CHECK(again.cost == path.cost && again.expanded == path.expanded);
                narrow++;
                closed += shut;
            }
            count = phx_passage_align(work.ground, sample, count, radius);
            CHECK(count >= 1 && count <= PHX_PASSAGE_SAMPLES);
            const uint32_t kept = phx_passage_simplify(work.ground, sample, count, POINTS);
            CHECK(kept >= 1 && kept <= POINTS);
            lines += kept - 1;
            blocked += count_blocked(&map, sample, kept);
            routes++;
        }
        phx_arena_destroy(&work.arena);
        free(map.cost);
    }
    fprintf(stderr, "%u routes, %u with a narrow passage, %u cells shut; %u lines, %u of them blocked\n",
            routes, narrow, closed, lines, blocked);
    CHECK(blocked * 100 <=
          lines); /* in rubble, where the middle of a passage isn't seen from the one before */
    CHECK(routes > 50 && narrow > 20);
}
