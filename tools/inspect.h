/* SPDX-License-Identifier: Apache-2.0 */
/* What a stage's descriptor says, in words, for the forms in which inspect writes it. */
#ifndef EK_TOOLS_INSPECT_H
#define EK_TOOLS_INSPECT_H

#include "core/stage.h"

#include <jansson.h>

/* inspect_kinds says what a port accepts, inspect_output what the stage puts out, inspect_backends
 * where it runs, inspect_capture whether its work for a chunk, and its end, are part of a CUDA
 * Graph, and why not. Static texts. */
const char *inspect_kinds(unsigned kinds);
const char *inspect_output(const ek_stage *stage);
const char *inspect_backends(const ek_stage *stage);
const char *inspect_capture(const ek_stage *stage);

/* inspect_implied returns the stage that makes the input where nothing is linked, or NULL. */
const ek_stage *inspect_implied(const ek_stage *stage, int port);

/* inspect_json returns a new JSON object; inspect_markdown prints the reference of all stages. */
json_t *inspect_json(const ek_stage *stage);
void inspect_markdown(void);

#endif /* EK_TOOLS_INSPECT_H */
