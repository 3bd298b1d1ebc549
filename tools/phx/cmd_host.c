/* cmd_host.c: phx host: orders the commands of all players into turns, over ENet.
 *
 * As referee (the default) it plays every turn too, compares its hashes with the players', writes the replay
 * and may play a slot itself; with --relay it only orders. Exit: 0 all sides agreed on every tick, 1 they
 * didn't (the first tick and table are named), 2 wrong use, bad input, or no match came about.
 */
#include "phx/match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    long long players, ticks, ticks_per_turn, delay; /* 0: not given */
    int port, referee, relay, mend, threads, realtime, fast, wait, slot;
    char *address, *port_file, *replay, *png, *map, *seed, *bot, *bundle;
} Options;

typedef struct Hosting {
    PhxCli *cli;
    Options options;
    bool relay;
    PhxScenarioFile file;
    PhxMatch match;
    PhxTransport transport;
    PhxHost *host;
    PhxMatchTurn turn;
    PhxMatchOutbox outbox, ground; /* of its own player; of the host's own slot: orders to the ground */
    PhxMatchPace pace;
    const PhxBot *bot;
    uint8_t own_slot;
    uint32_t final_ticks;
    PhxNetEvent ended;
    uint64_t started, last; /* ns: the match began; it ended */
    bool leaving;
} Hosting;

static const PhxCliUsage usage = {
    .synopsis = "SCENARIO",
    .about = "Hosts a match of a scenario: waits for the players, orders their commands into turns, and as a "
             "referee plays\n"
             "the match too and compares everybody's hash of every tick. The match ends after the scenario's "
             "ticks (or\n"
             "--ticks), or without --ticks when all units have arrived and nothing has moved for two "
             "seconds. Ctrl-C ends it\n"
             "in good order; a second one at once.\n"
             "Exit: 0 all sides agreed on every tick, 1 they did not, 2 wrong use, bad input, or no match "
             "came about.",
    .examples =
        "  phx host tests/scenario/clash.yaml --port 9900 --fast --replay clash.phxr --png clash.png\n"
        "  phx host tests/scenario/duel.yaml --play 0 --bot corner\n"
        "  phx host tests/scenario/clash.yaml --relay --ticks 2000\n",
    .least = 1,
    .most = 1};

static int parse(Hosting *hosting, int argc, const char **argv) {
    Options *o = &hosting->options;
    *o = (Options){.threads = 1,
                   .wait = 600,
                   .slot = PHX_NET_NO_SLOT,
                   .players = PHX_CLI_DEFAULT,
                   .ticks = PHX_CLI_DEFAULT,
                   .ticks_per_turn = PHX_CLI_DEFAULT,
                   .delay = PHX_CLI_DEFAULT};
    const struct poptOption table[] = {
        {"port", 0, POPT_ARG_INT, &o->port, 0, "UDP port; 0 takes a free one and prints it (default: 0)",
         "P"},
        {"address", 0, POPT_ARG_STRING, &o->address, 0, "address to listen on (default: all)", "ADDRESS"},
        {"port-file", 0, POPT_ARG_STRING, &o->port_file, 0, "write the port's number to a file", "FILE"},
        {"players", 'n', POPT_ARG_LONGLONG, &o->players, 0, "player slots to fill (default: the scenario's)",
         "N"},
        {"referee", 0, POPT_ARG_NONE, &o->referee, 0, "play the match too and compare (the default)", NULL},
        {"relay", 0, POPT_ARG_NONE, &o->relay, 0, "only order commands", NULL},
        {"mend", 0, POPT_ARG_NONE, &o->mend, 0,
         "a side that differs from the majority goes on from the referee's state", NULL},
        {"play", 0, POPT_ARG_INT, &o->slot, 0, "play this slot here too", "SLOT"},
        {"bot", 'b', POPT_ARG_STRING, &o->bot, 0, "bot of that slot (default: the scenario's)", "NAME"},
        {"ticks", 't', POPT_ARG_LONGLONG, &o->ticks, 0, "end after this many ticks, even if all is still",
         "N"},
        {"realtime", 0, POPT_ARG_NONE, &o->realtime, 0, "at the scenario's tick rate (the default)", NULL},
        {"fast", 0, POPT_ARG_NONE, &o->fast, 0, "as fast as the slowest side can", NULL},
        {"ticks-per-turn", 0, POPT_ARG_LONGLONG, &o->ticks_per_turn, 0,
         "ticks a turn (default: the scenario's)", "N"},
        {"delay", 0, POPT_ARG_LONGLONG, &o->delay, 0, "input delay in turns (default: the scenario's)", "N"},
        {"wait", 'w', POPT_ARG_INT, &o->wait, 0, "seconds to wait for the players (default: 600)", "S"},
        {"map", 'm', POPT_ARG_STRING, &o->map, 0, "another map, in .map format", "PATH"},
        {"seed", 's', POPT_ARG_STRING, &o->seed, 0, "another match key", "N"},
        {"threads", 'j', POPT_ARG_INT, &o->threads, 0, "threads that compute (default: 1)", "N"},
        {"replay", 'r', POPT_ARG_STRING, &o->replay, 0, "write a replay", "FILE"},
        {"png", 'p', POPT_ARG_STRING, &o->png, 0, "draw the match at its end", "FILE"},
        {"bundle", 0, POPT_ARG_STRING, &o->bundle, 0,
         "evidence of a desync (default: desync-<tick>-host.bundle)", "FILE"},
        POPT_TABLEEND};
    return phx_cli_parse(hosting->cli, argc, argv, table, &usage);
}

static int check_options(Hosting *hosting) {
    PhxCli *cli = hosting->cli;
    Options *o = &hosting->options;
    int code = phx_cli_range(cli, "--port", o->port, 0, 65535);
    if (code == PHX_CLI_GO)
        code =
            phx_cli_optional(cli, "--players", &o->players, 1, PHX_NET_PLAYERS_MAX, "the scenario's number");
    if (code == PHX_CLI_GO)
        code = phx_cli_optional(cli, "--ticks", &o->ticks, 1, INT32_MAX, "the scenario's own end");
    if (code == PHX_CLI_GO) code = phx_cli_range(cli, "--wait", o->wait, 1, 86400);
    if (code == PHX_CLI_GO)
        code = phx_cli_optional(cli, "--ticks-per-turn", &o->ticks_per_turn, 1, PHX_NET_TICKS_PER_TURN_MAX,
                                "the scenario's number");
    if (code == PHX_CLI_GO)
        code = phx_cli_optional(cli, "--delay", &o->delay, 1, PHX_NET_DELAY_MAX, "the scenario's number");
    if (code == PHX_CLI_GO) code = phx_cli_writable(cli, o->replay);
    if (code == PHX_CLI_GO) code = phx_cli_writable(cli, o->port_file);
    if (code == PHX_CLI_GO) code = phx_cli_writable(cli, o->bundle);
    if (code == PHX_CLI_GO) code = phx_cli_writable_picture(cli, o->png);
    if (code != PHX_CLI_GO) return code;
    hosting->relay = o->relay;
    if (o->relay && o->referee) return phx_cli_fail(cli, "--relay and --referee exclude each other");
    if (o->realtime && o->fast) return phx_cli_fail(cli, "--realtime and --fast exclude each other");
    if (o->relay && (o->replay || o->png || o->mend || o->slot != PHX_NET_NO_SLOT))
        return phx_cli_fail(cli, "--relay plays no match: --replay, --png, --mend and --play need a referee");
    if (o->bot && o->slot == PHX_NET_NO_SLOT) return phx_cli_fail(cli, "--bot needs --play SLOT");
    return PHX_CLI_GO;
}

/* Reads scenario and map and creates the world. */
static int open_match(Hosting *hosting) {
    PhxCli *cli = hosting->cli;
    Options *o = &hosting->options;
    PhxYamlError error = {0};
    const PhxScenarioChanges changes = {.map = o->map, .ticks = (uint32_t)o->ticks};
    if (phx_scenario_load(cli->arguments[0], &changes, &hosting->file, &error))
        return phx_cli_fail(cli, "%s", error.text);
    const PhxScenario *scenario = hosting->file.scenario;
    PhxMatchPlan plan = {.title = scenario->name,
                         .content = hosting->file.blob,
                         .content_size = hosting->file.blob_size,
                         .letters = hosting->file.letters,
                         .settings = scenario->settings,
                         .threads = (uint32_t)o->threads,
                         .replay = o->replay,
                         .png = o->png,
                         .trails = o->png != NULL,
                         .evidence = !hosting->relay,
                         .side = hosting->relay ? PHX_NET_NO_SLOT : PHX_NET_PLAYERS_MAX,
                         .bundle = o->bundle};
    if (o->seed) {
        const int code = phx_cli_u64(cli, "--seed", o->seed, &plan.settings.match_key);
        if (code != PHX_CLI_GO) return code;
    }
    if (o->ticks_per_turn) plan.settings.ticks_per_turn = (uint16_t)o->ticks_per_turn;
    if (o->delay) plan.settings.input_delay = (uint16_t)o->delay;
    if (!o->players) o->players = scenario->player_count;
    hosting->final_ticks = scenario->ticks;
    hosting->own_slot = PHX_NET_NO_SLOT;
    if (o->slot != PHX_NET_NO_SLOT) {
        const int code = phx_cli_range(cli, "--play", o->slot, 0, o->players - 1);
        if (code != PHX_CLI_GO) return code;
        hosting->own_slot = (uint8_t)o->slot;
        const char *bot = o->bot ? o->bot : scenario->players[o->slot].bot;
        hosting->bot = phx_bot_find(bot);
        if (!hosting->bot) return phx_cli_fail(cli, "--bot: %s: no such bot", bot);
    }
    return phx_match_open(&hosting->match, cli, &plan);
}

static int announce_port(Hosting *hosting) {
    PhxCli *cli = hosting->cli;
    const uint16_t port = phx_enet_port(&hosting->transport);
    char text[16];
    phx_cli_set(cli, "port", json_integer(port));
    if (cli->json) phx_cli_note(cli, "port %u", port);
    phx_cli_print(cli, "hosting %s on port %u for %lld players\n", hosting->match.plan.title, port,
                  hosting->options.players);
    fflush(stdout);
    if (!hosting->options.port_file) return PHX_CLI_GO;
    const int length = snprintf(text, sizeof text, "%u\n", port);
    return phx_cli_store(cli, hosting->options.port_file, text, (size_t)length);
}

static int open_network(Hosting *hosting) {
    const Options *o = &hosting->options;
    const PhxSettings *settings = &hosting->match.plan.settings;
    PhxHostConfig config = phx_host_config_default();
    PhxError error = {0};
    config.contract = phx_match_contract(&hosting->match);
    config.game = phx_match_game();
    if (!hosting->relay) config.tree = phx_match_tree(&hosting->match);
    config.players = (uint32_t)o->players;
    config.ticks_per_turn = settings->ticks_per_turn;
    config.delay = settings->input_delay;
    config.tick_rate = o->fast ? 0 : settings->tick_rate;
    config.match_key = settings->match_key;
    config.referee = !hosting->relay;
    config.own_slot = hosting->own_slot;
    config.mend = o->mend != 0;
    config.final_ticks = hosting->final_ticks;
    config.times.lobby_ms = (uint32_t)o->wait * 1000;
    hosting->pace = phx_match_pace(config.tick_rate, config.ticks_per_turn);
    /* Two links more than players, so that a surplus player is refused in words. */
    PhxStatus status = phx_enet_host_create(phx_allocator_default(), o->address, (uint16_t)o->port,
                                            config.players + 2, &hosting->transport, &error);
    if (!status)
        status =
            phx_host_create(&config, hosting->transport, phx_allocator_default(), &hosting->host, &error);
    if (status) return phx_cli_fail_status(hosting->cli, "network", status, &error);
    return announce_port(hosting);
}

static PhxStatus submit_own(void *user, uint32_t offset, const void *bytes, size_t size) {
    return phx_host_submit_own(user, offset, bytes, size, NULL);
}

static PhxStatus submit_host(void *user, uint32_t offset, const void *bytes, size_t size) {
    return phx_host_submit(user, offset, bytes, size, NULL);
}

/* Steps the ticks of one turn. PHX_CLI_GO or an exit code. */
static int play_turn(Hosting *hosting, const PhxTurn *turn) {
    PhxMatch *match = &hosting->match;
    if (!phx_match_turn_copy(&hosting->turn, turn))
        return phx_cli_fail(hosting->cli, "a turn exceeds its limits");
    for (uint32_t i = 0; i < hosting->turn.ticks; i++) {
        uint32_t count;
        const uint32_t tick = hosting->turn.first_tick + i;
        const PhxCommand *commands = phx_match_turn_commands(&hosting->turn, tick, &count);
        if (hosting->own_slot != PHX_NET_NO_SLOT) {
            phx_match_think(match, hosting->file.scenario, hosting->bot, hosting->own_slot, &hosting->outbox);
            phx_match_outbox_flush(&hosting->outbox, submit_own, hosting->host, i);
        }
        phx_match_think(match, hosting->file.scenario, NULL, PHX_SLOT_HOST, &hosting->ground);
        phx_match_outbox_flush(&hosting->ground, submit_host, hosting->host, i);
        const int code = phx_match_step(match, commands, count);
        if (code != PHX_CLI_GO) return code;
        const PhxStatus status =
            phx_host_report_hash(hosting->host, tick, phx_sim_root(match->sim),
                                 phx_sim_table_hashes(match->sim), phx_sim_table_count(match->sim));
        if (status) return phx_cli_fail_status(hosting->cli, "hash", status, NULL);
    }
    return PHX_CLI_GO;
}

static int play_turns(Hosting *hosting, bool *busy) {
    PhxTurn turn;
    while (phx_match_due(&hosting->pace, phx_cli_now()) && phx_host_next_turn(hosting->host, &turn)) {
        const int code = play_turn(hosting, &turn);
        if (code != PHX_CLI_GO) return code;
        phx_match_took(&hosting->pace, phx_cli_now());
        *busy = true;
        if (!hosting->pace.turn_ns) break; /* the network has its turn after each one */
    }
    if (!hosting->options.ticks && !hosting->leaving && phx_match_still(&hosting->match)) {
        hosting->leaving = true;
        phx_host_end(hosting->host, phx_sim_tick(hosting->match.sim));
    }
    return PHX_CLI_GO;
}

static void take_event(Hosting *hosting, const PhxNetEvent *event) {
    char name[40];
    switch (event->type) {
    case PHX_NET_EVENT_JOINED:
        phx_cli_note(hosting->cli, "%s joined: %s", phx_match_slot_name(&hosting->match, event->slot, name),
                     event->text);
        phx_match_note(&hosting->match, PHX_REPLAY_NOTE_JOINED, event->slot, event->text);
        break;
    case PHX_NET_EVENT_REFUSED:
        phx_cli_note(hosting->cli, "refused somebody: %s", event->text);
        break;
    case PHX_NET_EVENT_STARTED:
        hosting->started = phx_cli_now();
        phx_cli_note(hosting->cli, "all players are here: the match begins");
        break;
    case PHX_NET_EVENT_ENDED:
        hosting->ended = *event;
        break;
    default:
        phx_match_event(&hosting->match, event);
        break;
    }
}

static void show_progress(Hosting *hosting) {
    char words[120];
    PhxNetStatistics wire;
    const uint64_t now = phx_cli_now();
    if (!hosting->started || !hosting->cli->terminal) return;
    phx_host_statistics(hosting->host, &wire);
    const double rate =
        (double)(wire.bytes_in + wire.bytes_out) / ((double)(now - hosting->started + 1) / 1e9);
    if (hosting->relay) {
        snprintf(words, sizeof words, "%.0f bytes/s  ticks agreed", rate);
        phx_cli_progress(hosting->cli, phx_host_agreed(hosting->host, NULL), hosting->final_ticks + 1u,
                         words);
        return;
    }
    const PhxMatchCount count = phx_match_count(&hosting->match, PHX_PLAYER_LIMIT);
    snprintf(words, sizeof words,
             "%" PRIu32 " of %" PRIu32 " units arrived  %.3f ms/tick  %.0f bytes/s  tick", count.arrived,
             count.units, phx_match_ms_per_tick(&hosting->match), rate);
    phx_cli_progress(hosting->cli, phx_sim_tick(hosting->match.sim), hosting->final_ticks, words);
}

static int loop(Hosting *hosting) {
    PhxNetEvent event;
    int code = PHX_CLI_GO;
    for (bool told = false; code == PHX_CLI_GO;) {
        bool busy = false;
        phx_host_update(hosting->host, phx_cli_now() / 1000);
        while (phx_host_poll(hosting->host, &event)) take_event(hosting, &event), busy = true;
        if (!hosting->relay) code = play_turns(hosting, &busy);
        if (phx_host_stage(hosting->host) == PHX_NET_STAGE_ENDED && !busy) break;
        if (phx_match_interrupted() && !told) {
            told = hosting->leaving = true;
            phx_cli_note(hosting->cli, "interrupted: ending the match");
            phx_host_end(hosting->host, 0);
        }
        show_progress(hosting);
        if (!busy) phx_enet_wait(&hosting->transport, phx_match_sleep(&hosting->pace, phx_cli_now()));
    }
    hosting->last = phx_cli_now();
    return code;
}

/* Whether all sides agreed on all ticks that were played. */
static int report(Hosting *hosting) {
    PhxCli *cli = hosting->cli;
    PhxNetStatistics wire;
    uint64_t root = 0;
    const uint32_t agreed = phx_host_agreed(hosting->host, &root);
    const uint64_t milliseconds = (hosting->last - hosting->started) / 1000000;
    const int finished = phx_match_finish(&hosting->match);
    phx_host_statistics(hosting->host, &wire);
    phx_cli_progress(cli, 1, 1, "");
    const uint32_t played = hosting->relay ? agreed : phx_sim_tick(hosting->match.sim);
    phx_cli_print(cli, "%s: %" PRIu32 " ticks in %.2f s\n", hosting->match.plan.title, played,
                  (double)milliseconds / 1e3);
    phx_cli_print(cli, "  agreed    %" PRIu32 " ticks, root %016" PRIx64 " on all sides", agreed, root);
    if (agreed < played)
        phx_cli_print(cli, "; here at tick %" PRIu32 ": %016" PRIx64, played,
                      phx_sim_root(hosting->match.sim));
    phx_cli_print(cli, "\n");
    if (!hosting->relay) phx_match_report(&hosting->match);
    phx_match_report_wire(&hosting->match, &wire, played, milliseconds);
    phx_cli_set(cli, "milliseconds", json_integer((json_int_t)milliseconds));
    phx_cli_set(cli, "agreed_ticks", json_integer(agreed));
    phx_cli_set(cli, "agreed_root", phx_cli_hash_json(root));
    phx_cli_set(cli, "ended", json_string(phx_net_reason_text(hosting->ended.reason)));
    if (hosting->match.desync.type != PHX_NET_EVENT_NONE) return phx_match_say_desync(&hosting->match);
    if (!hosting->relay && agreed < phx_sim_tick(hosting->match.sim))
        return phx_cli_false(cli,
                             "%" PRIu32 " ticks were played, but all sides agreed on %" PRIu32 " only: %s",
                             phx_sim_tick(hosting->match.sim), agreed, phx_match_why(&hosting->ended));
    return finished == PHX_CLI_GO ? PHX_EXIT_OK : finished;
}

static int run(Hosting *hosting) {
    int code = open_match(hosting);
    if (code == PHX_CLI_GO) code = open_network(hosting);
    if (code != PHX_CLI_GO) return code;
    phx_match_catch_signals();
    code = loop(hosting);
    if (code != PHX_CLI_GO) return code;
    if (!hosting->started)
        return phx_cli_fail(hosting->cli, "no match came about: %s",
                            phx_match_interrupted() ? "interrupted" : phx_match_why(&hosting->ended));
    return report(hosting);
}

int phx_cmd_host(PhxCli *cli, int argc, const char **argv) {
    Hosting *hosting = calloc(1, sizeof *hosting);
    if (!hosting) return phx_cli_fail_status(cli, "host", PHX_ERROR_MEMORY, NULL);
    hosting->cli = cli;
    int code = parse(hosting, argc, argv);
    if (code == PHX_CLI_GO) code = check_options(hosting);
    if (code == PHX_CLI_GO) code = run(hosting);
    phx_host_destroy(hosting->host);
    phx_transport_destroy(&hosting->transport);
    phx_match_close(&hosting->match);
    phx_scenario_unload(&hosting->file);
    free(hosting);
    return code;
}
