/* SPDX-License-Identifier: Apache-2.0 */
/* HDF5 files that netCDF-C would not write, with one dataset v(time, lat, lon) that it can read:
 * filters left out chunk by chunk, parts never written, headers of both versions, unusual layouts.
 * Files lie beside those of ncmake.h; the calls may come from any thread with an ek_io_acquire. */
#ifndef EK_TESTS_SUPPORT_H5MAKE_H
#define EK_TESTS_SUPPORT_H5MAKE_H

#include "core/status.h"

#include <hdf5.h>

/* Whether this HDF5 lists the chunks of every kind of index. */
#define H5MAKE_LISTS_CHUNKS                                                                        \
    (H5_VERSION_GE(1, 12, 3) || (H5_VERSION_GE(1, 10, 10) && !H5_VERSION_GE(1, 11, 0)))

typedef enum h5make_layout {
    H5MAKE_CHUNKED,
    H5MAKE_CONTIGUOUS,
    H5MAKE_COMPACT,
    H5MAKE_EXTERNAL,
    H5MAKE_VIRTUAL
} h5make_layout;

/* Zero members take defaults. */
typedef struct h5make {
    h5make_layout layout;
    int value_bytes; /* 1, 2, 4: integers; 8: float64 */
    int n_time;      /* 11 */
    bool tiled;      /* chunks that divide no dimension, rather than one time step each */
    int leading;     /* v(1, time, lat, lon), chunks of this length along the first; 0: without */
    const char *filters; /* in order: s shuffle, d deflate, f fletcher32, n nbit, o scaleoffset,
                            z szip, x one of no one's */
    bool masked;         /* every set of filters is left out in turn */
    bool unwritten;      /* some chunks are never written; contiguous: nothing is */
    bool no_fill;        /* the fill value is undefined */
    int attributes;      /* so many, in the object header */
    bool header_v2;      /* object headers of version 2 */
    bool wide_nodes;     /* nodes of the index have up to 1000 entries rather than 64 */
    bool newest;         /* whatever this HDF5 has that is new */
    bool fixed;          /* no dimension is unlimited */
    bool bare_edges;     /* chunks at the edge have no filters; with `newest` */
    int user_block;      /* bytes in front */
    bool soft_link;      /* v is a link to the dataset */
    bool huge;           /* chunks of 300 MB, none written */
    bool narrow;         /* integers of 12 bits in 16 */
} h5make;

/* h5make_prepare registers the filter of no one's; h5make_can says whether this HDF5 has all
 * filters of a recipe. */
ek_status h5make_prepare(void *user);
bool h5make_can(const h5make *recipe);

/* h5make_file writes directory/name and returns its path (borrowed, until ncmake_cleanup). */
const char *h5make_file(const char *name, const h5make *recipe);

#endif /* EK_TESTS_SUPPORT_H5MAKE_H */
