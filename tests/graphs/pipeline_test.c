/* SPDX-License-Identifier: Apache-2.0 */
/* Building and planning: every mistake is reported once, by name, with what to do about it. */
#include "graphs/nodes.h"
#include "graphs/plan.h"
#include "tests/support/memory_stages.h"
#include "tests/support/near.h"
#include "tests/support/spread.h"

#include <stdlib.h>
#include <string.h>

static const float ramp[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static const memory_input input = {
    .cells = 3,
    .n_segments = 1,
    .segments = {{.rows = 4, .dtype = EK_F32, .scale = 1, .data = ramp}},
};

static ek_pipeline *make(void)
{
    ek_pipeline *p = NULL;
    assert_int_equal(ek_pipeline_create(&p, "test"), EK_OK);
    return p;
}

static void assert_says(ek_status rc, ek_status expected, const char *text)
{
    assert_int_equal(rc, expected);
    ek_assert_message(text);
}

/* plan_says plans, expects a refusal with this text, and frees the pipeline. */
static void plan_says(ek_pipeline *p, ek_status expected, const char *text)
{
    ek_plan *plan = NULL;
    ek_plan_options options = {.backend = "host"};
    assert_says(ek_plan_create(&plan, p, &options), expected, text);
    assert_null(plan);
    ek_pipeline_destroy(p);
}

static void first_mistake_sticks(void **state)
{
    (void)state;
    ek_pipeline *p = make();
    ek_node *up = ek_upload(p, NULL, NULL);
    assert_null(up);
    assert_null(ek_reduce(p, up, NULL));
    assert_null(ek_load(p, NULL));
    assert_says(ek_pipeline_status(p), EK_EINVAL, "upload: nothing is linked to its input 'in'");
    plan_says(p, EK_EINVAL, "upload: nothing is linked");
}

static void options_are_checked_with_the_nodes_name(void **state)
{
    (void)state;
    ek_pipeline *p = make();
    ek_node *up = ek_upload(p, memory_add(p, &input, 2), NULL);
    assert_null(ek_svd(p, up, &(ek_svd_options){.modes = -1}));
    assert_says(ek_pipeline_status(p), EK_EINVAL, "svd: ");
    assert_says(ek_pipeline_status(p), EK_EINVAL, "modes");
    ek_pipeline_destroy(p);
}

static void nodes_have_unique_names(void **state)
{
    (void)state;
    ek_pipeline *p = make();
    ek_node *source = memory_add(p, &input, 2);
    ek_node *one = ek_upload(p, source, NULL);
    ek_node *two = ek_upload(p, source, NULL);
    assert_string_equal(ek_node_name(one), "upload");
    assert_string_equal(ek_node_name(two), "upload2");
    ek_node_name_set(two, "upload");
    assert_says(ek_pipeline_status(p), EK_EINVAL, "two nodes called 'upload'");
    ek_pipeline_destroy(p);
}

static void host_into_device_names_the_fix(void **state)
{
    (void)state;
    ek_pipeline *p = make();
    ek_node *stats = ek_reduce(p, memory_add(p, &input, 2), NULL);
    ek_download(p, stats, NULL);
    plan_says(p, EK_EINVAL, "put 'upload' between");
}

static void device_into_host_names_the_fix(void **state)
{
    (void)state;
    collected into = {0};
    ek_pipeline *p = make();
    ek_node *up = ek_upload(p, memory_add(p, &input, 2), NULL);
    collect_add(p, ek_reduce(p, up, NULL), &into);
    plan_says(p, EK_EINVAL, "put 'download' between");
}

static void a_stream_is_not_a_result(void **state)
{
    (void)state;
    ek_pipeline *p = make();
    ek_node *up = ek_upload(p, memory_add(p, &input, 2), NULL);
    ek_node *svd = ek_svd(p, ek_anomaly(p, up, up, NULL), NULL);
    ek_download(p, svd, NULL);
    plan_says(p, EK_EINVAL, "node 'anomaly', input 'mean': wants a result");
}

static void unused_output_is_refused(void **state)
{
    (void)state;
    ek_pipeline *p = make();
    ek_node *up = ek_upload(p, memory_add(p, &input, 2), NULL);
    ek_download(p, ek_reduce(p, up, NULL), NULL);
    ek_upload(p, up, NULL);
    plan_says(p, EK_EINVAL, "put 'download' between");

    p = make();
    up = ek_upload(p, memory_add(p, &input, 2), NULL);
    ek_reduce(p, up, NULL);
    plan_says(p, EK_EINVAL, "node 'reduce': nothing uses its output");
}

static void no_source(void **state)
{
    (void)state;
    ek_pipeline *p = make();
    plan_says(p, EK_EINVAL, "has no source");
}

static ek_pipeline *make_eof(int64_t chunk)
{
    ek_pipeline *p = make();
    ek_node *up = ek_upload(p, memory_add(p, &input, chunk), NULL);
    ek_node *mean = ek_reduce(p, up, NULL);
    ek_node *svd = ek_svd(p, ek_anomaly(p, up, mean, NULL), NULL);
    ek_download(p, svd, NULL);
    return p;
}

static void the_budget_refuses_with_the_table(void **state)
{
    (void)state;
    ek_pipeline *p = make_eof(2);
    ek_plan *plan = NULL;
    ek_plan_options options = {.backend = "host", .device_bytes = 1000};
    assert_says(ek_plan_create(&plan, p, &options), EK_EBUDGET, "device memory: the plan needs");
    assert_says(EK_EBUDGET, EK_EBUDGET, "device in all");
    options = (ek_plan_options){.backend = "host", .pinned_bytes = 1000};
    assert_says(ek_plan_create(&plan, p, &options), EK_EBUDGET, "pinned memory: the plan needs");
    ek_pipeline_destroy(p);
}

/* The number of slots that a refusal names fits, and one more does not. */
static void a_refusal_says_how_many_slots_fit(void **state)
{
    (void)state;
    ek_pipeline *p = make_eof(2);
    ek_plan *plan = NULL;
    for (size_t budget = 2000; budget < 40000; budget += 500) {
        ek_plan_options options = {.backend = "host", .pinned_bytes = budget, .slots = 9};
        if (ek_plan_create(&plan, p, &options) == EK_OK) {
            break;
        }
        const char *at = strstr(ek_error_last()->message, "With slots=");
        int fits = at != NULL ? (int)strtol(at + strlen("With slots="), NULL, 10) : 0;
        assert_in_range(fits, 0, 8);
        options.slots = fits + 1;
        assert_int_equal(ek_plan_create(&plan, p, &options), EK_EBUDGET);
        options.slots = fits;
        assert_int_equal(fits == 0 ? EK_OK : ek_plan_create(&plan, p, &options), EK_OK);
        ek_plan_destroy(plan);
        plan = NULL;
    }
    assert_non_null(plan);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(p);
}

static void the_plan_explains_itself(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "test: 6 nodes, 3 passes",
        "Backend   host",
        "memory: air[time 4, cell 3] float32",
        "2 of at most 2 steps",
        "'anomaly' needs the finished result of 'reduce'",
        "kept in device memory",
        "ends        with 'svd'",
        "operations",
        "outside a graph",
        "device in all",
    };
    ek_pipeline *p = make_eof(2);
    ek_plan *plan = NULL;
    assert_int_equal(ek_plan_create(&plan, p, &(ek_plan_options){.backend = "host"}), EK_OK);
    assert_int_equal(ek_plan_passes(plan), 3); /* more steps than cells: svd sweeps twice */
    assert_int_equal(ek_plan_chunk_launches(plan, 0), 1); /* reduce */
    char *text = ek_plan_format(plan, EK_FORMAT_TEXT);
    assert_non_null(text);
    for (size_t i = 0; i < EK_COUNT(texts); i++) {
        if (strstr(text, texts[i]) == NULL) {
            fail_msg("the plan does not say '%s':\n%s", texts[i], text);
        }
    }
    ek_free(text);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(p);
}

static void sweeps_are_explained(void **state)
{
    (void)state;
    ek_pipeline *p = make();
    ek_plan *plan = NULL;
    ek_download(p, spread_add(p, ek_upload(p, memory_add(p, &input, 2), NULL)), NULL);
    assert_int_equal(ek_plan_create(&plan, p, &(ek_plan_options){.backend = "host"}), EK_OK);
    assert_int_equal(ek_plan_passes(plan), 2);
    char *text = ek_plan_format(plan, EK_FORMAT_TEXT);
    assert_non_null(text);
    assert_non_null(strstr(text, "'spread' wants its stream 2 times; this is sweep 2"));
    assert_non_null(strstr(text, "spread, sweep 1 of 2: 1 operation"));
    assert_non_null(strstr(text, "nothing is read or copied"));
    ek_free(text);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(p);
}

static ek_status ask_for_five(ek_instance *self)
{
    self->out = *self->in[0];
    self->out.kind = EK_RESULT;
    self->needs.sweeps = 5;
    return EK_OK;
}

static void too_many_sweeps_are_refused(void **state)
{
    (void)state;
    static const ek_port ports[] = {{.name = "in", .kinds = EK_STREAM, .device = true}, {0}};
    static const ek_stage greedy = {.api = EK_STAGE_API,
                                    .name = "greedy",
                                    .summary = "Wants its stream five times.",
                                    .flags = EK_STAGE_FOLD | EK_STAGE_DEVICE,
                                    .inputs = ports,
                                    .negotiate = ask_for_five};
    ek_pipeline *p = make();
    ek_node *up = ek_upload(p, memory_add(p, &input, 2), NULL);
    ek_download(p, ek_pipeline_add(p, &greedy, &up, 1, NULL), NULL);
    plan_says(p, EK_EINVAL, "node 'greedy': asks for 5 sweeps over its stream; 1 to 4 are allowed");
}

/* Whatever a node is called, a drawing stays one. */
static void odd_names_are_escaped(void **state)
{
    (void)state;
    ek_pipeline *p = make();
    ek_plan *plan = NULL;
    ek_node *source = memory_add(p, &input, 2);
    ek_download(p, ek_reduce(p, ek_upload(p, source, NULL), NULL), NULL);
    ek_node_name_set(source, "a \"b\" <c> #1 \\");
    assert_int_equal(ek_plan_create(&plan, p, &(ek_plan_options){.backend = "host"}), EK_OK);
    char *dot = ek_plan_format(plan, EK_FORMAT_DOT);
    char *mermaid = ek_plan_format(plan, EK_FORMAT_MERMAID);
    char *json = ek_plan_format(plan, EK_FORMAT_JSON);
    assert_non_null(strstr(dot, "label=\"a \\\"b\\\" <c> #1 /\\n(memory)\\nmemory\"];"));
    assert_non_null(
        strstr(mermaid, "[(\"a #34;b#34; #60;c#62; #35;1 /<br/>(memory)<br/>memory\")]"));
    assert_non_null(strstr(json, "\"name\": \"a \\\"b\\\" <c> #1 \\\\\""));
    ek_free(dot);
    ek_free(mermaid);
    ek_free(json);
    assert_int_equal(ek_format_parse("mermaid"), EK_FORMAT_MERMAID);
    assert_int_equal(ek_format_parse("xml"), 0);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(p);
}

static void bad_plan_options(void **state)
{
    (void)state;
    ek_pipeline *p = make_eof(2);
    ek_plan *plan = NULL;
    assert_says(ek_plan_create(&plan, p, &(ek_plan_options){.backend = "host", .slots = 100}),
                EK_EINVAL, "slots: 100");
    assert_says(ek_plan_create(&plan, p, &(ek_plan_options){.backend = "abacus"}), EK_EINVAL,
                "abacus");
    assert_says(ek_plan_create(&plan, p, &(ek_plan_options){.launch = (ek_launch)9}), EK_EINVAL,
                "launch: 9");
    assert_int_equal(ek_launch_parse("serial"), EK_LAUNCH_SERIAL);
    assert_int_equal(ek_launch_parse("parallel"), 0);
    ek_pipeline_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_mistake_sticks),
        cmocka_unit_test(options_are_checked_with_the_nodes_name),
        cmocka_unit_test(nodes_have_unique_names),
        cmocka_unit_test(host_into_device_names_the_fix),
        cmocka_unit_test(device_into_host_names_the_fix),
        cmocka_unit_test(a_stream_is_not_a_result),
        cmocka_unit_test(unused_output_is_refused),
        cmocka_unit_test(no_source),
        cmocka_unit_test(the_budget_refuses_with_the_table),
        cmocka_unit_test(a_refusal_says_how_many_slots_fit),
        cmocka_unit_test(the_plan_explains_itself),
        cmocka_unit_test(sweeps_are_explained),
        cmocka_unit_test(too_many_sweeps_are_refused),
        cmocka_unit_test(odd_names_are_escaped),
        cmocka_unit_test(bad_plan_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
