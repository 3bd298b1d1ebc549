/* fault.c: mistreats what is sent through it: loss, delay, duplication, reordering, flipped bits.
 *
 * In: datagrams of one endpoint. Out: the same to the inner transport, some never, some twice, each when its
 * delay is over. Cost: O(log n) a datagram, n those under way. Memory: HELD_MAX datagrams, allocated at
 * creation. Determinism: every decision is a draw of one seeded generator in the order of sending, and
 * datagrams leave in the order (due time, number): a run over virtual time repeats exactly.
 */
#include <phalanx/net_transport.h>
#include <string.h>

enum { HELD_MAX = 4096 };

typedef struct Held {
    uint64_t due, number;
    uint32_t link;
    uint32_t size;
    uint8_t data[PHX_NET_DATAGRAM_MAX];
} Held;

typedef struct Fault {
    PhxAllocator allocator;
    PhxFaultConfig config;
    PhxTransport inner;
    uint64_t random, sent;
    uint32_t held;
    uint16_t heap[HELD_MAX]; /* indices into slots: heap[0..held) by (due, number); the rest are free */
    Held slots[HELD_MAX];
} Fault;

/* splitmix64 (Steele, Lea, Flood 2014): this generator decides about datagrams only, never about a
 * simulation. */
static uint64_t draw(Fault *fault) {
    uint64_t z = (fault->random += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
static bool chance(Fault *fault, uint32_t permille) { return draw(fault) % 1000 < permille; }
static uint64_t delay(Fault *fault) {
    const uint64_t span = fault->config.delay_max_us - fault->config.delay_min_us;
    return fault->config.delay_min_us + draw(fault) % (span + 1);
}

static bool before(const Fault *fault, uint32_t a, uint32_t b) {
    const Held *x = &fault->slots[fault->heap[a]], *y = &fault->slots[fault->heap[b]];
    return x->due != y->due ? x->due < y->due : x->number < y->number;
}

static void swap(Fault *fault, uint32_t a, uint32_t b) {
    const uint16_t held = fault->heap[a];
    fault->heap[a] = fault->heap[b];
    fault->heap[b] = held;
}

static void hold(Fault *fault, uint64_t due, uint32_t link, const uint8_t *data, size_t size) {
    if (fault->held == HELD_MAX) return;
    uint32_t at = fault->held++;
    Held *held = &fault->slots[fault->heap[at]];
    held->due = due;
    held->number = fault->sent++;
    held->link = link;
    held->size = (uint32_t)size;
    memcpy(held->data, data, size);
    if (chance(fault, fault->config.garble_permille) && size != 0)
        held->data[draw(fault) % size] ^= (uint8_t)(1u << draw(fault) % 8);
    for (; at != 0 && before(fault, at, (at - 1) / 2); at = (at - 1) / 2) swap(fault, at, (at - 1) / 2);
}

static void release_first(Fault *fault) {
    swap(fault, 0, --fault->held);
    for (uint32_t at = 0, child; (child = 2 * at + 1) < fault->held; at = child) {
        if (child + 1 < fault->held && before(fault, child + 1, child)) child++;
        if (before(fault, at, child)) break;
        swap(fault, at, child);
    }
}

static void forward_due(Fault *fault, uint64_t now) {
    while (fault->held != 0 && fault->slots[fault->heap[0]].due <= now) {
        const Held *held = &fault->slots[fault->heap[0]];
        fault->inner.send(fault->inner.user, now, held->link, held->data, held->size);
        release_first(fault);
    }
}

static void fault_send(void *user, uint64_t now, uint32_t link, const uint8_t *data, size_t size) {
    Fault *fault = user;
    if (size > PHX_NET_DATAGRAM_MAX) return;
    const uint32_t copies = chance(fault, fault->config.duplicate_permille) ? 2 : 1;
    for (uint32_t i = 0; i < copies; i++) {
        const bool lost = chance(fault, fault->config.loss_permille);
        const bool reordered = chance(fault, fault->config.reorder_permille);
        const uint64_t due = now + delay(fault) + (reordered ? fault->config.delay_max_us : 0);
        if (!lost) hold(fault, due, link, data, size);
    }
    forward_due(fault, now);
}

static PhxTransportEventType fault_poll(void *user, uint64_t now, PhxTransportEvent *out) {
    Fault *fault = user;
    forward_due(fault, now);
    return fault->inner.poll(fault->inner.user, now, out);
}

static void fault_flush(void *user, uint64_t now) {
    Fault *fault = user;
    forward_due(fault, now);
    fault->inner.flush(fault->inner.user, now);
}

/* What is under way still arrives if it is due by now; the inner transport drops the rest, its link being
 * down. */
static void fault_close(void *user, uint64_t now, uint32_t link) {
    Fault *fault = user;
    forward_due(fault, now);
    fault->inner.close(fault->inner.user, now, link);
}

static void fault_destroy(void *user) {
    Fault *fault = user;
    phx_transport_destroy(&fault->inner);
    fault->allocator.release(fault->allocator.user, fault, sizeof *fault);
}

PhxStatus phx_fault_create(PhxAllocator allocator, const PhxFaultConfig *config, PhxTransport inner,
                           PhxTransport *out) {
    const bool in_range = config->loss_permille <= 1000 && config->duplicate_permille <= 1000 &&
                          config->reorder_permille <= 1000 && config->garble_permille <= 1000;
    if (!in_range || config->delay_min_us > config->delay_max_us) return PHX_ERROR_ARGUMENT;
    Fault *fault = allocator.allocate(allocator.user, sizeof *fault);
    if (!fault) return PHX_ERROR_MEMORY;
    fault->allocator = allocator;
    fault->config = *config;
    fault->inner = inner;
    fault->random = config->seed;
    fault->sent = 0;
    fault->held = 0;
    for (uint32_t i = 0; i < HELD_MAX; i++) fault->heap[i] = (uint16_t)i;
    *out = (PhxTransport){.send = fault_send,
                          .poll = fault_poll,
                          .flush = fault_flush,
                          .close = fault_close,
                          .destroy = fault_destroy,
                          .user = fault};
    return PHX_OK;
}
