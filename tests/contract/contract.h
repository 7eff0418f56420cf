/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite's data and pipelines: one row per kind of input, one per stage. */
#ifndef EK_TESTS_CONTRACT_H
#define EK_TESTS_CONTRACT_H

#include "graphs/nodes.h"
#include "graphs/run.h"
#include "tests/support/memory_stages.h"

/* An input; `exact` says that its sums are exact integers, so that any chunk size gives the same
 * bits. */
typedef struct contract_input {
    const char *name;
    bool exact;
    bool one_step; /* too short for an svd */
    bool no_cells; /* every cell is missing somewhere, or constant: an svd refuses */
    memory_input input;
} contract_input;

/* contract_inputs makes them (deterministic); free with contract_inputs_fini. */
int contract_inputs(contract_input **out);
void contract_inputs_fini(contract_input *inputs, int n);

/* A stage under test: builds its pipeline, from the uploaded stream to a node on the host. */
typedef struct contract_stage {
    const char *name; /* of the stage, as ek_stages lists it */
    const char *what;
    ek_node *(*build)(ek_pipeline *p, ek_node *up);
    bool fold_of_matrix; /* needs two steps and a cell */
    double rtol;         /* host against cuda, relative to the largest value of an array */
} contract_stage;

extern const contract_stage contract_stages[];
extern const int n_contract_stages;

/* A way to run. */
typedef struct contract_way {
    const char *backend;
    ek_launch launch;
    int slots;
    int64_t chunk;
    bool reread;
} contract_way;

/* contract_run runs one stage on one input in one way. */
ek_status contract_run(const contract_stage *stage, const contract_input *input, contract_way way,
                       collected *out);

/* contract_same fails the test unless two outcomes agree: to the bit (rtol 0), or to rtol of each
 * array's largest value. */
void contract_same(const char *what, const collected *a, const collected *b, double rtol);

#endif /* EK_TESTS_CONTRACT_H */
