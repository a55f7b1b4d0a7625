/* The JSON scanner over any bytes: whatever it accepts lies inside the window. */
#include "lib/input/json.h"
#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* The quick ways of reading a number must agree with the thorough ones. */
static void read_number(struct mt_json *j, const char *p)
{
    int64_t quick, thorough;
    bool decimals = false, same = false;
    struct mt_slice s;
    const char *q = mt_json_plain_int(p, &quick);
    if (q)
        assert(mt_json_scalar(j, p, &s) == q && mt_json_int(s, &thorough) && thorough == quick);
    if ((q = mt_json_plain_us(p, &quick, &decimals)))
        assert(mt_json_scalar(j, p, &s) == q && mt_json_us_to_ns(s, &thorough, &same) &&
               thorough == quick && decimals == same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = mt_alloc(n + 64); /* the zero bytes that stand behind every window */
    memcpy(text, data, n);
    struct mt_json j = {.end = text + n};
    for (const char *p = text; p && p < j.end;) {
        struct mt_slice s;
        int64_t v;
        bool decimals;
        const char *start = mt_json_space(p);
        const char *next = mt_json_skip(&j, start);
        read_number(&j, start);
        assert(!next || (next > start && next <= j.end));
        if (next) {
            s = (struct mt_slice){start, (uint32_t)(next - start), true};
            struct mt_buf out = {0};
            mt_json_unescape(&out, s);
            mt_json_int(s, &v);
            mt_json_us_to_ns(s, &v, &decimals);
            mt_buf_free(&out);
        }
        p = next ? next : start + 1;
    }
    free(text);
    return 0;
}
