/* script.h: a transport whose other side is the test: what a host or peer sends is caught, what it receives
 * is put in. RawSide speaks the wire format by hand over one link of it, and may say anything. */
#ifndef PHX_TESTS_LOCKSTEP_SCRIPT_H
#define PHX_TESTS_LOCKSTEP_SCRIPT_H

#include <phalanx/net.h>
#include <string.h>

#include "lockstep/link.h"
#include "wire/message.h"

enum { SCRIPT_QUEUE = 64, SCRIPT_RAW_TX = 256 * 1024, SCRIPT_RAW_RX = 256 * 1024 };

typedef struct ScriptItem {
    PhxTransportEventType type;
    uint32_t link, size;
    uint8_t data[PHX_NET_DATAGRAM_MAX];
} ScriptItem;

typedef struct ScriptQueue {
    uint32_t head, count;
    ScriptItem items[SCRIPT_QUEUE];
} ScriptQueue;

typedef struct Script {
    ScriptQueue in, out; /* into the machine under test; out of it */
    ScriptItem current;
    uint32_t closed; /* links that it closed, as a mask */
} Script;

static inline void script_put(ScriptQueue *queue, PhxTransportEventType type, uint32_t link,
                              const uint8_t *data, size_t size) {
    if (queue->count == SCRIPT_QUEUE || size > PHX_NET_DATAGRAM_MAX) return;
    ScriptItem *item = &queue->items[(queue->head + queue->count++) % SCRIPT_QUEUE];
    item->type = type;
    item->link = link;
    item->size = (uint32_t)size;
    if (size) memcpy(item->data, data, size);
}

static inline bool script_take(ScriptQueue *queue, ScriptItem *out) {
    if (queue->count == 0) return false;
    *out = queue->items[queue->head];
    queue->head = (queue->head + 1) % SCRIPT_QUEUE;
    queue->count--;
    return true;
}

static inline void script_send(void *user, uint64_t now, uint32_t link, const uint8_t *data, size_t size) {
    (void)now;
    script_put(&((Script *)user)->out, PHX_TRANSPORT_DATAGRAM, link, data, size);
}
static inline PhxTransportEventType script_poll(void *user, uint64_t now, PhxTransportEvent *out) {
    Script *script = user;
    (void)now;
    *out = (PhxTransportEvent){0};
    if (!script_take(&script->in, &script->current)) return PHX_TRANSPORT_NOTHING;
    out->type = script->current.type;
    out->link = script->current.link;
    out->data = script->current.data;
    out->size = script->current.size;
    return out->type;
}
static inline void script_flush(void *user, uint64_t now) {
    (void)user;
    (void)now;
}
static inline void script_close(void *user, uint64_t now, uint32_t link) {
    (void)now;
    if (link < 32) ((Script *)user)->closed |= UINT32_C(1) << link;
}

static inline PhxTransport script_transport(Script *script) {
    return (PhxTransport){.send = script_send,
                          .poll = script_poll,
                          .flush = script_flush,
                          .close = script_close,
                          .user = script};
}

/* The other end of one link. */
typedef struct RawSide {
    PhxLink link;
    uint8_t memory[SCRIPT_RAW_TX + 2 * SCRIPT_RAW_RX];
    uint32_t number; /* of the link, on the side under test */
} RawSide;

static inline void raw_connect(RawSide *raw, Script *script, uint32_t number, uint64_t now) {
    phx_link_init(&raw->link, raw->memory, SCRIPT_RAW_TX, SCRIPT_RAW_RX, now);
    raw->number = number;
    script_put(&script->in, PHX_TRANSPORT_CONNECTED, number, NULL, 0);
}

static inline void raw_say(RawSide *raw, const PhxMessage *message) {
    static uint8_t bytes[PHX_WIRE_MESSAGE_MAX];
    PhxWriter writer = phx_writer_make(bytes, sizeof bytes);
    phx_message_encode(&writer, message);
    (void)phx_link_write(&raw->link, bytes, writer.at);
}

/* Puts what the raw side has to send into the script. */
static inline void raw_send(RawSide *raw, Script *script, uint64_t now) {
    uint8_t datagram[PHX_NET_DATAGRAM_MAX];
    size_t size;
    if (!raw->link.tx) return; /* never connected */
    while (script->in.count < SCRIPT_QUEUE && (size = phx_link_send(&raw->link, now, datagram)) != 0)
        script_put(&script->in, PHX_TRANSPORT_DATAGRAM, raw->number, datagram, size);
}

/* Takes in what the machine under test sent; returns the mask of message types that came. */
static inline uint32_t raw_receive(RawSide *raw, Script *script, uint64_t now, PhxMessage *last,
                                   PhxMessageType want) {
    ScriptItem item;
    uint32_t types = 0;
    if (!raw->link.tx) return 0;
    while (script_take(&script->out, &item))
        if (item.link == raw->number) (void)phx_link_receive(&raw->link, now, item.data, item.size);
    const uint8_t *bytes;
    size_t size;
    while (phx_link_read(&raw->link, &bytes, &size) == PHX_OK) {
        PhxMessage message;
        if (phx_message_decode(bytes, size, &message, NULL) != PHX_OK) continue;
        types |= UINT32_C(1) << message.type;
        if (last && message.type == want) *last = message;
    }
    return types;
}

static inline PhxMessage script_hello(const PhxNetContract *contract) {
    PhxMessage hello = {.type = PHX_MESSAGE_HELLO};
    hello.hello.protocol = PHX_NET_PROTOCOL;
    hello.hello.revision = contract->revision;
    hello.hello.schema = contract->schema;
    hello.hello.content = contract->content;
    hello.hello.settings = contract->settings;
    hello.hello.wanted_slot = PHX_NET_NO_SLOT;
    hello.hello.name = phx_wire_text("raw");
    return hello;
}

/* A valid message of each type; arrays hold what the spans point to. */
typedef struct ScriptSample {
    PhxMessage messages[PHX_MESSAGE_COUNT];
    uint8_t commands[256], values[64];
} ScriptSample;

static inline void script_samples(ScriptSample *sample, uint8_t slot) {
    memset(sample, 0, sizeof *sample);
    PhxWriter writer = phx_writer_make(sample->commands, sizeof sample->commands);
    for (uint32_t i = 0; i < 3; i++)
        phx_wire_command_write(&writer, &(PhxNetCommand){.tick = 0,
                                                         .sequence = i,
                                                         .bytes = (const uint8_t *)"C\1abcdefghijklmnop",
                                                         .size = (uint16_t)(2 + i * 5),
                                                         .slot = slot});
    for (size_t i = 0; i < sizeof sample->values; i++) sample->values[i] = (uint8_t)(i * 37 + 1);
    const PhxCommands commands = {sample->commands, (uint32_t)writer.at, 3};
    const PhxU64s values = {sample->values, 3};
    const PhxText text = phx_wire_text("words for a person");
    PhxMessage *m = sample->messages;
    for (uint32_t i = 0; i < PHX_MESSAGE_COUNT; i++) m[i].type = (PhxMessageType)i;
    m[PHX_MESSAGE_HELLO] = script_hello(&(PhxNetContract){1, 2, 3, 4});
    m[PHX_MESSAGE_WELCOME].welcome.players = 2, m[PHX_MESSAGE_WELCOME].welcome.ticks_per_turn = 1;
    m[PHX_MESSAGE_WELCOME].welcome.delay = 2, m[PHX_MESSAGE_WELCOME].welcome.match_key = 99;
    m[PHX_MESSAGE_REFUSE].refuse.text = text;
    m[PHX_MESSAGE_LOBBY].lobby.name = text;
    m[PHX_MESSAGE_LOAD].load.players = m[PHX_MESSAGE_START].start.players = 3;
    m[PHX_MESSAGE_INPUT].input.turn = 2, m[PHX_MESSAGE_INPUT].input.commands = commands;
    m[PHX_MESSAGE_TURN].turn.commands = commands;
    m[PHX_MESSAGE_HASHES].hashes.roots = values;
    m[PHX_MESSAGE_AGREED].agreed.ticks = 7, m[PHX_MESSAGE_AGREED].agreed.root = 8;
    m[PHX_MESSAGE_TABLES].tables.hashes = values;
    m[PHX_MESSAGE_DESYNC].desync.mask = m[PHX_MESSAGE_DESYNC].desync.table_mask = 0x80000003;
    m[PHX_MESSAGE_DESYNC].desync.roots = m[PHX_MESSAGE_DESYNC].desync.values = values;
    m[PHX_MESSAGE_WAITING].waiting.mask = 2, m[PHX_MESSAGE_WAITING].waiting.elapsed_ms = 300;
    m[PHX_MESSAGE_END].end.ticks = 1000;
    m[PHX_MESSAGE_BYE].bye.text = text;
    m[PHX_MESSAGE_TREE_ASK].tree_ask.count = m[PHX_MESSAGE_TREE_ASK].tree_ask.span = 5;
    m[PHX_MESSAGE_TREE_ANSWER].tree_answer.total = 3, m[PHX_MESSAGE_TREE_ANSWER].tree_answer.values = values;
    m[PHX_MESSAGE_STATE].state.total = 30;
    m[PHX_MESSAGE_STATE].state.bytes = (PhxBytes){sample->values, 20};
    m[PHX_MESSAGE_MENDED].mended.mask = 2, m[PHX_MESSAGE_MENDED].mended.tick = 90;
    m[PHX_MESSAGE_LOCATED].located.value_mask = 0x80000003, m[PHX_MESSAGE_LOCATED].located.values = values;
}

#endif
