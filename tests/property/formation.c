/* Slots of formations against brute force: any two discs keep their gap, ranks stand in order, a loss changes
 * little, the narrow is narrow, and a frame that marches and wheels asks no slot to be faster than the
 * slowest. */
#include <math.h>
#include <phalanx/formation.h>

#include "harness.h"

enum { ONE = 65536, MOST = PHX_FORMATION_UNITS };

typedef struct Case {
    fix16_t radius[MOST];
    uint8_t rank[MOST];
    PhxFormationSpec spec;
    PhxFormationSlot slots[MOST];
    PhxFormationExtent extent;
} Case;

static uint32_t random_of(uint64_t *seed, uint32_t below) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % below);
}

static void make(Case *c, uint64_t *seed, PhxFormationShape shape, uint32_t count) {
    const uint32_t ranks = 1 + random_of(seed, 4);
    for (uint32_t i = 0; i < count; i++) {
        c->rank[i] = (uint8_t)random_of(seed, ranks);
        c->radius[i] = (fix16_t)(4096 + random_of(seed, 2) * random_of(seed, 3 * ONE));
    }
    c->spec = (PhxFormationSpec){.shape = shape,
                                 .count = count,
                                 .radius = c->radius,
                                 .rank = c->rank,
                                 .gap = (fix16_t)random_of(seed, ONE)};
}

static void check_apart(const Case *c, uint64_t seed) {
    for (uint32_t i = 0; i < c->spec.count; i++)
        for (uint32_t k = 0; k < i; k++) {
            const double dx = (double)c->slots[i].at.x - c->slots[k].at.x,
                         dy = (double)c->slots[i].at.y - c->slots[k].at.y;
            const double wanted = (double)c->slots[i].radius + c->slots[k].radius + c->spec.gap;
            CHECK_THAT(hypot(dx, dy) >= wanted - 0.01, "seed %" PRIu64 " %s of %u: slots %u and %u", seed,
                       phx_formation_shape_name(c->spec.shape), c->spec.count, i, k);
        }
}

/* As many slots of a rank as units, none smaller than the largest; and what the extent tells. */
static void check_ranks(const Case *c, uint64_t seed) {
    int32_t balance[PHX_FORMATION_RANKS] = {0};
    for (uint32_t i = 0; i < c->spec.count; i++) balance[c->rank[i]]++, balance[c->slots[i].rank]--;
    for (uint32_t r = 0; r < PHX_FORMATION_RANKS; r++)
        CHECK_THAT(balance[r] == 0, "seed %" PRIu64 " rank %u", seed, r);
    for (uint32_t i = 0; i < c->spec.count; i++) {
        const PhxFormationSlot *slot = &c->slots[i];
        for (uint32_t k = 0; k < c->spec.count; k++) {
            if (c->rank[k] == slot->rank)
                CHECK_THAT(slot->radius >= c->radius[k], "seed %" PRIu64 " slot %u", seed, i);
            const PhxFormationSlot *other = &c->slots[k];
            if (slot->rank >= other->rank) continue;
            if (c->spec.shape == PHX_FORMATION_CIRCLE && c->spec.limit > 0) continue; /* perhaps a block */
            if (c->spec.shape == PHX_FORMATION_CIRCLE)
                CHECK(phx_vec2_length(slot->at) > phx_vec2_length(other->at));
            else
                CHECK(slot->at.x > other->at.x);
        }
        CHECK(abs(slot->at.y) + slot->radius <= c->extent.side &&
              slot->at.x + slot->radius <= c->extent.front);
        CHECK(slot->radius - slot->at.x <= c->extent.back);
        CHECK(phx_vec2_length(slot->at) <= (uint32_t)c->extent.reach);
    }
}

PHX_TEST(formation, slots_keep_apart_and_ranks_in_order_for_any_bodies) {
    static Case c;
    for (uint64_t round = 0; round < 120; round++) {
        uint64_t seed = round;
        make(&c, &seed, (PhxFormationShape)(round % 5), 1 + random_of(&seed, round < 110 ? 90 : 600));
        CHECK_OK(phx_formation_layout(&c.spec, c.slots, &c.extent));
        check_apart(&c, round);
        check_ranks(&c, round);
        /* the narrow: no wider than the limit, or one file */
        const fix16_t limit = (fix16_t)(8 * ONE + random_of(&seed, 16 * ONE));
        c.spec.limit = limit;
        CHECK_OK(phx_formation_layout(&c.spec, c.slots, &c.extent));
        check_apart(&c, round);
        check_ranks(&c, round);
        CHECK_THAT(2 * c.extent.side <= limit + 4, "round %" PRIu64 ": %d of %d", round, 2 * c.extent.side,
                   limit);
        if (c.spec.shape == PHX_FORMATION_CIRCLE) continue;
        c.spec.limit = 0, c.spec.width = limit;
        CHECK_OK(phx_formation_layout(&c.spec, c.slots, &c.extent));
        CHECK(2 * c.extent.side <= limit + 4);
    }
}

PHX_TEST(formation, a_loss_changes_its_rank_s_last_row_alone) {
    static Case c;
    static PhxFormationSlot before[MOST];
    for (uint32_t shape = 0; shape < PHX_FORMATION_CIRCLE; shape++)
        for (uint32_t count = 2; count < 100; count++) {
            uint64_t seed = count;
            make(&c, &seed, (PhxFormationShape)shape, count);
            for (uint32_t i = 0; i < count; i++) c.rank[i] = 0, c.radius[i] = ONE / 2;
            c.spec.width = shape == PHX_FORMATION_RECTANGLE ? 9 * ONE : 0;
            if (shape == PHX_FORMATION_LINE) c.spec.width = 30 * ONE;
            CHECK_OK(phx_formation_layout(&c.spec, before, &c.extent));
            c.spec.count--;
            CHECK_OK(phx_formation_layout(&c.spec, c.slots, &c.extent));
            for (uint32_t i = 0; i < count - 1; i++)
                if (before[i].at.x != before[count - 1].at.x)
                    CHECK_THAT(phx_vec2_equal(before[i].at, c.slots[i].at), "shape %u count %u slot %u",
                               shape, count, i);
        }
}

PHX_TEST(formation, bad_input_is_a_status_and_nothing_changes) {
    static Case c;
    static PhxFormationSlot untouched[MOST];
    const PhxFormationSlot pattern[4] = {
        {{0, 0}, 0, 0}, {{2 * ONE, 0}, 0, 0}, {{0, 2 * ONE}, 0, 1}, {{0, 2 * ONE + ONE / 2}, 0, 0}};
    uint64_t seed = 1;
    make(&c, &seed, PHX_FORMATION_RECTANGLE, 3);
    for (uint32_t i = 0; i < MOST; i++) c.radius[i] = ONE / 2, c.rank[i] = 0;
    memset(c.slots, 0x5a, sizeof c.slots);
    memset(untouched, 0x5a, sizeof untouched);
    const PhxFormationSpec good = c.spec;
    PhxFormationSpec bad[12];
    for (int i = 0; i < 12; i++) bad[i] = good;
    const PhxStatus wanted[12] = {PHX_ERROR_ARGUMENT, PHX_ERROR_ARGUMENT, PHX_ERROR_LIMIT, PHX_ERROR_RANGE,
                                  PHX_ERROR_RANGE,    PHX_ERROR_RANGE,    PHX_ERROR_RANGE, PHX_ERROR_FULL,
                                  PHX_ERROR_FULL,     PHX_ERROR_RANGE,    PHX_ERROR_LIMIT, PHX_ERROR_RANGE};
    const fix16_t thin[3] = {ONE / 2, 0, ONE}, huge[3] = {ONE, 16 * ONE + 1, ONE};
    const uint8_t high[3] = {0, 16, 0}, mixed[3] = {0, 1, 1};
    bad[0].count = 0;
    bad[1].shape = PHX_FORMATION_SHAPE_COUNT;
    bad[2].count = MOST + 1;
    bad[3].radius = thin;
    bad[4].radius = huge;
    bad[5].rank = high;
    bad[6].width = ONE - 1;
    for (int i = 7; i < 11; i++)
        bad[i].shape = PHX_FORMATION_PATTERN, bad[i].pattern = pattern, bad[i].pattern_count = 4;
    bad[7].pattern_count = 2;
    bad[8].rank = mixed;
    bad[10].pattern_count = PHX_FORMATION_PATTERN_SLOTS + 1;
    bad[11].gap = -1;
    /* three of rank 0 stand on slots 0, 1 and 3; two of rank 0 and one of 1 on 0, 1 and 2 */
    const uint8_t two_and_one[3] = {0, 1, 0};
    PhxFormationSpec fits = bad[9];
    CHECK_OK(phx_formation_layout(&fits, c.slots, NULL));
    CHECK(phx_vec2_equal(c.slots[2].at, pattern[3].at));
    fits.rank = two_and_one;
    CHECK_OK(phx_formation_layout(&fits, c.slots, NULL));
    CHECK(phx_vec2_equal(c.slots[2].at, pattern[2].at) && c.slots[2].rank == 1);
    const uint8_t one_and_two[4] = {0, 0, 0, 1}; /* slots 2 and 3 are nearer than two bodies */
    bad[9].rank = one_and_two, bad[9].count = 4;
    memset(c.slots, 0x5a, sizeof c.slots);
    for (int i = 0; i < 12; i++) {
        CHECK_THAT(phx_formation_layout(&bad[i], c.slots, &c.extent) == wanted[i], "case %d", i);
        CHECK_THAT(memcmp(c.slots, untouched, sizeof untouched) == 0, "case %d", i);
    }
    CHECK(phx_formation_shape_name(PHX_FORMATION_SHAPE_COUNT) == NULL);
}

PHX_TEST(formation, no_slot_is_faster_than_the_slowest_and_the_frame_waits) {
    static Case c;
    for (uint64_t round = 0; round < 200; round++) {
        uint64_t seed = round;
        make(&c, &seed, (PhxFormationShape)(round % 5), 1 + random_of(&seed, 60));
        CHECK_OK(phx_formation_layout(&c.spec, c.slots, &c.extent));
        PhxFormationMarch march = {.facing = (PhxAngle)random_of(&seed, 65536),
                                   .wanted = (PhxAngle)random_of(&seed, 65536),
                                   .way = phx_dir_of_angle((PhxAngle)random_of(&seed, 65536)),
                                   .distance = 1000u * ONE,
                                   .speed = (fix16_t)(ONE + random_of(&seed, 4 * ONE)),
                                   .reach = c.extent.reach,
                                   .pitch = c.extent.pitch,
                                   .tick_rate = 10 + random_of(&seed, 60)};
        for (uint32_t tick = 0; tick < 100; tick++) {
            const PhxFormationStep step = phx_formation_march(&march);
            /* the least turn is one part a tick */
            const double least = 6.2832 / 65536 * march.tick_rate * c.extent.reach;
            for (uint32_t i = 0; i < c.spec.count; i++) {
                const PhxVec2 offset = phx_formation_to_world((PhxVec2){0, 0}, march.facing, c.slots[i].at);
                const PhxVec2 velocity = phx_formation_slot_velocity(&step, offset, march.tick_rate);
                CHECK_THAT(phx_vec2_length(velocity) <= march.speed * 1.001 + least + 8,
                           "round %" PRIu64 " tick %u slot %u: %u of %d", round, tick, i,
                           phx_vec2_length(velocity), march.speed);
            }
            march.facing = (PhxAngle)(march.facing + step.turn);
        }
        march.lag = 2 * march.pitch;
        const PhxFormationStep waits = phx_formation_march(&march);
        CHECK(phx_vec2_is_zero(waits.velocity) && waits.turn == 0);
        march.lag = march.pitch / 8, march.wanted = march.facing;
        const PhxFormationStep goes = phx_formation_march(&march);
        CHECK(phx_vec2_length(goes.velocity) + 4 >= (uint32_t)march.speed);
    }
}

PHX_TEST(formation, frames_go_there_and_back_and_see_the_room_beside_a_way) {
    static uint8_t cost[40 * 40];
    const PhxNavGrid grid = {40, 40, cost};
    for (uint32_t i = 0; i < 1600; i++) cost[i] = i % 40 == 20 && (i / 40 < 15 || i / 40 >= 21) ? 255 : 1;
    const PhxVec2 at = {17 * ONE, 18 * ONE};
    const PhxFormationRoom room = phx_formation_room(&grid, at, phx_dir(PHX_DIR_ONE, 0), 10 * ONE, 5 * ONE);
    CHECK_THAT(room.left == 3 * ONE && room.right >= 2 * ONE + ONE / 2 && room.right <= 3 * ONE, "%d %d",
               room.left, room.right);
    const PhxFormationRoom open = phx_formation_room(&grid, at, phx_dir(-PHX_DIR_ONE, 0), 10 * ONE, 5 * ONE);
    CHECK(open.width == 20 * ONE);
    for (uint32_t i = 0; i < 1000; i++) {
        uint64_t seed = i;
        const PhxVec2 point = {(fix16_t)random_of(&seed, 200 * ONE), -(fix16_t)random_of(&seed, 200 * ONE)};
        const PhxAngle facing = (PhxAngle)random_of(&seed, 65536);
        const PhxVec2 back = phx_formation_to_frame(at, facing, phx_formation_to_world(at, facing, point));
        CHECK(abs(back.x - point.x) <= 3 && abs(back.y - point.y) <= 3);
        const PhxVec2 ahead = phx_formation_to_world(at, PHX_ANGLE_QUARTER, phx_vec2(ONE, 2 * ONE));
        CHECK(phx_vec2_equal(ahead, phx_vec2(at.x - 2 * ONE, at.y + ONE)));
    }
}
