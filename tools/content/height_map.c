/* height_map.c: reading grey pictures as heights. See height_map.h. Cost: one pass over the bytes. */
#include "content/height_map.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

typedef struct Text {
    const uint8_t *bytes;
    size_t size, at;
    uint64_t line; /* from 1 */
    const char *name;
    PhxError *error;
} Text;

#define FAIL(text, status, ...)                                                                              \
    phx_error_set((text)->error, (status), (text)->line, "%.80s, line %" PRIu64 ": " __VA_ARGS__)
/* The first two arguments of each message. */
#define PLACE(text) (text)->name, (text)->line

static bool is_blank(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Past blanks and remarks. */
static void skip(Text *text) {
    bool remark = false;
    for (; text->at < text->size; text->at++) {
        const uint8_t c = text->bytes[text->at];
        if (c == '#') remark = true;
        if (!remark && !is_blank(c)) return;
        if (c == '\n') {
            remark = false;
            text->line++;
        }
    }
}

static PhxStatus read_number(Text *text, const char *what, uint32_t *out) {
    skip(text);
    if (text->at == text->size)
        return FAIL(text, PHX_ERROR_TRUNCATED, "the picture ends where %s should be; is it cut short?",
                    PLACE(text), what);
    uint32_t digits = 0;
    *out = 0;
    for (; text->at < text->size && text->bytes[text->at] >= '0' && text->bytes[text->at] <= '9'; digits++) {
        if (*out < 100000) *out = *out * 10 + (uint32_t)(text->bytes[text->at] - '0');
        text->at++;
    }
    if (digits == 0 ||
        (text->at < text->size && !is_blank(text->bytes[text->at]) && text->bytes[text->at] != '#'))
        return FAIL(text, PHX_ERROR_FORMAT, "%s has to be a whole number", PLACE(text), what);
    return PHX_OK;
}

static PhxStatus read_header(Text *text, uint32_t width, uint32_t height, bool *binary, uint32_t *most) {
    uint32_t own_width = 0, own_height = 0;
    if (text->size < 3 || text->bytes[0] != 'P' || (text->bytes[1] != '2' && text->bytes[1] != '5') ||
        (!is_blank(text->bytes[2]) && text->bytes[2] != '#'))
        return FAIL(text, PHX_ERROR_FORMAT, "this is no grey picture in PGM: it has to begin with P2 or P5",
                    PLACE(text));
    *binary = text->bytes[1] == '5';
    text->at = 2;
    PhxStatus status = read_number(text, "the width", &own_width);
    if (status == PHX_OK) status = read_number(text, "the height", &own_height);
    if (status == PHX_OK) status = read_number(text, "the greatest value", most);
    if (status != PHX_OK) return status;
    if (own_width != width || own_height != height)
        return FAIL(text, PHX_ERROR_RANGE,
                    "the picture has %" PRIu32 " x %" PRIu32 " pixels, the map %" PRIu32 " x %" PRIu32
                    " cells; a pixel is a cell",
                    PLACE(text), own_width, own_height, width, height);
    if (*most < 1 || *most > 255)
        return FAIL(text, PHX_ERROR_RANGE,
                    "the greatest value is %" PRIu32 "; 1 to 255 is wanted, a byte a pixel", PLACE(text),
                    *most);
    return PHX_OK;
}

static PhxStatus fail_value(const Text *text, size_t pixel, uint32_t width, uint32_t value, uint32_t most) {
    return FAIL(text, PHX_ERROR_RANGE,
                "pixel %zu, %zu has the value %" PRIu32 ", but the greatest is said to be %" PRIu32,
                PLACE(text), pixel % width, pixel / width, value, most);
}

static PhxStatus read_bytes(Text *text, size_t pixels, uint32_t width, uint32_t most, uint8_t *out) {
    if (text->at == text->size || text->size - text->at - 1 < pixels)
        return FAIL(text, PHX_ERROR_TRUNCATED, "the picture has fewer than its %zu pixels; is it cut short?",
                    PLACE(text), pixels);
    memcpy(out, text->bytes + text->at + 1, pixels);
    for (size_t i = 0; i < pixels; i++)
        if (out[i] > most) return fail_value(text, i, width, out[i], most);
    return PHX_OK;
}

static PhxStatus read_numbers(Text *text, size_t pixels, uint32_t width, uint32_t most, uint8_t *out) {
    for (size_t i = 0; i < pixels; i++) {
        uint32_t value = 0;
        const PhxStatus status = read_number(text, "a pixel", &value);
        if (status != PHX_OK) return status;
        if (value > most) return fail_value(text, i, width, value, most);
        out[i] = (uint8_t)value;
    }
    skip(text);
    if (text->at == text->size) return PHX_OK;
    return FAIL(text, PHX_ERROR_FORMAT, "there is more behind the last pixel", PLACE(text));
}

PhxStatus phx_height_map_read(const void *bytes, size_t size, const char *name, uint32_t width,
                              uint32_t height, uint8_t *out, PhxError *error) {
    Text text = {.bytes = bytes, .size = size, .line = 1, .name = name ? name : "(bytes)", .error = error};
    bool binary = false;
    uint32_t most = 0;
    const PhxStatus status = read_header(&text, width, height, &binary, &most);
    if (status != PHX_OK) return status;
    const size_t pixels = (size_t)width * height;
    return binary ? read_bytes(&text, pixels, width, most, out)
                  : read_numbers(&text, pixels, width, most, out);
}
