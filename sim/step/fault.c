/* fault.c: see fault.h. The one mutable variable of the sim; it exists in test builds alone, so that neither
 * PhxSim nor its interface knows of faults. */
#include "step/fault.h"

static PhxFault *planned;

void phx_fault_plan(PhxFault *fault) { planned = fault; }

void phx_fault_strike(PhxWorld *world, uint32_t tick, uint32_t phase) {
    PhxFault *fault = planned;
    if (!fault || fault->tick != tick || fault->phase != phase || fault->table >= world->table_count) return;
    PhxTable *table = &world->tables[fault->table];
    if (fault->column >= table->desc->column_count || fault->row >= table->capacity) return;
    const PhxColumnDesc *column = &table->desc->columns[fault->column];
    if (fault->lane >= column->lanes || fault->bit >= 8 * phx_type_size(column->type)) return;
    fault->value_before = phx_table_get(table, fault->column, fault->row, fault->lane);
    phx_table_set(table, fault->column, fault->row, fault->lane,
                  fault->value_before ^ (uint64_t)1 << fault->bit);
    fault->value_now = phx_table_get(table, fault->column, fault->row, fault->lane);
    if (table->desc->kind == PHX_KIND_GRID)
        phx_grid_touch(table, fault->row % table->width, fault->row / table->width);
    fault->struck++;
}
