/* cmd_join.c: phx join: one player of a network match, with a bot.
 *
 * The bot looks at this side's own world and gives its commands through the network, like a person's: they
 * are executed when they come back in a turn. Exit: 0 the match was played (or left by Ctrl-C) and no side
 * differed, 1 the states differed, the host plays something else (what differs is named), or the connection
 * broke, 2 wrong use, bad input, or no host.
 */
#include "phx/match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    int slot, threads, wait;
    char *connect, *name, *bot, *replay, *png, *map, *drill, *bundle;
} Options;

typedef struct Joining {
    PhxCli *cli;
    Options options;
    char address[256];
    uint16_t port;
    PhxScenarioFile file;
    PhxMatchPlan plan;
    PhxMatch match;
    PhxTransport transport;
    PhxPeer *peer;
    PhxMatchInfo info;
    PhxMatchTurn turn;
    PhxMatchOutbox outbox;
    PhxMatchPace pace;
    const PhxBot *bot;
    uint32_t seen; /* slots whose players were named already, as a mask */
    bool loaded, leaving;
    uint64_t started, last; /* ns: the match began; it ended */
    PhxNetEvent refused, ended;
} Joining;

static const PhxCliUsage usage = {
    .synopsis = "SCENARIO",
    .about = "Joins a match that phx host hosts. Both sides read the scenario from their own files; the "
             "handshake compares\n"
             "simulation revision, schema, content and tick rate, and names what differs. The host says the "
             "seed, the ticks a\n"
             "turn, the delay and the pace. Ctrl-C leaves in good order; a second one at once.\n"
             "Exit: 0 the match was played and no side differed, 1 the states differed, the host plays "
             "something else, or\n"
             "the connection broke, 2 wrong use, bad input, or no host.",
    .examples =
        "  phx join tests/scenario/clash.yaml --connect 127.0.0.1:9900\n"
        "  phx join tests/scenario/clash.yaml --connect 127.0.0.1:9900 --slot 1 --bot corner --json\n",
    .least = 1,
    .most = 1};

static int parse(Joining *joining, int argc, const char **argv) {
    Options *o = &joining->options;
    *o = (Options){.threads = 1, .slot = PHX_NET_NO_SLOT, .wait = 10};
    const struct poptOption table[] = {
        {"connect", 'c', POPT_ARG_STRING, &o->connect, 0, "where the host is", "HOST:PORT"},
        {"name", 0, POPT_ARG_STRING, &o->name, 0, "name in the lobby (default: that of the bot)", "NAME"},
        {"slot", 0, POPT_ARG_INT, &o->slot, 0, "player slot (default: the lowest that is free)", "SLOT"},
        {"bot", 'b', POPT_ARG_STRING, &o->bot, 0, "who plays (default: the scenario's bot of that slot)",
         "NAME"},
        {"wait", 'w', POPT_ARG_INT, &o->wait, 0, "seconds to try to connect (default: 10)", "S"},
        {"map", 'm', POPT_ARG_STRING, &o->map, 0, "another map, in .map format; the host's must be the same",
         "PATH"},
        {"threads", 'j', POPT_ARG_INT, &o->threads, 0, "threads that compute (default: 1)", "N"},
        {"replay", 'r', POPT_ARG_STRING, &o->replay, 0, "write a replay", "FILE"},
        {"png", 'p', POPT_ARG_STRING, &o->png, 0, "draw the match at its end", "FILE"},
        {"bundle", 0, POPT_ARG_STRING, &o->bundle, 0,
         "evidence of a desync (default: desync-<tick>-player<slot>.bundle)", "FILE"},
        {"desync-drill", 0, POPT_ARG_STRING, &o->drill, 0,
         "at this tick, on this side alone, stop all units, or flip a bit of one value, to see the alarm",
         "TICK[:TABLE.COLUMN:ROW]"},
        POPT_TABLEEND};
    return phx_cli_parse(joining->cli, argc, argv, table, &usage);
}

/* HOST:PORT, or [ADDRESS]:PORT. */
static int parse_address(Joining *joining) {
    PhxCli *cli = joining->cli;
    const char *text = joining->options.connect;
    if (!text) return phx_cli_fail(cli, "--connect HOST:PORT is needed");
    const char *colon = strrchr(text, ':');
    const bool brackets = colon && colon > text && text[0] == '[' && colon[-1] == ']';
    if (!colon || colon == text || (!brackets && memchr(text, ':', (size_t)(colon - text))))
        return phx_cli_fail(cli, "--connect: %.80s: HOST:PORT is wanted, with one colon: 127.0.0.1:9900",
                            text);
    const char *first = text + brackets;
    const size_t length = (size_t)(colon - first) - brackets;
    uint64_t port = 0;
    if (length >= sizeof joining->address) return phx_cli_fail(cli, "--connect: %.40s: too long", text);
    memcpy(joining->address, first, length);
    const size_t digits = strspn(colon + 1, "0123456789");
    if (digits > 0 && digits < 8 && colon[1 + digits] == 0) port = strtoul(colon + 1, NULL, 10);
    if (port < 1 || port > 65535)
        return phx_cli_fail(cli, "--connect: %.80s: behind the colon a port from 1 to 65535 is wanted", text);
    joining->port = (uint16_t)port;
    return PHX_CLI_GO;
}

static int load_scenario(Joining *joining) {
    PhxCli *cli = joining->cli;
    const Options *o = &joining->options;
    PhxYamlError error = {0};
    const PhxScenarioChanges changes = {.map = o->map};
    int code = phx_cli_range(cli, "--wait", o->wait, 1, 86400);
    if (code == PHX_CLI_GO && o->slot != PHX_NET_NO_SLOT)
        code = phx_cli_range(cli, "--slot", o->slot, 0, PHX_NET_PLAYERS_MAX - 1);
    if (code != PHX_CLI_GO) return code;
    if (code == PHX_CLI_GO) code = phx_cli_writable(cli, o->replay);
    if (code == PHX_CLI_GO) code = phx_cli_writable(cli, o->bundle);
    if (code == PHX_CLI_GO) code = phx_cli_writable_picture(cli, o->png);
    if (code != PHX_CLI_GO) return code;
    if (o->bot && !phx_bot_find(o->bot)) return phx_cli_fail(cli, "--bot: %s: no such bot", o->bot);
    if (phx_scenario_load(cli->arguments[0], &changes, &joining->file, &error))
        return phx_cli_fail(cli, "%s", error.text);
    joining->plan = (PhxMatchPlan){.title = joining->file.scenario->name,
                                   .content = joining->file.blob,
                                   .content_size = joining->file.blob_size,
                                   .letters = joining->file.letters,
                                   .settings = joining->file.scenario->settings,
                                   .threads = (uint32_t)o->threads};
    return PHX_CLI_GO;
}

static int open_network(Joining *joining) {
    const Options *o = &joining->options;
    PhxPeerConfig config = phx_peer_config_default();
    PhxError error = {0};
    config.contract = phx_match_contract(&joining->match);
    config.game = phx_match_game();
    config.tree = phx_match_tree(&joining->match);
    config.wanted_slot = (uint8_t)o->slot;
    config.manual_ready = true;
    config.times.connect_ms = (uint32_t)o->wait * 1000;
    snprintf(config.name, sizeof config.name, "%s", o->name ? o->name : o->bot ? o->bot : "player");
    PhxStatus status = phx_enet_peer_create(phx_allocator_default(), joining->address, joining->port,
                                            &joining->transport, &error);
    if (!status)
        status =
            phx_peer_create(&config, joining->transport, phx_allocator_default(), &joining->peer, &error);
    return status ? phx_cli_fail_status(joining->cli, o->connect, status, &error) : PHX_CLI_GO;
}

/* The lobby is full: makes the world that the host announced, with the files that were asked for. */
static int load_world(Joining *joining) {
    const Options *o = &joining->options;
    joining->info = phx_peer_match(joining->peer);
    const PhxMatchInfo *info = &joining->info;
    const PhxScenario *scenario = joining->file.scenario;
    const char *bot = o->bot                                ? o->bot
                      : info->slot < scenario->player_count ? scenario->players[info->slot].bot
                                                            : "idle";
    joining->bot = phx_bot_find(bot);
    if (!joining->bot) return phx_cli_fail(joining->cli, "%s: no such bot", bot);
    joining->plan.settings.match_key = info->match_key;
    joining->plan.settings.ticks_per_turn = (uint16_t)info->ticks_per_turn;
    joining->plan.settings.input_delay = (uint16_t)info->delay;
    joining->plan.replay = o->replay;
    joining->plan.png = o->png;
    joining->plan.trails = o->png != NULL;
    joining->plan.evidence = true;
    joining->plan.side = info->slot;
    joining->plan.bundle = o->bundle;
    joining->pace = phx_match_pace(info->tick_rate, info->ticks_per_turn);
    phx_match_close(&joining->match);
    int code = phx_match_open(&joining->match, joining->cli, &joining->plan);
    if (code == PHX_CLI_GO) code = phx_match_drill_set(&joining->match, o->drill);
    if (code != PHX_CLI_GO) return code;
    joining->loaded = true;
    phx_peer_ready(joining->peer);
    return PHX_CLI_GO;
}

static PhxStatus submit(void *user, uint32_t offset, const void *bytes, size_t size) {
    return phx_peer_submit(user, offset, bytes, size, NULL);
}

/* Executes what no other side executes: the slot's units drop their orders. */
static int drill(Joining *joining, const PhxCommand *commands, uint32_t count) {
    PhxCommand more[PHX_MATCH_TURN_COMMANDS + 1];
    PhxHandle units[PHX_COMMAND_UNIT_LIMIT];
    uint8_t bytes[PHX_COMMAND_SIZE_LIMIT];
    size_t size;
    PhxCommandData stop = {.type = PHX_COMMAND_STOP, .units = units};
    const PhxUnitView view = phx_sim_units(joining->match.sim);
    for (uint32_t i = 0; i < view.used && stop.unit_count < PHX_COMMAND_UNIT_LIMIT; i++)
        if (view.player[i] == joining->info.slot && phx_sim_unit_handle(joining->match.sim, i))
            units[stop.unit_count++] = phx_sim_unit_handle(joining->match.sim, i);
    const PhxStatus status = phx_command_encode(&stop, bytes, sizeof bytes, &size);
    if (status) return phx_cli_fail_status(joining->cli, "--desync-drill", status, NULL);
    memcpy(more, commands, count * sizeof *more);
    more[count] = (PhxCommand){
        .slot = joining->info.slot, .sequence = UINT32_MAX, .size = (uint32_t)size, .bytes = bytes};
    return phx_match_step(&joining->match, more, count + 1);
}

/* Steps the ticks of one turn. PHX_CLI_GO or an exit code. */
static int play_turn(Joining *joining, const PhxTurn *turn) {
    PhxMatch *match = &joining->match;
    if (!phx_match_turn_copy(&joining->turn, turn))
        return phx_cli_fail(joining->cli, "a turn exceeds its limits");
    for (uint32_t i = 0; i < joining->turn.ticks; i++) {
        uint32_t count;
        const uint32_t tick = joining->turn.first_tick + i;
        const PhxCommand *commands = phx_match_turn_commands(&joining->turn, tick, &count);
        if (!joining->leaving && phx_peer_stage(joining->peer) == PHX_NET_STAGE_RUNNING) {
            phx_match_think(match, joining->file.scenario, joining->bot, joining->info.slot,
                            &joining->outbox);
            phx_match_outbox_flush(&joining->outbox, submit, joining->peer, i);
        }
        const bool strays = match->drill.wanted && !match->drill.changes_cell && match->drill.tick == tick;
        const int code = strays ? drill(joining, commands, count) : phx_match_step(match, commands, count);
        if (code != PHX_CLI_GO) return code;
        const PhxStatus status =
            phx_peer_report_hash(joining->peer, tick, phx_sim_root(match->sim),
                                 phx_sim_table_hashes(match->sim), phx_sim_table_count(match->sim));
        if (status) return phx_cli_fail_status(joining->cli, "hash", status, NULL);
    }
    return PHX_CLI_GO;
}

static int play_turns(Joining *joining, bool *busy) {
    PhxTurn turn;
    /* More than a few turns that wait: this side lags, and plays them at once. */
    while ((phx_match_due(&joining->pace, phx_cli_now()) || phx_peer_turns_waiting(joining->peer) > 2) &&
           phx_peer_next_turn(joining->peer, &turn)) {
        const int code = play_turn(joining, &turn);
        if (code != PHX_CLI_GO) return code;
        phx_match_took(&joining->pace, phx_cli_now());
        *busy = true;
        if (!joining->pace.turn_ns) break; /* the network has its turn after each one */
    }
    return PHX_CLI_GO;
}

static int take_event(Joining *joining, const PhxNetEvent *event) {
    char name[40];
    switch (event->type) {
    case PHX_NET_EVENT_JOINED:
        if (joining->seen >> event->slot & 1) break; /* the host tells a newcomer of all that are there */
        joining->seen |= UINT32_C(1) << event->slot;
        phx_cli_note(joining->cli, "%s is here: %s", phx_match_slot_name(&joining->match, event->slot, name),
                     event->text);
        break;
    case PHX_NET_EVENT_REFUSED:
        joining->refused = *event;
        break;
    case PHX_NET_EVENT_LOADING:
        return load_world(joining);
    case PHX_NET_EVENT_STARTED:
        joining->started = phx_cli_now();
        break;
    case PHX_NET_EVENT_ENDED:
        joining->ended = *event;
        break;
    default:
        phx_match_event(&joining->match, event);
        break;
    }
    return PHX_CLI_GO;
}

static void show_progress(Joining *joining) {
    if (!joining->started || !joining->cli->terminal) return;
    char words[80];
    const PhxMatchCount count = phx_match_count(&joining->match, PHX_PLAYER_LIMIT);
    snprintf(words, sizeof words, "%" PRIu32 " of %" PRIu32 " units arrived  tick", count.arrived,
             count.units);
    phx_cli_progress(joining->cli, phx_sim_tick(joining->match.sim), joining->file.scenario->ticks + 1u,
                     words);
}

static int loop(Joining *joining) {
    PhxNetEvent event;
    int code = PHX_CLI_GO;
    while (code == PHX_CLI_GO) {
        bool busy = false;
        phx_peer_update(joining->peer, phx_cli_now() / 1000);
        while (code == PHX_CLI_GO && phx_peer_poll(joining->peer, &event))
            code = take_event(joining, &event), busy = true;
        if (code == PHX_CLI_GO && joining->loaded) code = play_turns(joining, &busy);
        if (phx_peer_stage(joining->peer) == PHX_NET_STAGE_ENDED && !busy) break;
        if (phx_match_interrupted() && !joining->leaving) {
            joining->leaving = true;
            phx_cli_note(joining->cli, "interrupted: leaving the match");
            phx_peer_leave(joining->peer);
        }
        show_progress(joining);
        if (!busy) phx_enet_wait(&joining->transport, phx_match_sleep(&joining->pace, phx_cli_now()));
    }
    joining->last = phx_cli_now();
    return code;
}

/* Nothing was played: why. */
static int say_not_played(Joining *joining) {
    PhxCli *cli = joining->cli;
    const char *where = joining->options.connect;
    if (joining->refused.type == PHX_NET_EVENT_REFUSED) {
        const int32_t status = joining->refused.status;
        const bool differs = status == PHX_ERROR_MISMATCH || status == PHX_ERROR_VERSION;
        return differs ? phx_cli_false(cli, "%s: refused: %s", where, joining->refused.text)
                       : phx_cli_fail(cli, "%s: refused: %s", where, joining->refused.text);
    }
    if (joining->leaving) return PHX_EXIT_OK;
    if (joining->ended.reason == PHX_NET_REASON_FINISHED)
        return phx_cli_fail(cli, "%s: no match: the host ended it before it began", where);
    return phx_cli_fail(cli, "%s: no match: %s", where, phx_match_why(&joining->ended));
}

static int report(Joining *joining) {
    PhxCli *cli = joining->cli;
    PhxNetStatistics wire;
    uint64_t root = 0;
    const uint32_t agreed = phx_peer_agreed(joining->peer, &root);
    const uint64_t milliseconds = (joining->last - joining->started) / 1000000;
    const int finished = phx_match_finish(&joining->match);
    phx_peer_statistics(joining->peer, &wire);
    phx_cli_progress(cli, 1, 1, "");
    phx_cli_print(cli, "%s: slot %u, %" PRIu32 " ticks in %.2f s\n", joining->plan.title, joining->info.slot,
                  phx_sim_tick(joining->match.sim), (double)milliseconds / 1e3);
    phx_cli_print(cli,
                  "  agreed    %" PRIu32 " ticks, root %016" PRIx64 " on all sides; here at tick %" PRIu32
                  ": %016" PRIx64 "\n",
                  agreed, root, phx_sim_tick(joining->match.sim), phx_sim_root(joining->match.sim));
    phx_match_report(&joining->match);
    phx_match_report_wire(&joining->match, &wire, phx_sim_tick(joining->match.sim), milliseconds);
    phx_cli_set(cli, "slot", json_integer(joining->info.slot));
    phx_cli_set(cli, "milliseconds", json_integer((json_int_t)milliseconds));
    phx_cli_set(cli, "agreed_ticks", json_integer(agreed));
    phx_cli_set(cli, "agreed_root", phx_cli_hash_json(root));
    phx_cli_set(cli, "commands", json_integer((json_int_t)joining->outbox.given));
    phx_cli_set(cli, "ended", json_string(phx_net_reason_text(joining->ended.reason)));
    if (joining->outbox.lost) phx_cli_note(cli, "%" PRIu64 " commands found no room", joining->outbox.lost);
    if (joining->match.desync.type != PHX_NET_EVENT_NONE) return phx_match_say_desync(&joining->match);
    if (joining->ended.reason != PHX_NET_REASON_FINISHED && !joining->leaving)
        return phx_cli_false(cli, "the match broke off after %" PRIu32 " ticks: %s",
                             phx_sim_tick(joining->match.sim), phx_match_why(&joining->ended));
    return finished == PHX_CLI_GO ? PHX_EXIT_OK : finished;
}

static int run(Joining *joining) {
    int code = parse_address(joining);
    if (code == PHX_CLI_GO) code = load_scenario(joining);
    if (code == PHX_CLI_GO) code = phx_match_open(&joining->match, joining->cli, &joining->plan);
    if (code == PHX_CLI_GO) code = phx_match_drill_set(&joining->match, joining->options.drill);
    if (code == PHX_CLI_GO) code = open_network(joining);
    if (code != PHX_CLI_GO) return code;
    phx_match_catch_signals();
    code = loop(joining);
    if (code != PHX_CLI_GO) return code;
    return joining->started ? report(joining) : say_not_played(joining);
}

int phx_cmd_join(PhxCli *cli, int argc, const char **argv) {
    Joining *joining = calloc(1, sizeof *joining);
    if (!joining) return phx_cli_fail_status(cli, "join", PHX_ERROR_MEMORY, NULL);
    joining->cli = cli;
    int code = parse(joining, argc, argv);
    if (code == PHX_CLI_GO) code = run(joining);
    phx_peer_destroy(joining->peer);
    phx_transport_destroy(&joining->transport);
    phx_match_close(&joining->match);
    phx_scenario_unload(&joining->file);
    free(joining);
    return code;
}
