/* SPDX-License-Identifier: Apache-2.0 */
/* The host's part of a probe: processors, memory, files, and the libraries in use. */
#include "tools/probe.h"

#include "core/crew.h"

#include <blosc.h>
#include <hdf5.h>
#include <libdeflate.h>
#include <lz4.h>
#include <netcdf.h>
#include <netcdf_meta.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>
#include <zstd.h>

#define FILES_WANTED 256

/* HDF5 filters that climate files use, by their registered numbers. */
static const struct {
    H5Z_filter_t id;
    const char *name;
} filters[] = {
    {H5Z_FILTER_DEFLATE, "deflate"},
    {H5Z_FILTER_SHUFFLE, "shuffle"},
    {H5Z_FILTER_FLETCHER32, "fletcher32"},
    {H5Z_FILTER_SZIP, "szip"},
    {307, "bzip2"},
    {32001, "blosc"},
    {32004, "lz4"},
    {32015, "zstd"},
};

static void tell_machine(probe *p)
{
    double gib = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 0x1p30;
    struct rlimit files = {0};
    getrlimit(RLIMIT_NOFILE, &files);
    int threads = ek_crew_threads(0);
    probe_line(p, PROBE_OK, "processors", NULL, "%ld online; %d threads read and decode",
               sysconf(_SC_NPROCESSORS_ONLN), threads);
    probe_line(p, PROBE_OK, "memory", NULL, "%.1f GiB", gib);
    bool few = files.rlim_cur != RLIM_INFINITY && files.rlim_cur < FILES_WANTED;
    probe_line(p, few ? PROBE_NOTE : PROBE_OK, "open files",
               few ? "raise the limit with `ulimit -n 1024`" : NULL, "%llu at a time",
               (unsigned long long)files.rlim_cur);
}

static void tell_filters(probe *p)
{
    char there[160] = "";
    char absent[160] = "";
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        char *list = H5Zfilter_avail(filters[i].id) > 0 ? there : absent;
        size_t used = strlen(list);
        snprintf(list + used, sizeof there - used, "%s%s", used > 0 ? ", " : "", filters[i].name);
    }
    if (absent[0] == '\0') {
        probe_line(p, PROBE_OK, "HDF5 filters", NULL, "%s", there);
        return;
    }
    probe_line(p, H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0 ? PROBE_OK : PROBE_WRONG, "HDF5 filters",
               "files with the others need a plugin: put it where HDF5_PLUGIN_PATH points",
               "%s; not %s", there, absent);
}

static void tell_libraries(probe *p)
{
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    const char *netcdf = nc_inq_libvers(); /* "4.9.0 of ...": the date says nothing */
    probe_line(p, PROBE_OK, "netCDF", NULL, "%.*s; remote: %s, %s", (int)strcspn(netcdf, " "),
               netcdf, NC_HAS_DAP2 ? "OPeNDAP" : "no OPeNDAP",
               NC_HAS_BYTERANGE ? "byte ranges over HTTP" : "no byte ranges");
    probe_line(p, PROBE_OK, "HDF5", NULL, "%u.%u.%u", major, minor, release);
    tell_filters(p);
    probe_line(p, PROBE_OK, "decoders", NULL, "libdeflate %s, zstd %s, lz4 %s, blosc %s",
               LIBDEFLATE_VERSION_STRING, ZSTD_versionString(), LZ4_versionString(),
               blosc_get_version_string());
    probe_line(p, PROBE_OK, "libuv", NULL, "%s", uv_version_string());
}

void probe_host(probe *p)
{
    p->group = "host";
    tell_machine(p);
    tell_libraries(p);
}
