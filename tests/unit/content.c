/* content.c: the builder's refusals, and blobs that are cut, garbled, of another version, or lie about
 * themselves. Each try makes much of a sim: with PHX_LONG=1 a blob is cut at each of its first 1,024 bytes
 * and has 3,000 flipped bits, by default every 7th and 500, under a sanitizer every 23rd and 150. */
#include <phalanx/content.h>
#include <phalanx/hash.h>
#include <stdlib.h>

#include "harness.h"
#include "little_match.h"

static const PhxSettings settings = {.match_key = 1, .tick_rate = 20, .ticks_per_turn = 1, .input_delay = 2};

PHX_TEST(content, builder_refuses_by_name) {
    uint8_t cost[64];
    PhxContentBuilder *builder;
    PhxError error;
    uint16_t type;
    PhxUnitTypeDef def = phx_content_unit_type_default();
    memset(cost, 1, sizeof cost);
    CHECK_EQ(phx_content_begin(&settings, 0, 8, cost, 4, 4, &builder, &error), PHX_ERROR_LIMIT);
    CHECK_EQ(phx_content_begin(&settings, 8, 5000, cost, 4, 4, &builder, &error), PHX_ERROR_LIMIT);
    CHECK_EQ(phx_content_begin(&settings, 8, 8, cost, 0, 4, &builder, &error), PHX_ERROR_LIMIT);
    CHECK_EQ(phx_content_begin(&settings, 8, 8, NULL, 4, 4, &builder, &error), PHX_ERROR_ARGUMENT);
    PhxSettings bad = settings;
    bad.tick_rate = 0;
    CHECK_EQ(phx_content_begin(&bad, 8, 8, cost, 4, 4, &builder, &error), PHX_ERROR_RANGE);
    CHECK(strstr(error.text, "tick_rate"));
    cost[9] = 0;
    CHECK_EQ(phx_content_begin(&settings, 8, 8, cost, 4, 4, &builder, &error), PHX_ERROR_RANGE);
    CHECK(strstr(error.text, "1,1"));
    cost[9] = 255;
    CHECK_OK(phx_content_begin(&settings, 8, 8, cost, 2, 4, &builder, &error));
    CHECK_EQ(phx_content_add_unit(builder, 0, 0, 1 << 18, 1 << 18, 0, &error), PHX_ERROR_RANGE);
    CHECK_EQ(phx_content_add_player(builder, "", 0, &error), PHX_ERROR_RANGE);
    CHECK_EQ(phx_content_add_player(builder, "a name of 17 bytes", 0, &error), PHX_ERROR_RANGE);
    CHECK_EQ(phx_content_add_player(builder, "P", 16, &error), PHX_ERROR_RANGE);
    CHECK(strstr(error.text, "player.team"));
    CHECK_OK(phx_content_add_player(builder, "P", 15, &error));
    def.name = "u", def.radius = 0;
    CHECK_EQ(phx_content_add_unit_type(builder, &def, &type, &error), PHX_ERROR_RANGE);
    CHECK(strstr(error.text, "unit_type.radius"));
    def.radius = 32768;
    CHECK_OK(phx_content_add_unit_type(builder, &def, &type, &error));
    CHECK_EQ(type, 0); /* a refused row leaves no trace */
    CHECK_EQ(phx_content_add_unit(builder, 0, 0, 3 << 15, 3 << 15, 0, &error),
             PHX_ERROR_RANGE);                                                             /* in the wall */
    CHECK_EQ(phx_content_add_unit(builder, 0, 0, 0, 4 << 16, 0, &error), PHX_ERROR_RANGE); /* over the edge */
    CHECK_OK(phx_content_add_unit(builder, 0, 0, 4 << 16, 4 << 16, 0, &error));
    CHECK_OK(phx_content_add_unit(builder, 0, 0, 4 << 16, 4 << 16, 0, &error)); /* overlap is allowed */
    CHECK_EQ(phx_content_add_unit(builder, 0, 0, 4 << 16, 6 << 16, 0, &error), PHX_ERROR_FULL);
    phx_content_end(builder);
}

PHX_TEST(content, equal_values_give_equal_bytes_and_settings_are_not_content) {
    size_t size, again_size;
    PhxContentInfo info, changed;
    uint8_t *blob = little_content(5, 20, 4, &size), *again = little_content(5, 20, 4, &again_size);
    CHECK(size == again_size && memcmp(blob, again, size) == 0);
    CHECK_OK(phx_content_info(blob, size, &info, NULL));
    CHECK(info.width == 20 && info.height == 20 && info.unit_capacity == 16 && info.settings.tick_rate == 20);
    again[6] ^= 1; /* the match key */
    CHECK_OK(phx_content_info(again, size, &changed, NULL));
    CHECK(changed.content_hash == info.content_hash && changed.settings.match_key != info.settings.match_key);
    again[size - 100] ^= 1;
    CHECK_OK(phx_content_info(again, size, &changed, NULL));
    CHECK(changed.content_hash != info.content_hash);
    free(blob);
    free(again);
}

PHX_TEST(content, blobs_cut_anywhere_or_garbled_make_no_world) {
    size_t size;
    uint64_t seed = 2;
    PhxSim *sim;
    PhxError error;
    uint8_t *blob = little_content(5, 20, 4, &size);
    const size_t step = test_count(23, 7, 1);
    const uint32_t flips = test_count(150, 500, 3000);
    for (size_t cut = 0; cut < size; cut += cut < 32 ? 1 : cut < 1024 ? step : 13 * step) {
        uint8_t *exact = malloc(cut + 1);
        memcpy(exact, blob, cut);
        CHECK_THAT(phx_sim_create(&(PhxSimConfig){0}, exact, cut, NULL, &sim, &error) != PHX_OK, "cut at %zu",
                   cut);
        CHECK(!sim && error.text[0]);
        free(exact);
    }
    uint32_t made = 0;
    for (uint32_t i = 0; i < flips; i++) {
        const size_t at = test_random(&seed) % size;
        const uint8_t bit = (uint8_t)(1u << test_random(&seed) % 8);
        blob[at] ^= bit;
        /* the settings' bytes carry no checksum: any value in range is as good as another */
        if (phx_sim_create(&(PhxSimConfig){0}, blob, size, NULL, &sim, &error) == PHX_OK) {
            CHECK_THAT(at >= 6 && at < 20, "flip at %zu", at);
            CHECK_OK(phx_sim_step(sim, NULL, 0));
            phx_sim_destroy(sim);
            made++;
        }
        blob[at] ^= bit;
    }
    CHECK(made < 100);
    free(blob);
}

PHX_TEST(content, settings_round_trip_and_ranges) {
    uint8_t bytes[PHX_SETTINGS_BYTES];
    PhxSettings read, value = {UINT64_C(0x0102030405060708), 1000, 16, 64};
    PhxError error;
    phx_settings_encode(&value, bytes);
    CHECK_EQ(bytes[0], 8); /* little-endian everywhere */
    CHECK_OK(phx_settings_decode(bytes, &read, &error));
    CHECK(read.match_key == value.match_key && read.tick_rate == 1000 && read.ticks_per_turn == 16 &&
          read.input_delay == 64);
    value.input_delay = 65;
    phx_settings_encode(&value, bytes);
    CHECK_EQ(phx_settings_decode(bytes, &read, &error), PHX_ERROR_RANGE);
    CHECK(strstr(error.text, "input_delay is 65"));
}
