/* path_ground.h: how a ground keeps its cells, for searches and lines.
 *
 * Two boards hold a bit a cell, set where a unit can't stand: one with a line for each row, one with a line
 * for each column. Around the map lies a rim of walls: a line before the first and behind the last, a word
 * before the first bit of each line and at least one behind the last, so that nobody has to ask where the map
 * ends, and a window of 64 bits can be read around any cell.
 */
#ifndef PHX_NAV_PATH_GROUND_H
#define PHX_NAV_PATH_GROUND_H

#include <phalanx/path.h>

enum { PHX_PATH_RIM = 64 }; /* bits before the first cell of a line */

typedef struct PhxPathBoard {
    uint64_t *bits;
    uint32_t stride; /* words of a line */
} PhxPathBoard;

/* Open cells beside each other in a row, from..to, both included; all of a run belongs to one part. */
typedef struct PhxPathRun {
    uint16_t from, to;
    uint32_t part;
} PhxPathRun;

struct PhxPathGround {
    uint32_t width, height;
    const uint8_t *cost; /* null: never built */
    uint64_t version;
    PhxPathBoard rows, columns;
    uint8_t *low, *high; /* of each row: the least cost (255: no open cell) and the greatest of open cells */
    uint8_t least, most; /* of the map */
    uint32_t *first_run; /* height + 1: where a row's runs begin in `run` */
    PhxPathRun *run;     /* by row, then from left to right */
};

/* The line of a board that holds row (or column) i, -1 and one behind the last included; bit PHX_PATH_RIM + k
 * is cell k. */
static inline const uint64_t *phx_path_line(const PhxPathBoard *board, int32_t i) {
    return board->bits + (size_t)(uint32_t)(i + 1) * board->stride;
}
/* 64 bits of a line from bit `at` on; at >= 0, and the line has a word behind the one that holds `at`. */
static inline uint64_t phx_path_window(const uint64_t *line, uint32_t at) {
    const uint64_t *word = line + at / 64;
    return word[0] >> at % 64 | word[1] << 1 << (63 - at % 64);
}
/* Whether a cell, or one of the rim around the map, is a wall. */
static inline bool phx_path_shut(const PhxPathGround *ground, int32_t x, int32_t y) {
    const uint32_t at = (uint32_t)(x + PHX_PATH_RIM);
    return phx_path_line(&ground->rows, y)[at / 64] >> at % 64 & 1;
}

/* Sets of directions, a bit each, turned to the right (clockwise, as codes rise) or to the left. */
static inline uint32_t phx_path_turn_right(uint32_t set, unsigned n) {
    return (set << n | set >> (8 - n)) & 255u;
}
static inline uint32_t phx_path_turn_left(uint32_t set, unsigned n) {
    return (set >> n | set << (8 - n)) & 255u;
}

/* The directions of the cells around one that are open. */
static inline uint32_t phx_path_open_around(const PhxPathGround *ground, int32_t x, int32_t y) {
    const uint32_t at = (uint32_t)(x + PHX_PATH_RIM) - 1;
    const uint64_t *line = phx_path_line(&ground->rows, y);
    const uint32_t up = (uint32_t)phx_path_window(line - ground->rows.stride, at),
                   level = (uint32_t)phx_path_window(line, at),
                   down = (uint32_t)phx_path_window(line + ground->rows.stride, at);
    return ~((level >> 2 & 1) | (down >> 2 & 1) << 1 | (down >> 1 & 1) << 2 | (down & 1) << 3 |
             (level & 1) << 4 | (up & 1) << 5 | (up >> 1 & 1) << 6 | (up >> 2 & 1) << 7) &
           255u;
}

/* Those in which a step may be made: a diagonal one needs the cells on both sides. */
static inline uint32_t phx_path_steps(uint32_t open) {
    return open & (0x55u | (phx_path_turn_right(open, 1) & phx_path_turn_left(open, 1)));
}

/* path_parts.c: the runs of a ground whose rows are filled, and their parts. */
void phx_path_find_parts(PhxPathGround *ground);

#endif
