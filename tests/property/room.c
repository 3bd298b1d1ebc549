/* room.c: what a room keeps from one tick to the next has no influence on its answers.
 *
 * One room lives through hundreds of ticks in which cells, occupants, the group's size and its goal change,
 * or nothing does. In each it is asked in one order, and a room made anew in the reverse order, so that their
 * searches come differently far; all answers must be equal, before and after places are taken. And ways are
 * ways: each step costs what it should, and the last ends at a vacant place.
 */
#include <stdlib.h>

#include "harness.h"
#include "step/room.h"

enum { SIDE = 64, CELLS = SIDE * SIDE, OCCUPANTS = 60, QUERIES = 24, NEAR = 8, TICKS = 400 };

typedef struct Scene {
    uint8_t solid[CELLS], closed[CELLS];
    PhxRoomOccupant occupants[OCCUPANTS];
    bool present[OCCUPANTS];
    PhxVec2 anchor;
    fix16_t radius;
    uint64_t area;
    uint32_t size;
} Scene;

typedef struct Answer {
    uint32_t point, value, next;
    bool outside, inside;
} Answer;

static PhxVec2 near_anchor(const Scene *scene, uint64_t *seed, int cells) {
    return phx_vec2(scene->anchor.x + (fix16_t)test_range(seed, -cells * 65536, cells * 65536),
                    scene->anchor.y + (fix16_t)test_range(seed, -cells * 65536, cells * 65536));
}

static void put_occupant(Scene *scene, uint64_t *seed, uint32_t i) {
    const bool yields = test_range(seed, 0, 3) > 0;
    scene->occupants[i] =
        (PhxRoomOccupant){3 * i + 1, near_anchor(scene, seed, 14),
                          yields ? scene->radius : (fix16_t)test_range(seed, 8192, 65536), yields};
    scene->present[i] = true;
}

static void new_group(Scene *scene, uint64_t *seed) {
    const bool large = test_range(seed, 0, 3) == 0;
    scene->anchor = phx_vec2((fix16_t)test_range(seed, 0, SIDE * 65536 - 1),
                             (fix16_t)test_range(seed, 0, SIDE * 65536 - 1));
    scene->radius = large ? 58982 : 26214; /* 0.9, 0.4 */
    scene->size = large ? 2 : 1;
    for (uint32_t i = 0; i < OCCUPANTS; i++) put_occupant(scene, seed, i);
    scene->area = (uint64_t)test_range(seed, 1, 60) * (uint64_t)scene->radius * (uint64_t)scene->radius;
}

/* A cell near the goal changes what it is to bodies, or to the layer alone. */
static void flip_cell(Scene *scene, uint64_t *seed) {
    const PhxVec2 at = near_anchor(scene, seed, 10);
    const PhxNavGrid grid = {SIDE, SIDE, scene->solid};
    const uint32_t cell = phx_nav_cell_clamped(&grid, at.x, at.y);
    uint8_t *plane = test_range(seed, 0, 1) ? scene->solid : scene->closed;
    plane[cell] = plane[cell] == 1 ? PHX_NAV_IMPASSABLE : 1;
}

static void set_cell(Scene *scene, uint64_t *seed, uint32_t cell) {
    scene->solid[cell] = test_range(seed, 0, 9) == 0 ? PHX_NAV_IMPASSABLE : 1;
    scene->closed[cell] = scene->solid[cell] == 1 && test_range(seed, 0, 19) > 0 ? 1 : PHX_NAV_IMPASSABLE;
}

/* What one tick brings; nothing in most. */
static void change(Scene *scene, uint64_t *seed) {
    const uint32_t i = (uint32_t)test_range(seed, 0, OCCUPANTS - 1);
    switch (test_range(seed, 0, 11)) {
    case 0:
        flip_cell(scene, seed);
        return;
    case 1:
        scene->present[i] = !scene->present[i];
        return;
    case 2:
        put_occupant(scene, seed, i);
        return;
    case 3:
        scene->occupants[i].spot.y += 4096;
        return;
    case 4:
        scene->occupants[i].yields = !scene->occupants[i].yields;
        return;
    case 5:
        scene->area += scene->area / 8;
        return;
    case 6:
        if (test_range(seed, 0, 4) == 0) new_group(scene, seed);
        return;
    default:
        return;
    }
}

/* Told by ascending or descending slot. */
static void make(PhxRoom *room, const Scene *scene, bool backwards) {
    const PhxRoomGround ground = {{SIDE, SIDE, scene->solid}, {SIDE, SIDE, scene->closed}, scene->size};
    phx_room_begin(room, &ground, scene->anchor, scene->radius, scene->area);
    for (uint32_t k = 0; k < OCCUPANTS; k++) {
        const uint32_t i = backwards ? OCCUPANTS - 1 - k : k;
        const PhxRoomOccupant *o = &scene->occupants[i];
        if (scene->present[i]) phx_room_tell(room, o->spot, o->radius, o->slot, o->yields);
    }
    phx_room_solve(room);
}

static Answer ask(PhxRoom *room, PhxVec2 at) {
    Answer answer = {phx_room_point(room, at), 0, 0, phx_room_outside(room, at),
                     phx_room_has_place_inside(room, at)};
    if (answer.point == PHX_ROOM_NONE) return answer;
    answer.value = phx_room_value(room, answer.point);
    answer.next = phx_room_next(room, answer.point);
    return answer;
}

static void compare(PhxRoom *kept, PhxRoom *fresh, const PhxVec2 *queries, int count, int tick) {
    Answer answers[QUERIES];
    CHECK_THAT(kept->disc == fresh->disc && kept->flooded == fresh->flooded && kept->start == fresh->start,
               "tick %d: floods differ", tick);
    for (int q = 0; q < count; q++) answers[q] = ask(kept, queries[q]);
    for (int q = count - 1; q >= 0; q--) {
        const Answer a = answers[q], b = ask(fresh, queries[q]);
        CHECK_THAT(a.point == b.point && a.value == b.value && a.next == b.next && a.outside == b.outside &&
                       a.inside == b.inside,
                   "tick %d query %d: point %u %u, value %u %u, next %u %u, inside %d %d", tick, q, a.point,
                   b.point, a.value, b.value, a.next, b.next, a.inside, b.inside);
    }
}

/* Walks a way to its end; before any place is taken. */
static uint32_t follow(PhxRoom *room, PhxVec2 at, int tick) {
    uint32_t point = phx_room_point(room, at);
    while (point != PHX_ROOM_NONE) {
        const uint32_t next = phx_room_next(room, point), value = phx_room_value(room, point);
        if (next == point) break;
        const uint32_t step = value - phx_room_value(room, next),
                       plain = phx_room_vacant(room, next) ? 1 : 12;
        CHECK_THAT(step == 10 * plain || step == 14 * plain, "tick %d: a step costs %u", tick, step);
        point = next;
    }
    CHECK_THAT(point == PHX_ROOM_NONE || phx_room_vacant(room, point), "tick %d: a way ends nowhere", tick);
    return point;
}

/* Of memory of its own, so that it knows nothing. */
static PhxRoom make_room(PhxArena *arena) {
    PhxRoom room = {0};
    *arena = phx_arena_measure();
    phx_room_layout(NULL, arena);
    const size_t size = arena->used;
    CHECK_OK(phx_arena_create(arena, phx_allocator_default(), size));
    phx_room_layout(&room, arena);
    return room;
}

static uint32_t run_tick(PhxRoom *kept, const Scene *scene, uint64_t *seed, int tick) {
    PhxVec2 queries[QUERIES];
    PhxArena arena;
    PhxRoom fresh = make_room(&arena);
    uint32_t ends = 0;
    const bool was_known = kept->ways_known;
    for (int q = 0; q < QUERIES; q++) queries[q] = near_anchor(scene, seed, q < NEAR ? 3 : 16);
    make(kept, scene, tick % 2 == 0);
    make(&fresh, scene, false);
    const bool takes = test_range(seed, 0, 3) == 0;
    /* where places are taken then, the kept room has been asked farther before */
    compare(kept, &fresh, queries, takes ? NEAR : QUERIES, tick);
    if (takes) {
        const uint32_t end[2] = {follow(kept, queries[0], tick), follow(kept, queries[NEAR], tick)};
        for (int i = 0; i < 2; i++) {
            if (end[i] == PHX_ROOM_NONE) continue;
            phx_room_take(kept, phx_room_position(kept, end[i]), 1000);
            phx_room_take(&fresh, phx_room_position(&fresh, end[i]), 1000);
            compare(kept, &fresh, queries, QUERIES, tick);
            ends++;
        }
    }
    phx_arena_destroy(&arena);
    return ends + (was_known ? 1u << 16 : 0);
}

PHX_TEST(room, what_it_keeps_changes_no_answer) {
    uint64_t seed = 404;
    static Scene scene;
    PhxArena arena;
    PhxRoom kept = make_room(&arena);
    uint32_t sum = 0;
    for (uint32_t cell = 0; cell < CELLS; cell++) set_cell(&scene, &seed, cell);
    new_group(&scene, &seed);
    for (int tick = 0; tick < TICKS; tick++) {
        sum += run_tick(&kept, &scene, &seed, tick);
        change(&scene, &seed);
    }
    CHECK_THAT((sum & 0xffff) > TICKS / 20 && sum >> 16 > TICKS / 4, "%u places taken, %u times ways known",
               sum & 0xffff, sum >> 16);
    phx_arena_destroy(&arena);
}

/* More occupants than a room remembers: none is forgotten. */
PHX_TEST(room, more_occupants_than_it_remembers_all_count) {
    enum { MANY = PHX_ROOM_OCCUPANTS + 500 };
    static uint8_t cost[CELLS];
    PhxArena arenas[2];
    PhxRoom rooms[2] = {make_room(&arenas[0]), make_room(&arenas[1])};
    memset(cost, 1, sizeof cost);
    const PhxRoomGround ground = {{SIDE, SIDE, cost}, {SIDE, SIDE, cost}, 1};
    const PhxVec2 anchor = {32 * 65536, 32 * 65536};
    for (int round = 0; round < 2; round++)
        for (int r = 0; r < 2; r++) {
            phx_room_begin(&rooms[r], &ground, anchor, 26214, (uint64_t)200 * 26214 * 26214);
            for (uint32_t k = 0; k < MANY; k++) { /* on a lattice of 68 x 68 places, from either end */
                const uint32_t i = r ? MANY - 1 - k : k;
                const PhxVec2 spot = {(fix16_t)(22 * 65536 + i % 68 * 19661),
                                      (fix16_t)(22 * 65536 + i / 68 * 19661)};
                phx_room_tell(&rooms[r], spot, 9830, i, true);
            }
            phx_room_solve(&rooms[r]);
        }
    uint32_t covered = 0;
    for (uint32_t p = 0; p < PHX_ROOM_POINTS; p++) {
        const PhxVec2 at = phx_room_position(&rooms[0], p);
        const bool vacant = phx_room_vacant(&rooms[0], p);
        CHECK_EQ(vacant, phx_room_vacant(&rooms[1], p));
        if (at.x < 22 * 65536 || at.x > 42 * 65536 || at.y < 22 * 65536 || at.y > 41 * 65536) continue;
        CHECK_THAT(!vacant, "point %u", p);
        CHECK_EQ(rooms[0].owner[p], rooms[1].owner[p]);
        covered++;
    }
    CHECK_THAT(covered > 4000, "%u points", covered);
    for (int r = 0; r < 2; r++) phx_arena_destroy(&arenas[r]);
}
