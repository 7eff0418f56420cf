/* SPDX-License-Identifier: Apache-2.0 */
/* What the svd stage puts out: its arrays, their words, and what is refused. Private to stages/. */
#ifndef EK_STAGES_SVD_RESULT_H
#define EK_STAGES_SVD_RESULT_H

#include "stages/svd_kernels.h"

EK_BEGIN_DECLS

/* ek__svd_describe fills self->out for the sizes and the solver in `shape`. */
void ek__svd_describe(ek_instance *self, const ek__svd_args *shape, bool cuda);

/* ek__svd_place points `args` at the arrays of `out`; those that this result has not are NULL. */
void ek__svd_place(ek__svd_args *args, const ek_data *out);

/* ek__svd_judge refuses what has no modes or was not solved, and notes what was left out. */
ek_status ek__svd_judge(const ek_instance *self, const ek__svd_args *shape,
                        const ek__svd_facts *facts, bool cuda);

EK_END_DECLS

#endif /* EK_STAGES_SVD_RESULT_H */
