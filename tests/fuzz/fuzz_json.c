/* The JSON scanner over any bytes: whatever it accepts lies inside the window. */
#include "lib/json.h"
#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = mt_alloc(n + 64); /* the zero bytes that stand behind every window */
    memcpy(text, data, n);
    struct mt_json j = {.end = text + n};
    for (const char *p = text; p && p < j.end;) {
        struct mt_slice s;
        int64_t v;
        bool whole = true;
        const char *start = mt_json_space(p);
        const char *next = mt_json_skip(&j, start);
        assert(!next || (next > start && next <= j.end));
        if (next) {
            s = (struct mt_slice){start, (uint32_t)(next - start), true};
            struct mt_buf out = {0};
            mt_json_unescape(&out, s);
            mt_json_int(s, &v);
            mt_json_us_to_ns(s, &v, &whole);
            mt_buf_free(&out);
        }
        p = next ? next : start + 1;
    }
    free(text);
    return 0;
}
