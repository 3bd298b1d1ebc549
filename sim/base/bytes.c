/* bytes.c: see bytes.h. Each multi-byte value is put together from single bytes: no alignment, no byte order.
 */
#include "base/bytes.h"

#include <string.h>

PhxReader phx_reader_make(const void *data, size_t size) {
    return (PhxReader){.data = data, .size = size, .at = 0, .status = PHX_OK};
}

void phx_reader_fail(PhxReader *reader, PhxStatus status) {
    if (reader->status == PHX_OK) reader->status = status;
}

const uint8_t *phx_read_span(PhxReader *reader, size_t count) {
    if (reader->status != PHX_OK) return NULL;
    if (count > phx_reader_left(reader)) {
        phx_reader_fail(reader, PHX_ERROR_TRUNCATED);
        return NULL;
    }
    const uint8_t *span = reader->data + reader->at;
    reader->at += count;
    return span;
}

static uint64_t read_le(PhxReader *reader, size_t bytes) {
    const uint8_t *span = phx_read_span(reader, bytes);
    uint64_t value = 0;
    if (span)
        for (size_t i = 0; i < bytes; i++) value |= (uint64_t)span[i] << (8 * i);
    return value;
}

uint8_t phx_read_u8(PhxReader *reader) { return (uint8_t)read_le(reader, 1); }
uint16_t phx_read_u16(PhxReader *reader) { return (uint16_t)read_le(reader, 2); }
uint32_t phx_read_u32(PhxReader *reader) { return (uint32_t)read_le(reader, 4); }
uint64_t phx_read_u64(PhxReader *reader) { return read_le(reader, 8); }

uint32_t phx_read_count(PhxReader *reader, size_t min_element, uint32_t limit) {
    const uint32_t count = phx_read_u32(reader);
    if (reader->status != PHX_OK) return 0;
    if (count > limit) {
        phx_reader_fail(reader, PHX_ERROR_LIMIT);
        return 0;
    }
    if (min_element != 0 && count > phx_reader_left(reader) / min_element) {
        phx_reader_fail(reader, PHX_ERROR_TRUNCATED);
        return 0;
    }
    return count;
}

uint64_t phx_read_varint(PhxReader *reader) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t byte = phx_read_u8(reader);
        const bool overflows = shift == 63 && byte > 1;
        const bool padded = shift != 0 && byte == 0;
        if (reader->status != PHX_OK) return 0;
        if (overflows || padded) break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return value;
    }
    phx_reader_fail(reader, PHX_ERROR_FORMAT);
    return 0;
}

PhxStatus phx_reader_finish(const PhxReader *reader) {
    if (reader->status != PHX_OK) return reader->status;
    return reader->at == reader->size ? PHX_OK : PHX_ERROR_FORMAT;
}

PhxWriter phx_writer_make(void *data, size_t capacity) {
    return (PhxWriter){.data = data, .capacity = data ? capacity : SIZE_MAX, .at = 0, .status = PHX_OK};
}

void phx_write_bytes(PhxWriter *writer, const void *data, size_t count) {
    if (writer->status != PHX_OK) return;
    if (count > writer->capacity - writer->at) {
        writer->status = PHX_ERROR_FULL;
        return;
    }
    if (writer->data && count != 0) memcpy(writer->data + writer->at, data, count);
    writer->at += count;
}

static void write_le(PhxWriter *writer, uint64_t value, size_t bytes) {
    uint8_t buffer[8];
    phx_store_u64(buffer, value);
    phx_write_bytes(writer, buffer, bytes);
}

void phx_write_u8(PhxWriter *writer, uint8_t value) { write_le(writer, value, 1); }
void phx_write_u16(PhxWriter *writer, uint16_t value) { write_le(writer, value, 2); }
void phx_write_u32(PhxWriter *writer, uint32_t value) { write_le(writer, value, 4); }
void phx_write_u64(PhxWriter *writer, uint64_t value) { write_le(writer, value, 8); }

void phx_write_varint(PhxWriter *writer, uint64_t value) {
    while (value >= 0x80) {
        phx_write_u8(writer, (uint8_t)(value | 0x80));
        value >>= 7;
    }
    phx_write_u8(writer, (uint8_t)value);
}
