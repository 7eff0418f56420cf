/* SPDX-License-Identifier: Apache-2.0 */
/* The version, in one place: CMake reads these lines. Semantic versioning; the ABI may change
 * while the major number is 0. */
#ifndef EK_CORE_VERSION_H
#define EK_CORE_VERSION_H

#define EK_VERSION_MAJOR  0
#define EK_VERSION_MINOR  1
#define EK_VERSION_PATCH  0
#define EK_VERSION_STRING "0.1.0"

#endif /* EK_CORE_VERSION_H */
