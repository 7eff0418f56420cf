/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/versions.h"

#include "core/loop.h"

#include <blosc.h>
#include <hdf5.h>
#include <libdeflate.h>
#include <lz4.h>
#include <netcdf.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>
#include <zstd.h>

typedef struct io_versions {
    char netcdf[48], hdf5[48];
} io_versions;

/* ask runs on the io thread, where all calls of netCDF and HDF5 are made. */
static ek_status ask(void *user)
{
    io_versions *out = user;
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    snprintf(out->hdf5, sizeof out->hdf5, "%u.%u.%u", major, minor, release);
    const char *netcdf = nc_inq_libvers(); /* "4.9.0 of ...": the date says nothing */
    snprintf(out->netcdf, sizeof out->netcdf, "%.*s", (int)strcspn(netcdf, " "), netcdf);
    return EK_OK;
}

int ek_versions_get(ek_version out[EK_VERSIONS_MAX])
{
    io_versions io = {"", ""};
    ek_io_call(ask, &io);
    const struct {
        const char *name, *number;
    } all[] = {
        {"netCDF", io.netcdf},
        {"HDF5", io.hdf5},
        {"libuv", uv_version_string()},
        {"libdeflate", LIBDEFLATE_VERSION_STRING},
        {"zstd", ZSTD_versionString()},
        {"lz4", LZ4_versionString()},
        {"blosc", blosc_get_version_string()},
    };
    for (size_t i = 0; i < EK_COUNT(all); i++) {
        out[i].name = all[i].name;
        snprintf(out[i].number, sizeof out[i].number, "%s", all[i].number);
    }
    return (int)EK_COUNT(all);
}
