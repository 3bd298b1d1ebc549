/* bytes.h: the bounded little-endian reader and writer, through which all bytes of files and packets pass.
 *
 * Both have a sticky error: after the first fault every read gives zero and every write is dropped, so that a
 * decoder reads straight down and looks once at the end. Nothing is allocated, nothing is read past the end.
 * A count that came from the bytes is checked by phx_reader_count against what remains before anything loops
 * over it. Byte order and alignment of the machine play no part.
 */
#ifndef PHX_BASE_BYTES_H
#define PHX_BASE_BYTES_H

#include <phalanx/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct PhxReader {
    const uint8_t *data;
    size_t size, at;
    PhxStatus status; /* PHX_OK until the first fault; `at` stays where the fault was met */
} PhxReader;

typedef struct PhxWriter {
    uint8_t *data; /* null: nothing is stored, `at` counts what would be */
    size_t capacity, at;
    PhxStatus status;
} PhxWriter;

PhxReader phx_reader_make(const void *data, size_t size);
uint8_t phx_read_u8(PhxReader *reader);
uint16_t phx_read_u16(PhxReader *reader);
uint32_t phx_read_u32(PhxReader *reader);
uint64_t phx_read_u64(PhxReader *reader);
/* `count` bytes in place (no copy), or null with the error set. */
const uint8_t *phx_read_span(PhxReader *reader, size_t count);
/* A u32 count of elements that take at least `min_element` bytes each: 0 and PHX_ERROR_TRUNCATED where the
 * rest of the bytes cannot hold them, PHX_ERROR_LIMIT where it is above `limit`. */
uint32_t phx_read_count(PhxReader *reader, size_t min_element, uint32_t limit);
/* LEB128, at most 10 bytes, shortest form only. */
uint64_t phx_read_varint(PhxReader *reader);
void phx_reader_fail(PhxReader *reader, PhxStatus status);
static inline size_t phx_reader_left(const PhxReader *reader) { return reader->size - reader->at; }
/* PHX_OK if there was no fault and every byte was read; else the fault, or PHX_ERROR_FORMAT for a rest. */
PHX_MUST_USE PhxStatus phx_reader_finish(const PhxReader *reader);

PhxWriter phx_writer_make(void *data, size_t capacity);
void phx_write_u8(PhxWriter *writer, uint8_t value);
void phx_write_u16(PhxWriter *writer, uint16_t value);
void phx_write_u32(PhxWriter *writer, uint32_t value);
void phx_write_u64(PhxWriter *writer, uint64_t value);
void phx_write_bytes(PhxWriter *writer, const void *data, size_t count);
void phx_write_varint(PhxWriter *writer, uint64_t value);

/* Single values at an address, for tables and tests. */
static inline void phx_store_u32(uint8_t *to, uint32_t v) {
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(v >> (8 * i));
}
static inline void phx_store_u64(uint8_t *to, uint64_t v) {
    for (int i = 0; i < 8; i++) to[i] = (uint8_t)(v >> (8 * i));
}

#endif
