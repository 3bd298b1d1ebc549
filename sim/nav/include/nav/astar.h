/* astar.h: the memory of a path search, and how nodes are reached. For astar.c, jump.c and path.c.
 *
 * A node is a cell that the search came to. `slot` names for each cell the node that it may have: it has it
 * if that node exists and is of that cell, so that nothing is ever cleared (Briggs, Torczon, An Efficient
 * Representation for Sparse Sets, 1993).
 *
 * The open list gives nodes in the order (f, h, cell), which is total. As f never falls from one node taken
 * to the next, it needn't be sorted far ahead. Only nodes whose f is that of the floor, but for the lowest
 * `shift` bits, lie in a heap; the others lie in lists, by the highest digit in which their f differs from
 * the floor's, and by that digit (Ahuja, Mehlhorn, Orlin, Tarjan, Faster Algorithms for the Shortest Path
 * Problem, 1990: a radix heap). When the heap is empty the first list is dealt out.
 *
 * A node is in one list at most. An entry of the heap whose node was reached more cheaply since stays behind
 * and is passed over; where the heap is full, such entries are thrown out.
 */
#ifndef PHX_NAV_ASTAR_H
#define PHX_NAV_ASTAR_H

#include "base/assert.h"
#include "base/bitset.h"
#include "nav/path_ground.h"

enum {
    PHX_ASTAR_POS_BITS = 12, /* of a coordinate */
    PHX_ASTAR_H_BITS = 38,   /* of an octile distance over ground of cost 1 */
    PHX_ASTAR_SHIFT = 21,    /* of f on ground of cost 1: an eighteenth of a step; at most 64 - H_BITS */
    PHX_ASTAR_SHIFT_MOST = 64 - PHX_ASTAR_H_BITS,
    PHX_ASTAR_DIGIT = 6,
    PHX_ASTAR_LISTS = 1 << PHX_ASTAR_DIGIT, /* of a level */
    PHX_ASTAR_LEVELS = 7                    /* digits of f above the shift: 42 bits and 21 */
};
#define PHX_ASTAR_NONE UINT32_MAX

typedef struct PhxAstarNode {
    uint64_t g;       /* cost of the path from the start; jumping: over ground of cost 1 */
    uint32_t pos;     /* the cell: y, then x in PHX_ASTAR_POS_BITS; ordered as cells are */
    uint32_t parent;  /* a node; its own number: the start */
    uint32_t next;    /* in its list; PHX_ASTAR_NONE: the last */
    uint32_t before;  /* PHX_ASTAR_NONE: the first */
    uint8_t arrived;  /* jumping: straight directions in which best paths come here, a bit each */
    uint8_t explored; /* jumping: directions that were followed from here */
    bool closed;      /* was expanded, and isn't in the open list */
} PhxAstarNode;

typedef struct PhxAstarEntry {
    uint64_t key;  /* the lowest bits of f, then the octile distance over ground of cost 1 */
    uint64_t rest; /* the place of the cell, then the node */
} PhxAstarEntry;

struct PhxPathSearch {
    uint32_t *slot;
    PhxAstarNode *node;
    PhxAstarEntry *heap; /* entries 3.. are used, so that the children of one begin a line of memory */
    uint32_t cell_capacity, node_capacity, heap_capacity;
    uint32_t node_count, heap_count;
    /* of the present query */
    const PhxPathGround *ground; /* null: none */
    PhxPathQuery query;
    uint32_t width, goal; /* the goal is the reachable one */
    int32_t goal_x, goal_y;
    uint64_t scale; /* of the octile distance: the least cost of a cell; jumping: 1 */
    uint64_t floor; /* some f that is no greater than any in the open list, but for its lowest bits */
    uint32_t shift;
    bool jumps;
    bool gap;  /* the heap's first entry was taken: the next one pushed sinks from there */
    bool full; /* there was no room for a node */
    bool done;
    PhxPathReach reach;
    uint32_t expanded;
    uint32_t nearest; /* the expanded node nearest to the goal */
    uint64_t nearest_h;
    uint64_t used[PHX_ASTAR_LEVELS];                    /* a bit for each list that isn't empty */
    uint32_t first[PHX_ASTAR_LEVELS * PHX_ASTAR_LISTS]; /* its first node */
};

static inline int32_t phx_astar_x(uint32_t pos) { return (int32_t)(pos & ((1u << PHX_ASTAR_POS_BITS) - 1)); }
static inline int32_t phx_astar_y(uint32_t pos) { return (int32_t)(pos >> PHX_ASTAR_POS_BITS); }
static inline uint32_t phx_astar_cell(const PhxPathSearch *search, const PhxAstarNode *node) {
    return (uint32_t)phx_astar_y(node->pos) * search->width + (uint32_t)phx_astar_x(node->pos);
}

/* The octile distance from a cell to the goal. */
static inline uint64_t phx_astar_octile(const PhxPathSearch *search, int32_t x, int32_t y) {
    const uint64_t dx = (uint64_t)(x > search->goal_x ? x - search->goal_x : search->goal_x - x),
                   dy = (uint64_t)(y > search->goal_y ? y - search->goal_y : search->goal_y - y);
    const uint64_t more = dx > dy ? dx : dy, less = dx > dy ? dy : dx;
    return PHX_PATH_STRAIGHT * more + (PHX_PATH_DIAGONAL - PHX_PATH_STRAIGHT) * less;
}

/* Puts a node, whose f and octile distance are given, into the open list; it isn't there, or its entry in the
 * heap is to be passed over. */
void phx_astar_open(PhxPathSearch *search, uint32_t index, uint64_t f, uint64_t h);
/* Moves a node of the open list there, to a lower f. */
void phx_astar_lower(PhxPathSearch *search, uint32_t index, uint64_t from, uint64_t f, uint64_t h);

/* A path of cost `g` leads over `parent` to a cell, in the directions `arrived` (jumping; else 0). */
static inline void phx_astar_reach(PhxPathSearch *search, uint32_t parent, int32_t x, int32_t y, uint64_t g,
                                   uint8_t arrived) {
    const uint32_t pos = (uint32_t)y << PHX_ASTAR_POS_BITS | (uint32_t)x;
    uint32_t *slot = &search->slot[(uint32_t)y * search->width + (uint32_t)x];
    uint32_t i = *slot;
    PhxAstarNode *node = &search->node[i];
    if (i < search->node_count && node->pos == pos) {
        if (g > node->g) return;
        if (g == node->g) {
            if (!(arrived & ~node->arrived)) return;
            node->arrived |= arrived;
            if (!node->closed) return;
            node->closed = false;
        } else {
            const uint64_t h = phx_astar_octile(search, x, y), from = node->g + h * search->scale;
            node->g = g;
            node->parent = parent;
            node->arrived = arrived;
            phx_astar_lower(search, i, from, g + h * search->scale, h);
            return;
        }
    } else if (search->node_count < search->node_capacity) {
        *slot = i = search->node_count++;
        search->node[i] = (PhxAstarNode){.g = g, .pos = pos, .parent = parent, .arrived = arrived};
    } else {
        search->full = true;
        return;
    }
    const uint64_t h = phx_astar_octile(search, x, y);
    phx_astar_open(search, i, g + h * search->scale, h);
}

/* jump.c: reaches from a node what jumping leads to. */
void phx_jump_expand(PhxPathSearch *search, uint32_t index);

/* The parents of a node back to the start, as corners: start, where the path turns, end; one after the other.
 * The result lies in the search's memory until the next begin. */
const uint32_t *phx_astar_corners(PhxPathSearch *search, uint32_t index, uint32_t *count);

#endif
