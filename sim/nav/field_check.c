/* field_check.c: the proof of a built field, for tests and tools.
 *
 * In: a field and the grid that it was built from. Out: PHX_OK, or the first cell (by index) that breaks a
 * rule. Sums that fulfil sum[c] = min over steps (sum[n] + step cost) in every reached cell that is no goal,
 * with 0 in goals and no reached cell beside an unreached one, are the shortest ones, as every step costs
 * more than 0. So this proves the sums too, but for which cells are goals. Written without the code of the
 * build. Cost: linear.
 */
#include <phalanx/nav.h>

typedef struct Check {
    const PhxField *field;
    const PhxNavGrid *grid;
    PhxError *error;
    int32_t x, y;
    uint32_t cell;
} Check;

static PhxStatus fail(const Check *check, const char *what) {
    return phx_error_set(check->error, PHX_ERROR_MISMATCH, check->cell, "cell (%d, %d), code %d, sum %lu: %s",
                         (int)check->x, (int)check->y, (int)check->field->flow[check->cell],
                         (unsigned long)check->field->integration[check->cell], what);
}

/* Whether the step in direction d may be made, by the grid alone. */
static bool may_step(const Check *check, int d) {
    const int32_t dx = phx_flow_dx[d], dy = phx_flow_dy[d];
    if (d % 2 && check->field->weights.diagonal == 0) return false;
    return phx_nav_passable(check->grid, check->x + dx, check->y + dy) &&
           phx_nav_passable(check->grid, check->x + dx, check->y) &&
           phx_nav_passable(check->grid, check->x, check->y + dy);
}

static PhxStatus check_passable(const Check *check) {
    const PhxField *field = check->field;
    const uint32_t sum = field->integration[check->cell], code = field->flow[check->cell];
    uint64_t least = UINT64_MAX;
    uint32_t least_code = PHX_FLOW_NONE;
    for (int d = 0; d < 8; d++) {
        if (!may_step(check, d)) continue;
        const uint32_t next =
            (uint32_t)(check->y + phx_flow_dy[d]) * field->width + (uint32_t)(check->x + phx_flow_dx[d]);
        if (field->integration[next] == PHX_FIELD_UNREACHED) continue;
        const uint32_t weight = d % 2 ? field->weights.diagonal : field->weights.straight;
        const uint64_t way = field->integration[next] + (uint64_t)weight * check->grid->cost[next];
        if (way < least) {
            least = way;
            least_code = (uint32_t)d;
        }
    }
    if (code == PHX_FLOW_GOAL) return sum == 0 ? PHX_OK : fail(check, "a goal whose sum isn't 0");
    if (sum == PHX_FIELD_UNREACHED && least_code != PHX_FLOW_NONE)
        return fail(check, "unreached beside a reached cell");
    if (code != least_code) return fail(check, "the arrow isn't the least step of the lowest code");
    if (sum != PHX_FIELD_UNREACHED && sum != least)
        return fail(check, "the sum isn't that of the least step");
    return PHX_OK;
}

PhxStatus phx_field_check(const PhxField *field, const PhxNavGrid *grid, PhxError *error) {
    if (field->width != grid->width || field->height != grid->height)
        return phx_error_set(error, PHX_ERROR_ARGUMENT, 0, "the field is %lu x %lu cells, the grid %lu x %lu",
                             (unsigned long)field->width, (unsigned long)field->height,
                             (unsigned long)grid->width, (unsigned long)grid->height);
    Check check = {.field = field, .grid = grid, .error = error};
    for (check.cell = 0; check.cell < field->width * field->height; check.cell++) {
        check.x = (int32_t)(check.cell % field->width);
        check.y = (int32_t)(check.cell / field->width);
        PhxStatus status = PHX_OK;
        if (grid->cost[check.cell] != PHX_NAV_IMPASSABLE)
            status = check_passable(&check);
        else if (field->flow[check.cell] != PHX_FLOW_WALL ||
                 field->integration[check.cell] != PHX_FIELD_UNREACHED)
            status = fail(&check, "a wall that isn't marked as one");
        if (status) return status;
    }
    return PHX_OK;
}
