/* builder.h: what the files of the content builder share. */
#ifndef PHX_CONTENT_BUILDER_H
#define PHX_CONTENT_BUILDER_H

#include <phalanx/content.h>

#include "base/arena.h"
#include "state/world.h"
#include "step/content_format.h"
#include "step/sim_internal.h"

struct PhxContentBuilder {
    PhxArena arena; /* holds this struct */
    PhxContentHead head;
    PhxWorld *world;
};

/* Sets one value of a row, if it is in its column's range. Errors: PHX_ERROR_RANGE. */
PHX_MUST_USE PhxStatus phx_content_set_value(PhxTable *table, uint32_t row, const char *column, int64_t value,
                                             PhxError *error);
/* The same for a column with several values a row. */
PHX_MUST_USE PhxStatus phx_content_set_lane(PhxTable *table, uint32_t row, const char *column, uint32_t lane,
                                            int64_t value, PhxError *error);
/* Sets the column `name`. Errors: PHX_ERROR_RANGE. */
PHX_MUST_USE PhxStatus phx_content_set_name(PhxTable *table, uint32_t row, const char *name, PhxError *error);
/* A new row. Errors: PHX_ERROR_FULL. */
PHX_MUST_USE PhxStatus phx_content_new_row(PhxTable *table, uint32_t *row, PhxError *error);
/* Takes a row out again, as if it had never been, unless `status` is PHX_OK; returns `status`. */
PHX_MUST_USE PhxStatus phx_content_keep_or_drop(PhxTable *table, uint32_t row, PhxStatus status);
/* Is a disc clear of the buildings that are closed for the player's team? Errors: PHX_ERROR_RANGE. */
PHX_MUST_USE PhxStatus phx_content_check_buildings(const PhxWorld *world, uint8_t player, PhxVec2 at,
                                                   fix16_t radius, PhxError *error);

#endif
