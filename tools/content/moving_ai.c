/* moving_ai.c: reading .map and .scen files.
 *
 * In: bytes. Out: costs row by row, or problems. Each reader runs twice over the bytes with the same code:
 * the first time it stores nothing and finds every fault, the second time it fills memory of a size that is
 * then known to be right. Cost: about 2 ns a byte. Determinism: integers only; no locale, no library call
 * that parses.
 */
#include "content/moving_ai.h"

#include <inttypes.h>
#include <phalanx/nav.h>
#include <stdbool.h>
#include <string.h>

typedef struct Text {
    const uint8_t *bytes;
    size_t size, at;
    const char *name;
    PhxError *error;
    uint64_t number; /* of the line in work, from 1; 0 before the first */
    /* the line in work, without its end */
    const uint8_t *line;
    size_t length;
} Text;

static Text text_make(const void *bytes, size_t size, const char *name, PhxError *error) {
    return (Text){.bytes = bytes, .size = size, .name = name ? name : "(bytes)", .error = error};
}

/* The next line; false at the end. Its end is LF, CRLF or the end of the bytes. */
static bool next_line(Text *text) {
    if (text->at == text->size) return false;
    const uint8_t *start = text->bytes + text->at;
    const uint8_t *feed = memchr(start, '\n', text->size - text->at);
    const size_t length = feed ? (size_t)(feed - start) : text->size - text->at;
    text->at += length + (feed ? 1 : 0);
    text->line = start;
    text->length = length > 0 && start[length - 1] == '\r' ? length - 1 : length;
    text->number++;
    return true;
}

static bool is_space(uint8_t c) { return c == ' ' || c == '\t'; }

static bool is_blank(const Text *text) {
    for (size_t i = 0; i < text->length; i++)
        if (!is_space(text->line[i])) return false;
    return true;
}

#define FAIL(text, status, format, ...)                                                                      \
    phx_error_set((text)->error, (status), (text)->number, "%.80s, line %" PRIu64 ": " format, (text)->name, \
                  (text)->number, __VA_ARGS__)

/* Only blank lines may follow. */
static PhxStatus expect_end(Text *text, const char *remedy) {
    while (next_line(text))
        if (!is_blank(text)) return FAIL(text, PHX_ERROR_FORMAT, "%s", remedy);
    return PHX_OK;
}

/* A piece of a line between blanks. */
typedef struct Word {
    const uint8_t *bytes;
    size_t size;
} Word;

/* Takes the last word off the first *length bytes of a line; its size is 0 if there is none. */
static Word last_word(const uint8_t *line, size_t *length) {
    size_t end = *length;
    while (end > 0 && is_space(line[end - 1])) end--;
    size_t start = end;
    while (start > 0 && !is_space(line[start - 1])) start--;
    *length = start;
    return (Word){line + start, end - start};
}

static bool word_is(Word word, const char *wanted) {
    return word.size == strlen(wanted) && memcmp(word.bytes, wanted, word.size) == 0;
}

/* 1 to 9 digits. */
static bool word_number(Word word, uint32_t *out) {
    if (word.size < 1 || word.size > 9) return false;
    uint32_t value = 0;
    for (size_t i = 0; i < word.size; i++) {
        if (word.bytes[i] < '0' || word.bytes[i] > '9') return false;
        value = value * 10 + (uint32_t)(word.bytes[i] - '0');
    }
    *out = value;
    return true;
}

/* Digits, and optionally '.' and digits, to units of 1e-8; the ninth decimal rounds. At most 9 digits before
 * the point. */
static bool word_length(Word word, uint64_t *out) {
    const uint8_t *point = memchr(word.bytes, '.', word.size);
    const size_t whole_size = point ? (size_t)(point - word.bytes) : word.size;
    uint32_t whole;
    if (!word_number((Word){word.bytes, whole_size}, &whole)) return false;
    uint64_t value = whole;
    size_t decimals = 0;
    bool up = false;
    for (size_t i = whole_size + 1; i < word.size; i++, decimals++) {
        const uint8_t c = word.bytes[i];
        if (c < '0' || c > '9') return false;
        if (decimals < 8) value = value * 10 + (uint64_t)(c - '0');
        if (decimals == 8) up = c >= '5';
    }
    if (point && decimals == 0) return false;
    for (; decimals < 8; decimals++) value *= 10;
    *out = value + (up ? 1 : 0);
    return true;
}

/* ------------------------------------------------------------------------------------------------ .map */

static PhxStatus ends_early(Text *text, const char *what) {
    text->number++;
    return FAIL(text, PHX_ERROR_TRUNCATED, "the file ends where %s should be; is it cut short?", what);
}

/* "<key> <number>" with a number in 1..PHX_NAV_MAX_SIDE. */
static PhxStatus read_side(Text *text, const char *key, uint32_t *out) {
    size_t length = text->length;
    const Word number = last_word(text->line, &length), word = last_word(text->line, &length);
    if (!word_is(word, key) || !word_number(number, out) || length != 0)
        return FAIL(text, PHX_ERROR_FORMAT, "expected \"%s\" and a whole number, as in \"%s 512\"", key, key);
    if (*out < 1) return FAIL(text, PHX_ERROR_FORMAT, "%s 0: a map has at least 1 cell a side", key);
    if (*out > PHX_NAV_MAX_SIDE)
        return FAIL(text, PHX_ERROR_LIMIT,
                    "%s %" PRIu32 " is above the limit of %u cells; cut the map into parts", key, *out,
                    PHX_NAV_MAX_SIDE);
    return PHX_OK;
}

/* The four lines before the rows; height and width may come in either order. */
static PhxStatus read_header(Text *text, uint32_t *width, uint32_t *height) {
    if (!next_line(text)) return ends_early(text, "\"type octile\"");
    size_t length = text->length;
    const Word type = last_word(text->line, &length), word = last_word(text->line, &length);
    if (!word_is(word, "type") || !word_is(type, "octile") || length != 0)
        return FAIL(text, PHX_ERROR_FORMAT, "expected \"%s\"; this is no .map file of the MovingAI format",
                    "type octile");
    *width = *height = 0;
    for (int i = 0; i < 2; i++) {
        if (!next_line(text)) return ends_early(text, *height ? "\"width W\"" : "\"height H\"");
        const bool is_width = *height || (text->length > 0 && text->line[0] == 'w' && !*width);
        const PhxStatus status =
            is_width ? read_side(text, "width", width) : read_side(text, "height", height);
        if (status) return status;
    }
    if (!next_line(text)) return ends_early(text, "\"map\"");
    length = text->length;
    if (!word_is(last_word(text->line, &length), "map") || length != 0)
        return FAIL(text, PHX_ERROR_FORMAT, "expected \"%s\", then the rows", "map");
    return PHX_OK;
}

/* The cost of each byte; 0 for letters that mean nothing. */
static void make_table(PhxMovingAiCosts costs, uint8_t table[256]) {
    memset(table, 0, 256);
    table['.'] = table['G'] = costs.ground;
    table['S'] = costs.swamp;
    table['W'] = costs.water;
    table['T'] = costs.trees;
    table['@'] = table['O'] = PHX_NAV_IMPASSABLE;
}

#define FAIL_COLUMN(text, column, format, ...)                                                               \
    phx_error_set((text)->error, PHX_ERROR_FORMAT, (text)->number,                                           \
                  "%.80s, line %" PRIu64 ", column %zu: " format, (text)->name, (text)->number,              \
                  (column) + 1, __VA_ARGS__)

static PhxStatus fail_letter(const Text *text, size_t column, const uint8_t table[256]) {
    const uint8_t c = text->line[column];
    const char *known = "use . G (ground) S (swamp) W (water) T (trees) @ O (out of bounds)";
    if (c < 33 || c > 126)
        return FAIL_COLUMN(text, column, "byte 0x%02x is no letter of a map; %s", c, known);
    if (c >= 'a' && c <= 'z' && table[c - 'a' + 'A'])
        return FAIL_COLUMN(text, column, "unknown letter '%c'; write '%c', letters are upper case", c,
                           c - 'a' + 'A');
    return FAIL_COLUMN(text, column, "unknown letter '%c'; %s", c, known);
}

/* The rows. `cost` may be null: then they are only checked. */
static PhxStatus read_rows(Text *text, uint32_t width, uint32_t height, const uint8_t table[256],
                           uint8_t *cost) {
    for (uint32_t y = 0; y < height; y++) {
        if (!next_line(text)) {
            text->number++;
            return FAIL(text, PHX_ERROR_TRUNCATED,
                        "the header says %" PRIu32 " rows, but the file ends after %" PRIu32
                        "; correct the height, or add the missing rows",
                        height, y);
        }
        const size_t shared = text->length < width ? text->length : width;
        for (size_t x = 0; x < shared; x++) {
            const uint8_t value = table[text->line[x]];
            if (value == 0) return fail_letter(text, x, table);
            if (cost) cost[(size_t)y * width + x] = value;
        }
        if (text->length != width)
            return FAIL(
                text, text->length < width && text->at == text->size ? PHX_ERROR_TRUNCATED : PHX_ERROR_FORMAT,
                "row %" PRIu32 " has %zu letters, but the header says width %" PRIu32
                "; correct the width, or the row",
                y + 1, text->length, width);
    }
    return expect_end(text, "more rows than the header's height says; correct the height, or remove them");
}

/* A map whose cells are what the table says of their letters. */
static PhxStatus read_cells(const void *bytes, size_t size, const char *name, const uint8_t table[256],
                            PhxAllocator allocator, PhxMovingAiMap *map, PhxError *error) {
    Text text = text_make(bytes, size, name, error);
    uint32_t width, height;
    PhxStatus status = read_header(&text, &width, &height);
    if (status) return status;
    const Text rows = text;
    status = read_rows(&text, width, height, table, NULL);
    if (status) return status;
    /* every cell was just seen as a byte of the file */
    map->cost = allocator.allocate(allocator.user, (size_t)width * height);
    if (!map->cost) return phx_error_set(error, PHX_ERROR_MEMORY, 0, "%.80s: out of memory", text.name);
    map->width = width;
    map->height = height;
    text = rows;
    return read_rows(&text, width, height, table, map->cost);
}

PhxStatus phx_moving_ai_read_map(const void *bytes, size_t size, const char *name, PhxMovingAiCosts costs,
                                 PhxAllocator allocator, PhxMovingAiMap *map, PhxError *error) {
    *map = (PhxMovingAiMap){.allocator = allocator};
    uint8_t table[256];
    make_table(costs, table);
    if (!table['.'] || !table['S'] || !table['W'] || !table['T'])
        return phx_error_set(error, PHX_ERROR_ARGUMENT, 0,
                             "a terrain cost of 0; costs are 1..254, or 255 for impassable");
    return read_cells(bytes, size, name, table, allocator, map, error);
}

PhxStatus phx_moving_ai_read_letters(const void *bytes, size_t size, const char *name, PhxAllocator allocator,
                                     PhxMovingAiMap *map, PhxError *error) {
    *map = (PhxMovingAiMap){.allocator = allocator};
    uint8_t table[256];
    make_table((PhxMovingAiCosts){1, 1, 1, 1}, table);
    for (int c = 0; c < 256; c++)
        if (table[c]) table[c] = (uint8_t)c;
    return read_cells(bytes, size, name, table, allocator, map, error);
}

void phx_moving_ai_free_map(PhxMovingAiMap *map) {
    if (map->cost) map->allocator.release(map->allocator.user, map->cost, (size_t)map->width * map->height);
    *map = (PhxMovingAiMap){.allocator = map->allocator};
}

/* ------------------------------------------------------------------------------------------------ .scen */

/* One problem: read from the end of the line, as a map's name may hold blanks. */
static PhxStatus read_problem(const Text *text, PhxMovingAiProblem *problem) {
    size_t length = text->length;
    uint32_t *const numbers[6] = {&problem->goal_y,  &problem->goal_x, &problem->start_y,
                                  &problem->start_x, &problem->height, &problem->width};
    static const char *const names[6] = {"goal y", "goal x", "start y", "start x", "height", "width"};
    if (!word_length(last_word(text->line, &length), &problem->length))
        return FAIL(text, PHX_ERROR_FORMAT, "the last column, the optimal %s, is no decimal number",
                    "length");
    for (int i = 0; i < 6; i++)
        if (!word_number(last_word(text->line, &length), numbers[i]))
            return FAIL(text, PHX_ERROR_FORMAT,
                        "%s is no whole number; a line holds bucket, map, width, height, start x, start y, "
                        "goal x, goal y, "
                        "length",
                        names[i]);
    size_t first = 0;
    while (first < length && !is_space(text->line[first])) first++;
    if (!word_number((Word){text->line, first}, &problem->bucket))
        return FAIL(text, PHX_ERROR_FORMAT, "the first column, the %s, is no whole number", "bucket");
    if (last_word(text->line + first, &(size_t){length - first}).size == 0)
        return FAIL(text, PHX_ERROR_FORMAT, "the second column, the %s, is missing", "map's name");
    if (problem->start_x >= problem->width || problem->goal_x >= problem->width ||
        problem->start_y >= problem->height || problem->goal_y >= problem->height)
        return FAIL(text, PHX_ERROR_RANGE,
                    "start or goal lies outside of the map of %" PRIu32 " x %" PRIu32 " cells",
                    problem->width, problem->height);
    return PHX_OK;
}

/* All problems. `problems` may be null: then they are only checked and counted. */
static PhxStatus read_problems(Text *text, PhxMovingAiProblem *problems, uint32_t *count) {
    *count = 0;
    while (next_line(text)) {
        if (is_blank(text)) return expect_end(text, "a problem behind an empty line; remove the empty line");
        PhxMovingAiProblem problem;
        const PhxStatus status = read_problem(text, &problem);
        if (status) return status;
        if (*count == UINT32_MAX)
            return FAIL(text, PHX_ERROR_LIMIT, "more than %" PRIu32 " problems", *count);
        if (problems) problems[*count] = problem;
        ++*count;
    }
    return PHX_OK;
}

PhxStatus phx_moving_ai_read_scen(const void *bytes, size_t size, const char *name, PhxAllocator allocator,
                                  PhxMovingAiScen *scen, PhxError *error) {
    *scen = (PhxMovingAiScen){.allocator = allocator};
    Text text = text_make(bytes, size, name, error);
    if (!next_line(&text)) return ends_early(&text, "\"version 1\"");
    size_t length = text.length;
    const Word version = last_word(text.line, &length), word = last_word(text.line, &length);
    if (!word_is(word, "version") || !(word_is(version, "1") || word_is(version, "1.0")) || length != 0)
        return FAIL(&text, PHX_ERROR_VERSION, "expected \"%s\"; other versions aren't known", "version 1");
    const Text lines = text;
    uint32_t count;
    PhxStatus status = read_problems(&text, NULL, &count);
    if (status || count == 0) return status;
    /* each problem was just seen as at least 17 bytes of the file */
    scen->problems = allocator.allocate(allocator.user, count * sizeof *scen->problems);
    if (!scen->problems) return phx_error_set(error, PHX_ERROR_MEMORY, 0, "%.80s: out of memory", text.name);
    scen->count = count;
    text = lines;
    return read_problems(&text, scen->problems, &count);
}

void phx_moving_ai_free_scen(PhxMovingAiScen *scen) {
    if (scen->problems)
        scen->allocator.release(scen->allocator.user, scen->problems, scen->count * sizeof *scen->problems);
    *scen = (PhxMovingAiScen){.allocator = scen->allocator};
}
