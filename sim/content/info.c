/* info.c: what a content blob says of itself. Cost: one pass of hashing. */
#include <phalanx/content.h>
#include <phalanx/hash.h>

#include "base/hash_stream.h"
#include "step/content_format.h"

/* The hash leaves out the settings, so that matches with other seeds and rates are known to share their
 * content. */
static uint64_t content_hash(const uint8_t *blob, size_t size) {
    const size_t settings = 6;
    PhxHashStream stream;
    phx_hash_stream_begin(&stream);
    phx_hash_stream_feed(&stream, blob, settings);
    phx_hash_stream_feed(&stream, blob + settings + PHX_SETTINGS_BYTES, size - settings - PHX_SETTINGS_BYTES);
    return phx_hash_stream_end(&stream);
}

PhxStatus phx_content_info(const void *blob, size_t size, PhxContentInfo *out, PhxError *error) {
    PhxReader reader = phx_reader_make(blob, size);
    PhxContentHead head;
    const PhxStatus status = phx_content_head_read(&reader, &head, error);
    if (status != PHX_OK) return status;
    *out = (PhxContentInfo){head.settings,      head.width,          head.height,
                            head.unit_capacity, head.order_capacity, content_hash(blob, size)};
    return PHX_OK;
}
