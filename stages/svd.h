/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage: singular value decomposition of a stream of anomalies (an EOF analysis). */
#ifndef EK_STAGES_SVD_H
#define EK_STAGES_SVD_H

#include "core/stage.h"

EK_BEGIN_DECLS

/* How the modes are found; 0 stands for auto. */
typedef enum ek_svd_solver {
    EK_SVD_AUTO = 1,     /* chebyshev for a few of many modes, else syevd */
    EK_SVD_SYEVD = 2,    /* all eigenvalues of the Gram matrix, LAPACK or cuSOLVER */
    EK_SVD_CHEBYSHEV = 3 /* the leading eigenpairs of the Gram matrix, by filtered iteration */
} ek_svd_solver;

/* What is taken from every cell before decomposing; 0 stands for none. */
typedef enum ek_svd_centring {
    EK_SVD_CENTRING_NONE = 1,
    EK_SVD_CENTRING_MEAN = 2 /* its mean over time */
} ek_svd_centring;

typedef struct ek_svd_options {
    int64_t modes; /* leading modes wanted; 0: all */
    int solver;    /* ek_svd_solver */
    int centring;  /* ek_svd_centring */
} ek_svd_options;

extern EK_API const ek_stage ek_stage_svd;

EK_END_DECLS

#endif /* EK_STAGES_SVD_H */
