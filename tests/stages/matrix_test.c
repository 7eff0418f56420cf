/* SPDX-License-Identifier: Apache-2.0 */
/* Every way to store a variable, read through the load stage: formats, types, layouts, filters,
 * byte orders, fixed and unlimited time. The argument is the number of reading threads. */
#include "tests/support/gridcheck.h"
#include "tests/support/near.h"

#include <stdio.h>

static void classic_formats(void **state)
{
    (void)state;
    static const int formats[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA};
    for (size_t f = 0; f < EK_COUNT(formats); f++) {
        for (const nc_type *type = ncgrid_types(formats[f]); *type != NC_NAT; type++) {
            for (unsigned bits = 0; bits < 8; bits++) {
                gridcheck(&(ncgrid){.format = formats[f],
                                    .type = *type,
                                    .fixed_time = (bits & 1) != 0,
                                    .bare = (bits & 2) != 0,
                                    .packed = (bits & 4) != 0},
                          OWN_ROWS);
            }
        }
    }
}

static void netcdf4_contiguous(void **state)
{
    (void)state;
    static const int formats[] = {NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};
    for (size_t f = 0; f < EK_COUNT(formats); f++) {
        for (const nc_type *type = ncgrid_types(formats[f]); *type != NC_NAT; type++) {
            for (unsigned bits = 0; bits < 4; bits++) {
                gridcheck(&(ncgrid){.format = formats[f],
                                    .type = *type,
                                    .fixed_time = true,
                                    .packed = (bits & 1) != 0,
                                    .endian = (bits & 2) != 0 ? NC_ENDIAN_BIG : NC_ENDIAN_LITTLE},
                          OWN_ROWS);
            }
        }
    }
}

/* All layouts, types, byte orders and kinds of time axis under one set of filters. */
static void check_chunked(unsigned filters, const char *decoder)
{
    for (int layout = NCGRID_PLANES; layout < NCGRID_LAYOUTS; layout++) {
        for (const nc_type *type = ncgrid_types(NC_NETCDF4); *type != NC_NAT; type++) {
            for (unsigned bits = 0; bits < 4; bits++) {
                gridcheck(&(ncgrid){.format = NC_NETCDF4,
                                    .type = *type,
                                    .layout = (ncgrid_layout)layout,
                                    .filters = filters,
                                    .fixed_time = (bits & 1) != 0,
                                    .packed = (bits == 1 || bits == 2),
                                    .endian = (bits & 2) != 0 ? NC_ENDIAN_BIG : NC_ENDIAN_LITTLE},
                          decoder);
            }
        }
    }
}

static void netcdf4_chunked_without_filters(void **state)
{
    (void)state;
    check_chunked(0, OWN_CHUNKS);
    check_chunked(NCGRID_FLETCHER32, OWN_CHUNKS);
}

static void netcdf4_deflated(void **state)
{
    (void)state;
    check_chunked(NCGRID_DEFLATE, OWN_CHUNKS);
}

static void netcdf4_shuffled_and_deflated(void **state)
{
    (void)state;
    check_chunked(NCGRID_SHUFFLE | NCGRID_DEFLATE, OWN_CHUNKS);
}

static void netcdf4_with_checksums(void **state)
{
    (void)state;
    check_chunked(NCGRID_DEFLATE | NCGRID_FLETCHER32, OWN_CHUNKS);
    check_chunked(NCGRID_SHUFFLE | NCGRID_DEFLATE | NCGRID_FLETCHER32, OWN_CHUNKS);
}

static void check_foreign(unsigned filter, const char *name)
{
    if (!ncgrid_can(filter)) {
        print_message("[  NOTICE  ] this netCDF cannot write %s; left out\n", name);
        return;
    }
    char decoder[64];
    snprintf(decoder, sizeof(decoder), LIBRARY "filter %s", name);
    check_chunked(filter, decoder);
}

static void filters_of_others_are_left_to_the_library(void **state)
{
    (void)state;
    check_foreign(NCGRID_ZSTD, "zstd");
    check_foreign(NCGRID_SZIP, "szip");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, gridcheck_setup, gridcheck_teardown)

int main(int argc, char **argv)
{
    gridcheck_arguments(argc, argv);
    const struct CMUnitTest tests[] = {
        TEST(classic_formats),
        TEST(netcdf4_contiguous),
        TEST(netcdf4_chunked_without_filters),
        TEST(netcdf4_deflated),
        TEST(netcdf4_shuffled_and_deflated),
        TEST(netcdf4_with_checksums),
        TEST(filters_of_others_are_left_to_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
