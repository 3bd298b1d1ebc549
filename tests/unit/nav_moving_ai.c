/* nav_moving_ai.c: .map and .scen files, good ones in all their spellings, and what is said about bad ones.
 */
#include "content/moving_ai.h"
#include "harness.h"

static PhxStatus read_map(const char *text, PhxMovingAiMap *map, PhxError *error) {
    memset(error, 0, sizeof *error);
    return phx_moving_ai_read_map(text, strlen(text), "x.map", (PhxMovingAiCosts){1, 3, 200, 255},
                                  phx_allocator_default(), map, error);
}

PHX_TEST(moving_ai, maps_are_read_in_every_spelling) {
    static const char *const texts[] = {"type octile\nheight 2\nwidth 7\nmap\n.GSWT@O\nO@TWSG.\n",
                                        "type octile\r\nheight 2\r\nwidth 7\r\nmap\r\n.GSWT@O\r\nO@TWSG.\r\n",
                                        "type octile\nheight 2\nwidth 7\nmap\n.GSWT@O\nO@TWSG.",
                                        "type octile\r\nheight 2\r\nwidth 7\r\nmap\r\n.GSWT@O\r\nO@TWSG.",
                                        "type octile\nwidth 7\nheight 2\nmap\n.GSWT@O\nO@TWSG.\n\n \t\n",
                                        "type  octile \nheight\t2\nwidth   7  \nmap \n.GSWT@O\nO@TWSG.\n"};
    static const uint8_t want[14] = {1, 1, 3, 200, 255, 255, 255, 255, 255, 255, 200, 3, 1, 1};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        PhxMovingAiMap map;
        PhxError error;
        CHECK_THAT(!read_map(texts[i], &map, &error), "text %zu: %s", i, error.text);
        CHECK(map.width == 7 && map.height == 2 && memcmp(map.cost, want, 14) == 0);
        phx_moving_ai_free_map(&map);
        CHECK(!map.cost);
    }
}

typedef struct BadText {
    const char *text;
    PhxStatus status;
    uint64_t line;
    const char *says[3];
} BadText;

static void check_bad(const BadText *bad, PhxStatus status, const PhxError *error, size_t i) {
    CHECK_THAT(status == bad->status && error->status == status, "text %zu: status %d, \"%s\"", i, status,
               error->text);
    CHECK_THAT(error->offset == bad->line, "text %zu: line %llu, \"%s\"", i,
               (unsigned long long)error->offset, error->text);
    for (int k = 0; k < 3 && bad->says[k]; k++)
        CHECK_THAT(strstr(error->text, bad->says[k]), "text %zu: \"%s\" lacks \"%s\"", i, error->text,
                   bad->says[k]);
    CHECK(!strchr(error->text, '\n'));
}

PHX_TEST(moving_ai, errors_of_maps_name_line_column_letter_and_remedy) {
#define HEAD "type octile\nheight 2\nwidth 3\nmap\n"
    static const BadText bads[] = {
        {"", PHX_ERROR_TRUNCATED, 1, {"x.map, line 1", "type octile", "cut short"}},
        {"type hex\n", PHX_ERROR_FORMAT, 1, {"\"type octile\""}},
        {"type octile\n", PHX_ERROR_TRUNCATED, 2, {"line 2", "height"}},
        {"type octile\nheight 2\n", PHX_ERROR_TRUNCATED, 3, {"width"}},
        {"type octile\nheight 2\nheight 2\nmap\n", PHX_ERROR_FORMAT, 3, {"width", "width 512"}},
        {"type octile\nheight two\n", PHX_ERROR_FORMAT, 2, {"height 512"}},
        {"type octile\nheight -2\n", PHX_ERROR_FORMAT, 2, {"height"}},
        {"type octile\nheight 0\n", PHX_ERROR_FORMAT, 2, {"at least 1"}},
        {"type octile\nheight 4097\n", PHX_ERROR_LIMIT, 2, {"4097", "4096"}},
        {"type octile\nheight 99999999999999999999\n", PHX_ERROR_FORMAT, 2, {"whole number"}},
        {"type octile\nheight 2\nwidth 3\n...\n", PHX_ERROR_FORMAT, 4, {"\"map\""}},
        {"type octile\nheight 2\nwidth 3\n", PHX_ERROR_TRUNCATED, 4, {"\"map\""}},
        {HEAD "...\n.x.\n", PHX_ERROR_FORMAT, 6, {"line 6, column 2", "'x'", "use . G"}},
        {HEAD "...\n..t\n", PHX_ERROR_FORMAT, 6, {"column 3", "'t'", "write 'T'"}},
        {HEAD "\x01..\n", PHX_ERROR_FORMAT, 5, {"line 5, column 1", "0x01"}},
        {HEAD ". .\n...\n", PHX_ERROR_FORMAT, 5, {"column 2", "0x20"}},
        {HEAD "..\n...\n", PHX_ERROR_FORMAT, 5, {"row 1 has 2 letters", "width 3", "correct the width"}},
        {HEAD "....\n...\n", PHX_ERROR_FORMAT, 5, {"row 1 has 4 letters", "width 3"}},
        {HEAD "...\n", PHX_ERROR_TRUNCATED, 6, {"2 rows", "after 1", "height"}},
        {HEAD "...\n..", PHX_ERROR_TRUNCATED, 6, {"row 2 has 2"}},
        {HEAD "...\n...\n...\n", PHX_ERROR_FORMAT, 7, {"more rows", "height"}},
        {HEAD "...\n...\n\n...\n", PHX_ERROR_FORMAT, 8, {"more rows"}},
        {HEAD "...\n\n...\n", PHX_ERROR_FORMAT, 6, {"row 2 has 0"}},
        {HEAD "...\r\r\n...\n", PHX_ERROR_FORMAT, 5, {"row 1 has 4"}}};
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        PhxMovingAiMap map;
        PhxError error;
        const PhxStatus status = read_map(bads[i].text, &map, &error);
        check_bad(&bads[i], status, &error, i);
        CHECK(!map.cost && map.width == 0);
        phx_moving_ai_free_map(&map); /* harmless */
        CHECK_EQ(phx_moving_ai_read_map(bads[i].text, strlen(bads[i].text), NULL, PHX_MOVING_AI_COSTS_DEFAULT,
                                        phx_allocator_default(), &map, NULL),
                 bads[i].status);
    }
    PhxMovingAiMap map;
    PhxError error;
    CHECK_EQ(phx_moving_ai_read_map(HEAD "...\n...\n", 41, "x", (PhxMovingAiCosts){1, 0, 1, 1},
                                    phx_allocator_default(), &map, &error),
             PHX_ERROR_ARGUMENT);
}

/* Allocates never. */
static void *refuse(void *user, size_t size) {
    ++*(int *)user;
    (void)size;
    return NULL;
}
static void release_nothing(void *user, void *memory, size_t size) { (void)user, (void)memory, (void)size; }

PHX_TEST(moving_ai, memory_is_asked_for_only_when_the_whole_file_is_right) {
    int asked = 0;
    const PhxAllocator none = {refuse, release_nothing, &asked};
    PhxMovingAiMap map;
    PhxMovingAiScen scen;
    const char *huge = "type octile\nheight 4096\nwidth 4096\nmap\n....\n";
    CHECK(phx_moving_ai_read_map(huge, strlen(huge), "x", PHX_MOVING_AI_COSTS_DEFAULT, none, &map, NULL));
    CHECK_EQ(asked, 0);
    const char *good = "type octile\nheight 1\nwidth 1\nmap\n.\n",
               *problem = "version 1\n0 m 9 9 1 1 2 2 1.5\n";
    CHECK_EQ(phx_moving_ai_read_map(good, strlen(good), "x", PHX_MOVING_AI_COSTS_DEFAULT, none, &map, NULL),
             PHX_ERROR_MEMORY);
    CHECK(asked == 1 && map.width == 0);
    CHECK_EQ(phx_moving_ai_read_scen(problem, strlen(problem), "x", none, &scen, NULL), PHX_ERROR_MEMORY);
    CHECK(asked == 2 && scen.count == 0);
}

PHX_TEST(moving_ai, problems_are_read_exactly_and_errors_name_their_column) {
    const char *good = "version 1.0\r\n12\tmaps/a b.map\t100\t50\t1\t2\t99\t49\t3.82843\r\n"
                       "0 m 9 8 1 1 2 2 7\n0\tm\t9\t8\t1\t1\t2\t2\t123456789.123456785\n"
                       "0\tm\t9\t8\t1\t1\t2\t2\t0.00000001\n\n";
    PhxMovingAiScen scen;
    PhxError error = {0};
    if (phx_moving_ai_read_scen(good, strlen(good), "x", phx_allocator_default(), &scen, &error))
        CHECK_STR(error.text, "");
    CHECK_EQ(scen.count, 4);
    const PhxMovingAiProblem *p = scen.problems;
    CHECK(p->bucket == 12 && p->width == 100 && p->height == 50 && p->start_x == 1 && p->start_y == 2);
    CHECK(p->goal_x == 99 && p->goal_y == 49);
    CHECK_EQ(p[0].length, 382843000);
    CHECK_EQ(p[1].length, 700000000);
    CHECK_EQ(p[2].length, 12345678912345679);
    CHECK_EQ(p[3].length, 1);
    phx_moving_ai_free_scen(&scen);
    static const BadText bads[] = {
        {"", PHX_ERROR_TRUNCATED, 1, {"version 1"}},
        {"version 2\n", PHX_ERROR_VERSION, 1, {"version 1"}},
        {"version 1\n0 m 9 8 1 1 2 2 x\n", PHX_ERROR_FORMAT, 2, {"x.scen, line 2", "length"}},
        {"version 1\n0 m 9 8 1 1 2 2 1.\n", PHX_ERROR_FORMAT, 2, {"length"}},
        {"version 1\n0 m 9 8 1 1 2 2 .5\n", PHX_ERROR_FORMAT, 2, {"length"}},
        {"version 1\n0 m 9 8 1 1 2 y 1.5\n", PHX_ERROR_FORMAT, 2, {"goal y"}},
        {"version 1\n0 m 9 8 1 1 -2 2 1.5\n", PHX_ERROR_FORMAT, 2, {"goal x"}},
        {"version 1\n0 9 8 1 1 2 2 1.5\n", PHX_ERROR_FORMAT, 2, {"map's name"}},
        {"version 1\nz m 9 8 1 1 2 2 1.5\n", PHX_ERROR_FORMAT, 2, {"bucket"}},
        {"version 1\n1.5\n", PHX_ERROR_FORMAT, 2, {"goal y", "start x"}},
        {"version 1\n0 m 9 8 1 1 9 2 1.5\n", PHX_ERROR_RANGE, 2, {"9 x 8"}},
        {"version 1\n\n0 m 9 8 1 1 2 2 1.5\n", PHX_ERROR_FORMAT, 3, {"empty line"}}};
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        memset(&error, 0, sizeof error);
        const PhxStatus status = phx_moving_ai_read_scen(bads[i].text, strlen(bads[i].text), "x.scen",
                                                         phx_allocator_default(), &scen, &error);
        check_bad(&bads[i], status, &error, i);
        CHECK(scen.count == 0 && !scen.problems);
    }
}
