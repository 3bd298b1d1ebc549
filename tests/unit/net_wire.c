/* net_wire.c: the messages' codec: every message round trips, is cut at each byte and flipped. */
#include "../lockstep/script.h"
#include "harness.h"

static size_t encode(const PhxMessage *message, uint8_t *out, size_t capacity) {
    PhxWriter writer = phx_writer_make(out, capacity);
    phx_message_encode(&writer, message);
    CHECK_OK(writer.status);
    return writer.at;
}

PHX_TEST(wire, every_message_survives_and_every_cut_is_refused_in_words) {
    ScriptSample sample;
    script_samples(&sample, 1);
    for (uint32_t type = 1; type < PHX_MESSAGE_COUNT; type++) {
        uint8_t bytes[600], again[600];
        const size_t size = encode(&sample.messages[type], bytes, sizeof bytes);
        PhxMessage decoded;
        CHECK_OK(phx_message_decode(bytes, size, &decoded, NULL));
        CHECK_EQ(decoded.type, type);
        CHECK_EQ(encode(&decoded, again, sizeof again), size);
        CHECK(memcmp(bytes, again, size) == 0);
        for (size_t cut = 0; cut < size; cut++) {
            PhxError error = {0};
            const PhxStatus status = phx_message_decode(bytes, cut, &decoded, &error);
            CHECK_THAT(status != PHX_OK && error.status == status && error.text[0] != 0, "%s cut at %zu",
                       phx_message_name((PhxMessageType)type), cut);
        }
        bytes[size] = 0;
        CHECK_EQ(phx_message_decode(bytes, size + 1, &decoded, NULL), PHX_ERROR_FORMAT);
    }
}

PHX_TEST(wire, flipped_messages_decode_within_the_limits_or_not_at_all) {
    ScriptSample sample;
    script_samples(&sample, 1);
    uint64_t seed = 4;
    uint32_t accepted = 0, refused = 0;
    for (uint32_t round = 0; round < 40000; round++) {
        uint8_t bytes[600], again[1200];
        const uint32_t type = 1 + round % (PHX_MESSAGE_COUNT - 1);
        const size_t size = encode(&sample.messages[type], bytes, sizeof bytes);
        for (int64_t flips = test_range(&seed, 1, 4); flips > 0; flips--)
            bytes[test_random(&seed) % size] ^= (uint8_t)(1u << test_random(&seed) % 8);
        PhxMessage decoded;
        const PhxStatus status = phx_message_decode(bytes, size, &decoded, NULL);
        if (status != PHX_OK) {
            refused++;
            continue;
        }
        accepted++;
        CHECK_EQ(encode(&decoded, again, sizeof again), size);
        CHECK_THAT(memcmp(bytes, again, size) == 0, "round %u", round);
    }
    CHECK(accepted > 1000 && refused > 1000);
}

PHX_TEST(wire, counts_and_sizes_above_the_limits_are_refused) {
    uint8_t bytes[64];
    PhxMessage decoded;
    PhxWriter writer = phx_writer_make(bytes, sizeof bytes);
    phx_write_u8(&writer, PHX_MESSAGE_TURN);
    phx_write_u32(&writer, 0);
    phx_write_varint(&writer, PHX_WIRE_COMMANDS_MAX + 1);
    CHECK_EQ(phx_message_decode(bytes, writer.at, &decoded, NULL), PHX_ERROR_LIMIT);
    writer = phx_writer_make(bytes, sizeof bytes);
    phx_write_u8(&writer, PHX_MESSAGE_HASHES);
    phx_write_u32(&writer, 0);
    phx_write_varint(&writer, UINT64_MAX);
    CHECK_EQ(phx_message_decode(bytes, writer.at, &decoded, NULL), PHX_ERROR_LIMIT);
    const uint8_t heads[][7] = {{16, 0, 0, 1, 'x'}, {0, 16, 0, 1, 'x'}, {0, 0, 0, 0}, {0, 0, 0, 0x81, 0x20}};
    const PhxStatus wants[] = {PHX_ERROR_RANGE, PHX_ERROR_RANGE, PHX_ERROR_RANGE, PHX_ERROR_LIMIT};
    for (size_t i = 0; i < 4; i++) { /* offset, slot, empty, 4097 bytes */
        writer = phx_writer_make(bytes, sizeof bytes);
        phx_write_u8(&writer, PHX_MESSAGE_INPUT);
        phx_write_u32(&writer, 0);
        phx_write_varint(&writer, 1);
        phx_write_bytes(&writer, heads[i], 7);
        CHECK_EQ(phx_message_decode(bytes, writer.at, &decoded, NULL), wants[i]);
    }
    const uint8_t foreign[] = {PHX_MESSAGE_HELLO, PHX_NET_PROTOCOL + 1, 0, 0, 0, 1};
    CHECK_EQ(phx_message_decode(foreign, sizeof foreign, &decoded, NULL), PHX_ERROR_VERSION);
    CHECK_EQ(decoded.hello.protocol, PHX_NET_PROTOCOL + 1);
    char text[8];
    phx_wire_text_copy((PhxText){(const uint8_t *)"a\nb\0cdefgh", 10}, text, sizeof text);
    CHECK_STR(text, "a?b?cde");
}
