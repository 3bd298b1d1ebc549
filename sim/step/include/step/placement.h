/* placement.h: what the files on buildings share: placement.c (what is legal), placement_ways.c (what a
 * building would cut off), build.c (the changes themselves).
 */
#ifndef PHX_STEP_PLACEMENT_H
#define PHX_STEP_PLACEMENT_H

#include <phalanx/building.h>

#include "step/sim_internal.h"

/* The cells of a living row. */
PhxCellRect phx_building_cells(const PhxWorld *world, uint32_t slot);
/* The one rule of what may be placed, for questions and for changes. */
PhxPlacementReason phx_placement_check(const PhxWorld *world, const PhxBuildingInfo *building);
/* The places that a legal building would cut off; as PhxPlacement.sealed. Errors: PHX_ERROR_MEMORY. */
PHX_MUST_USE PhxStatus phx_placement_ways(const PhxSim *sim, const PhxPlacementQuestion *question,
                                          uint64_t *sealed);

#endif
