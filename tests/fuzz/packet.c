/* packet.c: libFuzzer target for bytes from the network. The first byte chooses what reads the rest:
 *   0  the message decoder;
 *   1  a host's lobby: raw datagrams;
 *   2  a host in a match of one player: each further record (u8 length, bytes) as a message of a sound
 * stream; 3  a peer in a match: the same from its host; 4, 5  a host, a peer: each record as a whole
 * datagram, with a right checksum put over it. Links phalanx_net (and its internal headers of wire and
 * lockstep, which that brings along).
 */
#include "../lockstep/script.h"

#include <phalanx/hash.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One block, used again and again, so that a run costs no fresh pages; one machine lives at a time. */
static void *block_allocate(void *user, size_t size) {
    (void)user;
    static _Alignas(64) uint8_t block[1 << 23];
    return size <= sizeof block ? block : NULL;
}
static void block_release(void *user, void *memory, size_t size) {
    (void)user;
    (void)memory;
    (void)size;
}

typedef struct Bench {
    Script script;
    RawSide raw;
    PhxHost *host;
    PhxPeer *peer;
    uint64_t now;
} Bench;

static const PhxNetContract contract = {1, 2, 3, 4};

static void require(bool holds) {
    if (!holds) abort();
}

/* Lets the machine run and takes from it whatever it has. */
static void run(Bench *bench) {
    PhxTurn turn;
    PhxNetEvent event;
    bench->now += 20000;
    raw_send(&bench->raw, &bench->script, bench->now);
    if (bench->host) {
        phx_host_update(bench->host, bench->now);
        while (phx_host_poll(bench->host, &event)) require(event.type < PHX_NET_EVENT_COUNT);
    } else {
        phx_peer_update(bench->peer, bench->now);
        while (phx_peer_poll(bench->peer, &event)) require(event.type < PHX_NET_EVENT_COUNT);
        while (phx_peer_next_turn(bench->peer, &turn)) {
            require(turn.count <= PHX_WIRE_COMMANDS_MAX);
            for (uint32_t i = 0; i < turn.count; i++) require(turn.commands[i].size <= PHX_NET_COMMAND_MAX);
        }
    }
    (void)raw_receive(&bench->raw, &bench->script, bench->now, NULL, PHX_MESSAGE_NONE);
}

static void make(Bench *bench, bool peer) {
    const PhxAllocator allocator = {.allocate = block_allocate, .release = block_release};
    const PhxTransport transport = script_transport(&bench->script);
    memset(&bench->script, 0, sizeof bench->script);
    bench->host = NULL;
    bench->peer = NULL;
    bench->now = 1000;
    if (peer) {
        const PhxPeerConfig config = phx_peer_config_default();
        require(phx_peer_create(&config, transport, allocator, &bench->peer, NULL) == PHX_OK);
    } else {
        PhxHostConfig config = phx_host_config_default();
        config.contract = contract;
        config.players = 1;
        require(phx_host_create(&config, transport, allocator, &bench->host, NULL) == PHX_OK);
    }
    raw_connect(&bench->raw, &bench->script, 0, bench->now);
}

/* Brings the machine into a running match. */
static void begin(Bench *bench) {
    static ScriptSample sample;
    script_samples(&sample, 0);
    if (bench->host) {
        const PhxMessage hello = script_hello(&contract);
        raw_say(&bench->raw, &hello);
        raw_say(&bench->raw, &sample.messages[PHX_MESSAGE_READY]);
    } else {
        raw_say(&bench->raw, &sample.messages[PHX_MESSAGE_WELCOME]);
        raw_say(&bench->raw, &sample.messages[PHX_MESSAGE_LOAD]);
        raw_say(&bench->raw, &sample.messages[PHX_MESSAGE_START]);
    }
    run(bench);
    run(bench);
}

static void feed_messages(Bench *bench, const uint8_t *data, size_t size) {
    begin(bench);
    while (size > 1) {
        const size_t length = data[0] < size - 1 ? data[0] : size - 1;
        (void)phx_link_write(&bench->raw.link, data + 1, length);
        run(bench);
        data += 1 + length, size -= 1 + length;
    }
}

static void feed_datagrams(Bench *bench, const uint8_t *data, size_t size, bool checked) {
    uint8_t datagram[260];
    while (size > 1) {
        const size_t length = data[0] < size - 1 ? data[0] : size - 1;
        memcpy(datagram, data + 1, length);
        if (checked && length >= 4)
            phx_store_u32(datagram, (uint32_t)phx_hash_bytes(datagram + 4, length - 4));
        script_put(&bench->script.in, PHX_TRANSPORT_DATAGRAM, 0, datagram, length);
        run(bench);
        data += 1 + length, size -= 1 + length;
    }
}

static void decode(const uint8_t *data, size_t size) {
    PhxMessage message;
    PhxError error = {0};
    const PhxStatus status = phx_message_decode(data, size, &message, &error);
    if (status != PHX_OK) {
        require(error.text[0] != 0);
        return;
    }
    uint8_t *again = malloc(size);
    PhxWriter writer = phx_writer_make(again, size);
    phx_message_encode(&writer, &message);
    require(writer.status == PHX_OK && writer.at == size && memcmp(again, data, size) == 0);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static Bench bench;
    if (size == 0) return 0;
    const uint8_t kind = data[0] % 6;
    data++, size--;
    if (kind == 0) {
        decode(data, size);
        return 0;
    }
    make(&bench, kind == 3 || kind == 5);
    if (kind == 1)
        feed_datagrams(&bench, data, size, false);
    else if (kind == 2 || kind == 3)
        feed_messages(&bench, data, size);
    else
        feed_datagrams(&bench, data, size, true);
    phx_host_destroy(bench.host);
    phx_peer_destroy(bench.peer);
    return 0;
}
