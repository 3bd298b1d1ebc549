/* settings.c: settings of a match and the head of a content blob, to bytes and back. */
#include <string.h>

#include "state/world.h"
#include "step/content_format.h"
#include "step/sim_internal.h"

static const uint8_t content_magic[4] = {'P', 'H', 'X', 'C'};

static PhxStatus check_field(const char *name, uint32_t value, uint32_t low, uint32_t high, PhxError *error) {
    if (value >= low && value <= high) return PHX_OK;
    return phx_error_set(error, PHX_ERROR_RANGE, 0, "settings: %s is %u, its range is %u to %u", name, value,
                         low, high);
}

PhxStatus phx_settings_check(const PhxSettings *settings, PhxError *error) {
    PhxStatus status = check_field("tick_rate", settings->tick_rate, 1, 1000, error);
    if (status == PHX_OK) status = check_field("ticks_per_turn", settings->ticks_per_turn, 1, 16, error);
    if (status == PHX_OK) status = check_field("input_delay", settings->input_delay, 1, 64, error);
    return status;
}

static void write_settings(const PhxSettings *settings, PhxWriter *writer) {
    phx_write_u64(writer, settings->match_key);
    phx_write_u16(writer, settings->tick_rate);
    phx_write_u16(writer, settings->ticks_per_turn);
    phx_write_u16(writer, settings->input_delay);
}

void phx_settings_encode(const PhxSettings *settings, uint8_t bytes[PHX_SETTINGS_BYTES]) {
    PhxWriter writer = phx_writer_make(bytes, PHX_SETTINGS_BYTES);
    write_settings(settings, &writer);
}

PhxStatus phx_settings_decode(const uint8_t bytes[PHX_SETTINGS_BYTES], PhxSettings *out, PhxError *error) {
    PhxReader reader = phx_reader_make(bytes, PHX_SETTINGS_BYTES);
    PhxSettings read;
    read.match_key = phx_read_u64(&reader);
    read.tick_rate = phx_read_u16(&reader);
    read.ticks_per_turn = phx_read_u16(&reader);
    read.input_delay = phx_read_u16(&reader);
    const PhxStatus status = phx_settings_check(&read, error);
    if (status == PHX_OK) *out = read;
    return status;
}

void phx_content_head_write(const PhxContentHead *head, PhxWriter *writer) {
    phx_write_bytes(writer, content_magic, sizeof content_magic);
    phx_write_u16(writer, PHX_CONTENT_VERSION);
    write_settings(&head->settings, writer);
    phx_write_u16(writer, (uint16_t)head->width);
    phx_write_u16(writer, (uint16_t)head->height);
    phx_write_u32(writer, head->unit_capacity);
    phx_write_u32(writer, head->order_capacity);
}

PhxStatus phx_content_head_read(PhxReader *reader, PhxContentHead *out, PhxError *error) {
    const uint8_t *magic = phx_read_span(reader, sizeof content_magic);
    const uint16_t version = phx_read_u16(reader);
    const uint8_t *settings = phx_read_span(reader, PHX_SETTINGS_BYTES);
    out->width = phx_read_u16(reader);
    out->height = phx_read_u16(reader);
    out->unit_capacity = phx_read_u32(reader);
    out->order_capacity = phx_read_u32(reader);
    if (reader->status != PHX_OK)
        return phx_error_set(error, reader->status, reader->at, "a content blob's head is cut short");
    if (memcmp(magic, content_magic, sizeof content_magic) != 0)
        return phx_error_set(error, PHX_ERROR_FORMAT, 0, "not a content blob: it does not begin with PHXC");
    if (version != PHX_CONTENT_VERSION)
        return phx_error_set(error, PHX_ERROR_VERSION, 4, "content version %u; this build reads %d", version,
                             PHX_CONTENT_VERSION);
    const PhxStatus status = phx_settings_decode(settings, &out->settings, error);
    if (status != PHX_OK) return status;
    if (out->width < 1 || out->width > PHX_SCHEMA_GRID_LIMIT || out->height < 1 ||
        out->height > PHX_SCHEMA_GRID_LIMIT)
        return phx_error_set(error, PHX_ERROR_LIMIT, reader->at, "a map of %u x %u cells; 1 to %d a side",
                             out->width, out->height, PHX_SCHEMA_GRID_LIMIT);
    if (out->unit_capacity < 1 || out->unit_capacity > PHX_SCHEMA_ROW_LIMIT || out->order_capacity < 1 ||
        out->order_capacity > PHX_SCHEMA_ROW_LIMIT)
        return phx_error_set(error, PHX_ERROR_LIMIT, reader->at,
                             "capacities of %u units and %u orders; 1 to %d each", out->unit_capacity,
                             out->order_capacity, PHX_SCHEMA_ROW_LIMIT);
    return PHX_OK;
}
