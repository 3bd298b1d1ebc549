/* cmd_replay_commands.c: phx replay commands: the input of a match, decoded, a line a command.
 *
 * Needs no simulation: replays of every revision are listed. Commands of a game's own, and bytes that are
 * none, are shown as bytes.
 */
#include "phx/cmd_replay.h"

#include <inttypes.h>
#include <phalanx/formation.h>
#include <stdio.h>
#include <string.h>

enum { UNITS_SHOWN = 8, BYTES_SHOWN = 32 };

static const PhxCliUsage usage = {
    .synopsis = "FILE",
    .about =
        "Lists the commands in the order in which they were executed: tick, who gave it, sequence number, "
        "name, fields.\n"
        "Units are slot:generation. The commands of a tick in which the recorder died are listed as "
        "pending.",
    .examples = "  phx replay commands clash.phxr\n"
                "  phx replay commands clash.phxr --from 100 --to 199 --slot 1\n"
                "  phx replay commands clash.phxr --json | jq '.commands | length'\n",
    .least = 1,
    .most = 1};

typedef struct Filter {
    uint32_t from, to; /* ticks, both included */
    int slot;          /* -1: all */
} Filter;

static json_t *hex_json(const uint8_t *bytes, uint32_t size, char *text, size_t capacity) {
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < size && used + 3 < capacity; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%02x", bytes[i]);
    return json_string(text);
}

static json_t *units_json(const PhxCommandData *data) {
    json_t *list = json_array();
    char text[32];
    for (uint32_t i = 0; i < data->unit_count; i++) {
        const PhxHandle unit = phx_command_unit(data, i);
        snprintf(text, sizeof text, "%" PRIu32 ":%" PRIu32, phx_handle_slot(unit),
                 phx_handle_generation(unit));
        json_array_append_new(list, json_string(text));
    }
    return list;
}

static void set_number(json_t *object, const char *name, uint32_t value) {
    json_object_set_new(object, name, json_integer((json_int_t)value));
}

/* The same for commands that name cells or buildings. */
static void describe_building(const PhxCommandData *data, json_t *object, char *text, size_t size) {
    char building[32];
    size_t used = 0;
    snprintf(building, sizeof building, "%" PRIu32 ":%" PRIu32, phx_handle_slot(data->building),
             phx_handle_generation(data->building));
    if (data->type == PHX_COMMAND_PLACE || data->type == PHX_COMMAND_GROUND) {
        used = (size_t)snprintf(text, size, " of %u x %u cells at (%u, %u)", data->width, data->height,
                                data->cell_x, data->cell_y);
        set_number(object, "cell_x", data->cell_x);
        set_number(object, "cell_y", data->cell_y);
        set_number(object, "width", data->width);
        set_number(object, "height", data->height);
    }
    if (data->type == PHX_COMMAND_PLACE) {
        snprintf(text + used, size - used, "%s", data->gate ? ", a gate" : "");
        json_object_set_new(object, "gate", json_boolean(data->gate));
    }
    if (data->type == PHX_COMMAND_GROUND) {
        snprintf(text + used, size - used, ": cost %u, kind %u", data->ground_cost, data->kind);
        set_number(object, "ground_cost", data->ground_cost);
        set_number(object, "kind", data->kind);
    }
    if (data->type == PHX_COMMAND_RAZE || data->type == PHX_COMMAND_GATE) {
        used = (size_t)snprintf(text, size, " of building %s", building);
        json_object_set_new(object, "building", json_string(building));
    }
    if (data->type == PHX_COMMAND_GATE) {
        snprintf(text + used, size - used, ", open for teams 0x%04x", data->open_teams);
        set_number(object, "open_teams", data->open_teams);
    }
}

/* Mood and behaviour, where they change; returns what was written. */
static size_t describe_manners(const PhxCommandData *data, json_t *object, char *text, size_t size) {
    static const char *const moods[] = {"calm", "alert", "panicked"};
    static const char *const behaviours[] = {"none", "guard", "patrol"};
    size_t used = 0;
    if (data->mood < PHX_BEHAVE_KEEP) {
        used += (size_t)snprintf(text + used, size - used, " mood %s", moods[data->mood]);
        json_object_set_new(object, "mood", json_string(moods[data->mood]));
    }
    if (data->behaviour < PHX_BEHAVE_KEEP) {
        used += (size_t)snprintf(text + used, size - used, " behaviour %s", behaviours[data->behaviour]);
        json_object_set_new(object, "behaviour", json_string(behaviours[data->behaviour]));
    }
    return used;
}

static size_t describe_form(const PhxCommandData *data, json_t *object, char *text, size_t size) {
    char x[PHX_FIX_TEXT], y[PHX_FIX_TEXT], width[PHX_FIX_TEXT], gap[PHX_FIX_TEXT];
    const char *shape = phx_formation_shape_name((PhxFormationShape)data->shape);
    phx_fix_format(data->goal_x, x, sizeof x);
    phx_fix_format(data->goal_y, y, sizeof y);
    phx_fix_format(data->form_width, width, sizeof width);
    phx_fix_format(data->gap, gap, sizeof gap);
    size_t used = (size_t)snprintf(text, size, " %s to (%s, %s)", shape, x, y);
    if (data->shape == PHX_FORMATION_PATTERN) {
        used += (size_t)snprintf(text + used, size - used, " pattern %u", data->pattern);
        json_object_set_new(object, "pattern", json_integer(data->pattern));
    }
    if (data->turns) used += (size_t)snprintf(text + used, size - used, " facing %u", data->facing);
    if (data->form_width > 0) used += (size_t)snprintf(text + used, size - used, " width %s", width);
    json_object_set_new(object, "shape", json_string(shape));
    json_object_set_new(object, "goal_x", json_string(x));
    json_object_set_new(object, "goal_y", json_string(y));
    if (data->turns) json_object_set_new(object, "facing", json_integer(data->facing));
    json_object_set_new(object, "width", json_string(width));
    json_object_set_new(object, "gap", json_string(gap));
    return used;
}

/* Fields that a command has, for a person into `text` and for a program into `object`. */
static void describe(const PhxCommandData *data, json_t *object, char *text, size_t size) {
    char x[PHX_FIX_TEXT], y[PHX_FIX_TEXT];
    size_t used = 0;
    text[0] = 0;
    switch (data->type) {
    case PHX_COMMAND_MOVE:
        phx_fix_format(data->goal_x, x, sizeof x);
        phx_fix_format(data->goal_y, y, sizeof y);
        used = (size_t)snprintf(text, size, " to (%s, %s)%s", x, y, data->queued ? " queued" : "");
        json_object_set_new(object, "goal_x", json_string(x));
        json_object_set_new(object, "goal_y", json_string(y));
        json_object_set_new(object, "queued", json_boolean(data->queued));
        break;
    case PHX_COMMAND_MARCH:
        phx_fix_format(data->goal_x, x, sizeof x);
        phx_fix_format(data->goal_y, y, sizeof y);
        used = (size_t)snprintf(text, size, " to (%s, %s), spread %u%%%s", x, y, data->lane_spread,
                                data->queued ? ", queued" : "");
        json_object_set_new(object, "goal_x", json_string(x));
        json_object_set_new(object, "goal_y", json_string(y));
        json_object_set_new(object, "spread", json_integer(data->lane_spread));
        json_object_set_new(object, "queued", json_boolean(data->queued));
        break;
    case PHX_COMMAND_LEAVE:
        used = (size_t)snprintf(text, size, " of player %u", data->slot);
        json_object_set_new(object, "leaving", json_integer(data->slot));
        break;
    case PHX_COMMAND_PAUSE:
        used = (size_t)snprintf(text, size, " %s", data->on ? "on" : "off");
        json_object_set_new(object, "on", json_boolean(data->on));
        break;
    case PHX_COMMAND_BEHAVE:
        used = describe_manners(data, object, text, size);
        break;
    case PHX_COMMAND_FLOCK:
        used = (size_t)snprintf(text, size, " %u", data->flock);
        json_object_set_new(object, "flock", json_integer(data->flock));
        break;
    case PHX_COMMAND_FORM:
        used = describe_form(data, object, text, size);
        break;
    default:
        describe_building(data, object, text, size);
        break;
    }
    if (data->type != PHX_COMMAND_MOVE && data->type != PHX_COMMAND_STOP &&
        data->type != PHX_COMMAND_BEHAVE && data->type != PHX_COMMAND_FLOCK &&
        data->type != PHX_COMMAND_FORM && data->type != PHX_COMMAND_MARCH)
        return;
    json_object_set_new(object, "units", units_json(data));
    used += (size_t)snprintf(text + used, size - used, ", %u unit%s:", data->unit_count,
                             data->unit_count == 1 ? "" : "s");
    for (uint32_t i = 0; i < data->unit_count && i < UNITS_SHOWN; i++)
        used += (size_t)snprintf(text + used, size - used, " %" PRIu32 ":%" PRIu32,
                                 phx_handle_slot(phx_command_unit(data, i)),
                                 phx_handle_generation(phx_command_unit(data, i)));
    if (data->unit_count > UNITS_SHOWN) snprintf(text + used, size - used, " ..");
}

static const char *giver(uint8_t slot, char text[16]) {
    if (slot == PHX_SLOT_HOST) return "host";
    snprintf(text, 16, slot < PHX_PLAYER_LIMIT ? "player %u" : "slot %u", slot);
    return text;
}

static json_t *list_command(PhxCli *cli, const PhxReplayTick *tick, const PhxCommand *command) {
    static char hex[2 * PHX_COMMAND_SIZE_LIMIT + 4];
    PhxCommandData data;
    char text[512], who[16];
    json_t *object = json_pack("{s:I, s:i, s:I, s:i}", "tick", (json_int_t)tick->tick, "slot", command->slot,
                               "sequence", (json_int_t)command->sequence, "size", (int)command->size);
    const char *name = "bytes";
    if (command->size > 0 && phx_command_decode(command->bytes, command->size, &data, NULL) == PHX_OK) {
        name = phx_command_name(data.type);
        describe(&data, object, text, sizeof text);
    } else {
        const bool game = command->size > 0 && command->bytes[0] >= PHX_COMMAND_GAME_FIRST;
        json_object_set_new(object, "bytes", hex_json(command->bytes, command->size, hex, sizeof hex));
        snprintf(text, sizeof text, "%s %.*s%s",
                 game ? " of the game:" : " that are no command:", 2 * BYTES_SHOWN, hex,
                 command->size > BYTES_SHOWN ? " .." : "");
    }
    json_object_set_new(object, "name", json_string(name));
    if (!tick->complete) json_object_set_new(object, "pending", json_true());
    phx_cli_print(cli, "tick %-6" PRIu32 " %-9s #%-6" PRIu32 " %s%s%s\n", tick->tick,
                  giver(command->slot, who), command->sequence, name, text,
                  tick->complete ? "" : " (pending)");
    return object;
}

static int list_all(PhxCli *cli, const char *path, const PhxReplay *replay, const Filter *filter) {
    PhxReplayCursor *cursor;
    PhxReplayTick tick;
    uint64_t count = 0;
    json_t *list = json_array();
    PhxStatus status = phx_replay_cursor_create(replay, &cursor);
    if (status == PHX_OK && filter->from <= phx_replay_info(replay)->ticks)
        status = phx_replay_cursor_seek(cursor, filter->from);
    while (status == PHX_OK && phx_replay_cursor_next(cursor, &tick) && tick.tick <= filter->to)
        for (uint32_t i = 0; i < tick.command_count; i++) {
            if (filter->slot >= 0 && tick.commands[i].slot != filter->slot) continue;
            json_t *object = list_command(cli, &tick, &tick.commands[i]);
            if (cli->json)
                json_array_append_new(list, object);
            else
                json_decref(object);
            count++;
        }
    phx_replay_cursor_destroy(cursor);
    phx_cli_set(cli, "commands", list);
    phx_cli_set(cli, "count", json_integer((json_int_t)count));
    return status == PHX_OK ? PHX_EXIT_OK : phx_cli_fail_status(cli, path, status, NULL);
}

/* A list that is short or empty for another reason than that nothing was ordered. */
static void say_what_is_amiss(PhxCli *cli, const char *path, const PhxReplayInfo *info, int slot) {
    phx_replay_cmd_say_state(cli, path, info);
    if (info->state != PHX_REPLAY_COMPLETE) phx_cli_set(cli, "fault", json_string(info->fault.text));
    if (slot < 0 || slot == PHX_SLOT_HOST) return;
    if (slot < PHX_PLAYER_LIMIT && info->players[slot].listed) return;
    phx_cli_note(cli, "%s: slot %d is no player of this match, which has %" PRIu32, path, slot,
                 info->player_count);
}

int phx_replay_cmd_commands(PhxCli *cli, int argc, const char **argv) {
    char *from = NULL, *to = NULL;
    Filter filter = {.slot = -1};
    long long slot = PHX_CLI_DEFAULT;
    const struct poptOption options[] = {
        {"from", 0, POPT_ARG_STRING, &from, 0, "first tick (0)", "T"},
        {"to", 0, POPT_ARG_STRING, &to, 0, "last tick (the last one)", "T"},
        {"slot", 0, POPT_ARG_LONGLONG, &slot, 0, "of this player alone; 255: of the host", "N"},
        POPT_TABLEEND};
    PhxReplay *replay;
    int code = phx_cli_parse(cli, argc, argv, options, &usage);
    const bool one = slot != PHX_CLI_DEFAULT;
    if (code == PHX_CLI_GO) code = phx_cli_optional(cli, "--slot", &slot, 0, 255, "all of them");
    if (one) filter.slot = (int)slot;
    if (code == PHX_CLI_GO) code = phx_replay_cmd_load(cli, cli->arguments[0], &replay);
    if (code != PHX_CLI_GO) return code;
    if (from != NULL) code = phx_replay_cmd_tick(cli, "--from", from, replay, &filter.from);
    if (code == PHX_CLI_GO) code = phx_replay_cmd_tick(cli, "--to", to, replay, &filter.to);
    if (code == PHX_CLI_GO && filter.from > filter.to)
        code = phx_cli_fail(cli, "--from: %" PRIu32 " is behind --to %" PRIu32, filter.from, filter.to);
    if (code == PHX_CLI_GO) {
        say_what_is_amiss(cli, cli->arguments[0], phx_replay_info(replay), filter.slot);
        code = list_all(cli, cli->arguments[0], replay, &filter);
    }
    phx_replay_close(replay);
    return code;
}
