/* random_commands.c: a random stream of commands for a match: right ones, and wrong ones of every kind.
 *
 * It is made from the content alone, without a look at the world as it runs, so that taking a command out
 * leaves all others as they are.
 */
#include <phalanx/formation.h>
#include <string.h>

#include "soak/dice.h"
#include "soak/soak.h"

typedef struct Maker {
    PhxSoakMatch *match;
    PhxDice dice;
    uint32_t tick;
    PhxHandle handles[PHX_COMMAND_UNIT_LIMIT];
    uint8_t bytes[PHX_COMMAND_SIZE_LIMIT + 64];
} Maker;

/* Units of one command, of whatever player: a few, a run of slots, or all; some dead, some that never were.
 * Whose they are is checked when it is executed. */
static uint16_t choose_units(Maker *maker) {
    PhxDice *dice = &maker->dice;
    const uint32_t units = maker->match->units;
    const uint64_t way = phx_dice(dice) % 10;
    uint32_t count = way < 5 ? (uint32_t)phx_dice_range(dice, 0, 6) : units, first = 0;
    if (units > 0 && way < 5) first = (uint32_t)phx_dice_range(dice, 0, units - 1);
    if (way == 9) count = PHX_COMMAND_UNIT_LIMIT; /* each unit many times over */
    if (count > PHX_COMMAND_UNIT_LIMIT) count = PHX_COMMAND_UNIT_LIMIT;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slot = units > 0 ? (first + i) % units : i;
        maker->handles[i] = phx_handle_make(slot, 1);
        if (phx_dice_percent(dice, 2))
            maker->handles[i] = phx_dice_percent(dice, 50)
                                    ? phx_handle_make(slot, (uint32_t)phx_dice_range(dice, 0, 9))
                                    : phx_dice(dice);
    }
    return (uint16_t)count;
}

static fix16_t choose_goal(PhxDice *dice, uint32_t side) {
    const int64_t end = (int64_t)side << 16;
    switch (phx_dice(dice) % 12) {
    case 0: /* about the edge, on both sides of it */
        return (fix16_t)phx_dice_range(dice, end - 2, end + 2);
    case 1:
        return (fix16_t)phx_dice_range(dice, -2, 2);
    case 2: /* anywhere that a command can say */
        return (fix16_t)phx_dice_range(dice, -8192 * 65536, 8192 * 65536 - 1);
    case 3:
        return (fix16_t)(phx_dice_percent(dice, 50) ? -8192 * 65536 : 8192 * 65536 - 1);
    case 4: /* a corner of cells */
        return (fix16_t)(phx_dice_range(dice, 0, side) << 16);
    default:
        return (fix16_t)phx_dice_range(dice, 0, end - 1);
    }
}

static void give(Maker *maker, uint8_t slot, const PhxCommandData *command) {
    size_t size;
    if (phx_command_encode(command, maker->bytes, sizeof maker->bytes, &size) == PHX_OK)
        phx_stream_add(&maker->match->stream, maker->tick, slot, maker->bytes, (uint32_t)size);
}

static uint8_t choose_player(Maker *maker) {
    return (uint8_t)phx_dice_range(&maker->dice, 0, maker->match->players - 1);
}

static void give_move(Maker *maker, uint8_t slot, bool queued) {
    PhxCommandData command = {.type = PHX_COMMAND_MOVE, .queued = queued, .units = maker->handles};
    command.goal_x = choose_goal(&maker->dice, maker->match->info.width);
    command.goal_y = choose_goal(&maker->dice, maker->match->info.height);
    command.unit_count = choose_units(maker);
    const uint64_t dice = phx_dice(&maker->dice);
    if (dice % 4 == 0) { /* in formation */
        command.type = PHX_COMMAND_FORM;
        command.shape = (uint8_t)(dice / 4 % PHX_FORMATION_SHAPE_COUNT);
        command.pattern = (uint8_t)(dice >> 60);
        command.turns = dice / 32 % 2;
        command.facing = (uint16_t)(dice >> 16);
        command.form_width = (fix16_t)(dice / 64 % 4 == 0 ? dice >> 43 : 0); /* 0 to 32 units */
        command.gap = (fix16_t)(dice >> 47 & 0x1ffff);
    }
    if (dice % 4 == 1) { /* in lanes */
        command.type = PHX_COMMAND_MARCH;
        command.lane_spread = (uint8_t)(dice / 4 % 101);
    }
    give(maker, slot, &command);
}

static void give_stop(Maker *maker, uint8_t slot) {
    const uint16_t count = choose_units(maker);
    give(maker, slot,
         &(PhxCommandData){.type = PHX_COMMAND_STOP, .unit_count = count, .units = maker->handles});
}

/* Every other time a flock instead, one of three, or none. */
static void give_behave(Maker *maker, uint8_t slot) {
    const uint16_t count = choose_units(maker);
    const bool flock = phx_dice(&maker->dice) % 2 != 0;
    const uint8_t mood = (uint8_t)phx_dice_range(&maker->dice, 0, PHX_BEHAVE_KEEP);
    give(maker, slot,
         &(PhxCommandData){.type = flock ? PHX_COMMAND_FLOCK : PHX_COMMAND_BEHAVE,
                           .mood = mood,
                           .behaviour = (uint8_t)phx_dice_range(&maker->dice, 0, PHX_BEHAVE_KEEP),
                           .flock = (uint16_t)(mood * 21845),
                           .unit_count = count,
                           .units = maker->handles});
}

/* A row of cells along one side: most of them near or on the map. */
static void choose_cells(PhxDice *dice, uint32_t side, uint32_t most, uint16_t *first, uint16_t *count) {
    const bool wild = phx_dice_percent(dice, 10);
    *first = (uint16_t)phx_dice_range(dice, 0, wild ? 4095 : side);
    *count = (uint16_t)phx_dice_range(dice, 1, wild ? most : 6);
}

/* A building among the first few that there may be, so that some live, and some are another's. */
static PhxHandle choose_building(PhxDice *dice) {
    if (phx_dice_percent(dice, 2)) return phx_dice(dice);
    return phx_handle_make((uint32_t)phx_dice_range(dice, 0, 5), phx_dice_percent(dice, 70) ? 1 : 3);
}

static void give_building(Maker *maker, uint8_t slot) {
    PhxDice *dice = &maker->dice;
    PhxCommandData command = {.type = PHX_COMMAND_PLACE, .gate = phx_dice_percent(dice, 40)};
    const uint64_t way = phx_dice(dice) % 10;
    choose_cells(dice, maker->match->info.width, 64, &command.cell_x, &command.width);
    choose_cells(dice, maker->match->info.height, 64, &command.cell_y, &command.height);
    command.building = choose_building(dice);
    command.open_teams = (uint16_t)(phx_dice_percent(dice, 50) ? 0 : phx_dice(dice));
    if (way >= 5) command.type = way < 7 ? PHX_COMMAND_RAZE : PHX_COMMAND_GATE;
    give(maker, slot, &command);
}

/* Ground burns, floods or is paved; walls as seldom as they are on maps. */
static void give_ground(Maker *maker, uint8_t slot) {
    PhxDice *dice = &maker->dice;
    PhxCommandData command = {.type = PHX_COMMAND_GROUND, .kind = (uint8_t)phx_dice_range(dice, 0, 15)};
    choose_cells(dice, maker->match->info.width, 4096, &command.cell_x, &command.width);
    choose_cells(dice, maker->match->info.height, 4096, &command.cell_y, &command.height);
    command.ground_cost = (uint8_t)(phx_dice_percent(dice, 20) ? 255 : phx_dice_range(dice, 1, 254));
    give(maker, slot, &command);
}

/* Pauses are short, or the match would stand still; somebody leaves now and then. */
static void give_host(Maker *maker, uint8_t slot) {
    if (phx_dice_percent(&maker->dice, 20))
        give(maker, slot,
             &(PhxCommandData){.type = PHX_COMMAND_LEAVE,
                               .slot = (uint8_t)phx_dice_range(&maker->dice, 0, 15)});
    else
        give(maker, slot,
             &(PhxCommandData){.type = PHX_COMMAND_PAUSE, .on = phx_dice_percent(&maker->dice, 30)});
}

/* Many queued orders in one tick: the table of orders runs full. */
static void give_flood(Maker *maker) {
    const uint8_t slot = choose_player(maker);
    const int64_t count = phx_dice_range(&maker->dice, 4, 24);
    for (int64_t i = 0; i < count; i++) give_move(maker, slot, i > 0 || phx_dice_percent(&maker->dice, 50));
}

/* A command in the name of a slot that may not give it, or that nobody has. */
static void give_foreign(Maker *maker) {
    static const uint8_t slots[] = {15, 16, 17, 127, 254, PHX_SLOT_HOST};
    const uint8_t slot = slots[phx_dice(&maker->dice) % sizeof slots];
    switch (phx_dice(&maker->dice) % 4) {
    case 0:
        give_host(maker, choose_player(maker));
        break;
    case 1:
        give_building(maker, slot);
        break;
    case 2:
        give_ground(maker, choose_player(maker));
        break;
    default:
        give_move(maker, slot, false);
        break;
    }
}

/* Bytes that are no command: a right one cut, lengthened or with flipped bits, or noise. */
static void give_malformed(Maker *maker) {
    PhxDice *dice = &maker->dice;
    size_t size = 0;
    const PhxCommandData command = {.type = PHX_COMMAND_MOVE,
                                    .goal_x = choose_goal(dice, maker->match->info.width),
                                    .unit_count = choose_units(maker),
                                    .units = maker->handles};
    if (phx_dice_percent(dice, 70) &&
        phx_command_encode(&command, maker->bytes, PHX_COMMAND_SIZE_LIMIT, &size) == PHX_OK) {
        if (phx_dice_percent(dice, 40))
            size = (size_t)phx_dice_range(dice, 0, (int64_t)size);
        else if (phx_dice_percent(dice, 30) && size < PHX_COMMAND_SIZE_LIMIT)
            maker->bytes[size++] = 0;
        for (int64_t flips = phx_dice_range(dice, 0, 3); flips > 0 && size > 0; flips--)
            maker->bytes[phx_dice(dice) % size] ^= (uint8_t)(1u << phx_dice(dice) % 8);
    } else {
        size = (size_t)phx_dice_range(dice, 0, 64);
        for (size_t i = 0; i < size; i++) maker->bytes[i] = (uint8_t)phx_dice(dice);
    }
    phx_stream_add(&maker->match->stream, maker->tick,
                   phx_dice_percent(dice, 10) ? PHX_SLOT_HOST : choose_player(maker), maker->bytes,
                   (uint32_t)size);
}

static void make_one(Maker *maker) {
    const uint64_t way = phx_dice(&maker->dice) % 100;
    if (way < 40)
        give_move(maker, choose_player(maker), phx_dice_percent(&maker->dice, 30));
    else if (way < 44)
        give_stop(maker, choose_player(maker));
    else if (way < 48)
        give_behave(maker, choose_player(maker));
    else if (way < 64)
        give_building(maker, choose_player(maker));
    else if (way < 68)
        give_ground(maker, PHX_SLOT_HOST);
    else if (way < 75)
        give_host(maker, PHX_SLOT_HOST);
    else if (way < 80)
        give_flood(maker);
    else if (way < 90)
        give_malformed(maker);
    else
        give_foreign(maker);
}

PhxStatus phx_soak_make_commands(PhxSoakMatch *match) {
    Maker maker = {.match = match, .dice = {.seed = match->seed ^ UINT64_C(0x636f6d6d616e6473)}};
    const uint32_t percent = (uint32_t)phx_dice_range(&maker.dice, 2, 40);
    for (maker.tick = 0; maker.tick < match->ticks; maker.tick++) {
        if (maker.tick == 0) /* so that something moves */
            for (uint8_t slot = 0; slot < match->players; slot++) give_move(&maker, slot, false);
        if (phx_dice_percent(&maker.dice, percent)) make_one(&maker);
        if (phx_dice_percent(&maker.dice, percent / 4)) make_one(&maker);
    }
    return match->stream.failed ? PHX_ERROR_MEMORY : PHX_OK;
}
