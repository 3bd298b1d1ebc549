/* soak.c: random matches: made, run, minimised. See soak.h. */
#include "soak/soak.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soak/apart.h"
#include "soak/dice.h"
#include "soak/minimise.h"

static void choose_sync(PhxSoakMatch *match, const PhxGame *game) {
    static const uint32_t threads[] = {2, 3, 4, 8}, caches[] = {0, 1, 2, 7};
    static const uint8_t poisons[] = {0x00, 0xff, 0x5a, 0x80, 0x7f};
    PhxDice dice = {.seed = match->seed ^ UINT64_C(0x73796e63)};
    PhxSyncOptions *sync = &match->sync;
    *sync = (PhxSyncOptions){.game = game, .cold = true, .poison = true, .thread_count = 1};
    sync->every = (uint32_t)(phx_dice_percent(&dice, 50) ? 1 : phx_dice_range(&dice, 2, 20));
    sync->threads[0] = threads[phx_dice(&dice) % 4];
    sync->field_cache = caches[phx_dice(&dice) % 4];
    sync->poison_byte = poisons[phx_dice(&dice) % 5];
}

PhxStatus phx_soak_make(uint64_t seed, const PhxGame *game, PhxSoakMatch *out, PhxError *error) {
    *out = (PhxSoakMatch){.seed = seed};
    PhxStatus status = phx_soak_make_content(out, error);
    if (status == PHX_OK) status = phx_soak_make_commands(out);
    if (status == PHX_OK)
        choose_sync(out, game);
    else
        phx_soak_free(out);
    return status;
}

void phx_soak_free(PhxSoakMatch *match) {
    free(match->blob);
    phx_stream_free(&match->stream);
    *match = (PhxSoakMatch){0};
}

/* Running. */

PhxStatus phx_soak_world(const PhxSoakMatch *match, PhxSim **out) {
    const PhxSimConfig config = {.game = match->sync.game};
    return phx_sim_create(&config, match->blob, match->blob_size, NULL, out, NULL);
}

/* The counters of commands, which are columns of the one row of the table match. */
static void read_counter(void *user, const char *text, size_t length) {
    PhxSoakRun *run = user;
    const struct {
        const char *name;
        uint32_t *value;
    } wanted[] = {{"match[0].commands_executed = ", &run->executed},
                  {"match[0].commands_malformed = ", &run->malformed},
                  {"match[0].commands_late = ", &run->late},
                  {"match[0].commands_full = ", &run->full}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const size_t name = strlen(wanted[i].name);
        char digits[24] = "";
        if (length <= name || memcmp(text, wanted[i].name, name) != 0) continue;
        memcpy(digits, text + name, length - name < sizeof digits ? length - name : sizeof digits - 1);
        *wanted[i].value = (uint32_t)strtoul(digits, NULL, 10);
    }
}

static void finish(const PhxSim *sim, PhxSoakRun *out) {
    PhxPlayerInfo player;
    out->root = phx_sim_root(sim);
    phx_sim_dump(sim, read_counter, out);
    for (uint32_t slot = 0; slot < PHX_PLAYER_LIMIT; slot++)
        if (phx_sim_player(sim, slot, &player)) out->arrived += player.arrived;
}

static void run_ticks(const PhxSoakMatch *match, const PhxStream *stream, uint32_t ticks, PhxSim *sim,
                      PhxSync *sync, PhxCommand *commands, PhxSoakRun *out) {
    uint32_t at = 0;
    while (out->ticks < ticks && out->status == PHX_OK && out->fault.kind == PHX_SYNC_EQUAL) {
        const uint32_t tick = out->ticks;
        const uint32_t count = phx_stream_take(stream, &at, tick, commands, PHX_TICK_COMMAND_LIMIT);
        out->status = phx_sync_step(sync, commands, count, &out->fault);
        out->agent_steps += phx_sim_units(sim).live;
        if (out->fault.kind != PHX_SYNC_EQUAL || out->status != PHX_OK) break;
        out->ticks++;
        if (match->planted == NULL || !match->planted(match->planted_user, sim)) continue;
        out->fault = (PhxSyncFault){.kind = PHX_SYNC_PLANTED, .tick = tick, .root = phx_sim_root(sim)};
        snprintf(out->fault.text, sizeof out->fault.text, "tick %" PRIu32 ": a planted failure", tick);
    }
    out->comparisons = phx_sync_comparisons(sync);
}

void phx_soak_run(const PhxSoakMatch *match, const PhxStream *stream, uint32_t ticks, PhxSoakRun *out) {
    PhxSim *sim = NULL;
    PhxSync *sync = NULL;
    *out = (PhxSoakRun){0};
    PhxCommand *commands = malloc(PHX_TICK_COMMAND_LIMIT * sizeof *commands);
    out->status = commands != NULL ? phx_soak_world(match, &sim) : PHX_ERROR_MEMORY;
    if (out->status == PHX_OK)
        out->status = phx_sync_create(sim, match->blob, match->blob_size, NULL, &match->sync, &sync, NULL);
    if (out->status == PHX_OK) run_ticks(match, stream, ticks, sim, sync, commands, out);
    if (out->status == PHX_OK) finish(sim, out);
    phx_sync_destroy(sync);
    phx_sim_destroy(sim);
    free(commands);
}

typedef struct Errand {
    const PhxSoakMatch *match;
    const PhxStream *stream;
    uint32_t ticks;
} Errand;

static void run_errand(void *context, void *answer) {
    const Errand *errand = context;
    phx_soak_run(errand->match, errand->stream, errand->ticks, answer);
}

void phx_soak_run_apart(const PhxSoakMatch *match, const PhxStream *stream, uint32_t ticks, uint32_t seconds,
                        PhxSoakRun *out) {
    Errand errand = {match, stream, ticks};
    char death[64];
    const PhxStatus status = phx_apart(run_errand, &errand, out, sizeof *out, seconds, death);
    if (status == PHX_OK) return;
    *out = (PhxSoakRun){.status = status == PHX_ERROR_IO ? status : PHX_OK, .ticks = ticks};
    if (status == PHX_ERROR_IO) return;
    out->fault = (PhxSyncFault){.kind = PHX_SYNC_CRASH, .tick = ticks - (ticks > 0)};
    snprintf(out->fault.way, sizeof out->fault.way, "%.47s", death);
    snprintf(out->fault.text, sizeof out->fault.text, "within %" PRIu32 " ticks: the program ended by %s",
             ticks, death);
}

/* Minimising. */

typedef struct Trial {
    const PhxSoakMatch *match;
    const PhxSoakRun *wanted;
    uint32_t ticks, seconds, tests;
    PhxSoakProgress progress;
    void *user;
    PhxStatus status;
} Trial;

static bool same_fault(const PhxSyncFault *a, const PhxSyncFault *b) {
    return a->kind == b->kind && strcmp(a->way, b->way) == 0;
}

static bool fails(void *user, const uint32_t *kept, uint32_t count) {
    Trial *trial = user;
    PhxStream stream;
    PhxSoakRun run;
    if (trial->status != PHX_OK) return false;
    trial->status = phx_stream_select(&trial->match->stream, kept, count, &stream);
    if (trial->status != PHX_OK) return false;
    phx_soak_run_apart(trial->match, &stream, trial->ticks, trial->seconds, &run);
    phx_stream_free(&stream);
    trial->status = run.status;
    if (trial->progress != NULL) trial->progress(trial->user, ++trial->tests, count);
    return run.status == PHX_OK && same_fault(&run.fault, &trial->wanted->fault);
}

PhxStatus phx_soak_minimise(const PhxSoakMatch *match, const PhxSoakRun *failed, uint32_t test_limit,
                            uint32_t seconds, PhxSoakProgress progress, void *user, PhxSoakMinimised *out) {
    Trial trial = {match, failed, failed->fault.tick + 1, seconds, 0, progress, user, PHX_OK};
    PhxMinimised found;
    *out = (PhxSoakMinimised){0};
    PhxStatus status = phx_minimise(match->stream.count, fails, &trial, test_limit, &found);
    if (status != PHX_OK) return status;
    status = trial.status != PHX_OK ? trial.status : found.fails ? PHX_OK : PHX_ERROR_STATE;
    if (status == PHX_OK) status = phx_stream_select(&match->stream, found.kept, found.count, &out->stream);
    free(found.kept);
    if (status != PHX_OK) return status;
    phx_soak_run_apart(match, &out->stream, trial.ticks, seconds, &out->run);
    out->ticks = out->run.fault.tick + 1;
    out->tests = found.tests;
    out->minimal = found.minimal;
    return PHX_OK;
}
