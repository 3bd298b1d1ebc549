/* components.h: the connected parts of a map, so that an order to an unreachable goal is known as such at
 * once.
 *
 * In: a grid. Out: a label a cell; cells have the same label exactly if units can walk from one to the other.
 * Memory is the caller's. DERIVED: a pure function of the grid.
 */
#ifndef PHX_NAV_COMPONENTS_H
#define PHX_NAV_COMPONENTS_H

#include <phalanx/nav.h>

#define PHX_COMPONENT_NONE UINT32_MAX /* the label of an impassable cell */

/* Fills `label`; `stack` is scratch; both hold width * height values. Labels are 0 .. result - 1 in order of
 * their lowest cell. *largest: the label with most cells (the lowest of equal ones), PHX_COMPONENT_NONE if
 * there is none. */
uint32_t phx_components_build(const PhxNavGrid *grid, uint32_t *label, uint32_t *stack, uint32_t *largest);

/* The cell of `component` whose centre is nearest to that of `goal` (a cell of the map); ties: the lowest
 * index. PHX_NAV_NO_CELL if the component has no cell. Cost: the square of the distance found. */
uint32_t phx_components_nearest(const PhxNavGrid *grid, const uint32_t *label, uint32_t component,
                                uint32_t goal);

#endif
