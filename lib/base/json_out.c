#include "lib/base/json_out.h"

#include "lib/base/human.h"
#include <assert.h>

static void quote(struct mt_buf *out, const char *s)
{
    mt_buf_addc(out, '"');
    mt_escape_json(out, s);
    mt_buf_addc(out, '"');
}

void mt_json_quote(struct mt_buf *out, const char *s, size_t n)
{
    struct mt_buf text = {0};
    mt_buf_add(&text, s, n);
    mt_buf_addc(&text, '\0');
    quote(out, text.s);
    mt_buf_free(&text);
}

static void begin_line(const struct mt_json_out *j)
{
    mt_buf_addf(j->to, "\n%*s", j->indent * j->depth, "");
}

/* What stands before the next key or value. */
static void separate(struct mt_json_out *j)
{
    if (!j->keyed && j->depth) {
        bool *any = &j->level[j->depth - 1].any;
        if (*any)
            mt_buf_addc(j->to, ',');
        if (j->line || j->level[j->depth - 1].lines)
            begin_line(j);
        else if (*any && j->spaced)
            mt_buf_addc(j->to, ' ');
        *any = true;
    }
    j->line = j->keyed = false;
}

void mt_json_put_begin(struct mt_json_out *j, const char *brackets, bool lines)
{
    separate(j);
    mt_buf_addc(j->to, brackets[0]);
    assert(j->depth < MT_JSON_OUT_DEPTH);
    j->level[j->depth].close = brackets[1];
    j->level[j->depth].lines = lines;
    j->level[j->depth++].any = false;
}

void mt_json_put_end(struct mt_json_out *j)
{
    assert(j->depth > 0 && !j->keyed);
    j->depth--;
    if (j->level[j->depth].lines && j->level[j->depth].any)
        begin_line(j);
    mt_buf_addc(j->to, j->level[j->depth].close);
}

void mt_json_put_line(struct mt_json_out *j)
{
    j->line = true;
}

void mt_json_put_key(struct mt_json_out *j, const char *key)
{
    separate(j);
    quote(j->to, key);
    mt_buf_adds(j->to, j->spaced ? ": " : ":");
    j->keyed = true;
}

struct mt_buf *mt_json_put_raw(struct mt_json_out *j)
{
    separate(j);
    return j->to;
}

void mt_json_put_text(struct mt_json_out *j, const char *s)
{
    if (s)
        quote(mt_json_put_raw(j), s);
    else
        mt_json_put_null(j);
}

void mt_json_put_int(struct mt_json_out *j, int64_t v)
{
    char digits[24], *at = digits + sizeof digits;
    uint64_t rest = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (v < 0)
        *--at = '-';
    mt_buf_add(mt_json_put_raw(j), at, (size_t)(digits + sizeof digits - at));
}

void mt_json_put_bool(struct mt_json_out *j, bool v)
{
    mt_buf_adds(mt_json_put_raw(j), v ? "true" : "false");
}

void mt_json_put_null(struct mt_json_out *j)
{
    mt_buf_adds(mt_json_put_raw(j), "null");
}
