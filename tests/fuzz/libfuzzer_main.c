/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a fuzzer of one harness, EK_FUZZ_ENTRY. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    EK_FUZZ_ENTRY(data, n);
    return 0;
}
