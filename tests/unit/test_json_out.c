/* The writer of JSON: what stands between values, and texts of any bytes. */
#include "lib/base/json_out.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void put_some(struct mt_json_out *j, bool lines)
{
    mt_json_put_begin(j, "{}", lines);
    mt_json_put_key(j, "n");
    mt_json_put_int(j, INT64_MIN);
    mt_json_put_key(j, "list");
    mt_json_put_begin(j, "[]", lines);
    mt_json_put_bool(j, true);
    mt_json_put_begin(j, "[]", lines);
    mt_json_put_end(j);
    mt_json_put_begin(j, "{}", false);
    mt_json_put_key(j, "a\"");
    mt_json_put_null(j);
    mt_json_put_key(j, "b");
    mt_json_put_text(j, NULL);
    mt_json_put_end(j);
    mt_json_put_end(j);
    mt_json_put_line(j);
    mt_json_put_key(j, "raw");
    mt_buf_adds(mt_json_put_raw(j), "1.5");
    mt_json_put_end(j);
}

static void layouts(void **state)
{
    static const struct {
        bool spaced, lines;
        int indent;
        const char *text;
    } rows[] = {
        {false, false, 0,
         "{\"n\":-9223372036854775808,\"list\":[true,[],{\"a\\\"\":null,\"b\":null}],\n"
         "\"raw\":1.5}"},
        {true, true, 2,
         "{\n  \"n\": -9223372036854775808,\n  \"list\": [\n    true,\n    [],\n"
         "    {\"a\\\"\": null, \"b\": null}\n  ],\n  \"raw\": 1.5\n}"},
    };
    (void)state;
    for (size_t i = 0; i < MT_ARRAY_LEN(rows); i++) {
        struct mt_buf out = {0};
        struct mt_json_out j = {.to = &out, .spaced = rows[i].spaced, .indent = rows[i].indent};
        put_some(&j, rows[i].lines);
        assert_string_equal(out.s, rows[i].text);
        mt_buf_free(&out);
    }
}

static void any_bytes(void **state)
{
    static const char text[] = "a\"\\\n\x1b\xff\xc3\xa9\0hidden";
    struct mt_buf out = {0};
    (void)state;
    mt_json_quote(&out, text, sizeof text - 1);
    assert_string_equal(out.s, "\"a\\\"\\\\\\u000a\\u001b\\u00ff\xc3\xa9\"");
    mt_buf_clear(&out);
    mt_json_quote(&out, "abc", 2);
    mt_json_quote(&out, "abc", 0);
    assert_string_equal(out.s, "\"ab\"\"\"");
    mt_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layouts), cmocka_unit_test(any_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
