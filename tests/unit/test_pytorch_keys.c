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
    "{\"ph\": \"X\", \"pid\": 1, \"tid\": -2, \"ts\": 1.5, \"dur\": 3, \"args\": {\"Bytes\": -7}}",
    "{\"ph\": \"X\", \"pid\": \"1\", \"tid\": \"t\", \"ts\": 1.5678, \"dur\": -3, \"args\": "
    "{\"Bytes\": 7.5}}",
    "{\"ph\": \"X\", \"pid\": null, \"tid\": [2], \"ts\": \"1\", \"dur\": 3e2, \"args\": "
    "{\"Bytes\": \"x\"}}",
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

static bool equal_texts(struct mt_slice a, struct mt_slice b)
{
    return a.s == b.s && a.n == b.n && a.escaped == b.escaped;
}

/* Members that an event does not have are 0 in both. */
static bool equal_events(const struct mt_event *a, const struct mt_event *b)
{
    return a->cls == b->cls && a->kind == b->kind && a->ph == b->ph && a->seen == b->seen &&
           a->valid == b->valid && a->decimals == b->decimals && a->category == b->category &&
           equal_texts(a->name, b->name) && equal_texts(a->pid.name, b->pid.name) &&
           equal_texts(a->tid.name, b->tid.name) && equal_texts(a->shape, b->shape) &&
           equal_texts(a->arg_name, b->arg_name) && a->pid.number == b->pid.number &&
           a->tid.number == b->tid.number && a->ts_ns == b->ts_ns && a->dur_ns == b->dur_ns &&
           a->order == b->order && a->seq == b->seq && a->fwd_thread == b->fwd_thread &&
           a->device_type == b->device_type && a->device_index == b->device_index &&
           a->addr == b->addr && a->bytes == b->bytes && a->total_b == b->total_b &&
           a->reserved_b == b->reserved_b;
}

static bool equal(const struct result *a, const struct result *b)
{
    return equal_events(&a->event, &b->event) && a->length == b->length && a->bad == b->bad;
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
    assert_int_equal(r.event.seen & MT_HAS_ARG_NAME, 0);
}

/* What is written another way than recorders do is read the thorough way, with the same result. */
static void numbers_of_all_kinds(void **state)
{
    static const struct {
        const char *value;
        bool valid;
        int64_t ns;
    } rows[] = {
        {"0", true, 0},
        {"7", true, 7000},
        {"12345678", true, 12345678000},
        {"1712195495524476.056", true, 1712195495524476056},
        {"1712195495524476.05", true, 1712195495524476050},
        {"1712195495524476.0", true, 1712195495524476000},
        {"1712195495524476.0569", true, 1712195495524476056},
        {"-17.5", true, -17500},
        {"\"17.5\"", true, 17500},
        {"1.5e3", true, 1500000},
        {"9223372036854775", true, 9223372036854775000},
        {"9223372036854775.807", true, 9223372036854775807},
        {"9223372036854776", false, 0},
        {"99999999999999999", false, 0},
        {"17.", true, 17000},
        {"NaN", false, 0},
        {"null", false, 0},
        {"{}", false, 0},
    };
    (void)state;
    for (size_t i = 0; i < MT_ARRAY_LEN(rows); i++) {
        static struct mt_keys k;
        char text[100];
        for (int behind = 0; behind < 2; behind++) {
            snprintf(text, sizeof text, "{\"ph\": \"X\", \"ts\": %s%s}", rows[i].value,
                     behind ? ", \"x\": 1" : "");
            struct result r = scan(&k, text);
            assert_int_equal(r.length, strlen(text));
            assert_int_equal(r.event.seen, MT_HAS_TS);
            if (rows[i].valid != (r.event.valid == MT_HAS_TS) || rows[i].ns != r.event.ts_ns)
                fail_msg("%s is read as %lld", rows[i].value, (long long)r.event.ts_ns);
            assert_int_equal(r.event.decimals, strchr(rows[i].value, '.') && rows[i].valid);
        }
    }
}

/* Half a byte is none, and no address is taken for none. */
static void whole_numbers_and_addresses(void **state)
{
    static const struct {
        const char *value;
        bool bytes_valid;
        int64_t bytes;
        bool addr_valid;
        int64_t addr;
    } rows[] = {
        {"16", true, 16, true, 16},
        {"-16", true, -16, true, -16},
        {"\"16\"", true, 16, true, 16},
        {"16.0", true, 16, true, 16},
        {"16.", false, 0, false, 0},
        {"16.5", false, 0, false, 0},
        {"1.5e3", false, 0, false, 0},
        {"1.0e3", false, 0, false, 0},
        {"18446744073709551615", true, -1, true, -1},
        {"18446744073709551616", false, 0, false, 0},
        {"\"0x10\"", false, 0, true, 16},
        {"0x7fDB60000000", false, 0, true, 0x7fdb60000000},
        {"\"0XFFFFFFFFFFFFFFFF\"", false, 0, true, -1},
        {"\"0x10000000000000000\"", false, 0, false, 0},
        {"\"0x\"", false, 0, false, 0},
        {"\"0x1g\"", false, 0, false, 0},
        {"\"\"", false, 0, false, 0},
        {"null", false, 0, false, 0},
    };
    (void)state;
    for (size_t i = 0; i < MT_ARRAY_LEN(rows); i++) {
        static struct mt_keys k;
        char text[100];
        snprintf(text, sizeof text, "{\"ph\": \"i\", \"args\": {\"Bytes\": %s, \"Addr\": %s}}",
                 rows[i].value, rows[i].value);
        struct result r = scan(&k, text);
        assert_int_equal(r.length, strlen(text));
        bool bytes = (r.event.valid & MT_HAS_BYTES) != 0, addr = (r.event.valid & MT_HAS_ADDR) != 0;
        if (bytes != rows[i].bytes_valid || addr != rows[i].addr_valid ||
            (bytes && r.event.bytes != rows[i].bytes) || (addr && r.event.addr != rows[i].addr))
            fail_msg("%s is read as %lld, %lld", rows[i].value, (long long)r.event.bytes,
                     (long long)r.event.addr);
    }
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
        assert_int_equal(r.event.valid, MT_HAS_TS);
        assert_int_equal(r.event.ts_ns, 2000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_after_each_other),         cmocka_unit_test(all_in_turn),
        cmocka_unit_test(keys_of_args_and_event_differ), cmocka_unit_test(numbers_of_all_kinds),
        cmocka_unit_test(whole_numbers_and_addresses),   cmocka_unit_test(many_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
