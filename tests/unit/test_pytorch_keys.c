/* formats/pytorch_keys.h: what was read before must not change what is read next. */
#include "formats/pytorch_event.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* Alike but for what tells them apart. Each ends with its '}', or is no event. */
static const char *const events[] = {
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 1, \"args\": {\"Ev Idx\": 5}}",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 1, \"args\": 5}",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 1, \"args\": [{\"Ev Idx\": 5}]}",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\":  1, \"args\":  {\"Ev Idx\": 5}}",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 1, \"args\": {\"name\": 5}}",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 1, \"args\": {}, \"name\": 5}",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"args\": {\"Bytes\": 7}, \"Bytes\": 8, \"name\": \"b\"}",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"args\": {, \"Bytes\": 7,}, , \"name\": \"b\",}",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"args\": {\"a\": 1, \"x\": 1}, \"x\": 2, \"name\": "
    "\"b\"}",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"x\": 2, \"name\": \"b\", \"args\": {\"a\": 1, \"x\": "
    "1}}",
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"a\", \"ts\": 1, \"args\": {\"Ev Idx\": 5}}",
    "{\"ph\": \"i\", \"s\": \"t\", \"name\": \"[memory]\", \"ts\": 1, \"args\": {\"Bytes\": 7}}",
    "{\"ph\": \"s\", \"id\": 1, \"name\": \"a\", \"ts\": 1}",
    "{\"name\": \"a\" \"ts\": 1}",
    "{\"name\": \"a\", \"ts\" 1}",
    "{\"name\": \"a\", \"a key longer than what is remembered, at least by a few bytes\": 1, "
    "\"ts\": 2}",
    "{}",
};

struct result {
    struct mt_event event;
    long length; /* of the event's text, -1: no event */
    long bad;
};

static struct result scan(struct mt_keys *k, const char *text)
{
    static char window[1024]; /* with zero bytes behind it; the same each time: slices point in */
    struct result r;
    memset(&r, 0, sizeof r);
    memset(window, 0, sizeof window);
    int n = snprintf(window, sizeof window - MT_STREAM_PAD, "%s, {", text);
    struct mt_json j = {.end = window + n};
    const char *end = mt_event_scan(k, &j, window, &r.event);
    r.length = end ? end - window : -1;
    r.bad = end ? -1 : j.bad - window;
    return r;
}

static bool equal(const struct result *a, const struct result *b)
{
    /* From `cat` on, an event is slices. */
    const struct mt_slice *s = &a->event.cat, *t = &b->event.cat;
    size_t slices = (sizeof a->event - offsetof(struct mt_event, cat)) / sizeof *s;
    for (size_t i = 0; i < slices; i++)
        if (s[i].s != t[i].s || s[i].n != t[i].n || s[i].escaped != t[i].escaped)
            return false;
    return a->event.cls == b->event.cls && a->event.kind == b->event.kind &&
           a->event.ph == b->event.ph && a->length == b->length && a->bad == b->bad;
}

static void each_after_each_other(void **state)
{
    (void)state;
    for (size_t a = 0; a < MT_ARRAY_LEN(events); a++)
        for (size_t b = 0; b < MT_ARRAY_LEN(events); b++) {
            static struct mt_keys fresh, used;
            memset(&fresh, 0, sizeof fresh);
            memset(&used, 0, sizeof used);
            struct result expected = scan(&fresh, events[b]);
            scan(&used, events[a]);
            struct result got = scan(&used, events[b]);
            if (!equal(&expected, &got))
                fail_msg("%s\nis read otherwise after\n%s", events[b], events[a]);
        }
}

static void all_in_turn(void **state)
{
    static struct mt_keys used;
    (void)state;
    for (int round = 0; round < 20; round++)
        for (size_t i = 0; i < MT_ARRAY_LEN(events); i++) {
            static struct mt_keys fresh;
            memset(&fresh, 0, sizeof fresh);
            struct result expected = scan(&fresh, events[i]), got = scan(&used, events[i]);
            assert_true(equal(&expected, &got));
        }
}

static void keys_of_args_and_event_differ(void **state)
{
    static struct mt_keys k;
    (void)state;
    struct result r =
        scan(&k, "{\"ph\": \"X\", \"args\": {\"a\": 1, \"x\": 1}, \"x\": 2, \"name\": \"b\"}");
    assert_int_equal(r.event.cls, MT_EVENT_OP);
    assert_int_equal(*r.event.name.s, 'b');
    assert_null(r.event.arg_name.s);
}

/* More kinds of text than there is room for. */
static void many_keys(void **state)
{
    static struct mt_keys k;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        char text[100];
        snprintf(text, sizeof text, "{\"ph\": \"X\", \"key %d\": 1, \"ts\": 2, \"cat\": \"x\"}", i);
        struct result r = scan(&k, text);
        assert_int_equal(r.length, strlen(text));
        assert_int_equal(r.event.ts.n, 1);
        assert_int_equal(*r.event.ts.s, '2');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_after_each_other),
        cmocka_unit_test(all_in_turn),
        cmocka_unit_test(keys_of_args_and_event_differ),
        cmocka_unit_test(many_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
