/* schema.c: what holds for every column there is, by walking the schema itself: the engine's tables of all
 * three kinds and a game's. A new column is covered the moment it is declared.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "harness.h"
#include "state/codec.h"
#include "state/diff.h"
#include "state/hash.h"

static const PhxColumnDesc wonder_columns[] = {
    {"generation", PHX_TYPE_U32, 1, PHX_CLASS_STATE, 0, UINT32_MAX, "odd while alive"},
    {"depth", PHX_TYPE_I32, 3, PHX_CLASS_STATE, -5, 1000, "below ground"},
    {"guess", PHX_TYPE_U16, 1, PHX_CLASS_DERIVED, 0, 65535, "derived"},
};
static const PhxColumnDesc fog_columns[] = {
    {"seen", PHX_TYPE_U16, 1, PHX_CLASS_STATE, 0, 1000, "tick"},
    {"owner", PHX_TYPE_HANDLE, 1, PHX_CLASS_STATE, INT64_MIN, INT64_MAX, "who"},
};
static const PhxTableDesc wonder = {"wonder", PHX_KIND_ROWS, wonder_columns, 3, "a game's rows"};
static const PhxTableDesc fog = {"fog", PHX_KIND_GRID, fog_columns, 2, "a game's grid, wider than a block"};

enum { TABLES = PHX_TABLE_BUILTIN_COUNT + 2 };

static PhxWorld *make_world(void) {
    PhxTableSpec specs[TABLES];
    PhxWorld *world;
    PhxError error = {0};
    for (uint32_t t = 0; t < PHX_TABLE_BUILTIN_COUNT; t++) {
        const PhxTableDesc *desc = phx_schema_builtin(t);
        const bool grid = desc->kind == PHX_KIND_GRID;
        specs[t] = (PhxTableSpec){desc, grid ? 0 : 9, grid ? 70 : 0, grid ? 65 : 0};
    }
    specs[TABLES - 2] = (PhxTableSpec){&wonder, 5, 0, 0};
    specs[TABLES - 1] = (PhxTableSpec){&fog, 0, 130, 3};
    CHECK_THAT(phx_world_create(phx_allocator_default(), specs, TABLES, &world, &error) == PHX_OK, "%s",
               error.text);
    return world;
}

static uint64_t value_in_range(const PhxColumnDesc *column, uint64_t *seed) {
    if (phx_type_size(column->type) == 8) return test_random(seed);
    const uint64_t dice = test_random(seed) % 8;
    return dice == 0   ? (uint64_t)column->low
           : dice == 1 ? (uint64_t)column->high
                       : (uint64_t)test_range(seed, column->low, column->high);
}

/* Rows born and dead, each living value somewhere in its range. */
static void fill(PhxWorld *world, uint64_t seed) {
    for (uint32_t t = 0; t < world->table_count; t++) {
        PhxTable *table = &world->tables[t];
        const bool grid = table->desc->kind == PHX_KIND_GRID;
        for (uint32_t row = 0; !grid && row < table->capacity - 1; row++) CHECK(phx_table_insert(table) != 0);
        if (!grid && table->used > 3) phx_table_remove(table, 2); /* a dead row among the living */
        for (uint32_t row = 0; row < table->used; row++)
            for (uint32_t c = grid ? 0 : 1; c < table->desc->column_count; c++)
                for (uint32_t lane = 0; lane < table->desc->columns[c].lanes; lane++)
                    if (grid || phx_table_alive(table, row))
                        phx_table_set(table, c, row, lane, value_in_range(&table->desc->columns[c], &seed));
    }
    phx_world_rederive(world);
}

static uint8_t *encode(PhxWorld *world, size_t *size) {
    const size_t capacity = phx_world_encoded_size(world);
    uint8_t *bytes = malloc(capacity);
    PhxWriter writer = phx_writer_make(bytes, capacity);
    phx_world_encode(world, phx_world_hash(world, NULL), &writer);
    CHECK_OK(writer.status);
    CHECK_EQ(writer.at, capacity);
    *size = writer.at;
    return bytes;
}

static PhxStatus decode(PhxWorld *world, const uint8_t *bytes, size_t size, PhxError *error) {
    PhxReader reader = phx_reader_make(bytes, size);
    uint64_t root;
    const PhxStatus status = phx_world_decode(world, &reader, &root, error);
    return status != PHX_OK ? status : phx_reader_finish(&reader);
}

PHX_TEST(schema, every_column_survives_encoding_at_any_value_in_range) {
    PhxWorld *world = make_world(), *other = make_world();
    for (uint64_t seed = 1; seed <= 50; seed++) {
        size_t size;
        PhxError error = {0};
        phx_world_clear(world);
        fill(world, seed);
        uint8_t *bytes = encode(world, &size);
        CHECK_THAT(decode(other, bytes, size, &error) == PHX_OK, "seed %" PRIu64 ": %s", seed, error.text);
        CHECK_EQ(phx_world_diff(world, other, NULL, 0), 0);
        CHECK(phx_world_hash(world, NULL) == phx_world_hash(other, NULL));
        free(bytes);
    }
    phx_world_destroy(world);
    phx_world_destroy(other);
}

/* One bit of one element of one column: the root must change, the table's hash too, no other table's, and the
 * diff must name exactly that place. */
static void flip_and_find(PhxWorld *world, PhxWorld *clean, uint32_t t, uint32_t c, uint32_t row,
                          uint64_t *seed) {
    PhxTable *table = &world->tables[t];
    const PhxColumnDesc *column = &table->desc->columns[c];
    const uint32_t lane = (uint32_t)(test_random(seed) % column->lanes);
    const uint64_t before = phx_table_get(table, c, row, lane);
    const uint64_t bit = (uint64_t)1 << (test_random(seed) % (8 * phx_type_size(column->type)));
    uint64_t hashes[TABLES], clean_hashes[TABLES];
    PhxValueDifference found[2];
    phx_table_set(table, c, row, lane, before ^ bit);
    if (table->desc->kind == PHX_KIND_GRID) phx_grid_touch(table, row % table->width, row / table->width);
    const uint64_t root = phx_world_hash(world, hashes), clean_root = phx_world_hash(clean, clean_hashes);
    CHECK_THAT((root != clean_root) == (column->klass == PHX_CLASS_STATE), "%s.%s", table->desc->name,
               column->name);
    for (uint32_t other = 0; other < TABLES; other++)
        CHECK_EQ(hashes[other] != clean_hashes[other], other == t && column->klass == PHX_CLASS_STATE);
    if (column->klass == PHX_CLASS_STATE) {
        CHECK_EQ(phx_world_diff(world, clean, found, 2), 1);
        CHECK_STR(found[0].table, table->desc->name);
        CHECK_STR(found[0].column, column->name);
        CHECK(found[0].row == row && found[0].lane == lane);
        CHECK(found[0].right == before && found[0].left == phx_table_get(table, c, row, lane));
    }
    phx_table_set(table, c, row, lane, before);
    if (table->desc->kind == PHX_KIND_GRID) phx_grid_touch(table, row % table->width, row / table->width);
    CHECK(phx_world_hash(world, hashes) == clean_root);
}

PHX_TEST(schema, a_flipped_bit_of_any_column_changes_the_root_and_is_named) {
    PhxWorld *world = make_world(), *clean = make_world();
    uint64_t seed = 11;
    uint32_t flipped = 0, kinds = 0;
    fill(world, 5);
    fill(clean, 5);
    for (uint32_t t = 0; t < TABLES; t++) {
        PhxTable *table = &world->tables[t];
        kinds |= 1u << table->desc->kind;
        for (uint32_t c = 0; c < table->desc->column_count; c++)
            for (int i = 0; i < 20; i++, flipped++)
                flip_and_find(world, clean, t, c, (uint32_t)(test_random(&seed) % table->used), &seed);
    }
    CHECK_EQ(kinds, 7);
    CHECK(flipped > 500);
    phx_world_destroy(world);
    phx_world_destroy(clean);
}

/* Sets an element to a value that its range forbids (or a dead row to something) and expects a refusal by
 * name. */
static void refuse(PhxWorld *world, PhxWorld *other, uint32_t t, uint32_t c, uint32_t row, int64_t value) {
    PhxTable *table = &world->tables[t];
    const uint64_t before = phx_table_get(table, c, row, 0);
    size_t size;
    PhxError error = {0};
    char name[80];
    phx_table_set(table, c, row, 0, (uint64_t)value);
    phx_world_rederive(world);
    uint8_t *bytes = encode(world, &size);
    CHECK_EQ(decode(other, bytes, size, &error), PHX_ERROR_RANGE);
    snprintf(name, sizeof name, "%s[%u].%s", table->desc->name, row, table->desc->columns[c].name);
    CHECK_THAT(strstr(error.text, name), "\"%s\" should name %s", error.text, name);
    CHECK(error.offset > 0 && error.offset < size);
    free(bytes);
    phx_table_set(table, c, row, 0, before);
}

PHX_TEST(schema, values_out_of_range_and_dead_rows_that_are_not_zero_are_refused_by_name) {
    PhxWorld *world = make_world(), *other = make_world();
    uint32_t refused = 0;
    fill(world, 3);
    for (uint32_t t = 0; t < TABLES; t++) {
        PhxTable *table = &world->tables[t];
        const bool grid = table->desc->kind == PHX_KIND_GRID;
        const uint32_t alive = grid ? table->used - 1 : 0;
        for (uint32_t c = grid ? 0 : 1; c < table->desc->column_count; c++) {
            const PhxColumnDesc *column = &table->desc->columns[c];
            const unsigned bits = 8 * phx_type_size(column->type);
            if (column->klass != PHX_CLASS_STATE) continue;
            if (!grid && table->used > 3) refuse(world, other, t, c, 2, 1), refused++;
            if (bits == 64) continue;
            const int64_t most = ((int64_t)1 << (bits - (phx_type_signed(column->type) ? 1 : 0))) - 1;
            const int64_t least = phx_type_signed(column->type) ? -most - 1 : 0;
            if (column->high < most) refuse(world, other, t, c, alive, column->high + 1), refused++;
            if (column->low > least) refuse(world, other, t, c, alive, column->low - 1), refused++;
        }
    }
    CHECK(refused > 60);
    phx_world_destroy(world);
    phx_world_destroy(other);
}

PHX_TEST(schema, snapshots_cut_anywhere_or_garbled_are_refused_and_never_taken) {
    PhxWorld *world = make_world(), *other = make_world();
    size_t size;
    uint64_t seed = 8;
    fill(world, 2);
    uint8_t *bytes = encode(world, &size);
    for (size_t cut = 0; cut < size; cut += cut < 1024 ? 1 : 37) {
        PhxError error = {0};
        uint8_t *exact = malloc(cut + 1); /* so that a read beyond the end is seen by the sanitizer */
        memcpy(exact, bytes, cut);
        CHECK_THAT(decode(other, exact, cut, &error) != PHX_OK, "cut at %zu", cut);
        CHECK(error.text[0] != 0);
        free(exact);
    }
    for (int i = 0; i < 10000; i++) {
        const size_t at = test_random(&seed) % size;
        const uint8_t bit = (uint8_t)(1u << test_random(&seed) % 8);
        bytes[at] ^= bit;
        CHECK_THAT(decode(other, bytes, size, NULL) != PHX_OK, "flip %d at %zu", i, at);
        bytes[at] ^= bit;
    }
    CHECK_OK(decode(other, bytes, size, NULL));
    free(bytes);
    phx_world_destroy(world);
    phx_world_destroy(other);
}

/* A flat grid is one value, and nothing else decodes to it: one state, one encoding. */
PHX_TEST(schema, a_flat_grid_is_one_value_in_its_only_form) {
    PhxWorld *world = make_world(), *other = make_world();
    PhxError error = {0};
    size_t flat, uneven;
    phx_world_clear(world);
    PhxTable *terrain = &world->tables[PHX_TABLE_terrain];
    memset(world->terrain.cost, 7, terrain->used);
    phx_world_rederive(world);
    uint8_t *one = encode(world, &flat);
    CHECK_OK(decode(other, one, flat, &error));
    CHECK_EQ(phx_world_diff(world, other, NULL, 0), 0);
    world->terrain.cost[terrain->used - 1] = 8;
    phx_grid_touch(terrain, terrain->width - 1, terrain->height - 1);
    uint8_t *all = encode(world, &uneven);
    CHECK_EQ(uneven - flat, terrain->used - 1u);
    CHECK_OK(decode(other, all, uneven, &error));
    CHECK_EQ(phx_world_diff(world, other, NULL, 0), 0);
    /* the cells of the flat grid, one by one */
    size_t at = 0;
    while (at < uneven - terrain->used && memcmp(all + at, "\1\7\7\7\7", 5) != 0) at++;
    CHECK(at < uneven - terrain->used);
    all[at + terrain->used] = 7;
    memcpy(all + uneven - 8, one + flat - 8, 8); /* its root */
    CHECK_EQ(decode(other, all, uneven, &error), PHX_ERROR_FORMAT);
    all[at] = 2;
    CHECK_EQ(decode(other, all, uneven, &error), PHX_ERROR_FORMAT);
    free(one);
    free(all);
    phx_world_destroy(world);
    phx_world_destroy(other);
}

PHX_TEST(schema, hash_does_not_depend_on_the_history_of_rows_but_on_generations) {
    PhxWorld *a = make_world(), *b = make_world();
    PhxTable *in_a = &a->tables[PHX_TABLE_unit], *in_b = &b->tables[PHX_TABLE_unit];
    PhxHandle first[4];
    for (int i = 0; i < 4; i++) CHECK((first[i] = phx_table_insert(in_a)) && phx_table_insert(in_b));
    phx_table_remove(in_a, 1), phx_table_remove(in_a, 3);
    phx_table_remove(in_b, 3), phx_table_remove(in_b, 1); /* in the other order */
    CHECK(phx_world_hash(a, NULL) == phx_world_hash(b, NULL));
    const PhxHandle again = phx_table_insert(in_a); /* the lowest free slot */
    CHECK_EQ(phx_handle_slot(again), 1);
    CHECK(again != first[1] && phx_table_find(in_a, first[1]) == UINT32_MAX &&
          phx_table_find(in_a, again) == 1);
    CHECK(phx_world_hash(a, NULL) != phx_world_hash(b, NULL));
    CHECK(phx_table_insert(in_b) == again);
    CHECK(phx_world_hash(a, NULL) == phx_world_hash(b, NULL));
    while (phx_table_insert(in_a) != PHX_HANDLE_NONE) CHECK(in_a->live <= in_a->capacity);
    CHECK_EQ(in_a->live, in_a->capacity);
    phx_world_destroy(a);
    phx_world_destroy(b);
}

PHX_TEST(schema, an_unmarked_write_to_a_grid_is_caught_by_the_audit) {
    PhxWorld *world = make_world();
    fill(world, 1);
    (void)phx_world_hash(world, NULL);
    phx_world_audit(world);
    CHECK_EQ(world->audit_failures, 0);
    world->terrain.cost[4000] ^= 1;
    /* one round over the two strips of the map */
    for (int turn = 0; turn < 2 * PHX_AUDIT_PERIOD; turn++) phx_world_audit(world);
    CHECK(world->audit_failures > 0);
    world->terrain.cost[4000] ^= 1;
    const uint64_t failures = world->audit_failures;
    for (int turn = 0; turn < 2 * PHX_AUDIT_PERIOD; turn++) phx_world_audit(world);
    CHECK_EQ(world->audit_failures, failures);
    phx_world_destroy(world);
}

PHX_TEST(schema, bad_declarations_are_refused_with_a_word) {
    const PhxColumnDesc good = {"generation", PHX_TYPE_U32, 1, PHX_CLASS_STATE, 0, UINT32_MAX, ""};
    PhxColumnDesc columns[2] = {good, {"value", PHX_TYPE_U8, 1, PHX_CLASS_STATE, 0, 255, ""}};
    PhxTableDesc table = {"thing", PHX_KIND_ROWS, columns, 2, ""};
    PhxError error;
    CHECK_OK(phx_schema_check(&table, &error));
    columns[1].high = 256; /* beyond its type */
    CHECK_EQ(phx_schema_check(&table, &error), PHX_ERROR_ARGUMENT);
    CHECK(strstr(error.text, "thing.value"));
    columns[1].high = 255, columns[1].lanes = 0;
    CHECK_EQ(phx_schema_check(&table, &error), PHX_ERROR_ARGUMENT);
    columns[1].lanes = 1, columns[1].name = "generation";
    CHECK_EQ(phx_schema_check(&table, &error), PHX_ERROR_ARGUMENT);
    columns[1].name = "value", columns[0].name = "id";
    CHECK_EQ(phx_schema_check(&table, &error), PHX_ERROR_ARGUMENT);
    columns[0] = good, table.name = "Thing";
    CHECK_EQ(phx_schema_check(&table, &error), PHX_ERROR_ARGUMENT);
}
