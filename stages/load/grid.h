/* SPDX-License-Identifier: Apache-2.0 */
/* The grid of a variable: its dimensions without time, and the variables that place the cells. On
 * the io thread only. */
#ifndef EK_STAGES_LOAD_GRID_H
#define EK_STAGES_LOAD_GRID_H

#include "stages/load/metadata.h"

EK_BEGIN_DECLS

/* ek__grid_read fills the field's dims, n_cells and coords (dimension coordinates, their bounds,
 * auxiliary and scalar coordinates, grid mapping). The field's `coordinates` and `grid_mapping` are
 * read before. What depends on time or is not numeric is left out, with a note. */
ek_status ek__grid_read(const ek__nc_file *file, const ek__variable *v, ek_field *field);

/* ek__grid_compare returns EK_ESHAPE, naming both files and the difference, if two fields do not
 * lie on one grid: dimensions by name and size, coordinates within 1e-5 of their spacing. */
ek_status ek__grid_compare(const ek_field *a, const char *path_a, const ek_field *b,
                           const char *path_b);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_GRID_H */
