/* formation_slots.c: where the slots of a formation are: laid out for its members, bent along its trail, and
 * given out.
 *
 * In: a row of table formation, its members' bodies and ranks, where they are. Out: slots in scratch, and who
 * takes which (state). A formation on its way that is more than twice as deep as wide follows its anchor's
 * trail, so that its rear comes around a corner where its head did. Cost: linear in the members, but for
 * giving slots out (phalanx/assign.h). Determinism: serial; a pure function of the row, its members and the
 * patterns.
 */
#include "base/assert.h"
#include "step/sim_internal.h"

enum { STAGE_MARCH = 0, DEEP = 4 /* half widths: a formation deeper than that follows its trail */ };

void phx_formations_layout(PhxFormationWork *work, PhxArena *arena, uint32_t units) {
    work->member = PHX_ARENA_ARRAY(arena, uint32_t, units);
    work->slots = PHX_ARENA_ARRAY(arena, PhxFormationSlot, PHX_FORMATION_UNITS);
    work->radius = PHX_ARENA_ARRAY(arena, fix16_t, PHX_FORMATION_UNITS);
    work->rank = PHX_ARENA_ARRAY(arena, uint8_t, PHX_FORMATION_UNITS);
    work->slot_rank = PHX_ARENA_ARRAY(arena, uint8_t, PHX_FORMATION_UNITS);
    work->at = PHX_ARENA_ARRAY(arena, PhxVec2, PHX_FORMATION_UNITS);
    work->slot_at = PHX_ARENA_ARRAY(arena, PhxVec2, PHX_FORMATION_UNITS);
    work->id = PHX_ARENA_ARRAY(arena, uint32_t, PHX_FORMATION_UNITS);
    work->slot_of = PHX_ARENA_ARRAY(arena, uint32_t, PHX_FORMATION_UNITS);
    work->assign = phx_assign_layout(arena);
}

/* The slots of a row's pattern, into work->pattern; none where there is no such pattern. */
static uint32_t read_pattern(PhxSim *sim, uint32_t row) {
    const PhxWorld *world = sim->world;
    const PhxFormationPatternTable *patterns = &world->formation_pattern;
    const uint32_t pattern = world->formation.pattern[row];
    if (world->formation.shape[row] != PHX_FORMATION_PATTERN ||
        !phx_table_alive(&world->tables[PHX_TABLE_formation_pattern], pattern))
        return 0;
    for (uint32_t i = 0; i < patterns->count[pattern]; i++) {
        const size_t lane = (size_t)pattern * PHX_SIM_PATTERN_SLOTS + i;
        sim->formations.pattern[i] = (PhxFormationSlot){
            .at = {patterns->forward[lane], patterns->right[lane]}, .rank = patterns->rank[lane]};
    }
    return patterns->count[pattern];
}

PhxStatus phx_formation_slots(PhxSim *sim, uint32_t row, const uint32_t *members, uint32_t count,
                              fix16_t limit, PhxFormationExtent *extent) {
    const PhxWorld *world = sim->world;
    PhxFormationWork *work = &sim->formations;
    for (uint32_t i = 0; i < count; i++) {
        work->radius[i] = world->unit_type.radius[world->unit.type[members[i]]];
        work->rank[i] = world->unit_type.rank[world->unit.type[members[i]]];
    }
    const PhxFormationSpec spec = {.shape = (PhxFormationShape)world->formation.shape[row],
                                   .count = count,
                                   .radius = work->radius,
                                   .rank = work->rank,
                                   .gap = world->formation.gap[row],
                                   .width = world->formation.width[row],
                                   .limit = limit,
                                   .pattern = work->pattern,
                                   .pattern_count = read_pattern(sim, row)};
    return phx_formation_layout(&spec, work->slots, extent);
}

void phx_formation_follow_trail(PhxSim *sim, uint32_t row, const PhxFormationExtent *extent) {
    const PhxFormationTable *rows = &sim->world->formation;
    PhxFormationTrail *trail = &sim->formations.trail;
    const uint32_t count = rows->trail_count[row];
    sim->formations.trails =
        count > 0 && rows->stage[row] == STAGE_MARCH && extent->back > DEEP * (int64_t)extent->side;
    if (!sim->formations.trails) return;
    trail->count = 1;
    trail->point[0] = phx_vec2(rows->x[row], rows->y[row]);
    for (uint32_t i = 0; i < count; i++) {
        const size_t lane = (size_t)row * PHX_FORMATION_TRAIL + i;
        const PhxVec2 point = {rows->trail_x[lane], rows->trail_y[lane]};
        if (!phx_vec2_equal(point, trail->point[trail->count - 1])) trail->point[trail->count++] = point;
    }
    if (trail->count == 1) sim->formations.trails = false;
    phx_formation_trail_measure(trail);
}

PhxVec2 phx_formation_place(const PhxSim *sim, uint32_t row, uint32_t i, PhxVec2 *middle, PhxDir *forward) {
    const PhxFormationTable *rows = &sim->world->formation;
    const PhxFormationWork *work = &sim->formations;
    if (work->trails) return phx_formation_trail_place(&work->trail, work->slots[i].at, middle, forward);
    *middle = phx_vec2(rows->x[row], rows->y[row]);
    *forward = phx_dir_of_angle(rows->facing[row]);
    return phx_formation_to_world(*middle, rows->facing[row], work->slots[i].at);
}

fix16_t phx_formation_within(fix16_t v) {
    const fix16_t most = 8192 * PHX_FIX_ONE - 1;
    return v < -most ? -most : v > most ? most : v;
}

/* Who takes which slot, by where they are now. */
void phx_formation_give_slots(PhxSim *sim, uint32_t row) {
    PhxFormationWork *work = &sim->formations;
    PhxWorld *world = sim->world;
    const uint32_t *members = work->member + work->first[row],
                   count = work->first[row + 1] - work->first[row];
    for (uint32_t i = 0; i < count; i++) {
        PhxVec2 middle;
        PhxDir forward;
        const PhxVec2 slot = phx_formation_place(sim, row, i, &middle, &forward);
        work->at[i] = phx_vec2(phx_formation_within(world->unit.pos_x[members[i]]),
                               phx_formation_within(world->unit.pos_y[members[i]]));
        work->slot_at[i] = phx_vec2(phx_formation_within(slot.x), phx_formation_within(slot.y));
        work->slot_rank[i] = work->slots[i].rank;
        work->id[i] = members[i];
    }
    const PhxAssignSet units = {count, work->at, work->id, work->rank};
    const PhxAssignSet slots = {count, work->slot_at, NULL, work->slot_rank};
    const PhxStatus status = phx_assign_solve(work->assign, &units, &slots, work->slot_of);
    PHX_ASSERT(status == PHX_OK, status, count); /* as many slots of a rank as units, all in the world */
    for (uint32_t i = 0; i < count; i++) world->unit.formation_slot[members[i]] = (uint16_t)work->slot_of[i];
    world->formation.members[row] = (uint16_t)count;
}
