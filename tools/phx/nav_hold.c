/* nav_hold.c: holds the arrays of a field against the ground, by the rules of nav.h and nothing else. See
 * nav_layers.h. Cost: linear.
 */
#include "phx/nav_layers.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct Look {
    const PhxNavInput *input;
    const PhxNavLayers *layers;
    int32_t x, y;
    uint32_t cell;
    char *text;
    size_t size;
} Look;

static bool fail(const Look *look, const char *what) {
    const uint64_t cost = look->layers->cost[look->cell];
    char words[32] = "no way";
    if (cost != UINT64_MAX) snprintf(words, sizeof words, "cost %" PRIu64, cost);
    snprintf(look->text, look->size, "cell %" PRId32 ",%" PRId32 ", code %u, %s: %s", look->x, look->y,
             look->layers->flow[look->cell], words, what);
    return false;
}

static bool may_step(const Look *look, int d) {
    const PhxNavGrid *grid = &look->input->grid;
    const int32_t dx = phx_flow_dx[d], dy = phx_flow_dy[d];
    return phx_nav_passable(grid, look->x + dx, look->y + dy) &&
           phx_nav_passable(grid, look->x + dx, look->y) && phx_nav_passable(grid, look->x, look->y + dy);
}

static uint32_t beside(const Look *look, int d) {
    return (uint32_t)(look->y + phx_flow_dy[d]) * look->input->grid.width +
           (uint32_t)(look->x + phx_flow_dx[d]);
}

static bool is_goal(const PhxNavInput *input, uint32_t cell) {
    uint32_t low = 0, high = input->goal_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (input->goals[middle] < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return low < input->goal_count && input->goals[low] == cell;
}

static bool look_at_arrow(const Look *look, uint8_t code, uint64_t cost) {
    if (!may_step(look, code)) return fail(look, "the arrow leads into a wall or through a corner");
    const PhxNavInput *input = look->input;
    const uint32_t next = beside(look, code);
    const uint64_t weight = code % 2 ? input->weights.diagonal : input->weights.straight;
    const uint64_t step = weight * input->grid.cost[next], rest = look->layers->cost[next];
    if (rest == UINT64_MAX) return fail(look, "the arrow leads to a cell without a way");
    if (rest >= cost || cost - rest < step)
        return fail(look, "the cost falls along the arrow by less than the step's");
    return true;
}

static bool look_at_open(const Look *look) {
    const uint8_t code = look->layers->flow[look->cell];
    const uint64_t cost = look->layers->cost[look->cell];
    const bool goal = is_goal(look->input, look->cell);
    if (goal != (code == PHX_FLOW_GOAL)) return fail(look, goal ? "a goal, not marked as one" : "no goal");
    if (goal) return cost == 0 || fail(look, "a goal that doesn't cost 0");
    if (code < 8)
        return cost != UINT64_MAX ? look_at_arrow(look, code, cost) : fail(look, "an arrow without a way");
    if (code != PHX_FLOW_NONE) return fail(look, "open ground with a wall's code");
    if (cost != UINT64_MAX) return fail(look, "a way without an arrow: a basin that is no goal");
    for (int d = 0; d < 8; d++)
        if (may_step(look, d) && look->layers->cost[beside(look, d)] != UINT64_MAX)
            return fail(look, "no way, beside a cell that has one");
    return true;
}

bool phx_nav_layers_hold(const PhxNavInput *input, const PhxNavLayers *layers, char *text, size_t size) {
    Look look = {.input = input, .layers = layers, .text = text, .size = size};
    const uint32_t cells = input->grid.width * input->grid.height;
    for (look.cell = 0; look.cell < cells; look.cell++) {
        look.x = (int32_t)(look.cell % input->grid.width);
        look.y = (int32_t)(look.cell / input->grid.width);
        if (input->grid.cost[look.cell] != PHX_NAV_IMPASSABLE) {
            if (!look_at_open(&look)) return false;
        } else if (layers->flow[look.cell] != PHX_FLOW_WALL || layers->cost[look.cell] != UINT64_MAX) {
            return fail(&look, "a wall that isn't marked as one");
        }
    }
    return true;
}
