/* SPDX-License-Identifier: Apache-2.0 */
/* A synthetic near-surface air temperature, in kelvin:
 *
 *     zonal mean + annual cycle + diurnal cycle + stationary waves
 *     + 40 travelling modes, each red noise (AR(1)) in time + noise of each cell
 *
 * Everything but the cells' noise is a short Fourier series in longitude, so a step costs about 20
 * multiplications a value. A value depends on (seed, year, grid, step) and on nothing else: any
 * year can be made alone. The modes' patterns depend on the seed only; their states start afresh
 * each year. One thread per object. */
#ifndef EK_TOOLS_SAMPLE_FIELD_H
#define EK_TOOLS_SAMPLE_FIELD_H

#include "core/status.h"

typedef struct sample_grid {
    int64_t n_lat, n_lon;
    double step_hours;
    uint64_t seed;
    int year;
} sample_grid;

typedef struct sample_field sample_field;

ek_status sample_field_create(sample_field **out, const sample_grid *grid);
void sample_field_destroy(sample_field *field);

/* sample_latitude and sample_longitude return coordinates in degrees: latitudes descend from 90
 * (one row alone: 0), longitudes ascend from 0. */
double sample_latitude(const sample_grid *grid, int64_t row);
double sample_longitude(const sample_grid *grid, int64_t column);

/* sample_field_step writes the values of the next time step, n_lat x n_lon, row-major. Steps come
 * in order, from the year's first. */
void sample_field_step(sample_field *field, double *values);

#endif /* EK_TOOLS_SAMPLE_FIELD_H */
