/* SPDX-License-Identifier: Apache-2.0 */
/* A program of one's own: where on the grid does a variable have the greatest mean over time?
 *
 *     ./warmest FILE.nc...
 *
 * It assembles a pipeline, load ! upload ! reduce ! download, runs it and looks at the result in
 * memory; add ek_write to get a netCDF file, other stages to compute other things. */
#include <ekman.h>

#include <math.h>
#include <stdio.h>

/* Builds the pipeline; *result is the node whose arrays the report will hold. */
static ek_status build(ek_pipeline **out, ek_node **result, const char *const *paths, int n_paths)
{
    EK_TRY(ek_pipeline_create(out, "warmest"));
    ek_load_options files = {.paths = paths, .n_paths = n_paths};
    ek_reduce_options statistics = {.op = EK_REDUCE_MEAN};

    ek_node *load = ek_load(*out, &files);
    ek_node *up = ek_upload(*out, load, NULL);
    ek_node *mean = ek_reduce(*out, up, &statistics);
    *result = ek_download(*out, mean, NULL);
    return ek_pipeline_status(*out); /* one check for all mistakes above */
}

/* Prints the cell with the greatest mean and its place along each dimension of the grid. */
static ek_status print_warmest(const ek_report *report, const ek_node *result,
                               const ek_field *field)
{
    int64_t n = 0;
    const double *mean = ek_report_array(report, result, "mean", &n);
    if (mean == NULL) {
        return ek_error_last()->status;
    }
    int64_t best = -1;
    for (int64_t i = 0; i < n; i++) {
        if (!isnan(mean[i]) && (best < 0 || mean[i] > mean[best])) { /* NaN: no value */
            best = i;
        }
    }
    if (best < 0) {
        return EK_FAIL(EK_EDATA, "'%s' has no values", field->name);
    }
    printf("greatest mean of %s: %.6g %s at", field->name, mean[best],
           field->units != NULL ? field->units : "");
    int64_t stride = n;
    for (int i = 0; i < field->n_dims; i++) {
        stride /= field->dims[i].size;
        printf(" %s[%lld]", field->dims[i].name, (long long)(best / stride % field->dims[i].size));
    }
    printf("\n");
    return EK_OK;
}

int main(int argc, char **argv)
{
    ek_pipeline *pipeline = NULL;
    ek_node *result = NULL;
    ek_plan *plan = NULL;
    ek_report *report = NULL;
    ek_status rc = EK_OK;
    if (argc < 2) {
        fprintf(stderr, "usage: warmest FILE.nc...\n");
        return 2;
    }

    EK_GOTO(build(&pipeline, &result, (const char *const *)argv + 1, argc - 1), done);
    EK_GOTO(ek_plan_create(&plan, pipeline, NULL), done);
    EK_GOTO(ek_run(plan, NULL, &report), done);
    EK_GOTO(print_warmest(report, result, ek_plan_field(plan)), done);
done:
    if (rc != EK_OK) {
        fprintf(stderr, "warmest: %s\n", ek_error_last()->message);
    }
    ek_report_destroy(report);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(pipeline);
    return rc == EK_OK ? 0 : 1;
}
