/* SPDX-License-Identifier: Apache-2.0 */
/* Fields, data types, decoding of stored values, and the arrays of a spec. */
#include "tests/support/near.h"

#include "core/alloc.h"
#include "core/chunk.h"
#include "core/log.h"
#include "core/stage.h"

#include <string.h>

static void dtypes_have_sizes_and_names(void **state)
{
    (void)state;
    assert_int_equal(ek_dtype_size(EK_I16), 2);
    assert_int_equal(ek_dtype_size(EK_F64), 8);
    assert_int_equal(ek_dtype_size(EK_DTYPE_NONE), 0);
    assert_int_equal(ek_dtype_size((ek_dtype)99), 0);
    assert_string_equal(ek_dtype_name(EK_U8), "uint8");
    assert_string_equal(ek_dtype_name(EK_F32), "float32");
    assert_true(ek_dtype_is_integer(EK_U32));
    assert_false(ek_dtype_is_integer(EK_F32));
}

static void a_field_owns_all_it_holds(void **state)
{
    (void)state;
    int64_t before = ek_alloc_live();
    ek_field *field = ek_alloc(1, sizeof *field);
    field->name = ek_strdup("air");
    field->units = ek_strdup("K");
    field->source = ek_strdup("a.nc");
    field->n_dims = 1;
    field->dims[0].name = ek_strdup("lat");
    field->time.name = ek_strdup("time");
    field->time.values = ek_alloc(3, sizeof(double));
    field->coords = ek_alloc(1, sizeof *field->coords);
    field->n_coords = 1;
    field->coords[0].name = ek_strdup("lat");
    field->coords[0].values = ek_alloc(2, sizeof(double));
    field->coords[0].attrs = ek_alloc(2, sizeof(ek_attr));
    field->coords[0].n_attrs = 2;
    field->coords[0].attrs[0].name = ek_strdup("units");
    field->coords[0].attrs[0].text = ek_strdup("degrees_north");
    field->coords[0].attrs[1].numbers = ek_alloc(2, sizeof(double));
    for (int i = 0; i < 20; i++) {
        ek_assert_ok(ek_field_note(field, "Note %d.", i));
    }
    assert_int_equal(field->n_notes, 20);
    assert_string_equal(field->notes[19], "Note 19.");
    ek_alloc_fail_at(1);
    assert_int_equal(ek_field_note(field, "Note."), EK_ENOMEM);
    assert_int_equal(field->n_notes, 20);
    ek_field_destroy(field);
    ek_field_destroy(NULL);
    assert_int_equal(ek_alloc_live(), before);
}

static void values_are_decoded(void **state)
{
    (void)state;
    const int16_t packed[] = {0, 100, -32767, -32768};
    ek_chunk_header header = {.data = packed,
                              .scale = 0.01,
                              .offset = 273.15,
                              .missing = {-32768, -32767},
                              .n_missing = 2,
                              .dtype = EK_I16};
    const double expected[] = {273.15, 100 * 0.01 + 273.15, NAN, NAN};
    const float plain[] = {1.5f, NAN, INFINITY, 9.96921e36f};
    const double expected_plain[] = {1.5, NAN, NAN, NAN};
    ek_chunk_header unpacked = {.data = plain,
                                .scale = 1,
                                .missing = {(double)9.96921e36f},
                                .n_missing = 1,
                                .dtype = EK_F32};
    for (int i = 0; i < 4; i++) {
        ek_stream_view view = {.header = &header};
        ek_assert_near1(ek_stream_value(view, i), expected[i], 0, 0);
        ek_assert_near1(ek_chunk_value(&unpacked, i), expected_plain[i], 0, 0);
        view.values = expected_plain;
        ek_assert_near1(ek_stream_value(view, i), expected_plain[i], 0, 0);
    }
}

static void every_type_is_read(void **state)
{
    (void)state;
    const int8_t i8 = -8;
    const uint8_t u8 = 200;
    const uint16_t u16 = 65000;
    const int32_t i32 = -2000000000;
    const uint32_t u32 = 4000000000u;
    const double f64 = 1e300;
    ek_assert_near1(ek_chunk_raw(&i8, EK_I8, 0), -8, 0, 0);
    ek_assert_near1(ek_chunk_raw(&u8, EK_U8, 0), 200, 0, 0);
    ek_assert_near1(ek_chunk_raw(&u16, EK_U16, 0), 65000, 0, 0);
    ek_assert_near1(ek_chunk_raw(&i32, EK_I32, 0), -2e9, 0, 0);
    ek_assert_near1(ek_chunk_raw(&u32, EK_U32, 0), 4e9, 0, 0);
    ek_assert_near1(ek_chunk_raw(&f64, EK_F64, 0), 1e300, 0, 0);
}

static void count_message(ek_log_level level, const char *message, void *user)
{
    (void)message;
    *(int *)user += level == EK_LOG_WARNING;
}

static void specs_hold_arrays_and_facts(void **state)
{
    (void)state;
    ek_spec spec = {0};
    const int64_t extent[EK_AXES] = {10, 6, 4};
    ek_array_spec *eof = ek_spec_add(&spec, "eof", EK_F64, 2, EK_AXIS_MODE, EK_AXIS_CELL);
    assert_non_null(eof);
    assert_int_equal(ek_array_count(eof, extent), 24);
    assert_int_equal(ek_array_bytes(eof, extent), 192);
    ek_array_spec *rank = ek_spec_add(&spec, "rank", EK_I32, 0, EK_AXIS_TIME, EK_AXIS_TIME);
    assert_int_equal(ek_array_bytes(rank, extent), 4);
    assert_int_equal(ek_spec_array(&spec, "rank"), 1);
    assert_int_equal(ek_spec_array(&spec, "none"), -1);
    for (int i = 2; i < EK_ARRAYS_MAX; i++) {
        assert_non_null(ek_spec_add(&spec, "more", EK_F64, 0, EK_AXIS_TIME, EK_AXIS_TIME));
    }
    assert_null(ek_spec_add(&spec, "more", EK_F64, 0, EK_AXIS_TIME, EK_AXIS_TIME));

    int warnings = 0;
    ek_log_set(count_message, &warnings);
    for (int i = 0; i <= EK_SPEC_ATTRS; i++) {
        ek_spec_attr(&spec, "solver", "number %d", i);
    }
    ek_log_set(NULL, NULL);
    ek_log(EK_LOG_WARNING, "Nobody hears this.");
    assert_int_equal(warnings, 1);
    assert_int_equal(spec.n_attrs, EK_SPEC_ATTRS);
    assert_string_equal(spec.attrs[1].text, "number 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dtypes_have_sizes_and_names), cmocka_unit_test(a_field_owns_all_it_holds),
        cmocka_unit_test(values_are_decoded),          cmocka_unit_test(every_type_is_read),
        cmocka_unit_test(specs_hold_arrays_and_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
