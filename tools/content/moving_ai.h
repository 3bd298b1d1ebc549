/* moving_ai.h: the .map and .scen files of the MovingAI grid benchmark (Sturtevant, Benchmarks for Grid-Based
 * Pathfinding, 2012), from bytes in memory.
 *
 * A .map has the lines "type octile", "height H", "width W", "map", then H rows of W letters: '.' and 'G'
 * ground, 'S' swamp, 'W' water, 'T' trees, '@' and 'O' out of bounds. A .scen has the line "version 1", then
 * a problem a line: bucket, map name, width, height, start x, start y, goal x, goal y, optimal length. Line
 * ends may be LF or CRLF; the last one may be missing; empty lines may follow.
 *
 * Bytes are untrusted: the whole file is checked first, in one pass without allocation; memory is asked for
 * only when it is known to be right. Errors name line, column and letter and say what to do; error->offset is
 * the line. Errors: PHX_ERROR_FORMAT, PHX_ERROR_TRUNCATED (the file ends too early), PHX_ERROR_LIMIT (a side
 * above PHX_NAV_MAX_SIDE), PHX_ERROR_RANGE (a start or goal outside of its map), PHX_ERROR_MEMORY.
 */
#ifndef PHX_CONTENT_MOVING_AI_H
#define PHX_CONTENT_MOVING_AI_H

#include <phalanx/allocator.h>
#include <phalanx/status.h>
#include <stddef.h>
#include <stdint.h>

/* The cost of each kind of letter: 1..254, or 255 for impassable. Out of bounds is always impassable. */
typedef struct PhxMovingAiCosts {
    uint8_t ground, swamp, water, trees;
} PhxMovingAiCosts;
/* Ground 1, swamp 2, water and trees impassable. */
#define PHX_MOVING_AI_COSTS_DEFAULT ((PhxMovingAiCosts){1, 2, 255, 255})

typedef struct PhxMovingAiMap {
    uint32_t width, height; /* 1..4096 */
    uint8_t *cost;          /* width * height, row by row; owned */
    PhxAllocator allocator;
} PhxMovingAiMap;

/* `name` (a path; may be null) is for messages only. On failure `map` is empty and needs no free. */
PHX_MUST_USE PhxStatus phx_moving_ai_read_map(const void *bytes, size_t size, const char *name,
                                              PhxMovingAiCosts costs, PhxAllocator allocator,
                                              PhxMovingAiMap *map, PhxError *error);
/* The same, with the letters themselves in `cost`. */
PHX_MUST_USE PhxStatus phx_moving_ai_read_letters(const void *bytes, size_t size, const char *name,
                                                  PhxAllocator allocator, PhxMovingAiMap *map,
                                                  PhxError *error);
void phx_moving_ai_free_map(PhxMovingAiMap *map);

typedef struct PhxMovingAiProblem {
    uint32_t bucket, width, height;
    uint32_t start_x, start_y, goal_x, goal_y; /* cells; below width, height */
    uint64_t length; /* in units of 1e-8, exact to 8 decimals, rounded to nearest beyond */
} PhxMovingAiProblem;

typedef struct PhxMovingAiScen {
    uint32_t count;
    PhxMovingAiProblem *problems; /* in the order of the file; owned */
    PhxAllocator allocator;
} PhxMovingAiScen;

PHX_MUST_USE PhxStatus phx_moving_ai_read_scen(const void *bytes, size_t size, const char *name,
                                               PhxAllocator allocator, PhxMovingAiScen *scen,
                                               PhxError *error);
void phx_moving_ai_free_scen(PhxMovingAiScen *scen);

#endif
