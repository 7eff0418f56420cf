/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of state files, without the checksums that would keep the fuzzer out. What is accepted is
 * packed to the same bytes again. The bytes are also read as a whole file, with all checks. */
#include "tests/fuzz/fuzz.h"

#include "graphs/state_internal.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void parse_head(const uint8_t *data, size_t n)
{
    ek__pack again = {0};
    ek__state *s = ek_alloc(1, sizeof *s);
    FUZZ_REQUIRE(s != NULL);
    s->fd = -1;
    ek_status rc = ek__state_parse(s, data, n);
    FUZZ_REQUIRE(rc == EK_OK || rc == EK_EDATA);
    if (rc == EK_OK) {
        ek__state_progress(s, &again);
        ek__state_identity(s, &again);
        FUZZ_REQUIRE(again.n == n && memcmp(again.bytes, data, n) == 0);
    }
    ek_free(again.bytes);
    ek__state_destroy(s);
}

static void read_file(const uint8_t *data, size_t n)
{
    char path[64];
    int fd = memfd_create("state", MFD_CLOEXEC);
    FUZZ_REQUIRE(fd >= 0 && write(fd, data, n) == (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ek_free(ek_state_text(path));
    close(fd);
}

void fuzz_checkpoint(const uint8_t *data, size_t n)
{
    int64_t live = ek_alloc_live();
    parse_head(data, n);
    read_file(data, n);
    FUZZ_REQUIRE(ek_alloc_live() == live);
}
