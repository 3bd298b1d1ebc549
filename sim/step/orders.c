/* orders.c: the present order of a unit (columns of unit) and the queue behind it (blocks of the child table
 * order).
 *
 * Determinism: blocks are taken lowest slot first; links are handles, so that a broken link (a forged
 * snapshot) ends a list and never leads into another; a walk is bounded by the table's capacity.
 */
#include "step/sim_internal.h"

enum { LANES = 4 }; /* orders a block, as order.def has it */

static uint32_t block_of(const PhxWorld *world, PhxHandle handle) {
    return phx_table_find(&world->tables[PHX_TABLE_order], handle);
}

void phx_order_end(PhxWorld *world, uint32_t unit) {
    PhxUnitTable *u = &world->unit;
    phx_destination_drop(world, u->destination[unit]);
    u->destination[unit] = PHX_HANDLE_NONE;
    u->chase[unit] = PHX_HANDLE_NONE;
    u->chase_threshold[unit] = 0;
    u->way_x[unit] = u->way_y[unit] = 0;
    u->aim[unit] = 0;
    u->aim_x[unit] = u->aim_y[unit] = 0;
    u->aim_left[unit] = 0;
    u->stalled[unit] = 0;
    u->stuck[unit] = 0;
    u->yielded[unit] = 0;
    u->detour[unit] = 0;
    u->activity[unit] = 0;
    u->formation[unit] = PHX_HANDLE_NONE;
    u->formation_slot[unit] = 0;
    u->led[unit] = 0;
    u->lane_route[unit] = u->lane_next[unit] = u->lane_file[unit] = 0;
    u->lane_share[unit] = 0;
}

void phx_order_begin(PhxWorld *world, uint32_t unit, PhxOrder order) {
    PhxUnitTable *u = &world->unit;
    phx_order_end(world, unit);
    u->destination[unit] = order.destination;
    u->chase[unit] = order.chase;
    u->chase_threshold[unit] = order.chase_threshold;
    u->goal_x[unit] = order.goal_x;
    u->goal_y[unit] = order.goal_y;
    u->arrive_radius[unit] = order.arrive_radius;
    u->best_distance[unit] = UINT32_MAX;
    u->placed[unit] = 0;
    u->activity[unit] = 1;
}

static void store(PhxOrderTable *orders, uint32_t block, uint32_t lane, PhxOrder order) {
    orders->goal_x[block * LANES + lane] = order.goal_x;
    orders->goal_y[block * LANES + lane] = order.goal_y;
    orders->arrive_radius[block * LANES + lane] = order.arrive_radius;
    orders->destination[block * LANES + lane] = order.destination;
    orders->chase[block * LANES + lane] = order.chase;
    orders->chase_threshold[block * LANES + lane] = order.chase_threshold;
}

static PhxOrder load(const PhxOrderTable *orders, uint32_t block, uint32_t lane) {
    const uint32_t at = block * LANES + lane;
    return (PhxOrder){orders->goal_x[at],      orders->goal_y[at], orders->arrive_radius[at],
                      orders->destination[at], orders->chase[at],  orders->chase_threshold[at]};
}

/* The last block of a unit's queue, or UINT32_MAX. */
static uint32_t last_block(const PhxWorld *world, uint32_t unit) {
    uint32_t block = block_of(world, world->unit.orders[unit]);
    for (uint32_t walked = 0; block != UINT32_MAX && walked < world->tables[PHX_TABLE_order].capacity;
         walked++) {
        const uint32_t next = block_of(world, world->order.next[block]);
        if (next == UINT32_MAX) break;
        block = next;
    }
    return block;
}

bool phx_order_push(PhxWorld *world, uint32_t unit, PhxOrder order) {
    PhxOrderTable *orders = &world->order;
    const uint32_t last = last_block(world, unit);
    if (last != UINT32_MAX && orders->count[last] < LANES) {
        store(orders, last, orders->count[last]++, order);
        return true;
    }
    const PhxHandle fresh = phx_table_insert(&world->tables[PHX_TABLE_order]);
    if (fresh == PHX_HANDLE_NONE) return false;
    const uint32_t block = phx_handle_slot(fresh);
    store(orders, block, 0, order);
    orders->count[block] = 1;
    if (last == UINT32_MAX)
        world->unit.orders[unit] = fresh;
    else
        orders->next[last] = fresh;
    return true;
}

bool phx_order_pop(PhxWorld *world, uint32_t unit, PhxOrder *out) {
    PhxOrderTable *orders = &world->order;
    const uint32_t block = block_of(world, world->unit.orders[unit]);
    if (block == UINT32_MAX || orders->count[block] == 0) return false;
    *out = load(orders, block, 0);
    for (uint32_t lane = 1; lane < LANES; lane++) store(orders, block, lane - 1, load(orders, block, lane));
    store(orders, block, LANES - 1, (PhxOrder){.destination = PHX_HANDLE_NONE});
    if (--orders->count[block] == 0) {
        world->unit.orders[unit] = orders->next[block];
        phx_table_remove(&world->tables[PHX_TABLE_order], block);
    }
    return true;
}

void phx_order_clear(PhxWorld *world, uint32_t unit) {
    uint32_t block = block_of(world, world->unit.orders[unit]);
    world->unit.orders[unit] = PHX_HANDLE_NONE;
    while (block != UINT32_MAX) { /* ends: each turn frees a block, and a freed one is not found again */
        const uint32_t next = block_of(world, world->order.next[block]);
        for (uint32_t lane = 0; lane < LANES; lane++)
            phx_destination_drop(world, world->order.destination[block * LANES + lane]);
        phx_table_remove(&world->tables[PHX_TABLE_order], block);
        block = next == block ? UINT32_MAX : next;
    }
}
