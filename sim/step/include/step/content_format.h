/* content_format.h: the head of a content blob (content.h says what follows). Private to step and content. */
#ifndef PHX_STEP_CONTENT_FORMAT_H
#define PHX_STEP_CONTENT_FORMAT_H

#include <phalanx/sim.h>

#include "base/bytes.h"

enum { PHX_CONTENT_VERSION = 1, PHX_CONTENT_HEADER_BYTES = 4 + 2 + PHX_SETTINGS_BYTES + 4 + 8 };

typedef struct PhxContentHead {
    PhxSettings settings;
    uint32_t width, height, unit_capacity, order_capacity;
} PhxContentHead;

void phx_content_head_write(const PhxContentHead *head, PhxWriter *writer);
/* Errors: PHX_ERROR_TRUNCATED, _FORMAT, _VERSION, _RANGE, _LIMIT, with text. */
PHX_MUST_USE PhxStatus phx_content_head_read(PhxReader *reader, PhxContentHead *out, PhxError *error);

#endif
