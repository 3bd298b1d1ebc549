/* command.h: the one door for input. A command is bytes: whoever gives it encodes it, and everyone, the giver
 * too, executes what decoding gives.
 *
 * Layout: u8 type, then the fields that sim/command/command.def lists for that type, little-endian; where the
 * type carries points: u8 count (1 .. 8), count times i32 x, i32 y, u8 weight; where it carries units: u16
 * count, count handles of 8 bytes. At most PHX_COMMAND_SIZE_LIMIT bytes.
 */
#ifndef PHALANX_COMMAND_H
#define PHALANX_COMMAND_H

#include <phalanx/fixed.h>
#include <phalanx/handle.h>
#include <phalanx/mood.h>
#include <phalanx/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PHX_PLAYER_LIMIT = 16, /* player slots 0 .. 15 */
    PHX_SLOT_HOST = 255,   /* the host's own slot: pause, leave */
    PHX_COMMAND_UNIT_LIMIT =
        500, /* units in one command; with it, a command fits into what the network carries */
    PHX_COMMAND_POINT_LIMIT = 8, /* points in one command */
    PHX_LANE_SPREAD = 50,        /* percent of its side offset that a unit keeps */
    PHX_COMMAND_SIZE_LIMIT = 96 + 8 * PHX_COMMAND_UNIT_LIMIT,
    PHX_COMMAND_GAME_FIRST = 128 /* command types from here on are a game's own */
};

typedef enum PhxCommandType {
    PHX_COMMAND_MOVE = 1,  /* units go to a goal; queued = 1: after the orders they have */
    PHX_COMMAND_STOP = 2,  /* units drop all orders */
    PHX_COMMAND_LEAVE = 3, /* host only: player `slot` is gone */
    PHX_COMMAND_PAUSE = 4, /* host only: on = 1 pauses, 0 goes on */
    /* What they do, and what refuses them: phalanx/building.h. */
    PHX_COMMAND_PLACE = 5,  /* a building (gate = 1: a gate) on width x height cells from (cell_x, cell_y) */
    PHX_COMMAND_RAZE = 6,   /* takes an own building away */
    PHX_COMMAND_GATE = 7,   /* an own gate lets the teams in open_teams through, and no others */
    PHX_COMMAND_GROUND = 8, /* host only: cells get ground_cost and kind (a burnt forest, a new road) */
    /* Moves with other goals than one point; queued as in MOVE. */
    PHX_COMMAND_MOVE_AREA = 9, /* into the disc of `radius` around the goal */
    PHX_COMMAND_MOVE_NEAREST =
        10, /* each unit to the point whose way is cheapest for it; weights don't count */
    PHX_COMMAND_MOVE_BLEND = 11, /* to point 0, on a way that leans to the ways to the others, by weight */
    PHX_COMMAND_CHASE = 12,      /* after unit `target`; the goal is moved when the target is farther than
                                    `threshold` from it; ends when the target is no more */
    PHX_COMMAND_BEHAVE = 13,     /* units feel `mood` and do `behaviour` from now on; their orders go on */
    PHX_COMMAND_FLOCK =
        14,                /* units are of the player's flock `flock` from now on, 0: of none; orders go on */
    PHX_COMMAND_FORM = 15, /* units go to the goal in a formation of `shape`, and turn to `facing` there if
                             `turns` is 1; the orders they have are dropped. Where the shape can't be had
                             (a width below a body), or the table of formations is full, it's a no-op,
                             counted */
    PHX_COMMAND_MARCH = 16 /* units go to the goal in lanes: each keeps `lane_spread` percent of its side
                              offset, several passages are shared by their width and detour, groups that
                              meet keep to the right. Where the table of marches is full, a MOVE */
} PhxCommandType;

/* A point of a command with several. */
typedef struct PhxCommandPoint {
    fix16_t x, y;   /* world units */
    uint8_t weight; /* 0 .. 255 */
} PhxCommandPoint;

/* A command in decoded form, and what an encoder takes; only the fields of its type count. `units` belongs to
 * the caller when encoding; when decoded, `unit_bytes` points into the command's bytes (phx_command_unit
 * reads it). */
typedef struct PhxCommandData {
    uint8_t type;
    fix16_t goal_x, goal_y; /* world units */
    uint8_t queued;
    uint8_t slot;
    uint8_t on;
    uint16_t cell_x, cell_y;   /* first column and row of cells, 0 .. 4095 */
    uint16_t width, height;    /* cells; 1 .. 64 of a building, 1 .. 4096 of ground */
    uint8_t gate;              /* 1: a gate */
    uint8_t ground_cost, kind; /* 1 .. 255 (impassable), 0 .. 15 */
    uint16_t open_teams;       /* bit t: team t walks through */
    PhxHandle building;
    fix16_t radius;      /* 0 .. 32 units */
    PhxHandle target;    /* a unit, anyone's */
    fix16_t threshold;   /* 0 .. 64 units */
    uint8_t mood;        /* PhxMood, or PHX_BEHAVE_KEEP */
    uint8_t behaviour;   /* PhxBehaviour, or PHX_BEHAVE_KEEP */
    uint16_t flock;      /* 0: none */
    uint8_t shape;       /* PhxFormationShape */
    uint8_t pattern;     /* of PHX_FORMATION_PATTERN: which of the content's, 0 .. 15 */
    uint8_t turns;       /* 1: `facing` counts */
    uint16_t facing;     /* binary angle */
    fix16_t form_width;  /* 0 .. 1024 units; 0: the shape's own */
    fix16_t gap;         /* between bodies, 0 .. 16 units */
    uint8_t lane_spread; /* percent, 0 .. 100; PHX_LANE_SPREAD is the usual */
    uint8_t point_count;
    PhxCommandPoint points[PHX_COMMAND_POINT_LIMIT];
    uint16_t unit_count;
    const PhxHandle *units;
    const uint8_t *unit_bytes;
} PhxCommandData;

/* Encodes into `buffer`; *size gets the bytes written. Errors: PHX_ERROR_ARGUMENT (unknown type),
 * PHX_ERROR_RANGE, PHX_ERROR_LIMIT (too many units or points, or no point), PHX_ERROR_FULL. */
PHX_MUST_USE PhxStatus phx_command_encode(const PhxCommandData *command, void *buffer, size_t capacity,
                                          size_t *size);

/* Decodes and checks one of the engine's own commands. Errors: PHX_ERROR_FORMAT, PHX_ERROR_TRUNCATED,
 * PHX_ERROR_RANGE, PHX_ERROR_LIMIT, each with the byte's offset in `error` (may be null). */
PHX_MUST_USE PhxStatus phx_command_decode(const void *bytes, size_t size, PhxCommandData *out,
                                          PhxError *error);

/* Unit i (< unit_count) of a decoded command. */
PhxHandle phx_command_unit(const PhxCommandData *command, uint32_t i);

/* Stateless check for the network: well formed, and may `slot` give it? Game types (>=
 * PHX_COMMAND_GAME_FIRST) pass when they have a size within the limit: a game checks its own. Besides the
 * errors of decode: PHX_ERROR_STATE when the slot may not give this type. */
PHX_MUST_USE PhxStatus phx_command_check(const void *bytes, size_t size, uint8_t slot, PhxError *error);

/* "move" and so on; "unknown" for what isn't the engine's. */
const char *phx_command_name(uint8_t type);

#ifdef __cplusplus
}
#endif
#endif
