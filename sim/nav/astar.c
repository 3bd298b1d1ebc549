/* astar.c: the search for a path: its memory, its open list, and steps from cell to cell where costs differ.
 *
 * In: a ground and a query. Out: nodes with parents, of which path.c makes the path. Source: Hart, Nilsson,
 * Raphael, A Formal Basis for the Heuristic Determination of Minimum Cost Paths, 1968. The heuristic is the
 * octile distance times the least cost on the map, which is consistent: a node's cost is final when it's
 * expanded.
 *
 * Cost: an expansion with eight steps some 70 ns; jumping see jump.c. A node moves from list to list at most
 * once for each digit of f, mostly once or twice, and the heap is short; astar.h says why.
 *
 * Determinism: costs are exact integers: at most 2^24 cells, 2^26 for a diagonal step and 2^8 for a cell are
 * 58 bits. The order in which nodes are taken is total, and of equally good parents the one taken first
 * stays.
 */
#include "nav/astar.h"

#include "base/arena.h"

enum { ROOT = 3, WAYS = 4 };
#define H_MASK (((uint64_t)1 << PHX_ASTAR_H_BITS) - 1)

_Static_assert(PHX_NAV_MAX_SIDE <= 1 << PHX_ASTAR_POS_BITS, "a coordinate fits");
_Static_assert(PHX_PATH_DIAGONAL *PHX_NAV_MAX_SIDE <= H_MASK, "an octile distance fits");
_Static_assert(PHX_ASTAR_SHIFT + PHX_ASTAR_LEVELS * PHX_ASTAR_DIGIT >= 58, "the lists hold every f");

PhxPathSearch *phx_path_search_layout(PhxArena *arena, uint32_t cells, uint32_t nodes) {
    PHX_ASSERT(cells >= 1 && cells <= PHX_NAV_MAX_SIDE * PHX_NAV_MAX_SIDE, cells, 0);
    PhxPathSearch made = {.cell_capacity = cells};
    made.node_capacity = nodes == 0 || nodes > cells ? cells : nodes;
    made.heap_capacity = made.node_capacity + made.node_capacity / 2 + 2;
    PhxPathSearch *search = PHX_ARENA_ARRAY(arena, PhxPathSearch, 1);
    made.slot = PHX_ARENA_ARRAY(arena, uint32_t, cells);
    made.node = PHX_ARENA_ARRAY(arena, PhxAstarNode, made.node_capacity);
    made.heap = PHX_ARENA_ARRAY(arena, PhxAstarEntry, (size_t)made.heap_capacity + ROOT);
    if (!search) return NULL;
    *search = made;
    return search;
}

/* ---- the heap; positions count from ROOT, children of i are 4 (i - 2) .. 4 (i - 2) + 3 */

static inline bool is_less(const PhxAstarEntry *a, const PhxAstarEntry *b) {
    return (a->key < b->key) | ((a->key == b->key) & (a->rest < b->rest));
}

static void sift_up(PhxPathSearch *search, uint32_t at, PhxAstarEntry entry) {
    PhxAstarEntry *heap = search->heap;
    while (at > ROOT) {
        const uint32_t above = at / WAYS + 2;
        if (!is_less(&entry, &heap[above])) break;
        heap[at] = heap[above];
        at = above;
    }
    heap[at] = entry;
}

/* The first in order of the children of a place; `first` is the first of them, below `end`. */
static inline uint32_t best_child(const PhxAstarEntry *heap, uint32_t first, uint32_t end) {
    if (PHX_LIKELY(first + WAYS <= end)) {
        const uint32_t a = first + is_less(&heap[first + 1], &heap[first]),
                       b = first + 2 + is_less(&heap[first + 3], &heap[first + 2]);
        return is_less(&heap[b], &heap[a]) ? b : a;
    }
    uint32_t best = first;
    for (uint32_t child = first + 1; child < end; child++)
        if (is_less(&heap[child], &heap[best])) best = child;
    return best;
}

static void sift_down(PhxPathSearch *search, uint32_t at, PhxAstarEntry entry) {
    PhxAstarEntry *heap = search->heap;
    const uint32_t end = ROOT + search->heap_count;
    for (uint32_t first; (first = WAYS * (at - 2)) < end;) {
        const uint32_t best = best_child(heap, first, end);
        if (!is_less(&heap[best], &entry)) break;
        heap[at] = heap[best];
        at = best;
    }
    heap[at] = entry;
}

static uint64_t octile_of(const PhxPathSearch *search, const PhxAstarNode *node) {
    return phx_astar_octile(search, phx_astar_x(node->pos), phx_astar_y(node->pos));
}

static uint64_t key_of(const PhxPathSearch *search, uint64_t f, uint64_t h) {
    return (f & (((uint64_t)1 << search->shift) - 1)) << PHX_ASTAR_H_BITS | h;
}

/* Whether an entry is its node's present one: all of the heap differ in no higher bits of f. */
static bool is_current(const PhxPathSearch *search, const PhxAstarEntry *entry) {
    const PhxAstarNode *node = &search->node[(uint32_t)entry->rest];
    const uint64_t h = entry->key & H_MASK;
    return key_of(search, node->g + h * search->scale, h) == entry->key;
}

/* Throws out entries that aren't current: one remains for each node that isn't closed. */
static void tidy(PhxPathSearch *search) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < search->heap_count; i++)
        if (is_current(search, &search->heap[ROOT + i])) search->heap[ROOT + kept++] = search->heap[ROOT + i];
    search->heap_count = kept;
    for (uint32_t i = kept; i-- > 0;) sift_down(search, ROOT + i, search->heap[ROOT + i]);
}

static inline void push(PhxPathSearch *search, uint32_t index, uint64_t f, uint64_t h) {
    const PhxAstarEntry entry = {key_of(search, f, h), (uint64_t)search->node[index].pos << 32 | index};
    if (search->gap) {
        search->gap = false;
        sift_down(search, ROOT, entry);
        return;
    }
    if (PHX_UNLIKELY(search->heap_count == search->heap_capacity)) tidy(search);
    PHX_ASSERT(search->heap_count < search->heap_capacity, search->heap_count, search->heap_capacity);
    sift_up(search, ROOT + search->heap_count++, entry);
}

/* ---- the lists */

/* The list for an f that differs from the floor in `other`, which isn't 0 (both without the lowest bits).
 * While others are dealt out a node's list stays the same: the floor changes in lower digits only. */
static inline uint32_t list_of(const PhxPathSearch *search, uint64_t f, uint64_t other) {
    const uint32_t level = (63 - phx_leading_zeros64(other)) / PHX_ASTAR_DIGIT;
    const uint64_t digit = f >> (search->shift + level * PHX_ASTAR_DIGIT) & (PHX_ASTAR_LISTS - 1);
    return level * PHX_ASTAR_LISTS + (uint32_t)digit;
}

static inline void put(PhxPathSearch *search, uint32_t index, uint32_t list) {
    uint64_t *used = &search->used[list / PHX_ASTAR_LISTS];
    const uint64_t bit = (uint64_t)1 << list % PHX_ASTAR_LISTS;
    PhxAstarNode *node = &search->node[index];
    node->next = *used & bit ? search->first[list] : PHX_ASTAR_NONE;
    node->before = PHX_ASTAR_NONE;
    if (node->next != PHX_ASTAR_NONE) search->node[node->next].before = index;
    search->first[list] = index;
    *used |= bit;
}

static void remove_from(PhxPathSearch *search, uint32_t index, uint32_t list) {
    const PhxAstarNode *node = &search->node[index];
    if (node->next != PHX_ASTAR_NONE) search->node[node->next].before = node->before;
    if (node->before != PHX_ASTAR_NONE)
        search->node[node->before].next = node->next;
    else if (node->next != PHX_ASTAR_NONE)
        search->first[list] = node->next;
    else
        search->used[list / PHX_ASTAR_LISTS] &= ~((uint64_t)1 << list % PHX_ASTAR_LISTS);
}

void phx_astar_open(PhxPathSearch *search, uint32_t index, uint64_t f, uint64_t h) {
    const uint64_t other = (f ^ search->floor) >> search->shift;
    if (other)
        put(search, index, list_of(search, f, other));
    else
        push(search, index, f, h);
}

void phx_astar_lower(PhxPathSearch *search, uint32_t index, uint64_t from, uint64_t f, uint64_t h) {
    const uint64_t other = (from ^ search->floor) >> search->shift;
    if (other) {
        const uint32_t list = list_of(search, from, other);
        const uint64_t differs = (f ^ search->floor) >> search->shift;
        if (differs && list_of(search, f, differs) == list) return;
        remove_from(search, index, list);
    }
    phx_astar_open(search, index, f, h);
}

static uint64_t f_of(const PhxPathSearch *search, const PhxAstarNode *node) {
    return node->g + octile_of(search, node) * search->scale;
}

/* Raises the floor to the least f of the first list and deals that out. False: all are empty. */
static bool refill(PhxPathSearch *search) {
    uint32_t level = 0;
    while (level < PHX_ASTAR_LEVELS && !search->used[level]) level++;
    if (level == PHX_ASTAR_LEVELS) return false;
    const uint32_t list = level * PHX_ASTAR_LISTS + phx_bit_lowest(search->used[level]);
    search->used[level] &= search->used[level] - 1;
    const uint32_t first = search->first[list];
    search->floor = f_of(search, &search->node[first]);
    if (level > 0)
        for (uint32_t i = search->node[first].next; i != PHX_ASTAR_NONE; i = search->node[i].next) {
            const uint64_t f = f_of(search, &search->node[i]);
            if (f < search->floor) search->floor = f;
        }
    for (uint32_t i = first, next; i != PHX_ASTAR_NONE; i = next) {
        const PhxAstarNode *node = &search->node[i];
        const uint64_t h = octile_of(search, node);
        next = node->next;
        phx_astar_open(search, i, node->g + h * search->scale, h);
    }
    return true;
}

/* Closes the gap that the entry left that was taken last. False: the list is empty. */
static bool close_gap(PhxPathSearch *search) {
    if (search->gap) {
        search->gap = false;
        const PhxAstarEntry last = search->heap[ROOT + --search->heap_count];
        if (search->heap_count) sift_down(search, ROOT, last);
    }
    return search->heap_count != 0 || refill(search);
}

/* ---- steps from cell to cell */

/* The directions but those to the parent and to the two cells beside that: to all three a step leads from the
 * parent, or none, so that the way there over this cell is dearer. By the step that led here, dx + 3 dy. */
static uint32_t away_from(const PhxPathSearch *search, const PhxAstarNode *node) {
    static const uint8_t away[9] = {0xf8, 0xf1, 0xe3, 0x7c, 0xff, 0xc7, 0x3e, 0x1f, 0x8f};
    const uint32_t from = search->node[node->parent].pos;
    const int32_t dx = phx_astar_x(node->pos) - phx_astar_x(from),
                  dy = phx_astar_y(node->pos) - phx_astar_y(from);
    return away[4 + dx + 3 * dy];
}

static void expand_cells(PhxPathSearch *search, uint32_t index) {
    const PhxPathGround *ground = search->ground;
    const PhxAstarNode *node = &search->node[index];
    const uint64_t g = node->g;
    const int32_t x = phx_astar_x(node->pos), y = phx_astar_y(node->pos);
    uint32_t steps = phx_path_steps(phx_path_open_around(ground, x, y)) & away_from(search, node);
    for (; steps; steps &= steps - 1) {
        const uint32_t d = phx_bit_lowest(steps);
        const int32_t nx = x + phx_flow_dx[d], ny = y + phx_flow_dy[d];
        const uint64_t cost = ground->cost[(uint32_t)ny * search->width + (uint32_t)nx];
        phx_astar_reach(search, index, nx, ny, g + (d % 2 ? PHX_PATH_DIAGONAL : PHX_PATH_STRAIGHT) * cost, 0);
    }
}

/* ---- the search */

PhxStatus phx_path_begin(PhxPathSearch *search, const PhxPathGround *ground, const PhxPathQuery *query) {
    search->ground = NULL;
    search->done = false;
    search->expanded = search->node_count = search->heap_count = 0;
    if (!ground->cost) return PHX_ERROR_STATE;
    const uint32_t cells = ground->width * ground->height, start = query->start;
    if (cells > search->cell_capacity || query->radius <= 0) return PHX_ERROR_ARGUMENT;
    if (start >= cells || query->goal >= cells) return PHX_ERROR_RANGE;
    if (ground->cost[start] == PHX_NAV_IMPASSABLE) return PHX_ERROR_STATE;
    search->ground = ground;
    search->query = *query;
    search->width = ground->width;
    search->goal = query->goal;
    search->reach = PHX_PATH_WHOLE;
    if (!phx_path_joined(ground, start, query->goal)) {
        search->reach =
            ground->cost[query->goal] == PHX_NAV_IMPASSABLE ? PHX_PATH_WALL : PHX_PATH_UNREACHABLE;
        search->goal = phx_path_nearest(ground, start, query->goal);
    }
    search->goal_x = (int32_t)(search->goal % search->width);
    search->goal_y = (int32_t)(search->goal / search->width);
    search->jumps = ground->least == ground->most;
    search->scale = search->jumps ? 1 : ground->least;
    search->full = search->gap = false;
    search->nearest = 0;
    search->nearest_h = UINT64_MAX;
    search->shift = PHX_ASTAR_SHIFT;
    while (search->scale >> (search->shift - PHX_ASTAR_SHIFT + 1) && search->shift < PHX_ASTAR_SHIFT_MOST)
        search->shift++;
    for (uint32_t level = 0; level < PHX_ASTAR_LEVELS; level++) search->used[level] = 0;
    const int32_t x = (int32_t)(start % search->width), y = (int32_t)(start / search->width);
    search->floor = phx_astar_octile(search, x, y) * search->scale;
    phx_astar_reach(search, 0, x, y, 0, 0);
    return PHX_OK;
}

/* Notes a node that is expanded, if none before was as near to the goal; of equals the cheaper, then the
 * lower cell. */
static void note_nearest(PhxPathSearch *search, uint32_t index, uint64_t h) {
    const PhxAstarNode *node = &search->node[index], *best = &search->node[search->nearest];
    if (h > search->nearest_h) return;
    if (h == search->nearest_h && (node->g > best->g || (node->g == best->g && node->pos >= best->pos)))
        return;
    search->nearest = index;
    search->nearest_h = h;
}

static bool end_at_limit(PhxPathSearch *search) {
    search->reach = PHX_PATH_LIMIT;
    return search->done = true;
}

bool phx_path_run(PhxPathSearch *search, uint32_t budget) {
    if (!search->ground || search->done) return true;
    const uint32_t limit = search->query.limit ? search->query.limit : UINT32_MAX;
    while (!search->full && close_gap(search)) {
        const PhxAstarEntry entry = search->heap[ROOT];
        const uint32_t index = (uint32_t)entry.rest;
        PhxAstarNode *node = &search->node[index];
        search->gap = !is_current(search, &entry);
        if (search->gap) continue;
        if ((entry.key & H_MASK) == 0) return search->done = true;
        if (search->expanded == limit) break;
        if (budget == 0) return false;
        search->gap = true;
        node->closed = true;
        if (search->jumps)
            phx_jump_expand(search, index);
        else
            expand_cells(search, index);
        note_nearest(search, index, entry.key & H_MASK);
        search->expanded++;
        budget--;
    }
    return end_at_limit(search);
}

uint32_t phx_path_expanded(const PhxPathSearch *search) { return search->expanded; }

uint32_t phx_path_nodes(const PhxPathSearch *search, uint32_t *cells, uint32_t limit) {
    for (uint32_t i = 0; i < search->node_count && i < limit; i++)
        cells[i] = phx_astar_cell(search, &search->node[i]);
    return search->node_count;
}
