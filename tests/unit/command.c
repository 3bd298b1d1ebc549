/* command.c: commands to bytes and back, at every bound, and every kind of bad byte. */
#include <phalanx/command.h>

#include "command/queue.h"
#include "harness.h"

static PhxCommandData example(uint8_t type, const PhxHandle *units) {
    return (PhxCommandData){.type = type,
                            .goal_x = -8192 * 65536,
                            .goal_y = 8192 * 65536 - 1,
                            .queued = 1,
                            .slot = 15,
                            .on = 1,
                            .cell_x = 4095,
                            .cell_y = 258,
                            .width = 64,
                            .height = 1,
                            .gate = 1,
                            .ground_cost = 255,
                            .kind = 15,
                            .open_teams = 0xfe01,
                            .building = phx_handle_make(4095, UINT32_MAX),
                            .radius = 32 * 65536,
                            .target = phx_handle_make(7, 9),
                            .threshold = 64 * 65536,
                            .mood = PHX_BEHAVE_KEEP,
                            .behaviour = PHX_BEHAVIOUR_PATROL,
                            .flock = 65535,
                            .shape = 5,
                            .pattern = 15,
                            .turns = 1,
                            .facing = 65535,
                            .form_width = 1024 * 65536,
                            .gap = 16 * 65536,
                            .lane_spread = 100,
                            .point_count = 2,
                            .points = {{-8192 * 65536, 8192 * 65536 - 1, 255}, {1, -1, 0}},
                            .unit_count = 3,
                            .units = units};
}

static void check_move_fields(const PhxCommandData *command, const PhxCommandData *read) {
    const uint8_t type = command->type;
    if (type == PHX_COMMAND_MOVE || type == PHX_COMMAND_MOVE_AREA)
        CHECK(read->goal_x == command->goal_x && read->goal_y == command->goal_y && read->queued);
    if (type == PHX_COMMAND_MOVE_AREA) CHECK_EQ(read->radius, 32 * 65536);
    if (type == PHX_COMMAND_MARCH)
        CHECK(read->goal_x == command->goal_x && read->goal_y == command->goal_y && read->queued &&
              read->lane_spread == 100);
    if (type == PHX_COMMAND_CHASE)
        CHECK(read->target == command->target && read->threshold == command->threshold && read->queued);
    if (type == PHX_COMMAND_MOVE_NEAREST || type == PHX_COMMAND_MOVE_BLEND) {
        CHECK(read->point_count == 2 && read->queued);
        for (int i = 0; i < 2; i++)
            CHECK(read->points[i].x == command->points[i].x && read->points[i].y == command->points[i].y &&
                  read->points[i].weight == command->points[i].weight);
    }
}

/* What a command that names cells or buildings carries. */
static void check_building_fields(const PhxCommandData *command, const PhxCommandData *read) {
    const uint8_t type = command->type;
    if (type == PHX_COMMAND_PLACE || type == PHX_COMMAND_GROUND)
        CHECK(read->cell_x == 4095 && read->cell_y == 258 && read->width == 64 && read->height == 1);
    if (type == PHX_COMMAND_PLACE) CHECK_EQ(read->gate, 1);
    if (type == PHX_COMMAND_GROUND) CHECK(read->ground_cost == 255 && read->kind == 15);
    if (type == PHX_COMMAND_RAZE || type == PHX_COMMAND_GATE) CHECK(read->building == command->building);
    if (type == PHX_COMMAND_GATE) CHECK_EQ(read->open_teams, 0xfe01);
}

PHX_TEST(command, round_trip_cuts_and_slots) {
    const PhxHandle units[3] = {phx_handle_make(1, 1), phx_handle_make(UINT32_MAX, 3), 0};
    for (uint8_t type = PHX_COMMAND_MOVE; type <= PHX_COMMAND_MARCH; type++) {
        uint8_t bytes[256];
        size_t size;
        const PhxCommandData command = example(type, units);
        PhxCommandData read;
        PhxError error = {0};
        CHECK_OK(phx_command_encode(&command, bytes, sizeof bytes, &size));
        CHECK_OK(phx_command_decode(bytes, size, &read, &error));
        CHECK_EQ(read.type, type);
        check_move_fields(&command, &read);
        if (type == PHX_COMMAND_LEAVE) CHECK_EQ(read.slot, 15);
        if (type == PHX_COMMAND_PAUSE) CHECK_EQ(read.on, 1);
        if (type == PHX_COMMAND_BEHAVE)
            CHECK(read.mood == PHX_BEHAVE_KEEP && read.behaviour == PHX_BEHAVIOUR_PATROL);
        if (type == PHX_COMMAND_FLOCK) CHECK_EQ(read.flock, 65535);
        if (type == PHX_COMMAND_FORM)
            CHECK(read.shape == 5 && read.pattern == 15 && read.turns == 1 && read.facing == 65535 &&
                  read.form_width == 1024 * 65536 && read.gap == 16 * 65536);
        check_building_fields(&command, &read);
        if (type <= PHX_COMMAND_STOP || type >= PHX_COMMAND_MOVE_AREA)
            for (uint32_t i = 0; i < 3; i++) CHECK(phx_command_unit(&read, i) == units[i]);
        for (size_t cut = 0; cut < size; cut++)
            CHECK_EQ(phx_command_decode(bytes, cut, &read, &error), PHX_ERROR_TRUNCATED);
        bytes[size] = 0;
        CHECK_EQ(phx_command_decode(bytes, size + 1, &read, &error), PHX_ERROR_FORMAT);
        const bool host_only =
            type == PHX_COMMAND_LEAVE || type == PHX_COMMAND_PAUSE || type == PHX_COMMAND_GROUND;
        CHECK_EQ(phx_command_check(bytes, size, 0, &error), host_only ? PHX_ERROR_STATE : PHX_OK);
        CHECK_EQ(phx_command_check(bytes, size, PHX_SLOT_HOST, &error), host_only ? PHX_OK : PHX_ERROR_STATE);
        CHECK_EQ(phx_command_check(bytes, size, 16, &error), PHX_ERROR_STATE);
        CHECK_EQ(phx_command_encode(&command, bytes, size - 1, &size), PHX_ERROR_FULL);
    }
}

PHX_TEST(command, values_out_of_range_are_refused_both_ways) {
    uint8_t bytes[64] = {0};
    size_t size;
    PhxCommandData command = {.type = PHX_COMMAND_PAUSE, .on = 2}, read;
    PhxError error;
    CHECK_EQ(phx_command_encode(&command, bytes, sizeof bytes, &size), PHX_ERROR_RANGE);
    const uint8_t bad_pause[] = {PHX_COMMAND_PAUSE, 2}, bad_leave[] = {PHX_COMMAND_LEAVE, 16};
    CHECK_EQ(phx_command_decode(bad_pause, 2, &read, &error), PHX_ERROR_RANGE);
    CHECK(strstr(error.text, "on is 2") && error.offset == 1);
    CHECK_EQ(phx_command_decode(bad_leave, 2, &read, &error), PHX_ERROR_RANGE);
    const uint8_t huge[] = {PHX_COMMAND_STOP, 0xff, 0xff};
    CHECK_EQ(phx_command_decode(huge, 3, &read, &error), PHX_ERROR_LIMIT);
    const uint8_t lying[] = {PHX_COMMAND_STOP, 0xf0, 0x01}; /* 496 units, and no byte of them */
    CHECK_EQ(phx_command_decode(lying, 3, &read, &error), PHX_ERROR_TRUNCATED);
    const uint8_t none[] = {PHX_COMMAND_MOVE_NEAREST, 0, 0}, many[] = {PHX_COMMAND_MOVE_BLEND, 0, 9};
    CHECK_EQ(phx_command_decode(none, 3, &read, &error), PHX_ERROR_LIMIT);
    CHECK_EQ(phx_command_decode(many, 3, &read, &error), PHX_ERROR_LIMIT);
    const uint8_t far[] = {PHX_COMMAND_MOVE_BLEND, 0, 1, 0, 0, 0, 0x20, 0, 0, 0, 0, 1, 0, 0};
    CHECK_EQ(phx_command_decode(far, sizeof far, &read, &error), PHX_ERROR_RANGE);
    CHECK_EQ(error.offset, 3);
    command = (PhxCommandData){.type = PHX_COMMAND_MOVE_NEAREST, .point_count = 0};
    CHECK_EQ(phx_command_encode(&command, bytes, sizeof bytes, &size), PHX_ERROR_LIMIT);
    command.point_count = 1, command.points[0].x = 8192 * 65536;
    CHECK_EQ(phx_command_encode(&command, bytes, sizeof bytes, &size), PHX_ERROR_RANGE);
    const uint8_t unknown[] = {99};
    CHECK_EQ(phx_command_decode(unknown, 1, &read, &error), PHX_ERROR_FORMAT);
    CHECK_EQ(phx_command_check(unknown, 1, 0, &error), PHX_ERROR_FORMAT);
    CHECK_EQ(phx_command_check(bytes, 0, 0, &error), PHX_ERROR_LIMIT);
    bytes[0] = PHX_COMMAND_GAME_FIRST; /* a game checks its own */
    CHECK_OK(phx_command_check(bytes, 64, 0, &error));
}

/* Each field of the commands on cells and buildings, just beyond its bounds: bytes at their offsets. */
PHX_TEST(command, cells_sides_and_costs_out_of_range_are_refused) {
    const struct {
        uint8_t type, offset;
        uint16_t value;
        bool wide; /* two bytes */
        const char *text;
    } bad[] = {
        {PHX_COMMAND_PLACE, 1, 4096, true, "cell_x is 4096"},
        {PHX_COMMAND_PLACE, 3, 65535, true, "cell_y is 65535"},
        {PHX_COMMAND_PLACE, 5, 0, true, "width is 0"},
        {PHX_COMMAND_PLACE, 5, 65, true, "width is 65"},
        {PHX_COMMAND_PLACE, 7, 256, true, "height is 256"},
        {PHX_COMMAND_PLACE, 9, 2, false, "gate is 2"},
        {PHX_COMMAND_GROUND, 1, 4096, true, "cell_x is 4096"},
        {PHX_COMMAND_GROUND, 5, 4097, true, "width is 4097"},
        {PHX_COMMAND_GROUND, 7, 0, true, "height is 0"},
        {PHX_COMMAND_GROUND, 9, 0, false, "ground_cost is 0"},
        {PHX_COMMAND_GROUND, 10, 16, false, "kind is 16"},
        {PHX_COMMAND_BEHAVE, 1, 4, false, "mood is 4"},
        {PHX_COMMAND_BEHAVE, 2, 255, false, "behaviour is 255"},
    };
    const PhxHandle units[3] = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const PhxCommandData good = example(bad[i].type, units);
        uint8_t bytes[64];
        size_t size;
        PhxCommandData read;
        PhxError error = {0};
        CHECK_OK(phx_command_encode(&good, bytes, sizeof bytes, &size));
        bytes[bad[i].offset] = (uint8_t)bad[i].value;
        if (bad[i].wide) bytes[bad[i].offset + 1] = (uint8_t)(bad[i].value >> 8);
        CHECK_THAT(phx_command_decode(bytes, size, &read, &error) == PHX_ERROR_RANGE, "%s", bad[i].text);
        CHECK_THAT(strstr(error.text, bad[i].text) && error.offset == bad[i].offset, "%s, not %s", error.text,
                   bad[i].text);
    }
    PhxCommandData wide = example(PHX_COMMAND_PLACE, NULL);
    uint8_t bytes[64];
    size_t size;
    wide.width = 65;
    CHECK_EQ(phx_command_encode(&wide, bytes, sizeof bytes, &size), PHX_ERROR_RANGE);
}

PHX_TEST(command, garbled_bytes_give_a_status_and_nothing_else) {
    uint64_t seed = 3;
    uint32_t good = 0;
    for (int i = 0; i < 100000; i++) {
        uint8_t bytes[40];
        PhxCommandData read;
        const size_t size = test_random(&seed) % sizeof bytes;
        for (size_t b = 0; b < size; b++) bytes[b] = (uint8_t)test_random(&seed);
        if (size > 0) bytes[0] %= PHX_COMMAND_BEHAVE + 2;
        good += phx_command_decode(bytes, size, &read, NULL) == PHX_OK;
    }
    CHECK(good > 10 && good < 100000);
}

/* Case 2 of public reports: equal keys sort differently in different libraries. Here no two keys are equal.
 */
PHX_TEST(command, canonical_order_does_not_depend_on_arrival) {
    uint64_t seed = 5;
    for (int round = 0; round < 200; round++) {
        PhxQueuedCommand queue[64];
        uint32_t count = 0;
        for (uint8_t slot = 0; slot < 5; slot++)
            for (uint32_t s = 0; s < 12; s++)
                queue[count] = (PhxQueuedCommand){slot == 4 ? 255 : slot, s, count}, count++;
        for (uint32_t i = count; i > 1; i--) {
            const uint32_t j = (uint32_t)test_range(&seed, 0, i - 1);
            const PhxQueuedCommand swap = queue[i - 1];
            queue[i - 1] = queue[j], queue[j] = swap;
        }
        CHECK_OK(phx_command_queue_order(queue, count));
        for (uint32_t i = 0; i < count; i++) CHECK_EQ(queue[i].index, i);
        queue[3].sequence = 2, queue[3].slot = 0;
        CHECK_EQ(phx_command_queue_order(queue, count), PHX_ERROR_ARGUMENT);
    }
}
