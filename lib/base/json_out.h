/*
 * json_out.h - JSON whose lines are laid out for people and for `git diff` (files of baselines), or
 * that is part of a growing text (metadata of recordings). Reports are written with cJSON
 * (lib/render/render_json.c).
 */
#ifndef MT_JSON_OUT_H
#define MT_JSON_OUT_H

#include "lib/base/mem.h"
#include <stdbool.h>
#include <stdint.h>

enum { MT_JSON_OUT_DEPTH = 16 };

/* Zero but for `to`, and what it shall look like. */
struct mt_json_out {
    struct mt_buf *to; /* may be emptied between values */
    bool spaced;       /* {"a": 1, "b": 2}, else {"a":1,"b":2} */
    int indent;        /* of lines, per level */
    /* private */
    bool line, keyed;
    int depth;
    struct {
        char close;
        bool lines, any;
    } level[MT_JSON_OUT_DEPTH];
};

/* Opens an object, "{}", or an array, "[]". lines: each of its items begins a line. */
void mt_json_put_begin(struct mt_json_out *j, const char *brackets, bool lines);
/* Closes the one opened last. */
void mt_json_put_end(struct mt_json_out *j);
/* The next item begins a line. */
void mt_json_put_line(struct mt_json_out *j);

/* A key of an object, its value follows. */
void mt_json_put_key(struct mt_json_out *j, const char *key);

void mt_json_put_text(struct mt_json_out *j, const char *s); /* any bytes; NULL: null */
void mt_json_put_int(struct mt_json_out *j, int64_t v);
void mt_json_put_bool(struct mt_json_out *j, bool v);
void mt_json_put_null(struct mt_json_out *j);
/* Where the next value is to be appended as JSON. */
struct mt_buf *mt_json_put_raw(struct mt_json_out *j);

/* Appends n bytes, up to the first 0, as a JSON string. */
void mt_json_quote(struct mt_buf *out, const char *s, size_t n);

#endif
