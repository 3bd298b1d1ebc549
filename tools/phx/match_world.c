/* match_world.c: world, replay, trails and figures of one side of a match. */
#include "phx/match.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening */

static int open_sim(PhxMatch *match) {
    PhxError error = {0};
    const PhxSimConfig config = {.jobs = match->jobs, .game = match->cli->game};
    PhxStatus status =
        phx_content_info(match->plan.content, match->plan.content_size, &match->content, &error);
    if (!status)
        status = phx_sim_create(&config, match->plan.content, match->plan.content_size, &match->plan.settings,
                                &match->sim, &error);
    if (status) return phx_cli_fail_status(match->cli, match->plan.title, status, &error);
    match->has_arrived = calloc(match->content.unit_capacity + 1u, 1);
    if (!match->has_arrived)
        return phx_cli_fail_status(match->cli, match->plan.title, PHX_ERROR_MEMORY, NULL);
    phx_cli_phases_begin(&match->phases, match->sim, NULL, NULL, false);
    return PHX_CLI_GO;
}

static int open_replay(PhxMatch *match) {
    PhxError error = {0};
    PhxStatus status = phx_replay_file_create(match->plan.replay, NULL, &match->file, &error);
    if (!status)
        status = phx_replay_record_begin(phx_replay_file_sink(match->file), match->sim, match->plan.content,
                                         match->plan.content_size, NULL, &match->writer, &error);
    if (!status) return PHX_CLI_GO;
    return phx_cli_fail_replay(match->cli, match->plan.replay, status, phx_replay_file_fault(match->file),
                               match->file == NULL, &error);
}

int phx_match_open(PhxMatch *match, PhxCli *cli, const PhxMatchPlan *plan) {
    *match = (PhxMatch){.cli = cli, .plan = *plan};
    int code = phx_cli_jobs_begin(cli, plan->threads, &match->jobs);
    if (code != PHX_CLI_GO) {
        match->plan.threads = 1;
        return code;
    }
    code = open_sim(match);
    if (code == PHX_CLI_GO && plan->replay) code = open_replay(match);
    if (code == PHX_CLI_GO && plan->evidence) code = phx_match_evidence_begin(match);
    if (code == PHX_CLI_GO && plan->trails) {
        match->trails = phx_trails_create(match->sim);
        if (!match->trails) code = phx_cli_fail_status(cli, "trails", PHX_ERROR_MEMORY, NULL);
    }
    if (code != PHX_CLI_GO) phx_match_close(match);
    return code;
}

void phx_match_close(PhxMatch *match) {
    if (!match->cli) return;
    phx_replay_writer_destroy(match->writer);
    (void)phx_replay_file_close(match->file);
    phx_trails_destroy(match->trails);
    phx_evidence_destroy(match->evidence);
    free(match->mending);
    phx_sim_destroy(match->sim);
    free(match->has_arrived);
    phx_cli_jobs_end(&match->jobs, match->plan.threads);
    *match = (PhxMatch){0};
}

/* ---- running */

/* A replay that can't be written any more (a full disk) doesn't end the match of others: it is said, and the
 * match goes on without it. */
static void drop_replay(PhxMatch *match, PhxStatus status) {
    const int fault = status == PHX_ERROR_IO ? phx_replay_file_fault(match->file) : 0;
    (void)phx_cli_fail(match->cli, "%s: %s; the match goes on without a replay", match->plan.replay,
                       fault ? strerror(fault) : phx_status_text(status));
    phx_replay_writer_destroy(match->writer);
    match->writer = NULL;
    match->broken = true;
}

void phx_match_note(PhxMatch *match, PhxReplayNoteKind kind, uint8_t slot, const char *text) {
    if (!match->writer) return;
    const PhxStatus status = phx_replay_writer_note(match->writer, kind, slot, text);
    if (status) drop_replay(match, status);
}

static void count_arrivals(PhxMatch *match) {
    uint32_t count;
    const PhxEvent *events = phx_sim_events(match->sim, &count);
    const uint32_t used = phx_sim_units(match->sim).used;
    for (uint32_t i = 0; i < count; i++)
        if (events[i].kind == PHX_EVENT_ARRIVED && phx_handle_slot(events[i].unit) < used)
            match->has_arrived[phx_handle_slot(events[i].unit)] = 1;
}

static void watch_motion(PhxMatch *match) {
    const PhxMatchCount count = phx_match_count(match, PHX_PLAYER_LIMIT);
    if (count.idle == count.units) return;
    match->moved = true;
    match->still_since = phx_sim_tick(match->sim);
}

/* Steps, and records where there is a replay; a drill changes the state before anything is recorded of it. */
static PhxStatus step(PhxMatch *match, const PhxCommand *commands, uint32_t count) {
    const PhxMatchDrill *drill = &match->drill;
    const bool strikes = drill->wanted && drill->changes_cell && drill->tick == phx_sim_tick(match->sim);
    if (match->writer && !strikes) return phx_replay_record_step(match->writer, match->sim, commands, count);
    const PhxStatus status = phx_sim_step(match->sim, commands, count);
    if (status != PHX_OK) return status;
    if (strikes) phx_match_drill_strike(match);
    return match->writer ? phx_replay_record_tick(match->writer, match->sim, commands, count) : PHX_OK;
}

int phx_match_step(PhxMatch *match, const PhxCommand *commands, uint32_t count) {
    const uint32_t tick = phx_sim_tick(match->sim);
    const uint64_t begin = phx_cli_now();
    if (!match->began) match->began = begin;
    PhxStatus status = step(match, commands, count);
    if (status && phx_sim_tick(match->sim) != tick) {
        drop_replay(match, status);
        status = PHX_OK;
    }
    match->stepped_ns += phx_cli_now() - begin;
    if (status) {
        char what[32];
        snprintf(what, sizeof what, "tick %" PRIu32, tick);
        return phx_cli_fail_status(match->cli, what, status, NULL);
    }
    phx_match_evidence_tick(match, commands, count);
    phx_trails_record(match->trails, match->sim);
    count_arrivals(match);
    watch_motion(match);
    return PHX_CLI_GO;
}

PhxMatchCount phx_match_count(const PhxMatch *match, uint32_t player) {
    const PhxUnitView units = phx_sim_units(match->sim);
    PhxMatchCount count = {0};
    for (uint32_t i = 0; i < units.used; i++) {
        if (!phx_generation_alive(units.generation[i])) continue;
        if (player < PHX_PLAYER_LIMIT && units.player[i] != player) continue;
        count.units++;
        count.arrived += match->has_arrived[i];
        count.idle += units.activity[i] == 0 && !units.vel_x[i] && !units.vel_y[i];
    }
    return count;
}

bool phx_match_still(const PhxMatch *match) {
    const uint32_t span = (uint32_t)PHX_MATCH_STILL_SECONDS * match->plan.settings.tick_rate;
    return match->moved && phx_sim_tick(match->sim) - match->still_since >= span;
}

double phx_match_ms_per_tick(const PhxMatch *match) {
    const uint32_t ticks = phx_sim_tick(match->sim);
    return ticks ? (double)match->stepped_ns / 1e6 / ticks : 0;
}

/* ---- ending */

static int finish_replay(PhxMatch *match) {
    const PhxStatus ended = phx_replay_writer_end(match->writer);
    phx_replay_writer_destroy(match->writer);
    match->writer = NULL;
    const PhxStatus closed = phx_replay_file_close(match->file);
    const int fault = errno;
    match->file = NULL;
    if (ended || closed)
        return phx_cli_fail_replay(match->cli, match->plan.replay, ended ? ended : closed, fault, true, NULL);
    phx_cli_set(match->cli, "replay", json_string(match->plan.replay));
    return PHX_CLI_GO;
}

int phx_match_finish(PhxMatch *match) {
    phx_match_desync_end(match);
    int code = match->broken ? PHX_EXIT_WRONG : PHX_CLI_GO;
    if (match->writer) {
        const int replay = finish_replay(match);
        if (replay != PHX_CLI_GO) code = replay;
    }
    if (!match->plan.png) return code;
    PhxError error = {0};
    const PhxPictureOptions picture = {.title = match->plan.title, .letters = match->plan.letters};
    const PhxStatus status =
        phx_picture_write_png(match->plan.png, match->sim, match->trails, &picture, &error);
    if (status) return phx_cli_fail_status(match->cli, match->plan.png, status, &error);
    phx_cli_set(match->cli, "png", json_string(match->plan.png));
    return code;
}

static void report_players(PhxMatch *match) {
    json_t *list = json_array();
    PhxPlayerInfo player;
    for (uint32_t slot = 0; slot < PHX_PLAYER_LIMIT && phx_sim_player(match->sim, slot, &player); slot++) {
        const PhxMatchCount count = phx_match_count(match, slot);
        json_array_append_new(list, json_pack("{s:i, s:s*, s:I, s:I, s:b}", "slot", (int)slot, "name",
                                              player.name, "units", (json_int_t)count.units, "arrived",
                                              (json_int_t)count.arrived, "left", player.left));
        phx_cli_print(match->cli, "  player %-3" PRIu32 "%s: %" PRIu32 " of %" PRIu32 " units arrived%s\n",
                      slot, player.name, count.arrived, count.units, player.left ? "; left the match" : "");
    }
    phx_cli_set(match->cli, "players", list);
}

void phx_match_report(PhxMatch *match) {
    PhxCli *cli = match->cli;
    const PhxMatchCount count = phx_match_count(match, PHX_PLAYER_LIMIT);
    const uint32_t ticks = phx_sim_tick(match->sim);
    phx_cli_set(cli, "ticks", json_integer(ticks));
    phx_cli_set(cli, "root", phx_cli_hash_json(phx_sim_root(match->sim)));
    phx_cli_set(cli, "units", json_integer(count.units));
    phx_cli_set(cli, "arrived", json_integer(count.arrived));
    phx_cli_set(cli, "threads", json_integer(match->plan.threads));
    phx_cli_set(cli, "ms_by_phase", phx_cli_phases_json(&match->phases, ticks));
    phx_cli_print(cli, "  units     %" PRIu32 " of %" PRIu32 " arrived\n", count.arrived, count.units);
    report_players(match);
    phx_cli_phases_print(cli, &match->phases, ticks);
}
