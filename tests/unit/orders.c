/* orders.c: the queue of orders behind a unit, in blocks of four, and links that a forged snapshot could
 * hold. */
#include "harness.h"
#include "step/sim_internal.h"

static PhxWorld *make_world(uint32_t blocks) {
    PhxTableSpec specs[PHX_TABLE_BUILTIN_COUNT];
    PhxWorld *world;
    phx_sim_builtin_specs(specs, 8, 8, 4, blocks);
    CHECK_OK(phx_world_create(phx_allocator_default(), specs, PHX_TABLE_BUILTIN_COUNT, &world, NULL));
    for (int i = 0; i < 3; i++) CHECK(phx_table_insert(&world->tables[PHX_TABLE_unit]));
    return world;
}

static PhxOrder numbered(fix16_t n) { return (PhxOrder){n, -n, n + 1, 0, (PhxHandle)(n + 7), 2 * n}; }

PHX_TEST(orders, come_out_as_they_went_in_and_leave_nothing_behind) {
    PhxWorld *world = make_world(16);
    const PhxTable *table = &world->tables[PHX_TABLE_order];
    uint64_t seed = 4;
    fix16_t in[2] = {0, 0}, out[2] = {0, 0};
    for (int i = 0; i < 20000; i++) {
        const uint32_t unit = test_random(&seed) % 2;
        PhxOrder order;
        if (test_random(&seed) % 2 && in[unit] - out[unit] < 24) {
            CHECK(phx_order_push(world, unit, numbered(in[unit]++)));
        } else if (phx_order_pop(world, unit, &order)) {
            const PhxOrder wanted = numbered(out[unit]++);
            CHECK(order.goal_x == wanted.goal_x && order.goal_y == wanted.goal_y &&
                  order.arrive_radius == wanted.arrive_radius && order.chase == wanted.chase &&
                  order.chase_threshold == wanted.chase_threshold);
        } else {
            CHECK_EQ(in[unit], out[unit]);
        }
    }
    phx_order_clear(world, 0);
    phx_order_clear(world, 1);
    CHECK_EQ(table->live, 0);
    for (uint32_t c = 1; c < table->desc->column_count; c++) /* dead blocks are all zero */
        for (uint32_t row = 0; row < table->used; row++)
            for (uint32_t lane = 0; lane < table->desc->columns[c].lanes; lane++)
                CHECK_EQ(phx_table_get(table, c, row, lane), 0);
    phx_world_destroy(world);
}

PHX_TEST(orders, a_full_table_says_so_and_forged_links_end_lists) {
    PhxWorld *world = make_world(2);
    PhxOrder order;
    for (fix16_t i = 0; i < 8; i++) CHECK(phx_order_push(world, 0, numbered(i)));
    CHECK(!phx_order_push(world, 0, numbered(8)));
    CHECK(!phx_order_push(world, 1, numbered(0)));
    CHECK(phx_order_pop(world, 0, &order) && order.goal_x == 0);
    world->unit.orders[1] = phx_handle_make(0, 99); /* a block that never was */
    CHECK(!phx_order_pop(world, 1, &order));
    world->order.next[1] = phx_handle_make(0, world->order.generation[0]); /* a circle */
    world->unit.orders[2] = phx_handle_make(7777, 1);
    (void)phx_order_push(world, 0, numbered(1)); /* each of these ends */
    phx_order_clear(world, 2);
    phx_order_clear(world, 0);
    CHECK_EQ(world->tables[PHX_TABLE_order].live, 0);
    phx_world_destroy(world);
}

/* Each order that leads to a row counts; the row ends with the last of them, however they end. */
PHX_TEST(orders, rows_of_destinations_live_as_long_as_orders_lead_to_them) {
    PhxWorld *world = make_world(16);
    const PhxTable *rows = &world->tables[PHX_TABLE_destination];
    uint64_t seed = 11;
    for (int i = 0; i < 3; i++) phx_order_begin(world, (uint32_t)i, numbered(i));
    for (int i = 0; i < 20000; i++) {
        const uint32_t unit = (uint32_t)(test_random(&seed) % 3);
        PhxOrder order = numbered(i);
        switch (test_random(&seed) % 8) {
        case 0:
            phx_order_clear(world, unit);
            break;
        case 1:
            phx_order_end(world, unit);
            break;
        case 2:
        case 3:
            if (phx_order_pop(world, unit, &order))
                phx_order_begin(world, unit, order);
            else
                phx_order_end(world, unit);
            break;
        default: {
            const PhxCommandPoint points[2] = {{i, i, 1}, {-i, i, 2}};
            order.destination = phx_destination_make(world, PHX_DESTINATION_NEAREST, points, 2, 0);
            for (uint32_t u = 0; u < 3; u++) {
                phx_destination_hold(world, order.destination);
                if (test_random(&seed) % 2) {
                    phx_order_begin(world, u, order);
                } else if (!phx_order_push(world, u, order)) {
                    phx_destination_drop(world, order.destination);
                }
            }
        }
        }
        CHECK_THAT(rows->live <= 3 + 16 * 4, "step %d: %u rows", i, rows->live);
    }
    CHECK(rows->used > 3);
    for (uint32_t unit = 0; unit < 3; unit++) phx_order_clear(world, unit), phx_order_end(world, unit);
    CHECK_EQ(rows->live, 0);
    CHECK_EQ(world->tables[PHX_TABLE_order].live, 0);
    phx_destination_drop(world, phx_handle_make(5, 3)); /* of no row: nothing */
    phx_destination_hold(world, PHX_HANDLE_NONE);
    phx_world_destroy(world);
}
