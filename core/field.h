/* SPDX-License-Identifier: Apache-2.0 */
/* A field: one variable on a grid over time, as a file (or several along time) describes it.
 * Metadata only, no values. Made by the load stage, read by all later ones; immutable once made.
 * A field is stored as [time, cells], row-major, where `cells` is the product of all other dims in
 * file order (level, lat, lon). */
#ifndef EK_CORE_FIELD_H
#define EK_CORE_FIELD_H

#include "core/alloc.h"
#include "core/status.h"

EK_BEGIN_DECLS

typedef enum ek_dtype {
    EK_DTYPE_NONE,
    EK_I8,
    EK_U8,
    EK_I16,
    EK_U16,
    EK_I32,
    EK_U32,
    EK_F32,
    EK_F64,
    EK_DTYPE_COUNT
} ek_dtype;

/* ek_dtype_size returns bytes per value (0 for EK_DTYPE_NONE); ek_dtype_name "int16", "float64". */
EK_API size_t ek_dtype_size(ek_dtype dtype);
EK_API const char *ek_dtype_name(ek_dtype dtype);

/* ek_dtype_is_integer says whether values of this type are stored as integers. */
EK_API bool ek_dtype_is_integer(ek_dtype dtype);

/* An attribute carried over from the input: text, or numbers as double. */
typedef struct ek_attr {
    char *name;
    char *text;      /* NULL for a numeric attribute */
    double *numbers; /* n_numbers values; NULL for text */
    int n_numbers;
    ek_dtype dtype; /* of the numbers, as stored */
} ek_attr;

#define EK_FIELD_DIMS_MAX 6

/* A dimension of the grid (never time). */
typedef struct ek_dim {
    char *name;
    int64_t size;
} ek_dim;

/* A variable that places the cells: a coordinate, its bounds, an auxiliary or scalar coordinate, a
 * grid mapping. `dims` index ek_field.dims; bounds have one more, of size n_vertices. Values are
 * row-major, decoded to double. */
typedef struct ek_coord {
    char *name;
    ek_dtype dtype; /* as stored (after decoding: EK_F64 if it was packed) */
    int n_dims;
    int dims[EK_FIELD_DIMS_MAX];
    int n_vertices; /* 0, or the size of the last, unnamed dimension of a bounds variable */
    double *values;
    int64_t n_values;
    ek_attr *attrs;
    int n_attrs;
} ek_coord;

/* The time axis over all files, in the first file's units. */
typedef struct ek_time_axis {
    char *name;      /* of the time dimension */
    char *units;     /* CF units, or whatever the file says; "1" if nothing */
    char *calendar;  /* CF calendar name; NULL if the file has none */
    bool has_values; /* false: no coordinate variable; values are 0, 1, 2 ... */
    double *values;  /* n_time values */
    char *long_name; /* NULL if the file has none */
    char first[32];  /* first and last time as text, for people; empty if not decodable */
    char last[32];
} ek_time_axis;

/* An input file, and who reads its values: "chunk (shuffle, deflate)", "library (szip)". */
typedef struct ek_file {
    char *path;
    char *decoder;
} ek_file;

typedef struct ek_field {
    char *name;
    char *units;         /* NULL if the file has none */
    char *long_name;     /* NULL if none */
    char *standard_name; /* NULL if none */
    char *cell_methods;  /* NULL if none */
    char *coordinates;   /* the variable's "coordinates" attribute; NULL if none */
    char *grid_mapping;  /* NULL if none */
    ek_dtype dtype;      /* as stored; where files differ, the first file's */
    size_t value_bytes;  /* of the widest stored type among the files */
    int64_t n_time;
    int64_t n_cells;
    int n_dims; /* without time */
    ek_dim dims[EK_FIELD_DIMS_MAX];
    ek_time_axis time;
    ek_coord *coords;
    int n_coords;
    char *source; /* the input files, for the history: "a.nc" or "a.nc .. z.nc (40 files)" */
    const char *const *paths; /* the input files; borrowed from the load stage's options */
    int n_paths;
    ek_file *files; /* the same in order of time; NULL where the source reads none */
    int n_files;
    char *history; /* the first file's history attribute; NULL if none */
    char **notes;  /* decisions made while reading the metadata, one sentence each */
    size_t n_notes, notes_capacity;
} ek_field;

/* ek_field_destroy frees a field made with ek_alloc and all it holds; NULL is fine. */
EK_API void ek_field_destroy(ek_field *field);

/* ek_field_note appends a formatted sentence to the field's notes. */
EK_API ek_status ek_field_note(ek_field *field, const char *format, ...) EK_PRINTF(2, 3);

/* ek_field_times_differ says whether two fields have other time steps, and puts the first
 * difference into `text`: their number, units, calendar, or a value (compared exactly). Where one
 * has no values, steps are only counted. */
EK_API bool ek_field_times_differ(const ek_field *a, const ek_field *b, char *text, size_t size);

/* ek_field_grids_differ likewise for their cells: number and size of the dimensions, and the values
 * of coordinates that both have, to 1e-6 (float32 and float64 copies are the same). */
EK_API bool ek_field_grids_differ(const ek_field *a, const ek_field *b, char *text, size_t size);

EK_END_DECLS

#endif /* EK_CORE_FIELD_H */
