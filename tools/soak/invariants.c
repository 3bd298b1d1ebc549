/* invariants.c: what must be true after any tick. See invariants.h. */
#include "soak/invariants.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PhxStatus phx_invariants_begin(PhxInvariants *invariants, uint32_t unit_capacity) {
    *invariants = (PhxInvariants){.cell = malloc(((size_t)unit_capacity + 1) * sizeof(uint32_t)),
                                  .seen = malloc((size_t)unit_capacity + 1),
                                  .capacity = unit_capacity};
    if (invariants->cell != NULL && invariants->seen != NULL) return PHX_OK;
    phx_invariants_end(invariants);
    return PHX_ERROR_MEMORY;
}

void phx_invariants_end(PhxInvariants *invariants) {
    free(invariants->cell);
    free(invariants->seen);
    *invariants = (PhxInvariants){0};
}

static uint32_t used_of(const PhxInvariants *invariants, const PhxUnitView *units) {
    return units->used < invariants->capacity ? units->used : invariants->capacity;
}

void phx_invariants_note(PhxInvariants *invariants, const PhxSim *sim) {
    const PhxUnitView units = phx_sim_units(sim);
    const PhxNavGrid map = phx_sim_map(sim);
    invariants->used = used_of(invariants, &units);
    for (uint32_t slot = 0; slot < invariants->used; slot++) {
        uint32_t cell = PHX_NAV_NO_CELL;
        if (phx_generation_alive(units.generation[slot]))
            cell = phx_nav_cell_at(&map, units.pos_x[slot], units.pos_y[slot]);
        if (cell != PHX_NAV_NO_CELL && map.cost[cell] == PHX_NAV_IMPASSABLE) cell = PHX_NAV_NO_CELL;
        invariants->cell[slot] = cell;
    }
}

static bool say_unit(const PhxUnitView *units, uint32_t slot, const char *what, char *text, size_t size) {
    char x[PHX_FIX_TEXT], y[PHX_FIX_TEXT];
    phx_fix_format(units->pos_x[slot], x, sizeof x);
    phx_fix_format(units->pos_y[slot], y, sizeof y);
    snprintf(text, size, "unit %" PRIu32 " at %s, %s %s", slot, x, y, what);
    return false;
}

static bool events_hold(PhxInvariants *invariants, const PhxSim *sim, char *text, size_t size) {
    uint32_t count;
    const PhxEvent *events = phx_sim_events(sim, &count);
    memset(invariants->seen, 0, invariants->capacity);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slot = phx_handle_slot(events[i].unit);
        if (events[i].unit == PHX_HANDLE_NONE || slot >= invariants->capacity) continue;
        const uint8_t bit = (uint8_t)(1u << (unsigned)events[i].kind);
        if (invariants->seen[slot] & bit) {
            snprintf(text, size, "unit %" PRIu32 " has the event '%s' twice in one tick", slot,
                     phx_event_name(events[i].kind));
            return false;
        }
        invariants->seen[slot] |= bit;
    }
    return true;
}

bool phx_invariants_hold(PhxInvariants *invariants, const PhxSim *sim, char *text, size_t size) {
    const PhxUnitView units = phx_sim_units(sim);
    const PhxNavGrid map = phx_sim_map(sim);
    const uint32_t used = used_of(invariants, &units);
    for (uint32_t slot = 0; slot < used; slot++) {
        if (!phx_generation_alive(units.generation[slot])) continue;
        const uint32_t cell = phx_nav_cell_at(&map, units.pos_x[slot], units.pos_y[slot]);
        if (cell == PHX_NAV_NO_CELL) return say_unit(&units, slot, "is off the map", text, size);
        const uint32_t before = slot < invariants->used ? invariants->cell[slot] : PHX_NAV_NO_CELL;
        /* A cell that became a wall under a unit is the terrain's doing; so both must be seen as they stand.
         */
        if (map.cost[cell] == PHX_NAV_IMPASSABLE && before != PHX_NAV_NO_CELL &&
            map.cost[before] != PHX_NAV_IMPASSABLE)
            return say_unit(&units, slot, "went into a wall", text, size);
    }
    if (!events_hold(invariants, sim, text, size)) return false;
    const uint64_t audit = phx_sim_audit_failures(sim);
    if (audit == 0) return true;
    snprintf(text, size, "%" PRIu64 " blocks of a grid changed without a mark", audit);
    return false;
}
