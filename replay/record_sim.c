/* record_sim.c: recording with a sim at hand: what the writer wants to know is asked of the sim.
 *
 * Determinism: queries only; the sim is changed by phx_sim_step alone.
 */
#include <phalanx/content.h>

#include "replay/writer.h"

static PhxStatus describe(const PhxSim *sim, const void *content, size_t content_size, const char **names,
                          PhxReplayMatch *out, PhxError *error) {
    PhxContentInfo info;
    if (phx_sim_tick(sim) != 0)
        return phx_error_set(error, PHX_ERROR_STATE, 0,
                             "a replay begins at tick 0, and the sim is at tick %lu",
                             (unsigned long)phx_sim_tick(sim));
    const PhxStatus status = phx_content_info(content, content_size, &info, error);
    if (status != PHX_OK) return status;
    const uint32_t count = phx_sim_table_count(sim);
    if (count > PHX_REPLAY_TABLE_LIMIT)
        return phx_error_set(error, PHX_ERROR_ARGUMENT, 0, "the sim has %lu tables, more than a replay holds",
                             (unsigned long)count);
    for (uint32_t t = 0; t < count; t++) names[t] = phx_sim_table_name(sim, t);
    *out = (PhxReplayMatch){.sim_revision = PHX_SIM_REVISION,
                            .schema_hash = phx_sim_schema_hash(sim),
                            .content_hash = info.content_hash,
                            .settings = phx_sim_settings(sim),
                            .table_count = count,
                            .table_names = names,
                            .root = phx_sim_root(sim),
                            .table_hashes = phx_sim_table_hashes(sim),
                            .content = content,
                            .content_size = content_size};
    return PHX_OK;
}

static PhxStatus write_players(PhxReplayWriter *writer, const PhxSim *sim) {
    PhxPlayerInfo player;
    PhxStatus status = PHX_OK;
    for (uint8_t slot = 0; slot < PHX_PLAYER_LIMIT && status == PHX_OK; slot++)
        if (phx_sim_player(sim, slot, &player))
            status = phx_replay_writer_player(writer, slot, player.team, player.name);
    return status;
}

PhxStatus phx_replay_record_begin(PhxReplaySink sink, const PhxSim *sim, const void *content,
                                  size_t content_size, const PhxAllocator *allocator, PhxReplayWriter **out,
                                  PhxError *error) {
    return phx_replay_record_begin_packed(sink, sim, content, content_size, PHX_REPLAY_PACK_BEST, allocator,
                                          out, error);
}

PhxStatus phx_replay_record_begin_packed(PhxReplaySink sink, const PhxSim *sim, const void *content,
                                         size_t content_size, PhxReplayPacking packing,
                                         const PhxAllocator *allocator, PhxReplayWriter **out,
                                         PhxError *error) {
    const char *names[PHX_REPLAY_TABLE_LIMIT];
    PhxReplayMatch match;
    *out = NULL;
    PhxStatus status = describe(sim, content, content_size, names, &match, error);
    if (status != PHX_OK) return status;
    match.packing = packing;
    status = phx_replay_writer_create(sink, &match, allocator, out);
    if (status == PHX_OK) status = write_players(*out, sim);
    if (status == PHX_OK) return PHX_OK;
    phx_replay_writer_destroy(*out);
    *out = NULL;
    return phx_error_set(error, status, 0, "the replay could not be begun: %s", phx_status_text(status));
}

PhxStatus phx_replay_record_keyframe(PhxReplayWriter *writer, const PhxSim *sim) {
    if (phx_sim_tick(sim) != phx_replay_writer_ticks(writer)) return PHX_ERROR_STATE;
    if (!phx_replay_writer_keyframe_due(writer)) return PHX_OK;
    size_t size = phx_sim_snapshot_size(sim);
    uint8_t *bytes = phx_replay_room(writer, &writer->snapshot, size);
    if (!bytes) return PHX_ERROR_MEMORY;
    const PhxStatus status = phx_sim_snapshot(sim, bytes, size, &size);
    return status == PHX_OK ? phx_replay_writer_keyframe(writer, phx_sim_root(sim), bytes, size) : status;
}

PhxStatus phx_replay_record_step(PhxReplayWriter *writer, PhxSim *sim, const PhxCommand *commands,
                                 uint32_t count) {
    if (phx_sim_tick(sim) != phx_replay_writer_ticks(writer)) return PHX_ERROR_STATE;
    PhxStatus status = phx_replay_writer_commands(writer, commands, count);
    if (status == PHX_OK) status = phx_sim_step(sim, commands, count);
    if (status == PHX_OK)
        status = phx_replay_writer_hashes(writer, phx_sim_root(sim), phx_sim_table_hashes(sim));
    if (status == PHX_OK) status = phx_replay_record_keyframe(writer, sim);
    return status;
}

PhxStatus phx_replay_record_tick(PhxReplayWriter *writer, const PhxSim *sim, const PhxCommand *commands,
                                 uint32_t count) {
    if (phx_sim_tick(sim) != phx_replay_writer_ticks(writer) + 1) return PHX_ERROR_STATE;
    PhxStatus status = phx_replay_writer_commands(writer, commands, count);
    if (status == PHX_OK)
        status = phx_replay_writer_hashes(writer, phx_sim_root(sim), phx_sim_table_hashes(sim));
    if (status == PHX_OK) status = phx_replay_record_keyframe(writer, sim);
    return status;
}
