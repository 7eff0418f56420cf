/* SPDX-License-Identifier: Apache-2.0 */
/* Which filters a netCDF-4 variable has, and what people are told about it. On the io thread only.
 */
#include "stages/load/hdf5.h"

#include <hdf5.h>
#include <stdio.h>

/* Says which filter is not one of ours. */
static void name_filter(H5Z_filter_t id, char *text, size_t size)
{
    static const struct {
        H5Z_filter_t id;
        const char *name;
    } names[] = {
        {H5Z_FILTER_SZIP, "szip"},
        {H5Z_FILTER_NBIT, "nbit"},
        {H5Z_FILTER_SCALEOFFSET, "scaleoffset"},
        {307, "bzip2"},
        {32000, "lzf"},
        {32001, "blosc"},
        {32004, "lz4"},
        {32008, "bitshuffle"},
        {32013, "zfp"},
        {32015, "zstd"},
        {32022, "bitgroom"},
        {32023, "granular bitround"},
        {32026, "blosc2"},
    };
    snprintf(text, size, "filter %d", (int)id);
    for (size_t i = 0; i < EK_COUNT(names); i++) {
        if (names[i].id == id) {
            snprintf(text, size, "filter %s", names[i].name);
        }
    }
}

void ek__hdf5_read_filters(int64_t dcpl, size_t value_bytes, ek__filters *out, char *reason,
                           size_t reason_size)
{
    int n = H5Pget_nfilters(dcpl);
    out->value_bytes = value_bytes;
    if (n < 0) {
        snprintf(reason, reason_size, "filters that HDF5 does not list");
    }
    for (int i = 0; i < n && reason[0] == '\0'; i++) {
        unsigned values[16] = {0};
        size_t n_values = EK_COUNT(values);
        unsigned flags = 0;
        unsigned config = 0;
        H5Z_filter_t id =
            H5Pget_filter2(dcpl, (unsigned)i, &flags, &n_values, values, 0, NULL, &config);
        ek__filter filter = id == H5Z_FILTER_SHUFFLE   ? EK_FILTER_SHUFFLE
                            : id == H5Z_FILTER_DEFLATE ? EK_FILTER_DEFLATE
                                                       : EK_FILTER_FLETCHER32;
        if (id != H5Z_FILTER_SHUFFLE && id != H5Z_FILTER_DEFLATE && id != H5Z_FILTER_FLETCHER32) {
            name_filter(id, reason, reason_size);
        } else if (ek__filters_has(out, filter)) {
            snprintf(reason, reason_size, "a filter applied twice");
        } else if (id == H5Z_FILTER_SHUFFLE && (n_values < 1 || values[0] != value_bytes)) {
            snprintf(reason, reason_size, "shuffle by another size than the values'");
        } else {
            out->ids[out->n++] = filter;
        }
    }
}

void ek__hdf5_describe(ek__hdf5 *self)
{
    static const char *const names[] = {[EK_FILTER_SHUFFLE] = "shuffle",
                                        [EK_FILTER_DEFLATE] = "deflate",
                                        [EK_FILTER_FLETCHER32] = "fletcher32"};
    char *text = self->base.text;
    size_t size = sizeof(self->base.text);
    const char *order = self->swap ? ", other byte order" : "";
    if (!self->chunked) {
        snprintf(text, size, "direct (contiguous%s)", order);
        return;
    }
    size_t used =
        (size_t)snprintf(text, size, "chunk (%s", self->filters.n == 0 ? "no filter" : "");
    for (int i = 0; i < self->filters.n; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "",
                                 names[self->filters.ids[i]]);
    }
    snprintf(text + used, size - used, "%s)", order);
}
