/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines as text:
 *
 *     load air.*.nc variable=air ! upload ! anomaly ! svd modes=10 ! download ! write eof.nc
 *
 * Chains of stages joined by `!` stand one after another with `;` between them; line breaks are
 * spaces, and `#` at the start of a word begins a comment.
 *
 *     chain   =  (stage | NAME.) { ! stage }
 *     stage   =  [NAME:] STAGE { WORD | OPTION=VALUE | INPUT=NAME. }
 *
 * A chain begins with a source, with a stage whose inputs are all named, or with the output of
 * another node, `NAME.`; a `!` feeds the first input that is not named. Names may be used before
 * they are given, and a node without one is called after its stage, with a number from the second
 * on. An input that the stage implies (anomaly's mean) may be left out. WORDs go to the option that
 * the stage's table marks so; patterns become the files they match. '...' takes everything as it
 * is, also from patterns, "..." all but " and \, and \ takes the next character. Statistics and
 * modes in one sweep for the first fold of each, the mean shared:
 *
 *     load air.*.nc ! up: upload ! mean: reduce ! download ! write mean.nc;
 *     up. ! anomaly mean=mean. ! svd modes=10 ! download ! write eof.nc;
 *     up. ! reduce op=std,range ! download ! write stats.nc
 *
 * Stages are found by ek_stage_find. One thread at a time. */
#ifndef EK_GRAPHS_TEXT_H
#define EK_GRAPHS_TEXT_H

#include "graphs/pipeline.h"

EK_BEGIN_DECLS

/* A text has at most this many nodes. */
#define EK_TEXT_NODES_MAX 256

/* A zeroed struct is the defaults. */
typedef struct ek_text_options {
    const char *name;       /* of the pipeline, for reports; NULL: "text" */
    const char *source;     /* where the text is from, for errors; NULL: not said */
    const char *const *set; /* "NODE.OPTION=VALUE", each in place of what the text says; several for
                               one list option make its list */
    int n_set;
    const char *command; /* for options that keep the command line; NULL: their default */
} ek_text_options;

/* ek_pipeline_parse makes the pipeline that the text describes. Destroy it with
 * ek_pipeline_destroy. An error (EK_EINVAL, or EK_ENOENT for a pattern without files) names what
 * was expected, and its message ends with the line of the text and a caret below the place. Looks
 * at file names only. */
EK_API ek_status ek_pipeline_parse(ek_pipeline **out, const char *text,
                                   const ek_text_options *options);

/* ek_pipeline_text writes a pipeline as text that ek_pipeline_parse makes the same nodes, names,
 * links and options of; defaults are left out. Free with ek_free; NULL if out of memory. */
EK_API char *ek_pipeline_text(const ek_pipeline *pipeline);

EK_END_DECLS

#endif /* EK_GRAPHS_TEXT_H */
