/* soak_cli.c: phx synctest and phx soak as a person or a script meets them: exit codes, JSON, and the line
 * that repeats a failure. The game breaks the contract where the number of worlds' threads reaches a value.
 */
#include "phx/cli.h"

#include "harness.h"
#include "run_phx.h"

#include <stdlib.h>
#include <unistd.h>

static const PhxColumnDesc gauge_columns[] = {
    {"generation", PHX_TYPE_U32, 1, PHX_CLASS_STATE, 0, UINT32_MAX, "odd while alive"},
    {"value", PHX_TYPE_U32, 1, PHX_CLASS_STATE, 0, UINT32_MAX, "what was seen"}};
static const PhxTableDesc gauge = {"gauge", PHX_KIND_ROWS, gauge_columns, 2, "a gauge"};
static const PhxTableSpec gauge_table = {&gauge, 1, 0, 0};

/* From the second malformed command on, or from tick 7 where `user` is set. */
static void see_threads(const PhxPhaseContext *context, void *user) {
    PhxTable *table = phx_world_table(context->world, "gauge");
    if (phx_table_used(table) == 0) CHECK(phx_table_insert(table) != PHX_HANDLE_NONE);
    const uint32_t *malformed = phx_world_column(context->world, "match", "commands_malformed");
    uint32_t *value = phx_world_column(context->world, "gauge", "value");
    if (user != NULL ? context->tick >= 7 : malformed[0] >= 2) value[0] = context->jobs->workers;
}

static const PhxPhaseDesc phase = {"see_threads", see_threads, "match.commands_malformed",
                                   "gauge.generation gauge.value", "arrive"};
static int by_tick;
static const PhxGame from_tick_7 = {&gauge_table, 1, &phase, 1, NULL, 0, &by_tick},
                     from_malformed_2 = {&gauge_table, 1, &phase, 1, NULL, 0, NULL};

/* Runs `phx WORDS`; where `root` isn't null, its standard output is JSON, for the caller. */
static int phx(const char *words, const PhxGame *game, json_t **root) {
    RunPhx run = run_phx(&(RunPhxOptions){.game = game}, words);
    if (root != NULL) {
        *root = json_loads(run.out, 0, NULL);
        CHECK_THAT(*root != NULL, "%s: no JSON", words);
    }
    run_phx_release(&run);
    return run.code;
}

static const char *text(const json_t *root, const char *object, const char *key) {
    const char *value = json_string_value(json_object_get(json_object_get(root, object), key));
    return value ? value : "";
}

static json_int_t number(const json_t *root, const char *object, const char *key) {
    return json_integer_value(json_object_get(object ? json_object_get(root, object) : root, key));
}

PHX_TEST(synctest, says_equal_names_the_difference_and_refuses_what_it_cannot_play) {
    char words[1500], duel[600], replay[600];
    json_t *root;
    snprintf(duel, sizeof duel, "%s", test_source("tests/scenario/duel.yaml"));
    snprintf(replay, sizeof replay, "%s/duel.phxr", test_scratch("soak-cli-files"));
    snprintf(words, sizeof words, "run %s --ticks 60 --quiet --replay %s", duel, replay);
    CHECK_EQ(phx(words, NULL, NULL), 0);
    const char *inputs[] = {duel, replay};
    for (int i = 0; i < 2; i++) {
        snprintf(words, sizeof words,
                 "synctest %s --every 3 --threads 2,3 --cold --poison 0xff --ticks 60 --json --quiet",
                 inputs[i]);
        CHECK_EQ(phx(words, NULL, &root), 0);
        CHECK(json_is_true(json_object_get(root, "equal")));
        CHECK_EQ(number(root, NULL, "ticks"), 60);
        CHECK_EQ(number(root, NULL, "comparisons"), 60 * 5);
        CHECK_EQ(json_array_size(json_object_get(root, "worlds")), 5);
        json_decref(root);
    }
    snprintf(words, sizeof words, "synctest %s --threads 1,4 --ticks 30 --json", duel);
    CHECK_EQ(phx(words, &from_tick_7, &root), 1);
    CHECK(json_is_false(json_object_get(root, "equal")));
    CHECK_EQ(number(root, NULL, "ticks"), 7);
    CHECK_EQ(number(root, "fault", "tick"), 7);
    CHECK_EQ(number(root, "fault", "row"), 0);
    CHECK_STR(text(root, "fault", "world"), "4 threads");
    CHECK_STR(text(root, "fault", "table"), "gauge");
    CHECK_STR(text(root, "fault", "column"), "value");
    CHECK_STR(text(root, "fault", "straight_value"), "0000000000000001");
    CHECK_STR(text(root, "fault", "value"), "0000000000000004");
    json_decref(root);
    const char *bad[] = {"synctest",
                         "synctest /nowhere.yaml",
                         "synctest --poison 256 x",
                         "synctest --threads 0 x",
                         "synctest --every -1 x",
                         "soak --seed x",
                         "soak --seconds -1",
                         "soak word"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) CHECK_EQ(phx(bad[i], NULL, NULL), 2);
    snprintf(words, sizeof words, "synctest --seed 4 %s", replay);
    CHECK_EQ(phx(words, NULL, NULL), 2);
    snprintf(words, sizeof words, "synctest %s", replay); /* recorded without the game's table */
    CHECK_EQ(phx(words, &from_tick_7, NULL), 2);
}

PHX_TEST(soak, a_failure_is_written_and_its_line_repeats_it) {
    char words[1500];
    const char *dir = test_scratch("soak-cli-found");
    json_t *root, *again;
    CHECK_EQ(phx("soak --seed 1 --matches 2 --json --quiet", NULL, &root), 0);
    CHECK_EQ(number(root, NULL, "matches"), 2);
    CHECK(number(root, NULL, "comparisons") > 0);
    json_decref(root);
    snprintf(words, sizeof words, "soak --seed 1 --matches 50 --out %s --json --quiet", dir);
    CHECK_EQ(phx(words, &from_malformed_2, &root), 1);
    CHECK_STR(text(root, "failure", "kind"), "difference");
    CHECK_EQ(number(root, "failure", "commands"), 2);
    CHECK(number(root, "failure", "commands_before") > 2);
    snprintf(words, sizeof words, "%s --json", text(root, "failure", "repeat") + strlen("phx "));
    CHECK_EQ(phx(words, &from_malformed_2, &again), 1);
    CHECK_EQ(number(again, "fault", "tick"), number(root, "failure", "tick"));
    CHECK_STR(text(again, "fault", "text"), text(root, "failure", "text"));
    json_decref(root);
    json_decref(again);
}
