/* settle.c: the phase `settle`: units near their goal find places there, so that a group fills the ground
 * around one point instead of fighting for it.
 *
 * In: positions, goals, who stands where. Out: for each unit that is under way near its goal a point to walk
 * to; places that are promised (state); units that stood already and move up to let others in. A group is all
 * units of one player, radius and cost profile that were sent to one point, by whatever orders. Cost: a room
 * (room.h) for each group that has a unit under way near its goal; nothing for the others. What a room of
 * another tick was made of and is still so isn't made again. Determinism: groups are independent: a job
 * changes only rows of its own group, and reads of others only columns that this phase doesn't write. Within
 * a group units are served by ascending slot.
 */
#include "base/sort.h"
#include "step/sim_internal.h"

enum {
    AIM_PLACE = 1, /* values of unit.aim */
    AIM_WAY = 2,
    AIM_PROMISED = 3,       /* the place, which was promised in this tick */
    LOOK_AHEAD = 6,         /* lattice steps that a unit looks along its way */
    NEAR = 4 * PHX_FIX_ONE, /* a unit looks for a place within three discs of its group and so much more */
    RIM = 8,                /* lattice steps within the edge of what the room knows */
    CHAIN_LIMIT = 64,       /* units that move up for one */
    NO_ROOM = PHX_SIM_ROOMS /* of a group that isn't due */
};

static bool seeker_less(const PhxSeeker *a, const PhxSeeker *b) {
    if (a->goal_x != b->goal_x) return a->goal_x < b->goal_x;
    if (a->goal_y != b->goal_y) return a->goal_y < b->goal_y;
    if (a->radius != b->radius) return a->radius < b->radius;
    if (a->player != b->player) return a->player < b->player;
    if (a->profile != b->profile) return a->profile < b->profile;
    return a->slot < b->slot;
}
PHX_DEFINE_SORT(sort_seekers, PhxSeeker, seeker_less)

static bool same_group(const PhxSeeker *a, const PhxSeeker *b) {
    return a->goal_x == b->goal_x && a->goal_y == b->goal_y && a->radius == b->radius &&
           a->player == b->player && a->profile == b->profile;
}

static fix16_t radius_of(const PhxWorld *world, uint32_t slot) {
    return world->unit_type.radius[world->unit.type[slot]];
}

static PhxVec2 position_of(const PhxWorld *world, uint32_t slot) {
    return phx_vec2(world->unit.pos_x[slot], world->unit.pos_y[slot]);
}

/* Where a unit stands or will stand, as it was when the phase began; false: it is under way without a place.
 */
static bool spot_of(const PhxWorld *world, uint32_t slot, PhxVec2 *spot) {
    const PhxUnitTable *units = &world->unit;
    *spot = phx_vec2(units->spot_x[slot], units->spot_y[slot]);
    return units->spot[slot] != 0;
}

/* Whether a place is promised to it; not when it has left one to make room, and looks for another. */
static bool has_place(const PhxUnitTable *units, uint32_t slot) {
    return units->placed[slot] == 1 || units->placed[slot] == 2;
}

static void note_spot(PhxUnitTable *units, uint32_t slot) {
    const bool stands = units->activity[slot] == 0, promised = !stands && has_place(units, slot);
    units->spot[slot] = stands || promised;
    units->spot_x[slot] = promised ? units->place_x[slot] : units->pos_x[slot];
    units->spot_y[slot] = promised ? units->place_y[slot] : units->pos_y[slot];
}

/* Whether a unit under an order looks for a place now: near its goal, where its last order ends. */
static bool seeks(const PhxSim *sim, uint32_t slot) {
    const PhxWorld *world = sim->world;
    const PhxUnitTable *units = &world->unit;
    if (units->orders[slot] != PHX_HANDLE_NONE || units->formation[slot] != PHX_HANDLE_NONE) return false;
    if (units->chase[slot] != PHX_HANDLE_NONE || !phx_layers_is_ready(sim, phx_layers_of(sim, slot)))
        return false;
    const PhxVec2 goal = {units->goal_x[slot], units->goal_y[slot]};
    const int64_t most = phx_room_reach(radius_of(world, slot));
    const int64_t near = NEAR + 3 * (int64_t)units->arrive_radius[slot], reach = near < most ? near : most;
    return phx_vec2_distance_sq(goal, position_of(world, slot)) < (uint64_t)(reach * reach);
}

static void walk_to(PhxUnitTable *units, uint32_t slot, uint8_t aim, PhxVec2 point) {
    units->aim[slot] = aim;
    units->aim_x[slot] = point.x;
    units->aim_y[slot] = point.y;
}

static void promise(PhxUnitTable *units, uint32_t slot, PhxVec2 place, uint8_t placed) {
    units->placed[slot] = placed;
    units->place_x[slot] = place.x;
    units->place_y[slot] = place.y;
    units->best_distance[slot] = UINT32_MAX;
    units->stalled[slot] = 0;
    units->activity[slot] = 1;
    walk_to(units, slot, AIM_PROMISED, place);
}

/* Sum of the squared radii of the group: of the members near, or what the orders said. */
static uint64_t area_of(const PhxWorld *world, const PhxSpatial *spatial, const PhxSeeker *first,
                        uint32_t count) {
    const PhxVec2 anchor = {first->goal_x, first->goal_y};
    uint64_t ordered = 0, near = 0;
    PhxSpatialWindow window;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t disc = (uint64_t)world->unit.arrive_radius[first[i].slot];
        if (disc * disc * 4 / 5 > ordered) ordered = disc * disc * 4 / 5;
        near += (uint64_t)first->radius * (uint64_t)first->radius;
    }
    if (!phx_spatial_window(spatial, anchor, phx_room_reach(first->radius), &window)) return ordered;
    for (uint32_t cy = window.first_y; cy <= window.last_y; cy++)
        for (uint32_t row = spatial->cell_start[cy * spatial->width + window.first_x];
             row < spatial->cell_start[cy * spatial->width + window.last_x + 1]; row++) {
            const uint32_t slot = spatial->slot[row];
            const uint64_t radius = (uint64_t)radius_of(world, slot);
            if (world->unit.goal_x[slot] == anchor.x && world->unit.goal_y[slot] == anchor.y &&
                world->unit.spot[slot] != 0)
                near += radius * radius;
        }
    return near > ordered ? near : ordered;
}

/* Whether a unit belongs to the room's group and stands or will stand there. Columns that jobs of other
 * groups write are read of this group's units only. */
static bool is_member(const PhxWorld *world, const PhxSeeker *group, uint32_t slot) {
    const PhxUnitTable *units = &world->unit;
    return radius_of(world, slot) == group->radius && units->player[slot] == group->player &&
           world->unit_type.profile[units->type[slot]] == group->profile &&
           units->goal_x[slot] == group->goal_x && units->goal_y[slot] == group->goal_y &&
           units->spot[slot] != 0 && units->placed[slot] != 0 && units->orders[slot] == PHX_HANDLE_NONE;
}

static void tell_all(PhxRoom *room, const PhxWorld *world, const PhxSpatial *spatial,
                     const PhxSeeker *group) {
    PhxSpatialWindow window;
    if (!phx_spatial_window(spatial, room->anchor, phx_room_reach(room->radius), &window)) return;
    for (uint32_t cy = window.first_y; cy <= window.last_y; cy++)
        for (uint32_t row = spatial->cell_start[cy * spatial->width + window.first_x];
             row < spatial->cell_start[cy * spatial->width + window.last_x + 1]; row++) {
            const uint32_t slot = spatial->slot[row];
            const fix16_t radius = radius_of(world, slot);
            PhxVec2 spot;
            if (!spot_of(world, slot, &spot)) continue;
            const bool yields = is_member(world, group, slot);
            phx_room_tell(room, spot, radius, slot, yields);
        }
}

/* Who stands farther out than need be, because there was no better place then, looks for one again. */
static void call_in(PhxRoom *room, PhxWorld *world, const PhxSpatial *spatial, const PhxSeeker *group) {
    PhxUnitTable *units = &world->unit;
    PhxSpatialWindow window;
    if (!phx_spatial_window(spatial, room->anchor, phx_room_reach(room->radius), &window)) return;
    for (uint32_t cy = window.first_y; cy <= window.last_y; cy++)
        for (uint32_t row = spatial->cell_start[cy * spatial->width + window.first_x];
             row < spatial->cell_start[cy * spatial->width + window.last_x + 1]; row++) {
            const uint32_t slot = spatial->slot[row];
            PhxVec2 spot;
            if (!is_member(world, group, slot) || units->aim[slot] == AIM_PROMISED ||
                !spot_of(world, slot, &spot))
                continue;
            if (!phx_room_outside(room, spot)) continue;
            /* one so far off that the room doesn't know its place comes nearer before it asks */
            if (phx_room_point(room, spot) != PHX_ROOM_NONE && !phx_room_has_place_inside(room, spot))
                continue;
            units->placed[slot] = units->activity[slot] == 0 || units->placed[slot] == 2 ? 3 : 0;
            units->activity[slot] = 1;
            units->best_distance[slot] = UINT32_MAX;
            units->stalled[slot] = 0;
        }
}

/* The place at a vacant point: the goal itself where that is a step or two away and free. */
static PhxVec2 place_at(const PhxRoom *room, uint32_t point) {
    const PhxVec2 place = phx_room_position(room, point);
    const bool near = phx_vec2_length(phx_vec2_sub(place, room->anchor)) <= 2 * room->spacing;
    if (!near || room->start == PHX_ROOM_NONE || !phx_room_vacant(room, room->start)) return place;
    return phx_room_can_stand(room, room->anchor) ? room->anchor : place;
}

/* Whether `point` is a vacant one at which ways end. */
static bool is_end(PhxRoom *room, uint32_t point) {
    return phx_room_vacant(room, point) && phx_room_next(room, point) == point;
}

/* Adds the owner of a point to the chain. False: it can't move up, or the chain is full. */
static bool add_to_chain(const PhxUnitTable *units, uint32_t owner, uint32_t *chain, uint32_t *count) {
    for (uint32_t i = 0; i < *count; i++)
        if (chain[i] == owner) return true;
    if (*count == CHAIN_LIMIT || units->aim[owner] == AIM_PROMISED) return false;
    chain[(*count)++] = owner;
    return true;
}

/* The way from `point` on leads over places. The units there move up by one each, the last to the first
 * vacant point behind it, and the unit that comes gets the first one's place. So nobody has to look for a
 * place again who had one. False where that can't be: nothing is changed then. */
static bool move_up(PhxRoom *room, PhxUnitTable *units, uint32_t slot, uint32_t point) {
    uint32_t chain[CHAIN_LIMIT], count = 0;
    while (!is_end(room, point)) {
        const uint32_t next = phx_room_next(room, point);
        if (next == point) return false;
        point = next;
        if (phx_room_vacant(room, point)) {
            if (count > 0) break;
            continue;
        }
        if (!add_to_chain(units, room->owner[point], chain, &count)) return false;
    }
    if (count == 0) return false;
    PhxVec2 place = place_at(room, point);
    phx_room_take(room, place, chain[count - 1]);
    for (uint32_t i = count; i-- > 0;) {
        const PhxVec2 left = {units->spot_x[chain[i]], units->spot_y[chain[i]]};
        const bool arrived = units->activity[chain[i]] == 0 || units->placed[chain[i]] == 2;
        promise(units, chain[i], place, arrived ? 2 : 1);
        place = left;
    }
    promise(units, slot, place, units->placed[slot] == 3 ? 2 : 1);
    return true;
}

/* Whether the room sees too little from here: its ground ends close by, so that a way to a place inside may
 * lead around outside of it. */
static bool at_rim(const PhxRoom *room, PhxVec2 at) {
    const int64_t near = (int64_t)phx_room_flooded(room) - RIM * (int64_t)room->spacing;
    return near < 0 || phx_vec2_distance_sq(at, room->anchor) >= (uint64_t)(near * near);
}

static void seek(PhxRoom *room, PhxWorld *world, uint32_t slot) {
    PhxUnitTable *units = &world->unit;
    const PhxVec2 at = position_of(world, slot);
    uint32_t point = phx_room_point(room, at);
    if (point == PHX_ROOM_NONE) return;
    if (at_rim(room, at) && !phx_room_has_place_inside(room, at)) return; /* the field leads on */
    for (int step = 0; step < LOOK_AHEAD; step++) {
        const uint32_t next = phx_room_next(room, point);
        if (next == point) {
            if (!phx_room_vacant(room, point)) return;
            const PhxVec2 place = place_at(room, point);
            promise(units, slot, place, units->placed[slot] == 3 ? 2 : 1);
            phx_room_take(room, place, slot);
            return;
        }
        if (!phx_room_vacant(room, next)) {
            const uint32_t owner = room->owner[next];
            const PhxVec2 spot = {units->spot_x[owner], units->spot_y[owner]};
            const int64_t contact = 2 * (int64_t)room->radius + room->radius / 2 + room->spacing;
            if (phx_vec2_distance_sq(at, spot) <= (uint64_t)(contact * contact) &&
                move_up(room, units, slot, point))
                return;
            if (step == 0) point = next;
            break;
        }
        point = next;
    }
    walk_to(units, slot, AIM_WAY, phx_room_position(room, point));
    units->aim_left[slot] = phx_room_value(room, phx_room_point(room, at));
}

/* Whether anything is to be decided: a unit has come within the disc's margin, or one of the group stands
 * farther out than need be. Else the ways of the room would lead nobody. */
static bool is_needed(const PhxRoom *room, const PhxWorld *world, const PhxSpatial *spatial,
                      const PhxSeeker *group, uint32_t count) {
    const int64_t near = (int64_t)phx_room_flooded(room) + 2 * (int64_t)room->spacing;
    for (uint32_t i = 0; i < count; i++)
        if (phx_vec2_distance_sq(position_of(world, group[i].slot), room->anchor) <= (uint64_t)(near * near))
            return true;
    PhxSpatialWindow window;
    if (!phx_spatial_window(spatial, room->anchor, phx_room_reach(room->radius), &window)) return false;
    for (uint32_t cy = window.first_y; cy <= window.last_y; cy++)
        for (uint32_t row = spatial->cell_start[cy * spatial->width + window.first_x];
             row < spatial->cell_start[cy * spatial->width + window.last_x + 1]; row++) {
            PhxVec2 spot;
            if (is_member(world, group, spatial->slot[row]) && spot_of(world, spatial->slot[row], &spot) &&
                phx_room_outside(room, spot))
                return true;
        }
    return false;
}

static void settle_group(PhxSim *sim, const PhxSeeker *group, uint32_t count, PhxRoom *room) {
    PhxWorld *world = sim->world;
    const uint32_t layer = phx_layers_of(sim, group->slot);
    const PhxRoomGround ground = {.solid = phx_barriers_grid(sim, group->slot),
                                  .plane = phx_routes_plane(sim->layers.routes, layer),
                                  .size = phx_layers_size(sim, layer)};
    const PhxVec2 anchor = {group->goal_x, group->goal_y};
    phx_room_begin(room, &ground, anchor, group->radius, area_of(world, &sim->spatial, group, count));
    if (!is_needed(room, world, &sim->spatial, group, count)) return;
    tell_all(room, world, &sim->spatial, group);
    phx_room_solve(room);
    for (uint32_t i = 0; i < count; i++) {
        if (has_place(&world->unit, group[i].slot)) continue;
        world->unit.aim[group[i].slot] = 0;
        seek(room, world, group[i].slot);
    }
    call_in(room, world, &sim->spatial, group);
}

/* Many that seek look for places in every tick, as each changes what the others find; one alone does it four
 * times a second, at a tick of its own, and walks on as it was told between that. */
static bool is_due(const PhxSim *sim, const PhxSeeker *group, uint32_t count) {
    const uint32_t period = sim->world->match.tick_rate[0] / 4u + 1u;
    return count > 1 || (sim->world->match.tick[0] + group->slot) % period == 0;
}

static void settle_rooms(void *context, uint32_t begin, uint32_t end, uint32_t worker) {
    PhxSim *sim = context;
    (void)worker;
    for (uint32_t r = begin; r < end; r++)
        for (uint32_t g = 0; g < sim->group_count; g++)
            if (sim->group_room[g] == r)
                settle_group(sim, sim->seekers + sim->groups[g], sim->groups[g + 1] - sim->groups[g],
                             &sim->rooms[r]);
}

/* The room that was last made for this group, or else the one that was used longest ago, of those that no
 * group of this tick has; PHX_SIM_ROOMS: there is none. */
static uint32_t find_room(const PhxSim *sim, const PhxSeeker *group, bool same) {
    uint32_t found = PHX_SIM_ROOMS;
    for (uint32_t r = 0; r < PHX_SIM_ROOMS; r++) {
        if (sim->room_taken[r] || (same && !same_group(&sim->room_group[r], group))) continue;
        if (found == PHX_SIM_ROOMS || sim->room_used[r] < sim->room_used[found]) found = r;
    }
    return found;
}

/* Gives each group that is due a room: its own, if it is still there. Groups share rooms where they are more;
 * that costs time and changes nothing. */
static void assign_rooms(PhxSim *sim) {
    for (uint32_t r = 0; r < PHX_SIM_ROOMS; r++) sim->room_taken[r] = false;
    sim->room_clock++;
    for (int same = 1; same >= 0; same--)
        for (uint32_t g = 0; g < sim->group_count; g++) {
            const PhxSeeker *group = sim->seekers + sim->groups[g];
            if (same) sim->group_room[g] = NO_ROOM;
            if (sim->group_room[g] != NO_ROOM || !is_due(sim, group, sim->groups[g + 1] - sim->groups[g]))
                continue;
            uint32_t room = find_room(sim, group, same);
            if (same && room == PHX_SIM_ROOMS) continue;
            if (room == PHX_SIM_ROOMS) room = g % PHX_SIM_ROOMS;
            sim->group_room[g] = (uint8_t)room;
            sim->room_taken[room] = true;
            sim->room_group[room] = *group;
            sim->room_used[room] = sim->room_clock;
        }
}

void phx_phase_settle(const PhxPhaseContext *context, void *user) {
    PhxSim *sim = context->sim;
    PhxUnitTable *units = &context->world->unit;
    uint32_t seekers = 0;
    (void)user;
    for (uint32_t i = 0; i < sim->living_count; i++) {
        const uint32_t slot = sim->living[i];
        note_spot(units, slot);
        if (units->activity[slot] == 0) continue;
        if (units->aim[slot] != AIM_WAY) units->aim[slot] = 0;
        const bool placed = has_place(units, slot);
        /* who moves up may have had to move outwards: as long as it walks, the room is asked for more */
        const bool asks = placed ? units->placed[slot] == 2 : seeks(sim, slot);
        if (placed)
            walk_to(units, slot, AIM_PLACE, phx_vec2(units->place_x[slot], units->place_y[slot]));
        else if (!asks)
            units->aim[slot] = 0;
        if (asks)
            sim->seekers[seekers++] = (PhxSeeker){units->goal_x[slot],
                                                  units->goal_y[slot],
                                                  radius_of(context->world, slot),
                                                  slot,
                                                  context->world->unit_type.profile[units->type[slot]],
                                                  units->player[slot]};
    }
    sort_seekers(sim->seekers, seekers);
    sim->group_count = 0;
    for (uint32_t i = 0; i < seekers; i++)
        if (i == 0 || !same_group(&sim->seekers[i - 1], &sim->seekers[i]))
            sim->groups[sim->group_count++] = i;
    sim->groups[sim->group_count] = seekers;
    assign_rooms(sim);
    phx_parallel_for(&sim->jobs, PHX_SIM_ROOMS, 1, settle_rooms, sim);
}
