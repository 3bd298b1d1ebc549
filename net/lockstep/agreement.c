/* agreement.c: see agreement.h. */
#include "lockstep/agreement.h"

#include <string.h>

_Static_assert((int)PHX_NET_TABLES_MAX <= (int)PHX_NET_HASH_BATCH,
               "a tick's table hashes fit into one message");
_Static_assert((int)PHX_AGREEMENT_SIDES <= (int)PHX_NET_HASH_BATCH, "a report's roots fit into one message");

void phx_agreement_init(PhxAgreement *agreement, PhxArena *arena) {
    *agreement = (PhxAgreement){0};
    agreement->roots = PHX_ARENA_ARRAY(arena, uint64_t, PHX_NET_HASH_HISTORY * PHX_AGREEMENT_SIDES);
    agreement->tables = PHX_ARENA_ARRAY(arena, uint8_t, PHX_AGREEMENT_SIDES * PHX_NET_TABLES_MAX * 8);
}

void phx_agreement_start(PhxAgreement *agreement, uint32_t sides) { agreement->sides = sides; }

static uint64_t *row_of(const PhxAgreement *agreement, uint32_t tick) {
    return agreement->roots + (size_t)(tick % PHX_NET_HASH_HISTORY) * PHX_AGREEMENT_SIDES;
}

PhxStatus phx_agreement_report(PhxAgreement *agreement, uint32_t side, uint32_t tick, uint64_t root) {
    if (side >= PHX_AGREEMENT_SIDES || !(agreement->sides >> side & 1)) return PHX_OK; /* no longer counts */
    if (tick != agreement->next[side]) return PHX_ERROR_FORMAT;
    if (agreement->state == PHX_AGREEMENT_EQUAL && tick >= agreement->agreed) {
        if (tick - agreement->agreed >= PHX_NET_HASH_HISTORY) return PHX_ERROR_FULL;
        row_of(agreement, tick)[side] = root;
    }
    agreement->next[side]++;
    return PHX_OK;
}

uint32_t phx_agreement_laggards(const PhxAgreement *agreement) {
    uint32_t mask = 0;
    for (uint32_t i = 0; i < PHX_AGREEMENT_SIDES; i++)
        if (agreement->sides >> i & 1 && agreement->next[i] <= agreement->agreed) mask |= UINT32_C(1) << i;
    return mask;
}

void phx_agreement_remove(PhxAgreement *agreement, uint32_t side) {
    agreement->sides &= ~(UINT32_C(1) << side);
}

/* Whether all sides that count are equal at `tick`; the value of the lowest one goes to `root`. */
static bool equal_at(const PhxAgreement *agreement, uint32_t tick, uint64_t *root) {
    const uint64_t *row = row_of(agreement, tick);
    bool first = true;
    for (uint32_t i = 0; i < PHX_AGREEMENT_SIDES; i++) {
        if (!(agreement->sides >> i & 1)) continue;
        if (first) *root = row[i];
        if (row[i] != *root) return false;
        first = false;
    }
    return true;
}

bool phx_agreement_advance(PhxAgreement *agreement) {
    while (agreement->state == PHX_AGREEMENT_EQUAL && agreement->sides != 0) {
        const uint32_t tick = agreement->agreed;
        if (!phx_agreement_all_reported(agreement, tick + 1)) return false;
        uint64_t root = 0;
        if (!equal_at(agreement, tick, &root)) {
            agreement->state = PHX_AGREEMENT_ASKING;
            agreement->tick = tick;
            agreement->asked = agreement->sides;
            return true;
        }
        agreement->agreed++;
        agreement->agreed_root = root;
    }
    return false;
}

void phx_agreement_tables(PhxAgreement *agreement, uint32_t side, uint32_t tick, const PhxU64s *hashes) {
    if (agreement->state != PHX_AGREEMENT_ASKING || tick != agreement->tick) return;
    if (side >= PHX_AGREEMENT_SIDES || !(agreement->asked >> side & 1)) return;
    const uint32_t count = hashes->count < PHX_NET_TABLES_MAX ? hashes->count : PHX_NET_TABLES_MAX;
    agreement->answered |= UINT32_C(1) << side;
    agreement->table_counts[side] = (uint8_t)count;
    if (count)
        memcpy(agreement->tables + (size_t)side * PHX_NET_TABLES_MAX * 8, hashes->data, (size_t)count * 8);
}

bool phx_agreement_complete(const PhxAgreement *agreement) {
    return (agreement->asked & agreement->sides & ~agreement->answered) == 0;
}

static uint64_t table_hash(const PhxAgreement *agreement, uint32_t side, uint32_t table) {
    const PhxU64s row = {agreement->tables + (size_t)side * PHX_NET_TABLES_MAX * 8, PHX_NET_TABLES_MAX};
    return phx_wire_u64_at(&row, table);
}

/* Fills the report with one table; true if two sides differ in it: in value, or in whether they have it. */
static bool table_differs(const PhxAgreement *agreement, uint32_t table, PhxDesync *out) {
    uint32_t have = 0, lack = 0;
    bool differs = false;
    uint64_t value = 0;
    for (uint32_t i = 0; i < PHX_AGREEMENT_SIDES; i++) {
        if (!(agreement->answered >> i & 1) || agreement->table_counts[i] == 0) continue;
        if (table >= agreement->table_counts[i]) {
            lack |= UINT32_C(1) << i;
            continue;
        }
        out->table_hash[i] = table_hash(agreement, i, table);
        if (have == 0) value = out->table_hash[i];
        if (out->table_hash[i] != value) differs = true;
        have |= UINT32_C(1) << i;
    }
    out->table_mask = have;
    return differs || (have != 0 && lack != 0);
}

void phx_agreement_conclude(PhxAgreement *agreement, PhxDesync *out) {
    *out = (PhxDesync){.tick = agreement->tick, .table = PHX_NET_NO_TABLE, .mask = agreement->asked};
    for (uint32_t i = 0; i < PHX_AGREEMENT_SIDES; i++)
        if (agreement->asked >> i & 1) out->root[i] = row_of(agreement, agreement->tick)[i];
    for (uint32_t table = 0; table < PHX_NET_TABLES_MAX && out->table == PHX_NET_NO_TABLE; table++)
        if (table_differs(agreement, table, out)) out->table = (uint16_t)table;
    if (out->table == PHX_NET_NO_TABLE) out->table_mask = 0;
    agreement->state = PHX_AGREEMENT_REPORTED;
}

bool phx_agreement_all_reported(const PhxAgreement *agreement, uint32_t ticks) {
    for (uint32_t i = 0; i < PHX_AGREEMENT_SIDES; i++)
        if (agreement->sides >> i & 1 && agreement->next[i] < ticks) return false;
    return true;
}

uint32_t phx_agreement_reported(const PhxAgreement *agreement) {
    uint32_t tick = 0;
    for (uint32_t i = 0; i < PHX_AGREEMENT_SIDES; i++)
        if (agreement->sides >> i & 1 && agreement->next[i] > tick) tick = agreement->next[i];
    return tick;
}

void phx_agreement_resume(PhxAgreement *agreement, uint32_t tick) {
    agreement->state = PHX_AGREEMENT_EQUAL;
    agreement->agreed = tick;
    agreement->agreed_root = 0;
    agreement->answered = 0;
    memset(agreement->table_counts, 0, sizeof agreement->table_counts);
}
