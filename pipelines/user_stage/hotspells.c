/* SPDX-License-Identifier: Apache-2.0 */
/* A program with a stage of its own:
 *
 *     ./hotspells BACKEND THRESHOLD OUT.nc FILE.nc...
 *
 * runs load ! upload ! spells ! download ! write, on "host", "cuda" or, with "auto", on the GPU
 * where there is one, and says what was captured. */
#include "spells.h"

#include <ekman.h>

#include <stdio.h>

static ek_status build(ek_pipeline **out, char **argv, int argc)
{
    EK_TRY(ek_pipeline_create(out, "hotspells"));
    ek_load_options files = {.paths = (const char *const *)argv + 4, .n_paths = argc - 4};
    spells_options spells = {.threshold = argv[2]};
    ek_write_options file = {.path = argv[3]};

    ek_node *up = ek_upload(*out, ek_load(*out, &files), NULL);
    ek_node *node = ek_pipeline_add(*out, &spells_stage, &up, 1, &spells);
    ek_write(*out, ek_download(*out, node, NULL), &file);
    return ek_pipeline_status(*out);
}

int main(int argc, char **argv)
{
    ek_pipeline *pipeline = NULL;
    ek_plan *plan = NULL;
    ek_report *report = NULL;
    ek_status rc = EK_OK;
    if (argc < 5) {
        fprintf(stderr, "usage: hotspells auto|host|cuda THRESHOLD OUT.nc FILE.nc...\n");
        return 2;
    }

    EK_GOTO(build(&pipeline, argv, argc), done);
    EK_GOTO(ek_plan_create(&plan, pipeline, &(ek_plan_options){.backend = argv[1]}), done);
    EK_GOTO(ek_run(plan, NULL, &report), done);

    ek_counts counts = ek_report_counts(report);
    printf("%s: %lld chunks, %lld graphs of %lld operations in all, %lld graph launches\n",
           ek_plan_backend(plan), (long long)counts.chunks, (long long)counts.graphs,
           (long long)counts.graph_nodes, (long long)counts.graph_launches);
done:
    if (rc != EK_OK) {
        fprintf(stderr, "hotspells: %s\n", ek_error_last()->message);
    }
    ek_report_destroy(report);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(pipeline);
    return rc == EK_OK ? 0 : 1;
}
