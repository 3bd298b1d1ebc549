/* astar.h: the memory of a path search, and how nodes are reached. For astar.c, jump.c and path.c.
 *
 * A node is a cell that the search came to. `slot` names for each cell the node that it may have: it has it
 * if that node exists and is of that cell, so that nothing is ever cleared (Briggs, Torczon, An Efficient
 * Representation for Sparse Sets, 1993).
 *
 * The open list is a heap of four children with entries in the order (f, h, cell), which is total. An entry
 * whose node was reached more cheaply since stays behind and is passed over; where the heap is full, such
 * entries are thrown out.
 */
#ifndef PHX_NAV_ASTAR_H
#define PHX_NAV_ASTAR_H

#include "base/assert.h"
#include "nav/path_ground.h"

enum { PHX_ASTAR_CELL_BITS = 24 }; /* of a map's cell */

typedef struct PhxAstarNode {
    uint64_t g; /* cost of the path from the start; jumping: over ground of cost 1 */
    uint32_t cell;
    uint32_t parent;  /* a node; its own number: the start */
    uint8_t arrived;  /* jumping: straight directions in which best paths come here, a bit each */
    uint8_t explored; /* jumping: directions that were followed from here */
    bool closed;      /* was expanded, and has no entry in the open list */
} PhxAstarNode;

typedef struct PhxAstarEntry {
    uint64_t f;
    uint64_t rest; /* the octile distance over ground of cost 1, then the cell */
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
    bool jumps;
    bool gap;  /* the heap's first entry was taken: the next one pushed sinks from there */
    bool full; /* there was no room for a node */
    bool done;
    PhxPathReach reach;
    uint32_t expanded;
    uint32_t nearest; /* the expanded node nearest to the goal */
    uint64_t nearest_h;
};

/* The octile distance from a cell to the goal. */
static inline uint64_t phx_astar_octile(const PhxPathSearch *search, int32_t x, int32_t y) {
    const uint64_t dx = (uint64_t)(x > search->goal_x ? x - search->goal_x : search->goal_x - x),
                   dy = (uint64_t)(y > search->goal_y ? y - search->goal_y : search->goal_y - y);
    const uint64_t more = dx > dy ? dx : dy, less = dx > dy ? dy : dx;
    return PHX_PATH_STRAIGHT * more + (PHX_PATH_DIAGONAL - PHX_PATH_STRAIGHT) * less;
}

static inline bool phx_astar_less(const PhxAstarEntry *a, const PhxAstarEntry *b) {
    return (a->f < b->f) | ((a->f == b->f) & (a->rest < b->rest));
}

/* Puts an entry into the heap. */
void phx_astar_push(PhxPathSearch *search, PhxAstarEntry entry);

/* A path of cost `g` leads over `parent` to a cell, in the directions `arrived` (jumping; else 0). */
static inline void phx_astar_reach(PhxPathSearch *search, uint32_t parent, int32_t x, int32_t y, uint64_t g,
                                   uint8_t arrived) {
    const uint32_t cell = (uint32_t)y * search->width + (uint32_t)x, i = search->slot[cell];
    PhxAstarNode *node = &search->node[i];
    if (i < search->node_count && node->cell == cell) {
        if (g > node->g) return;
        if (g == node->g) {
            if (!(arrived & ~node->arrived)) return;
            node->arrived |= arrived;
            if (!node->closed) return;
            node->closed = false;
        } else {
            node->g = g;
            node->parent = parent;
            node->arrived = arrived;
        }
    } else if (search->node_count < search->node_capacity) {
        node = &search->node[search->node_count];
        *node = (PhxAstarNode){.g = g, .cell = cell, .parent = parent, .arrived = arrived};
        search->slot[cell] = search->node_count++;
    } else {
        search->full = true;
        return;
    }
    const uint64_t h = phx_astar_octile(search, x, y);
    phx_astar_push(search, (PhxAstarEntry){g + h * search->scale, h << PHX_ASTAR_CELL_BITS | cell});
}

/* jump.c: reaches from a node what jumping leads to. */
void phx_jump_expand(PhxPathSearch *search, uint32_t index);

/* The parents of a node back to the start, as corners: start, where the path turns, end; one after the other.
 * The result lies in the search's memory until the next begin. */
const uint32_t *phx_astar_corners(PhxPathSearch *search, uint32_t index, uint32_t *count);

#endif
