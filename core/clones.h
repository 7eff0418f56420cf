/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that are worth vector code. Private to the library. */
#ifndef EK_CORE_CLONES_H
#define EK_CORE_CLONES_H

/* EK_CLONES has a function compiled for several vector units, one of which is chosen as the program
 * is loaded: on Linux with gcc for x86-64, and not under the sanitizers, which are not ready that
 * early. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&   \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define EK_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define EK_CLONES
#endif

#endif /* EK_CORE_CLONES_H */
