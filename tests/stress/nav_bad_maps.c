/* nav_bad_maps.c: .map and .scen bytes, cut and garbled. The readers give a status and a text; they never
 * crash, and ask for memory only by what they have seen. A map that is still right gets a field, and the
 * field is proved. */
#include <phalanx/nav.h>
#include <stdlib.h>

#include "content/moving_ai.h"
#include "harness.h"

enum { FLIPS = 10000, SIDE = 60 };

/* An allocator that notes the largest request. */
static void *note(void *user, size_t size) {
    size_t *largest = user;
    if (size > *largest) *largest = size;
    return malloc(size ? size : 1);
}
static void give_back(void *user, void *memory, size_t size) {
    (void)user, (void)size;
    free(memory);
}

static void prove_field(const PhxMovingAiMap *map, uint64_t *seed) {
    const PhxNavGrid grid = {map->width, map->height, map->cost};
    const uint32_t cell = (uint32_t)test_range(seed, 0, (int64_t)map->width * map->height - 1);
    const uint32_t goal = phx_nav_nearest_open(&grid, cell);
    if (goal == PHX_NAV_NO_CELL) return;
    void *memory = malloc(phx_field_size(map->width, map->height));
    void *scratch = malloc(phx_field_scratch_size(map->width, map->height));
    PhxField field;
    phx_field_init(&field, map->width, map->height, memory);
    CHECK_OK(phx_field_build(&field, &grid, PHX_FIELD_WEIGHTS_DEFAULT, &goal, 1, scratch));
    CHECK_OK(phx_field_check(&field, &grid, NULL));
    free(memory), free(scratch);
}

/* The bytes lie in a block of their exact size, so that a sanitizer sees a read behind them. */
static PhxStatus try_map(const char *bytes, size_t size, uint64_t *seed) {
    char *exact = malloc(size ? size : 1);
    memcpy(exact, bytes, size);
    size_t largest = 0;
    PhxError error = {0};
    PhxMovingAiMap map;
    const PhxStatus status = phx_moving_ai_read_map(exact, size, "garbled.map", PHX_MOVING_AI_COSTS_DEFAULT,
                                                    (PhxAllocator){note, give_back, &largest}, &map, &error);
    CHECK_THAT(largest <= size, "asked for %zu bytes from a file of %zu", largest, size);
    CHECK(status ? error.status == status && error.text[0] && !map.cost : map.cost != NULL);
    if (status == PHX_OK && seed && test_range(seed, 0, 15) == 0) prove_field(&map, seed);
    phx_moving_ai_free_map(&map);
    free(exact);
    return status;
}

static PhxStatus try_scen(const char *bytes, size_t size) {
    char *exact = malloc(size ? size : 1);
    memcpy(exact, bytes, size);
    size_t largest = 0;
    PhxError error = {0};
    PhxMovingAiScen scen;
    const PhxStatus status = phx_moving_ai_read_scen(
        exact, size, "garbled.scen", (PhxAllocator){note, give_back, &largest}, &scen, &error);
    CHECK_THAT(largest <= 4 * size, "asked for %zu bytes from a file of %zu", largest, size);
    CHECK(status ? error.status == status && error.text[0] && !scen.problems : true);
    phx_moving_ai_free_scen(&scen);
    free(exact);
    return status;
}

/* A made map; its letters follow a seed. */
static size_t make_map(char *text, size_t capacity, uint64_t *seed, const char *end) {
    size_t size = (size_t)snprintf(text, capacity, "type octile%sheight %d%swidth %d%smap%s", end, SIDE, end,
                                   SIDE, end, end);
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) text[size++] = "....GGSWT@O"[test_range(seed, 0, 10)];
        size += (size_t)snprintf(text + size, capacity - size, "%s", end);
    }
    return size;
}

static size_t make_scen(char *text, size_t capacity, uint64_t *seed) {
    size_t size = (size_t)snprintf(text, capacity, "version 1\n");
    for (int i = 0; i < 100; i++)
        size += (size_t)snprintf(text + size, capacity - size,
                                 "%d\tmaps/x.map\t%d\t%d\t%d\t%d\t%d\t%d\t%d.%05d\n", i / 10, SIDE, SIDE,
                                 (int)test_range(seed, 0, SIDE - 1), (int)test_range(seed, 0, SIDE - 1),
                                 (int)test_range(seed, 0, SIDE - 1), (int)test_range(seed, 0, SIDE - 1),
                                 (int)test_range(seed, 0, 99), (int)test_range(seed, 0, 99999));
    return size;
}

PHX_TEST(moving_ai, every_cut_of_a_file_is_refused_or_read) {
    static char text[16384];
    uint64_t seed = 31;
    for (int crlf = 0; crlf < 2; crlf++) {
        const size_t size = make_map(text, sizeof text, &seed, crlf ? "\r\n" : "\n");
        CHECK_OK(try_map(text, size, &seed));
        for (size_t cut = 0; cut < size; cut++) {
            const PhxStatus status = try_map(text, cut, NULL);
            const bool whole = cut + 1 + (size_t)crlf >= size; /* only the last line's end is missing */
            CHECK_THAT(whole ? status == PHX_OK : status != PHX_OK, "cut at %zu of %zu: %d", cut, size,
                       status);
        }
    }
    const size_t size = make_scen(text, sizeof text, &seed);
    CHECK_OK(try_scen(text, size));
    for (size_t cut = 0; cut < size; cut++) (void)try_scen(text, cut);
    CHECK_EQ(try_scen(text, 9), PHX_OK); /* a file without problems */
    CHECK_EQ(try_scen(text, 8), PHX_ERROR_VERSION);
}

PHX_TEST(moving_ai, random_flips_never_crash) {
    static char good[16384], bad[16384];
    uint64_t seed = 32;
    int refused = 0, read = 0;
    for (int i = 0; i < FLIPS; i++) {
        const bool scen = i % 4 == 3;
        const size_t size = scen ? make_scen(good, sizeof good, &seed)
                                 : make_map(good, sizeof good, &seed, i % 2 ? "\r\n" : "\n");
        memcpy(bad, good, size);
        const int64_t flips = test_range(&seed, 1, 4),
                      within = i % 3 ? 80 : (int64_t)size; /* the head most of all */
        for (int64_t k = 0; k < flips; k++) {
            const size_t at = (size_t)test_range(&seed, 0, within - 1);
            const int64_t kind =
                test_range(&seed, 0, 9) % 4; /* deletions (3) are rarer: they break every map */
            if (kind == 0) bad[at] = (char)(bad[at] ^ (1 << test_range(&seed, 0, 7)));
            if (kind == 1) bad[at] = (char)test_range(&seed, -128, 127);
            if (kind == 2) bad[at] = "0123456789 .\n\r\tGSWT@Otwhm"[test_range(&seed, 0, 25)];
            if (kind == 3) memmove(bad + at, bad + at + 1, size - at - 1);
        }
        if (scen ? try_scen(bad, size) : try_map(bad, size, &seed))
            refused++;
        else
            read++;
    }
    fprintf(stderr, "%d refused, %d read\n", refused, read);
    CHECK(refused > FLIPS / 4 && read > FLIPS / 100);
}
