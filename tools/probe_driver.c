/* SPDX-License-Identifier: Apache-2.0 */
/* What the host sees of a GPU before CUDA comes in: the PCI bus, the kernel's driver by NVML, and
 * the CUDA driver library. Both libraries come with the driver, so they are looked for at run time.
 */
#include "tools/probe.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NVIDIA_VENDOR 0x10de
#define DISPLAY_CLASS 0x03 /* VGA, 3D and other display controllers */

#define NO_DRIVER_ADVICE                                                                           \
    "install NVIDIA's driver (Debian: nvidia-driver, Ubuntu: ubuntu-drivers install) and "         \
    "restart; "                                                                                    \
    "in a container, start it with --gpus all"

/* NVML and the CUDA driver count their successes as 0. */
typedef int (*call_void)(void);
typedef int (*call_text)(char *text, unsigned size);
typedef int (*call_number)(unsigned *number);
typedef int (*call_handle)(unsigned index, void **handle);
typedef int (*call_name)(void *handle, char *text, unsigned size);
typedef const char *(*call_error)(int code);
typedef int (*call_flags)(unsigned flags);
typedef int (*call_int)(int *number);

/* find stores the address of a function; POSIX lets a data pointer hold it. */
static bool find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static unsigned long read_hex(const char *folder, const char *name)
{
    char path[512];
    char text[32] = "";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    if (fgets(text, sizeof text, file) == NULL) {
        text[0] = '\0';
    }
    fclose(file);
    return strtoul(text, NULL, 16);
}

static int count_on_bus(void)
{
    glob_t found;
    int n = 0;
    if (glob("/sys/bus/pci/devices/*", 0, NULL, &found) != 0) {
        return 0;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        n += read_hex(found.gl_pathv[i], "vendor") == NVIDIA_VENDOR &&
             read_hex(found.gl_pathv[i], "class") >> 16 == DISPLAY_CLASS;
    }
    globfree(&found);
    return n;
}

static void tell_absent(probe *p, int on_bus)
{
    if (on_bus > 0) {
        probe_line(p, PROBE_WRONG, "driver", NO_DRIVER_ADVICE,
                   "%d NVIDIA GPU%s on the PCI bus, but no driver library (libnvidia-ml.so.1)",
                   on_bus, on_bus == 1 ? "" : "s");
        return;
    }
    probe_line(p, p->want_device ? PROBE_WRONG : PROBE_NOTE, "driver",
               p->want_device ? NO_DRIVER_ADVICE : NULL,
               "no NVIDIA GPU and no driver here: everything runs on the host backend");
}

/* name_devices appends the names of the devices, as far as there is room. */
static void name_devices(void *nvml, unsigned count, char *text, size_t size)
{
    call_handle handle_of = NULL;
    call_name name_of = NULL;
    size_t used = 0;
    if (!find(nvml, "nvmlDeviceGetHandleByIndex_v2", &handle_of) ||
        !find(nvml, "nvmlDeviceGetName", &name_of)) {
        return;
    }
    for (unsigned i = 0; i < count && used < size; i++) {
        void *handle = NULL;
        char name[96] = "";
        if (handle_of(i, &handle) == 0 && name_of(handle, name, sizeof name) == 0) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? ": " : ", ", name);
        }
    }
}

static bool ask_nvml(probe *p, void *nvml)
{
    call_void init = NULL;
    call_text version_of = NULL;
    call_number count_of = NULL;
    call_error text_of = NULL;
    if (!find(nvml, "nvmlInit_v2", &init) ||
        !find(nvml, "nvmlSystemGetDriverVersion", &version_of) ||
        !find(nvml, "nvmlDeviceGetCount_v2", &count_of) ||
        !find(nvml, "nvmlErrorString", &text_of)) {
        probe_line(p, PROBE_WRONG, "driver", NO_DRIVER_ADVICE,
                   "libnvidia-ml.so.1 lacks functions that every driver has");
        return false;
    }
    int code = init();
    if (code != 0) {
        probe_line(p, PROBE_WRONG, "driver",
                   "look at `nvidia-smi` and `dmesg`; after an update of the driver, restart",
                   "NVML does not start: %s", text_of(code));
        return false;
    }
    char version[80] = "";
    unsigned count = 0;
    char names[256] = "";
    version_of(version, sizeof version);
    count_of(&count);
    name_devices(nvml, count, names, sizeof names);
    if (count == 0) {
        probe_line(p, PROBE_WRONG, "driver", "look at `nvidia-smi`; in a container, --gpus all",
                   "driver %s sees no GPU", version);
        return false;
    }
    probe_line(p, PROBE_OK, "driver", NULL, "%s, %u GPU%s%s", version, count, count == 1 ? "" : "s",
               names);
    return true;
}

static bool ask_cuda_driver(probe *p)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    call_flags init = NULL;
    call_int version_of = NULL;
    if (cuda == NULL || !find(cuda, "cuInit", &init) ||
        !find(cuda, "cuDriverGetVersion", &version_of)) {
        probe_line(p, PROBE_WRONG, "CUDA driver",
                   "install the driver's compute part (Debian: libcuda1); in a container, set "
                   "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
                   "the driver is there, its CUDA library (libcuda.so.1) is not");
        return false;
    }
    int code = init(0);
    int version = 0;
    version_of(&version);
    if (code != 0) {
        probe_line(p, PROBE_WRONG, "CUDA driver",
                   "look at /dev/nvidia* (are you allowed to open them?) and CUDA_VISIBLE_DEVICES",
                   "cuInit fails with code %d", code);
        return false;
    }
    probe_line(p, PROBE_OK, "CUDA driver", NULL, "supports CUDA %d.%d", version / 1000,
               version % 1000 / 10);
    return true;
}

bool probe_driver(probe *p)
{
    p->group = "driver";
    void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (nvml == NULL) {
        tell_absent(p, count_on_bus());
        return false;
    }
    return ask_nvml(p, nvml) && ask_cuda_driver(p);
}
