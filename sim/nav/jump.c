/* jump.c: which nodes a search reaches from one by jumping, where all passable cells cost the same.
 *
 * In: a node, and the straight directions in which best paths arrive at it. Out: the next nodes: cells where
 * a path may have to turn around a wall, and the goal. Source: Harabor, Grastien, Online Graph Pruning for
 * Pathfinding on Grid Maps, 2011, in the form that doesn't cut corners (as field_front.c, which gives the
 * proof that a best path is left), and Improving Jump Point Search, 2014: lines are looked at 64 cells at a
 * time (section 3), and of a path that turns from a diagonal into a straight line the turn is no node
 * (section 5: the pruning of intermediate points).
 *
 * Straight on: along a line a path has to stop only where a wall beside it ends: in the first cell whose side
 * is open while the one before had a wall there. In words of a line and of the two beside it (a bit set is a
 * wall), those are the bits of ~side & (side << 1). Diagonally: from each cell of the diagonal both straight
 * directions are looked along; the words of the next row and column are read once for each cell. A node's
 * parent is so a diagonal and a straight piece away, in this order.
 *
 * Paths of one cost that arrive in several directions count all, even when the node was expanded before;
 * then what the others leave unfollowed is followed.
 *
 * Cost: some 3 ns for each line looked along up to 63 cells. Determinism: a pure function of the boards; the
 * directions are followed in a fixed order.
 */
#include "base/bitset.h"
#include "base/prefetch.h"
#include "nav/astar.h"

/* For a function whose flags are constants where it is called: it is made once for each. */
#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

enum { REACH = 63, TOP = 63 }; /* cells that a window looks ahead; its highest bit */

/* What a search along a line of a board goes through: its words, from one on, ahead or back, and those of the
 * lines on both sides. */
typedef struct Scan {
    const uint64_t *word;
    ptrdiff_t stride;     /* words to the next line */
    uint64_t left, right; /* the words before, of the lines beside it */
    uint64_t mask;        /* the cells to look at in the first word */
    uint32_t base;        /* how far the first bit of the word (back: the last) is away; modulo 2^32 */
    uint32_t goal;        /* how far the goal is away; NOT_HERE: it isn't on the line */
} Scan;
#define NOT_HERE (UINT32_MAX / 2)

/* Cells that are open where a wall was in the one before, which the lowest bit has in another word. */
INLINE uint64_t ends_after(uint64_t line, uint64_t word_before, bool ahead) {
    return ~line & (ahead ? line << 1 | word_before >> TOP : line >> 1 | word_before << TOP);
}

/* How far the next stop is away; 0 if a wall comes first. */
INLINE uint32_t scan_line(Scan scan, bool ahead) {
    for (;; scan.base += 64) {
        const uint64_t middle = *scan.word, left = scan.word[-scan.stride], right = scan.word[scan.stride];
        uint64_t stops = middle | ends_after(left, scan.left, ahead) | ends_after(right, scan.right, ahead);
        const uint32_t to_goal = scan.goal - scan.base;
        if (PHX_UNLIKELY(to_goal < 64)) stops |= (uint64_t)1 << (ahead ? to_goal : TOP - to_goal);
        stops &= scan.mask;
        if (PHX_LIKELY(stops != 0)) {
            const uint32_t bit = ahead ? phx_bit_lowest(stops) : phx_leading_zeros64(stops);
            return (scan.base + bit) * (uint32_t)(~(ahead ? middle >> bit : middle << bit >> TOP) & 1);
        }
        scan.left = left;
        scan.right = right;
        scan.mask = ~(uint64_t)0;
        scan.word += ahead ? 1 : -1;
    }
}

/* From cell `at` of a line on. */
INLINE uint32_t look_along(const PhxPathBoard *board, int32_t line, int32_t at, uint32_t goal, bool ahead) {
    const uint32_t bit = (uint32_t)at + PHX_PATH_RIM, shift = bit % 64;
    return scan_line((Scan){.word = phx_path_line(board, line) + bit / 64,
                            .stride = (ptrdiff_t)board->stride,
                            .mask = ahead ? ~(uint64_t)1 << shift : ((uint64_t)1 << shift) - 1,
                            .base = ahead ? 0 - shift : shift - TOP,
                            .goal = goal},
                     ahead);
}

/* One line along x (a row) or y (a column). */
INLINE uint32_t look_row(const PhxPathSearch *search, int32_t x, int32_t y, bool east) {
    const int32_t goal = east ? search->goal_x - x : x - search->goal_x;
    return look_along(&search->ground->rows, y, x, y == search->goal_y ? (uint32_t)goal : NOT_HERE, east);
}
INLINE uint32_t look_column(const PhxPathSearch *search, int32_t x, int32_t y, bool south) {
    const int32_t goal = south ? search->goal_y - y : y - search->goal_y;
    return look_along(&search->ground->columns, x, y, x == search->goal_x ? (uint32_t)goal : NOT_HERE, south);
}

/* ---- what was found */

/* The ways to a target: some cells along a diagonal, then some straight on. Kinds 0 to 3 are the straight
 * directions alone, 4 to 7 the diagonals alone (which end in the goal), 8 to 15 diagonals that turn into a
 * row or a column. */
enum { ALONG_ROW = 8, ALONG_COLUMN = 12, DIAGONALLY = 4 };
typedef struct Way {
    int8_t x, y;   /* of a diagonal step */
    int8_t fx, fy; /* of a straight one */
    uint8_t arrived;
} Way;
static const Way way_of[16] = {{0, 0, 1, 0, 1}, {0, 0, 0, 1, 4},    {0, 0, -1, 0, 16},   {0, 0, 0, -1, 64},
                               {1, 1, 0, 0, 0}, {-1, 1, 0, 0, 0},   {-1, -1, 0, 0, 0},   {1, -1, 0, 0, 0},
                               {1, 1, 1, 0, 1}, {-1, 1, -1, 0, 16}, {-1, -1, -1, 0, 16}, {1, -1, 1, 0, 1},
                               {1, 1, 0, 1, 4}, {-1, 1, 0, 1, 4},   {-1, -1, 0, -1, 64}, {1, -1, 0, -1, 64}};

/* What was found from a node. It's collected in short first, as most of what is looked at leads nowhere, and
 * reached afterwards, in the same order: meanwhile the memory of what is known of these cells comes near. A
 * target is its kind, then the diagonal steps, and last those and the straight ones together: how far it lies
 * along the axis of the straight ones. Each of these is below 2^13. */
enum { TARGETS = 256, AT_ONCE = 16, STEPS = 13 };
typedef struct Found {
    PhxPathSearch *search;
    uint64_t g;
    int32_t x, y;
    uint32_t index, count;
    uint32_t target[TARGETS];
} Found;

/* Notes a target if `open`; without a branch, as there's no telling which. */
INLINE void note(Found *found, uint32_t target, bool open) {
    found->target[found->count] = target;
    found->count += open;
}
INLINE uint32_t pack(uint32_t kind, uint32_t diagonal, uint32_t along) {
    return (kind << STEPS | diagonal) << STEPS | along;
}

typedef struct Target {
    uint64_t g;
    uint32_t cell;
    uint16_t x, y;
    uint8_t arrived;
} Target;

static Target target_of(const Found *found, uint32_t packed) {
    const uint32_t diagonal = packed >> STEPS & ((1u << STEPS) - 1),
                   straight = (packed & ((1u << STEPS) - 1)) - diagonal;
    const Way way = way_of[packed >> 2 * STEPS];
    const int32_t x = found->x + way.x * (int32_t)diagonal + way.fx * (int32_t)straight,
                  y = found->y + way.y * (int32_t)diagonal + way.fy * (int32_t)straight;
    return (Target){found->g + PHX_PATH_DIAGONAL * diagonal + PHX_PATH_STRAIGHT * straight,
                    (uint32_t)y * found->search->width + (uint32_t)x, (uint16_t)x, (uint16_t)y, way.arrived};
}

static void reach_all(Found *found) {
    PhxPathSearch *search = found->search;
    for (uint32_t first = 0; first < found->count; first += AT_ONCE) {
        Target target[AT_ONCE];
        const uint32_t count = found->count - first < AT_ONCE ? found->count - first : AT_ONCE;
        for (uint32_t i = 0; i < count; i++) {
            target[i] = target_of(found, found->target[first + i]);
            PHX_PREFETCH(&search->node[search->slot[target[i].cell]]);
        }
        for (uint32_t i = 0; i < count; i++) {
            const Target *to = &target[i];
            phx_astar_reach(search, found->index, to->x, to->y, to->g, to->arrived);
        }
    }
    found->count = 0;
}

/* ---- diagonals */

/* Neighbouring lines, as windows from the cell on where a part of a diagonal began: bit k (or TOP - k,
 * looking back) is k cells on. */
typedef struct Strip {
    const uint64_t *word; /* of the line behind that of step k */
    ptrdiff_t stride;     /* words to the next line */
    uint32_t shift;
    uint64_t line, next;                   /* walls, of the line of step k and of the one behind it */
    uint64_t ends_before, ends, ends_next; /* where a wall has just ended, on three lines */
} Strip;

INLINE uint64_t strip_window(const Strip *strip) {
    return strip->word[0] >> strip->shift | strip->word[1] << 1 << (63 - strip->shift);
}
INLINE uint64_t ends_of(uint64_t line, bool ahead) { return ~line & (ahead ? line << 1 : line >> 1); }

/* The bits of step k, looking ahead and looking back. */
typedef struct Here {
    uint64_t ahead, back;
} Here;

INLINE uint64_t here_at(Here here, bool ahead) { return ahead ? here.ahead : here.back; }
/* The bit of the step before. */
INLINE uint64_t here_before(Here here, bool ahead) { return ahead ? here.ahead >> 1 : here.back << 1; }
/* The bits of all steps behind it. */
INLINE uint64_t here_beyond(Here here, bool ahead) { return ahead ? 0 - 2 * here.ahead : here.back - 1; }

/* The strip at step 0. `up`: to lines of higher numbers; `ahead`: looking along them to higher bits. */
INLINE Strip strip_make(const PhxPathBoard *board, int32_t line, int32_t at, bool up, bool ahead) {
    const uint32_t bit = (uint32_t)at + PHX_PATH_RIM - (ahead ? 0 : REACH);
    Strip strip = {.word = phx_path_line(board, line) + bit / 64, .shift = bit % 64};
    strip.stride = up ? (ptrdiff_t)board->stride : -(ptrdiff_t)board->stride;
    strip.line = strip_window(&strip);
    strip.word += strip.stride;
    strip.next = strip_window(&strip);
    strip.ends = ends_of(strip.line, ahead);
    strip.ends_next = ends_of(strip.next, ahead);
    return strip;
}
INLINE void strip_step(Strip *strip, bool ahead) {
    strip->word += strip->stride;
    strip->line = strip->next;
    strip->next = strip_window(strip);
    strip->ends_before = strip->ends;
    strip->ends = strip->ends_next;
    strip->ends_next = ends_of(strip->next, ahead);
}

/* From the end of the window on along the line of step k. */
INLINE uint32_t strip_far(const Strip *strip, uint32_t goal, bool ahead) {
    const uint64_t *word = strip->word - strip->stride;
    return scan_line((Scan){.word = ahead ? word + 1 : word,
                            .stride = strip->stride,
                            .left = ahead ? word[-strip->stride] : 0,
                            .right = ahead ? word[strip->stride] : 0,
                            .mask = ahead ? ~(uint64_t)0 << strip->shift : ((uint64_t)1 << strip->shift) - 1,
                            .base = ahead ? 64 - strip->shift : strip->shift,
                            .goal = goal},
                     ahead);
}

/* ---- directions */

INLINE void go_along_row(Found *found, bool east) {
    const uint32_t far = look_row(found->search, found->x, found->y, east);
    note(found, pack(east ? 0 : 2, 0, far), far != 0);
}
INLINE void go_along_column(Found *found, bool south) {
    const uint32_t far = look_column(found->search, found->x, found->y, south);
    note(found, pack(south ? 1 : 3, 0, far), far != 0);
}

/* Notes the first of the cells `stops` on a line, unless it's a wall; `target` lacks how far that is. */
INLINE void note_first(Found *found, uint32_t target, uint64_t stops, uint64_t line, bool ahead) {
    const uint32_t far = ahead ? phx_bit_lowest(stops) : phx_leading_zeros64(stops);
    note(found, target + far, !((ahead ? line >> far : line << far >> TOP) & 1));
}

/* The goal's bit where it lies `far` steps on along the line of a window. */
INLINE uint64_t goal_bit(uint32_t far, bool ahead) {
    return far > REACH ? 0 : (uint64_t)1 << (ahead ? far : TOP - far);
}

/* Up to REACH - 1 steps of a diagonal, from the one on that has come to (x, y). False: it ended. `way`: that
 * of its kind. */
INLINE bool go_block(Found *found, int32_t x, int32_t y, uint32_t done, uint32_t way, bool east, bool south) {
    const PhxPathSearch *search = found->search;
    const uint32_t goal_x = (uint32_t)(east ? search->goal_x - x : x - search->goal_x),
                   goal_y = (uint32_t)(south ? search->goal_y - y : y - search->goal_y);
    /* the steps, from 1 on, that come to the goal's row or column; 0, or many: there is none */
    uint32_t meets = goal_x - 1 < goal_y - 1 ? goal_x : goal_y;
    Strip row = strip_make(&search->ground->rows, y, x, south, east),
          column = strip_make(&search->ground->columns, x, y, east, south);
    Here here = {2, (uint64_t)1 << (TOP - 1)};
    uint32_t target = pack(way, done + 1, done);
    if (PHX_UNLIKELY(found->count > TARGETS - 2 * REACH)) reach_all(found);
    for (uint32_t k = 1; k < REACH; k++, target += 1u << STEPS) {
        /* the cell, and those on both sides of the step to it */
        if ((row.next & (here_at(here, east) | here_before(here, east))) | (row.line & here_at(here, east)))
            return false;
        strip_step(&row, east);
        strip_step(&column, south);
        uint64_t in_row = (row.line | row.ends_before | row.ends_next) & here_beyond(here, east),
                 in_column = (column.line | column.ends_before | column.ends_next) & here_beyond(here, south);
        here = (Here){here.ahead << 1, here.back >> 1};
        if (PHX_UNLIKELY(k == meets)) {
            if (goal_x == goal_y) {
                note(found, pack(DIAGONALLY + way, done + k, done + k), true);
                return false;
            }
            if (goal_y == k && goal_x > k) in_row |= goal_bit(goal_x, east);
            if (goal_x == k && goal_y > k) in_column |= goal_bit(goal_y, south);
            meets = goal_x - 1 < goal_y - 1 ? goal_y : goal_x;
        }
        if (PHX_LIKELY(in_row != 0)) {
            note_first(found, target + pack(ALONG_ROW, 0, 0), in_row, row.line, east);
        } else {
            const uint32_t far = strip_far(&row, goal_y == k ? goal_x : NOT_HERE, east);
            note(found, target + pack(ALONG_ROW, 0, far), far != 0);
        }
        if (PHX_LIKELY(in_column != 0)) {
            note_first(found, target + pack(ALONG_COLUMN, 0, 0), in_column, column.line, south);
        } else {
            const uint32_t far = strip_far(&column, goal_x == k ? goal_y : NOT_HERE, south);
            note(found, target + pack(ALONG_COLUMN, 0, far), far != 0);
        }
    }
    return true;
}

INLINE void go_diagonally(Found *found, uint32_t way, bool east, bool south) {
    int32_t x = found->x, y = found->y;
    for (uint32_t done = 0; go_block(found, x, y, done, way, east, south); done += REACH - 1) {
        x += east ? REACH - 1 : 1 - REACH;
        y += south ? REACH - 1 : 1 - REACH;
    }
}

/* ---- nodes */

/* The directions in which a best path may go on that arrived straight in `arrived`: on, and where a wall
 * beside it has just ended, that way and diagonally past it. */
static uint32_t successors(uint32_t arrived, uint32_t open) {
    const uint32_t left = arrived & ~phx_path_turn_right(open, 3) & phx_path_turn_right(open, 2);
    const uint32_t right = arrived & ~phx_path_turn_left(open, 3) & phx_path_turn_left(open, 2);
    return (arrived | phx_path_turn_left(left, 1) | phx_path_turn_left(left, 2) |
            phx_path_turn_right(right, 1) | phx_path_turn_right(right, 2)) &
           open;
}

void phx_jump_expand(PhxPathSearch *search, uint32_t index) {
    PhxAstarNode *node = &search->node[index];
    Found found;
    found.search = search;
    found.g = node->g;
    found.x = phx_astar_x(node->pos);
    found.y = phx_astar_y(node->pos);
    found.index = index;
    found.count = 0;
    const uint32_t open = phx_path_open_around(search->ground, found.x, found.y);
    const uint32_t wanted = node->parent == index ? open : successors(node->arrived, open);
    const uint32_t ways = wanted & ~(uint32_t)node->explored;
    node->explored |= (uint8_t)ways;
    const uint32_t diagonals = ways & phx_path_steps(open);
    if (ways & 1) go_along_row(&found, true);
    if (ways & 4) go_along_column(&found, true);
    if (ways & 16) go_along_row(&found, false);
    if (ways & 64) go_along_column(&found, false);
    if (diagonals & 2) go_diagonally(&found, 0, true, true);
    if (diagonals & 8) go_diagonally(&found, 1, false, true);
    if (diagonals & 32) go_diagonally(&found, 2, false, false);
    if (diagonals & 128) go_diagonally(&found, 3, true, false);
    reach_all(&found);
}
