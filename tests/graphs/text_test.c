/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines as text: what is made of valid ones, where errors point, and that what is printed reads
 * back as the same. */
#include "graphs/nodes.h"
#include "graphs/text.h"
#include "tests/support/near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EOF_TEXT                                                                                   \
    "load a.nc variable=air ! upload ! anomaly ! svd modes=10 ! download ! write eof.nc"

static ek_pipeline *parse(const char *text)
{
    ek_pipeline *p = NULL;
    ek_assert_ok(ek_pipeline_parse(&p, text, NULL));
    return p;
}

/* What is printed is what was expected, and prints the same when read back. */
static void assert_prints(const ek_pipeline *p, const char *expected)
{
    char *text = ek_pipeline_text(p);
    assert_string_equal(text, expected);
    ek_pipeline *again = parse(text);
    char *text_again = ek_pipeline_text(again);
    assert_string_equal(text_again, text);
    ek_pipeline_destroy(again);
    ek_free(text_again);
    ek_free(text);
}

/* Valid texts, and how they are printed. */
static const struct {
    const char *text, *printed;
} valid[] = {
    {EOF_TEXT, "load a.nc variable=air ! upload ! anomaly_mean: reduce;\n"
               "upload. ! anomaly mean=anomaly_mean. ! svd modes=10 ! download ! write eof.nc\n"},
    {"load a.nc b.nc!upload!reduce!download", "load a.nc b.nc ! upload ! reduce ! download\n"},
    {"load paths=a.nc b.nc paths=c.nc ! upload ! reduce op=mean,std ddof=0 ! download",
     "load a.nc b.nc c.nc ! upload ! reduce op=mean,std ddof=0 ! download\n"},
    {"load 'two words.nc' \"q\\\"uo\\\\te\" a\\ b 'st*r' x\\!y ! upload ! reduce ! download",
     "load \"two words.nc\" \"q\\\"uo\\\\te\" \"a b\" \"st*r\" \"x!y\" ! upload ! reduce ! "
     "download\n"},
    {"load 'k=v' a/b=c ! upload ! reduce ! download",
     "load \"k=v\" \"a/b=c\" ! upload ! reduce ! download\n"},
    {"# a comment ! with ; signs\nload a#b.nc # the input\n ! upload\n\t! reduce;\n"
     ";reduce. ! download # done",
     "load \"a#b.nc\" ! upload ! reduce ! download\n"},
    {"up: upload in=load. ! m:reduce;load a.nc;m. ! download",
     "load a.nc ! up: upload ! m: reduce ! download\n"},
    {"load a.nc ! upload ! reduce ! download ! write m.nc;"
     "upload. ! reduce op=std ! download ! write type=float32 s.nc deflate=4",
     "load a.nc ! upload ! reduce ! download ! write m.nc;\n"
     "upload. ! reduce2: reduce op=std ! download2: download ! "
     "write2: write s.nc type=float32 deflate=4\n"},
    {"load a.nc ! u: upload ! anomaly mean=m. ! svd ! download; u. ! m: reduce",
     "load a.nc ! u: upload ! m: reduce;\nu. ! anomaly mean=m. ! svd ! download\n"},
    {"load a.nc ! upload; m: reduce in=upload.; m. ! anomaly in=upload. ! svd ! download",
     "load a.nc ! upload ! m: reduce;\nupload. ! anomaly mean=m. ! svd ! download\n"},
    {"upload: load a.nc ! upload ! reduce ! download",
     "upload: load a.nc ! upload2: upload ! reduce ! download\n"},
    {"load a.nc variable='' chunk=10 decoder=library ! upload ! reduce op=mean ! download",
     "load a.nc variable=\"\" chunk=10 decoder=library ! upload ! reduce ! download\n"},
};

static void valid_texts(void **state)
{
    (void)state;
    int64_t live = ek_alloc_live();
    for (size_t i = 0; i < EK_COUNT(valid); i++) {
        ek_pipeline *p = parse(valid[i].text);
        assert_prints(p, valid[i].printed);
        ek_pipeline_destroy(p);
    }
    assert_int_equal(ek_alloc_live(), live);
}

/* Wrong texts, the whole first line of the error, and the column of the caret. */
static const struct {
    const char *text;
    int column;
    const char *sentence;
} wrong[] = {
    {"", 0, "expected a stage before the end of the text"},
    {" # nothing", 10, "expected a stage before the end of the text"},
    {"load a.nc !", 11, "expected a stage before the end of the text"},
    {"load a.nc ! ! upload", 12, "expected a stage before this '!'"},
    {"load a.nc !; upload", 11, "expected a stage before this ';'"},
    {"! upload", 0, "expected a stage before this '!'"},
    {"load a.nc ! 7up", 12, "expected the name of a stage"},
    {"load a.nc ! x: 'upload'", 15, "expected the name of a stage"},
    {"load a.nc ! uplod ! reduce", 12,
     "there is no stage 'uplod'; did you mean 'upload'? the stages are load, upload, combine, "
     "reduce, "
     "anomaly, svd, download, write"},
    {"filter", 0,
     "there is no stage 'filter'; the stages are load, upload, combine, reduce, anomaly, svd, "
     "download, "
     "write"},
    {"load a.nc ! upload/x", 18, "expected a space, '!' or ';' after the name of a stage"},
    {"load a.nc ! upload; load.", 25, "expected '!' and a stage after 'load.'"},
    {"load a.nc ! upload ! load.", 25,
     "expected a stage; a node's name and a dot begin a chain, or feed an input: INPUT=NAME."},
    {"load a.nc ! upload fast ! reduce", 19,
     "'upload' takes no words; expected NAME=value, '!' and the next stage, or ';' and the next "
     "chain"},
    {"load a.nc ! upload ! reduce ! download ! write a.nc b.nc", 52,
     "'write' has its path already; expected NAME=value, '!' and the next stage, or ';' and the "
     "next chain"},
    {"load a.nc ! upload ! svd mode=3", 25,
     "'svd' has no option or input 'mode'; did you mean 'modes'? options: modes, solver, centring; "
     "inputs: in"},
    {"load a.nc ! upload speed=3", 19,
     "'upload' has no option or input 'speed'; options: none; inputs: in"},
    {"load a.nc ! upload ! svd modes=many", 31,
     "Option modes cannot be \"many\"; it takes an integer of at least 0."},
    {"load a.nc ! upload ! svd modes=", 31, "expected a value after 'modes='"},
    {"load a.nc ! upload ! svd modes=2 modes=3", 33, "'svd' gets its option 'modes' a second time"},
    {"load a.nc ! upload ! reduce op=mean,median", 31,
     "Option op cannot be \"mean,median\"; it takes any of, joined by commas: mean, std, var, min, "
     "max, range, sum, count."},
    {"load a.nc chunk=-1", 16,
     "Option chunk cannot be \"-1\"; it takes an integer from 0 to 2147483647 (time steps)."},
    {"load a.nc ! upload ! anomaly mean=m", 34,
     "expected the name of a node and a dot, such as 'upload.', for the input 'mean' of 'anomaly'"},
    {"load a.nc ! upload ! anomaly mean=uplod.", 34,
     "there is no node 'uplod'; did you mean 'upload'? the nodes are load, upload, anomaly"},
    {"x. ! reduce", 0, "there is no node 'x'; the nodes are reduce"},
    {"load a.nc ! load b.nc", 12, "'load' is a source and takes nothing from a '!' before it"},
    {"load a.nc ! upload in=load.", 12,
     "every input of 'upload' is named; there is none left for the '!' before it"},
    {"load a.nc; upload", 11,
     "nothing feeds the input 'in' of 'upload'; expected '!' before it, or in=NAME. behind it"},
    {"load a.nc ! x: upload; x: load b.nc", 23, "there are two nodes called 'x'"},
    {"load a.nc ! upload ! a: anomaly mean=b.; a. ! b: reduce", 24,
     "the links form a circle: 'a' waits for what it puts out itself"},
    {"load a.nc ! upload ! reduce ! download ! write b.nc ! upload", 54,
     "upload: input 'in' comes from 'write', which has no output"},
    {"load ! upload", 0,
     "load: Option paths must be given: netCDF files; put in time order by their time axes."},
    {"load 'a.nc ! upload", 5, "this quote has no end; expected another '"},
    {"load \"a.nc\\", 5, "this quote has no end; expected another \""},
    {"load a.nc\\", 9, "expected a character after '\\'"},
};

/* The column, from 0, of the caret on the error's last line. */
static int caret(const char *message)
{
    const char *line = strrchr(message, '\n');
    return line != NULL ? (int)(strchr(line, '^') - line) - 3 : -1;
}

static void errors_point_at_the_character(void **state)
{
    (void)state;
    int64_t live = ek_alloc_live();
    for (size_t i = 0; i < EK_COUNT(wrong); i++) {
        ek_pipeline *p = NULL;
        char expected[1024];
        assert_int_equal(ek_pipeline_parse(&p, wrong[i].text, NULL), EK_EINVAL);
        assert_null(p);
        snprintf(expected, sizeof expected, "%s\n  %s\n  %*s^", wrong[i].sentence, wrong[i].text,
                 wrong[i].column, "");
        assert_string_equal(ek_error_last()->message, expected);
    }
    assert_int_equal(ek_alloc_live(), live);
}

static void errors_show_the_line_and_its_part(void **state)
{
    (void)state;
    ek_pipeline *p = NULL;
    ek_text_options options = {.source = "eof.txt"};
    assert_int_equal(ek_pipeline_parse(&p, "load a.nc\n\t! uplod\n ! svd", &options), EK_EINVAL);
    ek_assert_message("\n  in line 2 of eof.txt\n   ! uplod\n     ^");
    assert_int_equal(ek_pipeline_parse(&p, "uplod", &options), EK_EINVAL);
    ek_assert_message("\n  in eof.txt\n  uplod\n  ^");

    char text[400] = "load \xC3\xA9.nc ! uplod"; /* two bytes, one column */
    assert_int_equal(ek_pipeline_parse(&p, text, NULL), EK_EINVAL);
    assert_int_equal(caret(ek_error_last()->message), 12);

    memset(text, 'a', sizeof text - 1); /* a line that is too long is cut on both sides */
    memcpy(text, "load ", 5);
    memcpy(text + 200, " ! ! ", 5);
    assert_int_equal(ek_pipeline_parse(&p, text, NULL), EK_EINVAL);
    const char *message = ek_error_last()->message;
    const char *shown = strstr(message, "\n  ...aaa");
    assert_non_null(shown);
    assert_non_null(strstr(shown, "aaa...\n"));
    assert_int_equal((shown + 3)[caret(message)], '!');

    memset(text, 'x', sizeof text - 1); /* an error longer than there is room for */
    memcpy(text, "load a.nc ! upload ! svd modes=", 31);
    assert_int_equal(ek_pipeline_parse(&p, text, NULL), EK_EINVAL);
    assert_int_equal(caret(ek_error_last()->message), 31);
}

static const void *options_of(const ek_pipeline *p, const char *name)
{
    ek_node *node = ek_pipeline_find(p, name);
    assert_non_null(node);
    return ek_node_options(node);
}

static void settings_override(void **state)
{
    (void)state;
    ek_pipeline *p = NULL;
    const char *set[] = {"svd.modes=3", "load.paths=b.nc", "load.paths=c d.nc", "svd.modes=4",
                         "out.path=x=y.nc"};
    ek_text_options options = {
        .name = "mine", .set = set, .n_set = EK_COUNT(set), .command = "ekman run ..."};
    ek_assert_ok(ek_pipeline_parse(
        &p, "load a.nc ! upload ! svd modes=1 ! download ! out: write eof.nc", &options));
    const ek_svd_options *svd = options_of(p, "svd");
    assert_int_equal(svd->modes, 4);
    const ek_load_options *load = options_of(p, "load");
    assert_int_equal(load->n_paths, 2);
    assert_string_equal(load->paths[1], "c d.nc");
    const ek_write_options *write = options_of(p, "out");
    assert_string_equal(write->path, "x=y.nc");
    assert_string_equal(write->command, "ekman run ...");
    ek_pipeline_destroy(p);
}

static void wrong_settings(void **state)
{
    (void)state;
    static const char *const settings[][2] = {
        {"svd", "expected the name of a node, a dot, and OPTION=value\n  in --set\n  svd\n     ^"},
        {"svd.modes", "expected the name of an option, '=', and a value\n  in --set\n  svd.modes\n"
                      "           ^"},
        {"sdv.modes=1", "there is no node 'sdv'; did you mean 'svd'? the nodes are load, upload, "
                        "svd, download\n  in --set\n  sdv.modes=1\n  ^"},
        {"svd.mode=1",
         "'svd' has no option or input 'mode'; did you mean 'modes'? options: modes, solver, "
         "centring; inputs: in\n  in --set\n  svd.mode=1\n      ^"},
        {"svd.modes=x", "Option modes cannot be \"x\"; it takes an integer of at least 0.\n"
                        "  in --set\n  svd.modes=x\n            ^"},
    };
    for (size_t i = 0; i < EK_COUNT(settings); i++) {
        ek_pipeline *p = NULL;
        ek_text_options options = {.set = &settings[i][0], .n_set = 1};
        assert_int_equal(ek_pipeline_parse(&p, "load a.nc ! upload ! svd ! download", &options),
                         EK_EINVAL);
        assert_string_equal(ek_error_last()->message, settings[i][1]);
    }
}

static void patterns_become_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/ekman-text-XXXXXX";
    assert_non_null(mkdtemp(folder));
    static const char *const names[] = {"b.1.nc", "b.2.nc", "b.3.nc", "b.*.nc"};
    char path[64];
    char text[256];
    for (size_t i = 0; i < EK_COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        fclose(fopen(path, "w"));
    }
    snprintf(text, sizeof text,
             "load %s/b.[1-2].nc %s/'b.*.nc' paths=%s/b.?.\"nc\" ! upload ! svd ! download", folder,
             folder, folder);
    ek_pipeline *p = parse(text);
    const ek_load_options *load = options_of(p, "load");
    static const char *const expected[] = {"b.1.nc", "b.2.nc", "b.*.nc", "b.*.nc",
                                           "b.1.nc", "b.2.nc", "b.3.nc"};
    assert_int_equal(load->n_paths, EK_COUNT(expected));
    for (int i = 0; i < load->n_paths; i++) {
        assert_string_equal(strrchr(load->paths[i], '/') + 1, expected[i]);
    }
    ek_pipeline_destroy(p);
    for (size_t i = 0; i < EK_COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
    assert_int_equal(ek_pipeline_parse(&p, "load /nowhere/*.nc ! upload", NULL), EK_ENOENT);
    ek_assert_message("no file matches '/nowhere/*.nc'; quote a name that is no pattern\n");
}

/* ek_anomaly without a mean is what text without one is. */
static void the_mean_is_implied(void **state)
{
    (void)state;
    ek_pipeline *p = NULL;
    ek_assert_ok(ek_pipeline_create(&p, "test"));
    const char *paths[] = {"a.nc"};
    ek_node *up = ek_upload(p, ek_load(p, &(ek_load_options){.paths = paths, .n_paths = 1}), NULL);
    ek_node *anomaly = ek_anomaly(p, up, NULL, NULL);
    ek_assert_ok(ek_pipeline_status(p));
    ek_node *mean = ek_node_input(anomaly, 1);
    assert_ptr_equal(ek_node_stage(mean), &ek_stage_reduce);
    assert_ptr_equal(ek_node_input(mean, 0), up);
    assert_string_equal(ek_node_name(mean), "anomaly_mean");
    assert_null(ek_node_input(anomaly, 2));
    assert_int_equal(ek_pipeline_size(p), 4);
    assert_ptr_equal(ek_pipeline_node(p, 3), anomaly);
    assert_null(ek_pipeline_node(p, 4));
    assert_null(ek_pipeline_find(p, "mean"));
    ek_pipeline_destroy(p);
}

static ek_status no_negotiate(ek_instance *self)
{
    (void)self;
    return EK_OK;
}

static void own_stages_are_found(void **state)
{
    (void)state;
    static const ek_port ports[] = {{"modes", EK_STREAM, true, ""}, {NULL, 0, false, NULL}};
    static const ek_stage good = {
        .api = EK_STAGE_API, .name = "smooth", .summary = "Smooths.", .negotiate = no_negotiate};
    ek_stage bad = good;
    ek_assert_ok(ek_stage_register(&good));
    assert_ptr_equal(ek_stage_find("smooth"), &good);
    ek_pipeline *p = parse("smooth ! upload");
    assert_ptr_equal(ek_node_stage(ek_pipeline_node(p, 0)), &good);
    ek_pipeline_destroy(p);

    assert_int_equal(ek_stage_register(&good), EK_EINVAL);
    ek_assert_message("there is a stage 'smooth' already");
    bad.name = "no name";
    assert_int_equal(ek_stage_register(&bad), EK_EINVAL);
    ek_assert_message("'no name' is no name for a stage");
    bad = good;
    bad.name = "clash";
    bad.inputs = ports;
    bad.options = ek_stage_svd.options;
    assert_int_equal(ek_stage_register(&bad), EK_EINVAL);
    ek_assert_message("'modes' is no name for an input, or is an option's name too");
    bad.api = 99;
    assert_int_equal(ek_stage_register(&bad), EK_EINVAL);
    static ek_stage many[EK_STAGES_MAX];
    static char names[EK_STAGES_MAX][8];
    ek_status rc = EK_OK;
    int n = 0;
    while (rc == EK_OK && n < EK_STAGES_MAX) {
        snprintf(names[n], sizeof names[n], "s%d", n);
        many[n] = good;
        many[n].name = names[n];
        rc = ek_stage_register(&many[n++]);
    }
    assert_int_equal(rc, EK_EINVAL);
    ek_assert_message("there can be 64 stages");
}

/* A random pipeline in C: a source, uploads, folds and anomalies hung anywhere they may be. */
static ek_pipeline *random_pipeline(void)
{
    static const char *const paths[] = {"a.nc", "b c.nc", "d\"'\\.nc", "e=f*.nc", "!;#"};
    ek_pipeline *p = NULL;
    ek_assert_ok(ek_pipeline_create(&p, "random"));
    ek_node *streams[64];
    int n = 0;
    ek_load_options load = {.paths = paths, .n_paths = 1 + rand() % 5, .chunk = rand() % 3};
    load.variable = rand() % 2 == 0 ? NULL : paths[rand() % 5];
    streams[n++] = ek_upload(p, ek_load(p, &load), NULL);
    int steps = 1 + rand() % 20;
    for (int i = 0; i < steps; i++) {
        ek_node *from = streams[rand() % n];
        ek_reduce_options reduce = {.op = (unsigned)(rand() % 256), .ddof = rand() % 3};
        ek_node *fold = rand() % 2 == 0 ? ek_reduce(p, from, &reduce)
                                        : ek_svd(p, from, &(ek_svd_options){.modes = rand() % 3});
        if (rand() % 3 == 0) {
            streams[n++] = ek_anomaly(p, from, rand() % 2 == 0 ? fold : NULL, NULL);
        }
        ek_node *down = ek_download(p, fold, NULL);
        if (rand() % 2 == 0) {
            ek_write(p, down,
                     &(ek_write_options){.path = paths[rand() % 5], .deflate = rand() % 4});
        }
        char name[16];
        snprintf(name, sizeof name, "n-%d", i);
        ek_node_name_set(rand() % 2 == 0 ? fold : down, rand() % 2 == 0 ? name : "write");
        if (ek_pipeline_status(p) != EK_OK) { /* two nodes called 'write': begin again */
            ek_pipeline_destroy(p);
            return random_pipeline();
        }
    }
    return p;
}

static void assert_same_node(const ek_node *a, const ek_pipeline *other)
{
    const ek_stage *stage = ek_node_stage(a);
    const ek_node *b = ek_pipeline_find(other, ek_node_name(a));
    assert_non_null(b);
    assert_ptr_equal(ek_node_stage(b), stage);
    for (int i = 0; i < EK_STAGE_INPUTS; i++) {
        assert_string_equal(ek_node_name(ek_node_input(a, i)), ek_node_name(ek_node_input(b, i)));
    }
    for (const ek_option *o = stage->options; o != NULL && o->name != NULL; o++) {
        char one[512];
        char two[512];
        ek_options_format(o, ek_node_options(a), one, sizeof one);
        ek_options_format(o, ek_node_options(b), two, sizeof two);
        assert_string_equal(one, two);
    }
}

static void random_pipelines_come_back(void **state)
{
    (void)state;
    srand(20260101);
    for (int k = 0; k < 500; k++) {
        ek_pipeline *p = random_pipeline();
        char *text = ek_pipeline_text(p);
        ek_pipeline *again = parse(text);
        assert_int_equal(ek_pipeline_size(again), ek_pipeline_size(p));
        for (int i = 0; i < ek_pipeline_size(p); i++) {
            assert_same_node(ek_pipeline_node(p, i), again);
        }
        char *text_again = ek_pipeline_text(again);
        assert_string_equal(text_again, text);
        ek_free(text_again);
        ek_free(text);
        ek_pipeline_destroy(again);
        ek_pipeline_destroy(p);
    }
}

static void a_failed_allocation_leaks_nothing(void **state)
{
    (void)state;
    const char *set[] = {"svd.modes=3"};
    ek_text_options options = {.set = set, .n_set = 1, .command = "c"};
    int64_t live = ek_alloc_live();
    ek_status rc = EK_ENOMEM;
    for (int64_t n = 1; rc == EK_ENOMEM; n++) {
        ek_pipeline *p = NULL;
        ek_alloc_fail_at(n);
        rc = ek_pipeline_parse(&p, EOF_TEXT, &options);
        ek_alloc_fail_at(0);
        assert_true((rc == EK_OK) == (p != NULL));
        ek_pipeline_destroy(p);
        assert_int_equal(ek_alloc_live(), live);
    }
    ek_assert_ok(rc);
}

static void too_many_stages(void **state)
{
    (void)state;
    char text[5000] = "load a.nc";
    for (int i = 0; i < EK_TEXT_NODES_MAX; i++) {
        strcat(text, " ! upload");
    }
    ek_pipeline *p = NULL;
    assert_int_equal(ek_pipeline_parse(&p, text, NULL), EK_EINVAL);
    ek_assert_message("a text has at most 256 stages");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_texts),
        cmocka_unit_test(errors_point_at_the_character),
        cmocka_unit_test(errors_show_the_line_and_its_part),
        cmocka_unit_test(settings_override),
        cmocka_unit_test(wrong_settings),
        cmocka_unit_test(patterns_become_files),
        cmocka_unit_test(the_mean_is_implied),
        cmocka_unit_test(random_pipelines_come_back),
        cmocka_unit_test(a_failed_allocation_leaks_nothing),
        cmocka_unit_test(too_many_stages),
        cmocka_unit_test(own_stages_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
