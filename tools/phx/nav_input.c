/* nav_input.c: maps, goals and sizes for phx nav. See nav_input.h. */
#include "phx/nav_input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words. */

bool phx_nav_input_numbers(const char *text, uint32_t *numbers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = 0;
        if (*text < '0' || *text > '9') return false;
        while (*text >= '0' && *text <= '9' && value < INT32_MAX)
            value = 10 * value + (uint64_t)(*text++ - '0');
        if (value > INT32_MAX || (*text >= '0' && *text <= '9') || *text != (i + 1 < count ? ',' : 0))
            return false;
        numbers[i] = (uint32_t)value;
        text++;
    }
    return true;
}

int phx_nav_input_settings(PhxCli *cli, const PhxNavWords *words, PhxNavInput *out) {
    uint32_t weights[2] = {PHX_FIELD_WEIGHTS_DEFAULT.straight, PHX_FIELD_WEIGHTS_DEFAULT.diagonal};
    if (words->team != NULL && words->type == NULL)
        return phx_cli_fail(cli, "--team needs --type, the units of that team");
    if (words->type != NULL && words->radius != NULL)
        return phx_cli_fail(cli, "--radius: a unit of --type has a radius of its own; give one of them");
    out->radius = fix16_one / 2;
    if (words->radius != NULL &&
        (phx_fix_parse(words->radius, strlen(words->radius), &out->radius) != PHX_OK ||
         out->radius < fix16_one / 16 || out->radius > 16 * fix16_one))
        return phx_cli_fail(cli, "--radius: %.40s: a radius from 0.0625 to 16 cells is wanted",
                            words->radius);
    out->size = phx_cost_size_of(out->radius);
    snprintf(out->whom, sizeof out->whom, "units of radius %g", out->radius / 65536.0);
    if (words->weights != NULL &&
        (!phx_nav_input_numbers(words->weights, weights, 2) || weights[0] < 1 || weights[1] < weights[0] ||
         weights[1] > 2 * weights[0] || weights[1] > UINT16_MAX))
        return phx_cli_fail(
            cli,
            "--weights: %.40s: two whole numbers S,D are wanted, 1 <= S <= D <= 2 S, D at most "
            "65535: 10,14",
            words->weights);
    out->weights = (PhxFieldWeights){(uint16_t)weights[0], (uint16_t)weights[1]};
    return PHX_CLI_GO;
}

/* Where a cell is. */
static const char *place(const PhxNavInput *input, uint32_t cell, char text[32]) {
    snprintf(text, 32, "%" PRIu32 ",%" PRIu32, cell % input->grid.width, cell / input->grid.width);
    return text;
}

static int fail_closed(PhxNavInput *input, const char *option, const char *text, uint32_t cell) {
    const uint32_t open = phx_nav_nearest_open(&input->grid, cell);
    char where[32];
    const char *what = input->ground[cell] == PHX_NAV_IMPASSABLE ? "a wall" : "too narrow for this size";
    if (open == PHX_NAV_NO_CELL)
        return phx_cli_fail(input->cli, "%s: %.40s: %s, and %s has no open cell for this size at all", option,
                            text, what, input->path);
    return phx_cli_fail(input->cli, "%s: %.40s: %s; the nearest open cell is %s", option, text, what,
                        place(input, open, where));
}

static int fail_outside(PhxNavInput *input, const char *option, const char *text, uint32_t x, uint32_t y) {
    const PhxNavGrid *grid = &input->grid;
    const uint32_t column = x < grid->width ? x : grid->width - 1,
                   row = y < grid->height ? y : grid->height - 1;
    const uint32_t open = phx_nav_nearest_open(grid, row * grid->width + column);
    char where[32];
    return phx_cli_fail(
        input->cli, "%s: %.40s: outside of the map, whose cells go from 0,0 to %" PRIu32 ",%" PRIu32 "%s%s",
        option, text, grid->width - 1, grid->height - 1,
        open == PHX_NAV_NO_CELL ? "" : "; the nearest open cell is ",
        open == PHX_NAV_NO_CELL ? "" : place(input, open, where));
}

int phx_nav_input_cell(PhxNavInput *input, const char *option, const char *text, uint32_t *cell) {
    uint32_t at[2];
    if (text == NULL)
        return phx_cli_fail(input->cli, "%s is missing: %s X,Y, a cell of the map", option, option);
    if (!phx_nav_input_numbers(text, at, 2))
        return phx_cli_fail(input->cli,
                            "%s: %.40s: a cell X,Y is wanted, two whole numbers with a comma between", option,
                            text);
    if (at[0] >= input->grid.width || at[1] >= input->grid.height)
        return fail_outside(input, option, text, at[0], at[1]);
    *cell = at[1] * input->grid.width + at[0];
    return input->plane[*cell] != PHX_NAV_IMPASSABLE ? PHX_CLI_GO : fail_closed(input, option, text, *cell);
}

/* Goals. */

static int add_goal(PhxNavInput *input, uint32_t cell) {
    if (input->goal_count == PHX_ROUTES_GOAL_LIMIT)
        return phx_cli_fail(input->cli, "--goal: more than %d cells; give fewer goals or smaller areas",
                            PHX_ROUTES_GOAL_LIMIT);
    input->goals[input->goal_count++] = cell;
    return PHX_CLI_GO;
}

/* An area's walls are left out. */
static int add_area(PhxNavInput *input, const char *text, const uint32_t area[4]) {
    const PhxNavGrid *grid = &input->grid;
    int code = PHX_CLI_GO;
    const uint32_t before = input->goal_count;
    if (area[2] == 0 || area[3] == 0)
        return phx_cli_fail(input->cli,
                            "--goal: %.40s: the area is empty: give a width and a height from 1 on", text);
    if (area[0] >= grid->width || area[1] >= grid->height)
        return fail_outside(input, "--goal", text, area[0], area[1]);
    const uint32_t right = area[2] < grid->width - area[0] ? area[0] + area[2] : grid->width;
    const uint32_t low = area[3] < grid->height - area[1] ? area[1] + area[3] : grid->height;
    for (uint32_t y = area[1]; y < low && code == PHX_CLI_GO; y++)
        for (uint32_t x = area[0]; x < right && code == PHX_CLI_GO; x++)
            if (phx_nav_passable(grid, (int32_t)x, (int32_t)y)) code = add_goal(input, y * grid->width + x);
    if (code == PHX_CLI_GO && input->goal_count == before)
        return fail_closed(input, "--goal", text,
                           (area[1] + (low - area[1]) / 2) * grid->width + area[0] + (right - area[0]) / 2);
    return code;
}

static int by_cell(const void *left, const void *right) {
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static int read_goals(PhxNavInput *input, const char **words) {
    int code = PHX_CLI_GO;
    input->goals = malloc(PHX_ROUTES_GOAL_LIMIT * sizeof *input->goals);
    if (input->goals == NULL) return phx_cli_fail_status(input->cli, "--goal", PHX_ERROR_MEMORY, NULL);
    for (; words != NULL && *words != NULL && code == PHX_CLI_GO; words++) {
        uint32_t area[4], cell;
        if (phx_nav_input_numbers(*words, area, 4)) {
            code = add_area(input, *words, area);
            continue;
        }
        code = phx_nav_input_cell(input, "--goal", *words, &cell);
        if (code == PHX_CLI_GO) code = add_goal(input, cell);
    }
    qsort(input->goals, input->goal_count, sizeof *input->goals, by_cell);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < input->goal_count; i++)
        if (kept == 0 || input->goals[kept - 1] != input->goals[i]) input->goals[kept++] = input->goals[i];
    input->goal_count = kept;
    return code;
}

int phx_nav_input_needs_goal(PhxNavInput *input) {
    if (input->goal_count > 0) return PHX_CLI_GO;
    return phx_cli_fail(input->cli, "--goal is missing: --goal X,Y, a cell of the map that is no wall");
}

void phx_nav_words_free(PhxNavWords *words) {
    for (const char **word = words->goals; word != NULL && *word != NULL; word++)
        free((void *)(uintptr_t)*word);
    free((void *)words->goals);
    words->goals = NULL;
}

int phx_nav_input_open(PhxCli *cli, const char *path, PhxNavWords *words, PhxNavInput *out) {
    *out = (PhxNavInput){.cli = cli, .path = path};
    int code = phx_nav_input_settings(cli, words, out);
    if (code == PHX_CLI_GO) code = phx_nav_ground_read(out, words);
    if (code == PHX_CLI_GO) code = read_goals(out, words->goals);
    phx_nav_words_free(words);
    if (code != PHX_CLI_GO) phx_nav_input_close(out);
    return code;
}

void phx_nav_input_close(PhxNavInput *input) {
    free(input->ground);
    free(input->plane);
    free(input->goals);
    *input = (PhxNavInput){0};
}
