/* cmd_formation_draw.c: phx formation draw: lays a formation out, gives units its slots, and says or draws
 * what came of it.
 */
#include "phx/cmd_formation.h"

#include <phalanx/assign.h>
#include <phalanx/rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { MOST = PHX_FORMATION_UNITS, LIST = PHX_FORMATION_RANKS, TEXT_LIMIT = 1 << 20 };

static const PhxCliUsage usage = {
    .synopsis = "SHAPE",
    .about = "Lays out a formation, SHAPE: column, line, rectangle, wedge, circle or pattern, and writes a "
             "picture of "
             "its\nslots: a disc of the largest body of each rank, a colour a rank, an arrow where it faces, "
             "a cross at "
             "its anchor.\nWith --starts or --scatter it shows which unit takes which slot, too: lines from "
             "where they "
             "are.\nNumbers are in world units (cells) and degrees, y downwards. Lists have a number a rank.",
    .examples = "  phx formation draw rectangle --units 24,12 --out rectangle.svg\n"
                "  phx formation draw line --units 40 --width 20 --facing 90 --scatter 3 --out line.png\n"
                "  phx formation draw pattern --pattern star.txt --units 5 --json | jq .slots\n",
    .least = 1,
    .most = 1};

typedef struct Draw {
    PhxCli *cli;
    char *units, *radius, *gap, *width, *limit, *facing, *at, *starts, *pattern, *out;
    char *scatter;
    PhxFormationSpec spec;
    PhxFormationExtent extent;
    fix16_t unit_radius[MOST];
    uint8_t unit_rank[MOST], slot_rank[MOST];
    PhxVec2 start[MOST], place[MOST], anchor;
    uint32_t slot_of[MOST];
    PhxFormationSlot slots[MOST], *pattern_slots;
    PhxAngle facing_angle;
    bool has_starts;
} Draw;

/* Words. */

static int read_fix(Draw *draw, const char *option, const char *text, fix16_t low, fix16_t high,
                    fix16_t *out) {
    char from[PHX_FIX_TEXT], to[PHX_FIX_TEXT];
    if (phx_fix_parse(text, strlen(text), out) == PHX_OK && *out >= low && *out <= high) return PHX_CLI_GO;
    phx_fix_format(low, from, sizeof from);
    phx_fix_format(high, to, sizeof to);
    return phx_cli_fail(draw->cli, "%s %s: a number from %s to %s is wanted", option, text, from, to);
}

/* The next number of a list that is parted by `sep`; null: there is none more. */
static const char *next_word(const char **rest, char sep, char *word, size_t size) {
    const char *end = strchr(*rest, sep);
    const size_t length = end ? (size_t)(end - *rest) : strlen(*rest);
    if (**rest == 0) return NULL;
    snprintf(word, size, "%.*s", (int)(length < size ? length : size - 1), *rest);
    *rest += length + (end ? 1 : 0);
    return word;
}

static int read_units(Draw *draw) {
    uint32_t counts[LIST], ranks;
    int code =
        phx_cli_list(draw->cli, "--units", draw->units ? draw->units : "24", 0, MOST, counts, LIST, &ranks);
    if (code != PHX_CLI_GO) return code;
    const char *rest = draw->radius ? draw->radius : "0.4";
    fix16_t radius = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        char word[32];
        if (next_word(&rest, ',', word, sizeof word) != NULL) {
            code = read_fix(draw, "--radius", word, 4096, 16 * PHX_FIX_ONE, &radius);
            if (code != PHX_CLI_GO) return code;
        }
        for (uint32_t i = 0; i < counts[r]; i++) {
            if (draw->spec.count == MOST)
                return phx_cli_fail(draw->cli, "--units %s: a formation has at most %d units", draw->units,
                                    MOST);
            draw->unit_radius[draw->spec.count] = radius;
            draw->unit_rank[draw->spec.count++] = (uint8_t)r;
        }
    }
    if (*rest != 0)
        return phx_cli_fail(draw->cli, "--radius %s: has more numbers than --units has ranks", draw->radius);
    if (draw->spec.count == 0)
        return phx_cli_fail(draw->cli, "--units %s: a formation needs a unit", draw->units);
    return PHX_CLI_GO;
}

/* A line of a file: numbers parted by spaces. Returns how many there were, or UINT32_MAX where one is none.
 */
static uint32_t read_line(const char *line, fix16_t *numbers, uint32_t most) {
    char word[32];
    uint32_t count = 0;
    while (next_word(&line, ' ', word, sizeof word) != NULL) {
        if (word[0] == 0) continue;
        if (count == most || phx_fix_parse(word, strlen(word), &numbers[count++]) != PHX_OK)
            return UINT32_MAX;
    }
    return count;
}

/* The points of a file, "x y" or "x y rank" a line; `take` gets each. */
static int read_points(Draw *draw, const char *path, uint32_t wanted, uint32_t most,
                       void (*take)(Draw *draw, uint32_t i, const fix16_t *numbers), uint32_t *count) {
    void *bytes;
    size_t size;
    int code = phx_cli_load(draw->cli, path, TEXT_LIMIT, &bytes, &size);
    if (code != PHX_CLI_GO) return code;
    const char *rest = bytes;
    char line[256];
    for (uint32_t number = 1; code == PHX_CLI_GO && next_word(&rest, '\n', line, sizeof line) != NULL;
         number++) {
        fix16_t numbers[3] = {0};
        const uint32_t found = read_line(line, numbers, wanted);
        const fix16_t far = 4096 * PHX_FIX_ONE;
        if (found == 0) continue;
        if (found == UINT32_MAX || found < 2 || abs(numbers[0]) > far || abs(numbers[1]) > far ||
            numbers[2] < 0 || numbers[2] >= PHX_FORMATION_RANKS * PHX_FIX_ONE)
            code = phx_cli_fail(draw->cli, "%s:%u: a line is X Y%s: numbers within 4096%s", path, number,
                                wanted > 2 ? " RANK" : "", wanted > 2 ? ", and a rank from 0 to 15" : "");
        else if (*count == most)
            code = phx_cli_fail(draw->cli, "%s:%u: at most %u lines are wanted", path, number, most);
        else
            take(draw, (*count)++, numbers);
    }
    free(bytes);
    return code;
}

static void take_start(Draw *draw, uint32_t i, const fix16_t *numbers) {
    draw->start[i] = phx_vec2(numbers[0], numbers[1]);
}

static void take_slot(Draw *draw, uint32_t i, const fix16_t *numbers) {
    draw->pattern_slots[i] =
        (PhxFormationSlot){.at = {numbers[0], numbers[1]}, .rank = (uint8_t)(numbers[2] / PHX_FIX_ONE)};
}

static int read_pattern(Draw *draw) {
    if (draw->spec.shape != PHX_FORMATION_PATTERN)
        return draw->pattern == NULL
                   ? PHX_CLI_GO
                   : phx_cli_fail(draw->cli, "--pattern %s: is for the shape pattern", draw->pattern);
    if (draw->pattern == NULL)
        return phx_cli_fail(draw->cli, "pattern: --pattern FILE is missing: a line X Y RANK for each slot");
    draw->pattern_slots = calloc(PHX_FORMATION_PATTERN_SLOTS, sizeof *draw->pattern_slots);
    if (draw->pattern_slots == NULL) return phx_cli_fail(draw->cli, "no memory");
    draw->spec.pattern = draw->pattern_slots;
    return read_points(draw, draw->pattern, 3, PHX_FORMATION_PATTERN_SLOTS, take_slot,
                       &draw->spec.pattern_count);
}

/* From a file, or at random in a square about as wide as the formation, and as far behind it. */
static int read_starts(Draw *draw) {
    uint64_t seed;
    if (draw->starts != NULL && draw->scatter != NULL)
        return phx_cli_fail(draw->cli, "--starts and --scatter: one of them is wanted");
    draw->has_starts = draw->starts != NULL || draw->scatter != NULL;
    if (draw->starts != NULL) {
        uint32_t count = 0;
        const int code = read_points(draw, draw->starts, 2, draw->spec.count, take_start, &count);
        if (code != PHX_CLI_GO || count == draw->spec.count) return code;
        return phx_cli_fail(draw->cli, "%s: has %u lines; %u units need one each", draw->starts, count,
                            draw->spec.count);
    }
    if (draw->scatter == NULL) return PHX_CLI_GO;
    const int code = phx_cli_u64(draw->cli, "--scatter", draw->scatter, &seed);
    if (code != PHX_CLI_GO) return code;
    const fix16_t side = draw->extent.side + draw->extent.pitch;
    for (uint32_t i = 0; i < draw->spec.count; i++) {
        const uint32_t x = phx_random_below(phx_random(seed, 0, i, 0, 0), 2u * (uint32_t)side),
                       y = phx_random_below(phx_random(seed, 0, i, 0, 1), 2u * (uint32_t)side);
        const PhxVec2 at = {-draw->extent.back - side - (fix16_t)x, (fix16_t)y - side};
        draw->start[i] = phx_formation_to_world(draw->anchor, draw->facing_angle, at);
    }
    return PHX_CLI_GO;
}

static int read_place(Draw *draw) {
    fix16_t degrees = 0;
    int code = PHX_CLI_GO;
    if (draw->facing != NULL)
        code = read_fix(draw, "--facing", draw->facing, -360 * PHX_FIX_ONE, 360 * PHX_FIX_ONE, &degrees);
    draw->facing_angle = (PhxAngle)phx_div_round(degrees, 360);
    if (draw->at == NULL || code != PHX_CLI_GO) return code;
    const char *rest = draw->at;
    char word[32];
    fix16_t *parts[2] = {&draw->anchor.x, &draw->anchor.y};
    for (int i = 0; i < 2 && code == PHX_CLI_GO; i++)
        code = next_word(&rest, ',', word, sizeof word) == NULL
                   ? phx_cli_fail(draw->cli, "--at %s: X,Y is wanted", draw->at)
                   : read_fix(draw, "--at", word, -4000 * PHX_FIX_ONE, 4000 * PHX_FIX_ONE, parts[i]);
    if (code == PHX_CLI_GO && *rest != 0) code = phx_cli_fail(draw->cli, "--at %s: X,Y is wanted", draw->at);
    return code;
}

static int read_words(Draw *draw) {
    const char *word = draw->cli->arguments[0];
    uint32_t shape = 0;
    while (shape < PHX_FORMATION_SHAPE_COUNT &&
           strcmp(word, phx_formation_shape_name((PhxFormationShape)shape)) != 0)
        shape++;
    if (shape == PHX_FORMATION_SHAPE_COUNT)
        return phx_cli_fail(draw->cli, "%s: column, line, rectangle, wedge, circle or pattern is wanted",
                            word);
    draw->spec = (PhxFormationSpec){.shape = (PhxFormationShape)shape,
                                    .radius = draw->unit_radius,
                                    .rank = draw->unit_rank,
                                    .gap = PHX_FORMATION_GAP};
    int code = read_units(draw);
    const fix16_t wide = 1024 * PHX_FIX_ONE;
    if (code == PHX_CLI_GO && draw->gap)
        code = read_fix(draw, "--gap", draw->gap, 0, 16 * PHX_FIX_ONE, &draw->spec.gap);
    if (code == PHX_CLI_GO && draw->width)
        code = read_fix(draw, "--width", draw->width, 0, wide, &draw->spec.width);
    if (code == PHX_CLI_GO && draw->limit)
        code = read_fix(draw, "--limit", draw->limit, 0, wide, &draw->spec.limit);
    if (code == PHX_CLI_GO) code = read_place(draw);
    if (code == PHX_CLI_GO) code = read_pattern(draw);
    if (code == PHX_CLI_GO && draw->out) code = phx_cli_writable_picture(draw->cli, draw->out);
    return code;
}

/* Work. */

static int lay_out(Draw *draw) {
    const PhxStatus status = phx_formation_layout(&draw->spec, draw->slots, &draw->extent);
    if (status == PHX_ERROR_FULL)
        return phx_cli_fail(draw->cli,
                            "%s: has fewer slots of a rank than --units has units; add lines, or "
                            "take fewer units",
                            draw->pattern);
    if (status == PHX_ERROR_RANGE && draw->pattern)
        return phx_cli_fail(draw->cli,
                            "%s: two slots are nearer than the bodies of their ranks; move them apart, "
                            "or take a smaller --radius",
                            draw->pattern);
    if (status == PHX_ERROR_RANGE)
        return phx_cli_fail(draw->cli,
                            "--width %s: less than a body's diameter, or too long a formation comes of "
                            "it; a wider one is wanted",
                            draw->width ? draw->width : "0");
    if (status != PHX_OK) return phx_cli_fail_status(draw->cli, "formation", status, NULL);
    for (uint32_t i = 0; i < draw->spec.count; i++)
        draw->place[i] = phx_formation_to_world(draw->anchor, draw->facing_angle, draw->slots[i].at);
    return PHX_CLI_GO;
}

static int assign(Draw *draw) {
    PhxArena arena = phx_arena_measure();
    if (!draw->has_starts) return PHX_CLI_GO;
    for (uint32_t i = 0; i < draw->spec.count; i++) draw->slot_rank[i] = draw->slots[i].rank;
    (void)phx_assign_layout(&arena);
    PhxStatus status = phx_arena_create(&arena, phx_allocator_default(), arena.used);
    if (status != PHX_OK) return phx_cli_fail_status(draw->cli, "assignment", status, NULL);
    PhxAssignWork *work = phx_assign_layout(&arena);
    const PhxAssignSet units = {draw->spec.count, draw->start, NULL, draw->unit_rank},
                       slots = {draw->spec.count, draw->place, NULL, draw->slot_rank};
    status = phx_assign_solve(work, &units, &slots, draw->slot_of);
    phx_arena_destroy(&arena);
    return status == PHX_OK ? PHX_CLI_GO : phx_cli_fail_status(draw->cli, "assignment", status, NULL);
}

static json_t *fix_json(fix16_t value) {
    char text[PHX_FIX_TEXT];
    phx_fix_format(value, text, sizeof text);
    return json_string(text);
}

static void tell(Draw *draw) {
    static const char *const keys[] = {"front", "back", "side", "reach"};
    const fix16_t values[] = {draw->extent.front, draw->extent.back, draw->extent.side, draw->extent.reach};
    json_t *slots = json_array();
    char side[PHX_FIX_TEXT], depth[PHX_FIX_TEXT];
    for (uint32_t i = 0; i < draw->spec.count; i++) {
        json_t *slot = json_object();
        json_object_set_new(slot, "x", fix_json(draw->place[i].x));
        json_object_set_new(slot, "y", fix_json(draw->place[i].y));
        json_object_set_new(slot, "forward", fix_json(draw->slots[i].at.x));
        json_object_set_new(slot, "right", fix_json(draw->slots[i].at.y));
        json_object_set_new(slot, "radius", fix_json(draw->slots[i].radius));
        json_object_set_new(slot, "rank", json_integer(draw->slots[i].rank));
        for (uint32_t u = 0; draw->has_starts && u < draw->spec.count; u++)
            if (draw->slot_of[u] == i) json_object_set_new(slot, "unit", json_integer(u));
        json_array_append_new(slots, slot);
    }
    phx_cli_set(draw->cli, "shape", json_string(phx_formation_shape_name(draw->spec.shape)));
    phx_cli_set(draw->cli, "units", json_integer(draw->spec.count));
    for (int i = 0; i < 4; i++) phx_cli_set(draw->cli, keys[i], fix_json(values[i]));
    phx_cli_set(draw->cli, "slots", slots);
    phx_fix_format(phx_fix_saturate(2 * (int64_t)draw->extent.side), side, sizeof side);
    phx_fix_format(phx_fix_add(draw->extent.front, draw->extent.back), depth, sizeof depth);
    phx_cli_print(draw->cli, "%s of %u units: %s wide, %s deep\n", phx_formation_shape_name(draw->spec.shape),
                  draw->spec.count, side, depth);
}

static int run(Draw *draw) {
    int code = read_words(draw);
    if (code == PHX_CLI_GO) code = lay_out(draw);
    if (code == PHX_CLI_GO) code = read_starts(draw);
    if (code == PHX_CLI_GO) code = assign(draw);
    if (code != PHX_CLI_GO) return code;
    tell(draw);
    if (draw->out == NULL) return PHX_EXIT_OK;
    char title[96];
    snprintf(title, sizeof title, "%s of %u", phx_formation_shape_name(draw->spec.shape), draw->spec.count);
    const PhxFormationView view = {.shape = draw->spec.shape,
                                   .count = draw->spec.count,
                                   .slots = draw->slots,
                                   .places = draw->place,
                                   .starts = draw->has_starts ? draw->start : NULL,
                                   .slot_of = draw->slot_of,
                                   .radius = draw->unit_radius,
                                   .anchor = draw->anchor,
                                   .facing = draw->facing_angle,
                                   .title = title};
    PhxError error = {0};
    const PhxStatus status = phx_formation_picture_write(draw->out, &view, &error);
    return status == PHX_OK ? PHX_EXIT_OK : phx_cli_fail_status(draw->cli, draw->out, status, &error);
}

int phx_formation_cmd_draw(PhxCli *cli, int argc, const char **argv) {
    Draw *draw = calloc(1, sizeof *draw);
    if (draw == NULL) return phx_cli_fail(cli, "no memory");
    draw->cli = cli;
    const struct poptOption table[] = {
        {"units", 'u', POPT_ARG_STRING, &draw->units, 0, "units of each rank (default 24)", "N,N.."},
        {"radius", 'r', POPT_ARG_STRING, &draw->radius, 0,
         "bodies of each rank; the last holds for the rest (default 0.4)", "R,R.."},
        {"gap", 'g', POPT_ARG_STRING, &draw->gap, 0, "between bodies (default 0.2)", "GAP"},
        {"width", 'w', POPT_ARG_STRING, &draw->width, 0, "wanted width (default: the shape's own)", "W"},
        {"limit", 'l', POPT_ARG_STRING, &draw->limit, 0, "as in a passage so wide (default: none)", "W"},
        {"facing", 'f', POPT_ARG_STRING, &draw->facing, 0, "degrees: 0 is +x, 90 is +y (default 0)", "DEG"},
        {"at", 'a', POPT_ARG_STRING, &draw->at, 0, "its anchor (default 0,0)", "X,Y"},
        {"starts", 's', POPT_ARG_STRING, &draw->starts, 0, "where the units are, by rank: a line X Y each",
         "FILE"},
        {"scatter", 0, POPT_ARG_STRING, &draw->scatter, 0, "where the units are: at random behind it",
         "SEED"},
        {"pattern", 'p', POPT_ARG_STRING, &draw->pattern, 0,
         "slots of the shape pattern: a line FORWARD RIGHT RANK each", "FILE"},
        {"out", 'o', POPT_ARG_STRING, &draw->out, 0, "picture, .svg or .png", "FILE"},
        POPT_TABLEEND};
    int code = phx_cli_parse(cli, argc, argv, table, &usage);
    if (code == PHX_CLI_GO) code = run(draw);
    free(draw->pattern_slots);
    free(draw);
    return code;
}
