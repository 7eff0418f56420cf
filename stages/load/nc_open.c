/* SPDX-License-Identifier: Apache-2.0 */
/* Opening files and addresses, and refusing what the library would misread. */
#include "stages/load/nc.h"

#include "stages/load/classic.h"
#include "stages/load/zarr.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Says what a file is that does not begin like netCDF; NULL if it may be netCDF after all (HDF5
 * allows a block of other data in front). */
static const char *foreign_format(const unsigned char *head, size_t n)
{
    size_t i = 0;
    while (i < n && isspace(head[i])) {
        i++;
    }
    if (i < n && head[i] == '<') {
        return "a web page or XML file saved under this name; download the data themselves";
    }
    if (n >= 4 && memcmp(head, "\016\003\023\001", 4) == 0) {
        return "an HDF4 file; convert it to netCDF first";
    }
    if (n >= 4 && memcmp(head, "GRIB", 4) == 0) {
        return "a GRIB file; convert it to netCDF first (cdo -f nc copy)";
    }
    if (n >= 2 && head[0] == 0x1f && head[1] == 0x8b) {
        return "a gzip file; unpack it first (gunzip)";
    }
    return NULL;
}

/* Refuses what is not a plain file with data in it, and files cut short that netCDF-C would fill up
 * with zeros. */
static ek_status check_file(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        return EK_FAIL_CODE(errno == ENOENT ? EK_ENOENT : EK_EIO, errno, "%s: %s", path,
                            strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) {
        return EK_FAIL(EK_EINVAL,
                       "%s is a directory, and no Zarr store; name the netCDF files in it", path);
    }
    if (!S_ISREG(info.st_mode)) {
        return EK_FAIL(EK_EINVAL, "%s is not a regular file", path);
    }
    if (info.st_size == 0) {
        return EK_FAIL(EK_ETRUNC, "%s is empty (0 bytes); fetch it again", path);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return EK_FAIL_CODE(EK_EIO, errno, "%s: cannot be opened: %s", path, strerror(errno));
    }
    unsigned char head[64] = {0};
    ssize_t n = read(fd, head, sizeof(head));
    close(fd);
    const char *foreign = foreign_format(head, n > 0 ? (size_t)n : 0);
    if (foreign != NULL) {
        return EK_FAIL(EK_ENETCDF, "%s is not a netCDF file but %s", path, foreign);
    }
    return ek__classic_check(path);
}

void ek__nc_quiet(void)
{
    /* Looked up, not linked: a netCDF-C without HDF5 has no such function. */
    typedef int (*set_auto_fn)(int64_t stack, void *fn, void *data);
    static _Thread_local bool quiet;
    if (!quiet) {
        set_auto_fn set_auto = (set_auto_fn)dlsym(RTLD_DEFAULT, "H5Eset_auto2");
        if (set_auto != NULL) {
            set_auto(0, NULL, NULL);
        }
        quiet = true;
    }
}

bool ek__nc_is_remote(const char *path)
{
    const char *end = path;
    while (isalnum((unsigned char)*end)) {
        end++;
    }
    return end > path && strncmp(end, "://", 3) == 0;
}

static ek_status open_remote(const char *path, int *ncid)
{
    int code = nc_open(path, NC_NOWRITE, ncid);
    return code == NC_NOERR
               ? EK_OK
               : EK_FAIL_CODE(EK_ENETCDF, code,
                              "%s: the netCDF library cannot open this address (%s); it must reach "
                              "the server, and be built with DAP, or with byte ranges for an "
                              "address that ends in #mode=bytes (see nc-config --all); else "
                              "download the file first",
                              path, nc_strerror(code));
}

static ek_status open_local(const char *path, int *ncid)
{
    if (ek__zarr_is_store(path)) {
        return ek__zarr_mirror(path, ncid);
    }
    EK_TRY(check_file(path));
    int code = nc_open(path, NC_NOWRITE, ncid);
    return code == NC_NOERR
               ? EK_OK
               : EK_FAIL_CODE(EK_ENETCDF, code,
                              "%s: not a netCDF file, or cut short or damaged (%s); compare its "
                              "size with the original's",
                              path, nc_strerror(code));
}

ek_status ek__nc_open(ek__nc_file *file, const char *path)
{
    *file = (ek__nc_file){.path = path, .ncid = -1};
    ek__nc_quiet();
    int ncid = -1;
    EK_TRY(ek__nc_is_remote(path) ? open_remote(path, &ncid) : open_local(path, &ncid));
    file->root = file->ncid = ncid;
    return EK_OK;
}

void ek__nc_close(ek__nc_file *file)
{
    if (file->ncid >= 0) {
        nc_close(file->root);
        file->ncid = -1;
    }
}
