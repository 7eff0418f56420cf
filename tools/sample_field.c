/* SPDX-License-Identifier: Apache-2.0 */
/* The field that `ekman sample` writes. See sample_field.h for what it is made of. */
#include "tools/sample_field.h"

#include "core/alloc.h"

#include <math.h>

#define PI    3.14159265358979323846
#define MODES 40
#define WAVES 9 /* zonal wavenumbers 0 to 8 */

/* A travelling mode: a Gaussian in latitude times a wave in longitude, whose complex amplitude is
 * an AR(1) process that turns as it decays. */
typedef struct wave_mode {
    int wave;
    double rho_cos, rho_sin; /* what the state is multiplied by each step */
    double kick;             /* size of the random part */
    double re, im;
    uint64_t key;
} wave_mode;

struct sample_field {
    sample_grid grid;
    int64_t step;
    uint64_t noise_key;
    wave_mode modes[MODES];
    double *pattern;  /* [MODES][n_lat] */
    double *steady;   /* [WAVES][2][n_lat]: what does not change */
    double *annual;   /* [n_lat] */
    double *diurnal;  /* [n_lat] */
    double *now;      /* [n_lat][WAVES][2]: this step's coefficients of cos and sin */
    double *wave_cos; /* [WAVES][n_lon] */
    double *wave_sin;
};

/* splitmix64's output function (Steele, Lea, Flood 2014): a counter in, 64 random bits out. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A number in [0, 1). */
static double uniform(uint64_t key)
{
    return (double)(mix(key) >> 11) * 0x1p-53;
}

/* Nearly normal, mean 0, variance 1: the sum of four 16-bit uniforms. */
static double normal(uint64_t key)
{
    uint64_t bits = mix(key);
    uint64_t sum =
        (bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff) + (bits >> 48);
    return ((double)sum - 131070.0) * (1.7320508075688772 / 65536.0);
}

double sample_latitude(const sample_grid *grid, int64_t row)
{
    return grid->n_lat == 1 ? 0 : 90.0 - 180.0 * (double)row / (double)(grid->n_lat - 1);
}

double sample_longitude(const sample_grid *grid, int64_t column)
{
    return 360.0 * (double)column / (double)grid->n_lon;
}

/* Mode m: larger ones first, each with its own storm track, wavenumber, speed and memory. */
static void make_mode(sample_field *f, int m)
{
    const sample_grid *grid = &f->grid;
    uint64_t key = mix(grid->seed * 1000003u + (uint64_t)m);
    wave_mode *mode = &f->modes[m];
    mode->wave = 1 + m % (WAVES - 1);
    mode->key = mix(key + (uint64_t)(int64_t)grid->year);

    double memory_days = 3 + 9 * uniform(key + 1);
    double period_days = 5 + 35 * uniform(key + 2);
    double rho = exp(-grid->step_hours / 24 / memory_days);
    double turn = 2 * PI * grid->step_hours / 24 / period_days;
    mode->rho_cos = rho * cos(turn);
    mode->rho_sin = -rho * sin(turn); /* eastward */
    mode->kick = sqrt(1 - rho * rho);
    mode->re = normal(mode->key);
    mode->im = normal(mode->key + 1);

    double size = 4 * pow(0.92, m);
    double centre = (m % 2 == 0 ? 1 : -1) * (15 + 55 * uniform(key + 3));
    double width = 10 + 15 * uniform(key + 4);
    for (int64_t row = 0; row < grid->n_lat; row++) {
        double lat = sample_latitude(grid, row);
        double z = (lat - centre) / width;
        f->pattern[m * grid->n_lat + row] = size * cos(lat * PI / 180) * exp(-0.5 * z * z);
    }
}

/* The parts that depend on latitude alone: mean, cycles, stationary waves. */
static void make_climate(sample_field *f)
{
    const sample_grid *grid = &f->grid;
    for (int64_t row = 0; row < grid->n_lat; row++) {
        double lat = sample_latitude(grid, row) * PI / 180;
        double s = sin(lat);
        double c = cos(lat);
        double ice = s < -0.9 ? (-0.9 - s) * 200 : 0; /* Antarctica is the colder pole */
        f->steady[row] = 300 - 42 * s * s - ice;
        f->annual[row] = s > 0 ? -16 * s : -9 * s;
        f->diurnal[row] = 3 * c * c;
        for (int wave = 1; wave <= 3; wave++) {
            double phase = 2 * PI * uniform(mix(grid->seed + (uint64_t)wave));
            double size = (6.0 - wave) * c * c * fabs(s);
            f->steady[(2 * wave) * grid->n_lat + row] = size * cos(phase);
            f->steady[(2 * wave + 1) * grid->n_lat + row] = size * sin(phase);
        }
    }
    for (int wave = 0; wave < WAVES; wave++) {
        for (int64_t j = 0; j < grid->n_lon; j++) {
            double angle = wave * sample_longitude(grid, j) * PI / 180;
            f->wave_cos[wave * grid->n_lon + j] = cos(angle);
            f->wave_sin[wave * grid->n_lon + j] = sin(angle);
        }
    }
}

ek_status sample_field_create(sample_field **out, const sample_grid *grid)
{
    ek_status rc = EK_ENOMEM;
    sample_field *f = ek_alloc(1, sizeof *f);
    if (f == NULL) {
        return EK_ENOMEM;
    }
    f->grid = *grid;
    f->noise_key = mix(mix(grid->seed) + (uint64_t)(int64_t)grid->year);
    size_t n_lat = (size_t)grid->n_lat;
    size_t n_lon = (size_t)grid->n_lon;
    f->pattern = ek_alloc(MODES * n_lat, sizeof(double));
    f->steady = ek_alloc((size_t)2 * WAVES * n_lat, sizeof(double));
    f->annual = ek_alloc(n_lat, sizeof(double));
    f->diurnal = ek_alloc(n_lat, sizeof(double));
    f->now = ek_alloc((size_t)2 * WAVES * n_lat, sizeof(double));
    f->wave_cos = ek_alloc(WAVES * n_lon, sizeof(double));
    f->wave_sin = ek_alloc(WAVES * n_lon, sizeof(double));
    if (f->pattern == NULL || f->steady == NULL || f->annual == NULL || f->diurnal == NULL ||
        f->now == NULL || f->wave_cos == NULL || f->wave_sin == NULL) {
        goto done;
    }
    make_climate(f);
    for (int m = 0; m < MODES; m++) {
        make_mode(f, m);
    }
    *out = f;
    f = NULL;
    rc = EK_OK;
done:
    sample_field_destroy(f);
    return rc;
}

void sample_field_destroy(sample_field *field)
{
    if (field == NULL) {
        return;
    }
    ek_free(field->pattern);
    ek_free(field->steady);
    ek_free(field->annual);
    ek_free(field->diurnal);
    ek_free(field->now);
    ek_free(field->wave_cos);
    ek_free(field->wave_sin);
    ek_free(field);
}

static void advance_modes(sample_field *f)
{
    for (int m = 0; m < MODES; m++) {
        wave_mode *mode = &f->modes[m];
        uint64_t key = mode->key + 2 + 2 * (uint64_t)f->step;
        double re = mode->re * mode->rho_cos - mode->im * mode->rho_sin;
        double im = mode->re * mode->rho_sin + mode->im * mode->rho_cos;
        mode->re = re + mode->kick * normal(key);
        mode->im = im + mode->kick * normal(key + 1);
    }
}

/* The Fourier coefficients of one latitude at this step: now[wave][cos, sin]. */
static void row_coefficients(const sample_field *f, int64_t row, double day, double *now)
{
    int64_t n_lat = f->grid.n_lat;
    for (int i = 0; i < 2 * WAVES; i++) {
        now[i] = f->steady[i * n_lat + row];
    }
    now[0] += f->annual[row] * cos(2 * PI * (day - 20) / 365.25); /* coldest on 20 January */
    double sun = 2 * PI * (day - 14.0 / 24);                      /* warmest at 14 h local time */
    now[2] += f->diurnal[row] * cos(sun);
    now[3] -= f->diurnal[row] * sin(sun);
    for (int m = 0; m < MODES; m++) {
        const wave_mode *mode = &f->modes[m];
        double size = f->pattern[m * n_lat + row];
        now[2 * mode->wave] += size * mode->re;
        now[2 * mode->wave + 1] -= size * mode->im;
    }
}

void sample_field_step(sample_field *field, double *values)
{
    int64_t n_lon = field->grid.n_lon;
    double day = (double)field->step * field->grid.step_hours / 24;
    uint64_t key = field->noise_key + (uint64_t)field->step * (uint64_t)(field->grid.n_lat * n_lon);
    for (int64_t row = 0; row < field->grid.n_lat; row++) {
        double *now = field->now + 2 * WAVES * row;
        double *out = values + row * n_lon;
        row_coefficients(field, row, day, now);
        for (int64_t j = 0; j < n_lon; j++) {
            out[j] = now[0] + 0.3 * normal(key + (uint64_t)(row * n_lon + j));
        }
        for (int wave = 1; wave < WAVES; wave++) {
            const double *c = field->wave_cos + wave * n_lon;
            const double *s = field->wave_sin + wave * n_lon;
            double a = now[2 * wave];
            double b = now[2 * wave + 1];
            for (int64_t j = 0; j < n_lon; j++) {
                out[j] += a * c[j] + b * s[j];
            }
        }
    }
    advance_modes(field);
    field->step++;
}
