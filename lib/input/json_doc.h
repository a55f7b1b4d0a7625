/*
 * json_doc.h - small JSON documents that people and memtool write (rules, baselines), read as a
 * whole; every value knows its place, so that an error can name it.
 */
#ifndef MT_JSON_DOC_H
#define MT_JSON_DOC_H

#include "lib/base/err.h"
#include "lib/base/mem.h"
#include <stdbool.h>

#define MT_JSON_DOC_MAX_B (64 << 20) /* larger files are refused */

enum mt_json_doc_kind {
    MT_JSON_DOC_TEXT,
    MT_JSON_DOC_SCALAR, /* a number, true, false, null: `text` as it is written */
    MT_JSON_DOC_OBJECT,
    MT_JSON_DOC_ARRAY
};

struct mt_json_doc_value {
    enum mt_json_doc_kind kind;
    char *key;            /* in an object, else NULL */
    char *text;           /* of MT_JSON_DOC_TEXT (UTF-8, escapes resolved) and MT_JSON_DOC_SCALAR */
    int64_t offset, line; /* where the value stands, or its key if it has one */
    uint32_t first, next; /* first child; next of the same parent; 0 = none */
};

struct mt_json_doc {
    char *path;                              /* for messages */
    MT_VEC(struct mt_json_doc_value) values; /* the first is the whole */
};

/* Reads a file ("-": standard input), or n bytes; path names them in messages. Free the document
 * also on failure. Errors: MT_EIO, MT_EINPUT with byte and line, MT_ELIMIT. */
enum mt_status mt_json_doc_read(const char *path, struct mt_json_doc *out, struct mt_err *err);
enum mt_status mt_json_doc_parse(const char *path, const char *text, size_t n,
                                 struct mt_json_doc *out, struct mt_err *err);
void mt_json_doc_free(struct mt_json_doc *d);

/* The whole, of a document that was read. */
const struct mt_json_doc_value *mt_json_doc_root(const struct mt_json_doc *d);
/* First child and next of the same parent, NULL = none. */
const struct mt_json_doc_value *mt_json_doc_first(const struct mt_json_doc *d,
                                                  const struct mt_json_doc_value *v);
const struct mt_json_doc_value *mt_json_doc_next(const struct mt_json_doc *d,
                                                 const struct mt_json_doc_value *v);
/* The value of a key of an object; NULL: it has none, or v is no object. */
const struct mt_json_doc_value *mt_json_doc_get(const struct mt_json_doc *d,
                                                const struct mt_json_doc_value *v, const char *key);

/* Adds file, byte and line of a value to a failure just recorded; returns its code. */
enum mt_status mt_json_doc_at(const struct mt_json_doc *d, const struct mt_json_doc_value *v,
                              struct mt_err *err);

/* The value must be of that kind, a whole number, an object with these keys only. Errors: MT_EINPUT
 * with key and place; an unknown key names the nearest ones, or all. */
enum mt_status mt_json_doc_want(const struct mt_json_doc *d, const struct mt_json_doc_value *v,
                                enum mt_json_doc_kind kind, struct mt_err *err);
enum mt_status mt_json_doc_int(const struct mt_json_doc *d, const struct mt_json_doc_value *v,
                               int64_t *out, struct mt_err *err);
enum mt_status mt_json_doc_keys(const struct mt_json_doc *d, const struct mt_json_doc_value *v,
                                const char *const *keys, size_t n, struct mt_err *err);

/* The root must be an object whose "schema" and "version" are these. Errors: MT_EINPUT; a newer
 * version is named. */
enum mt_status mt_json_doc_schema(const struct mt_json_doc *d, const char *schema, int64_t version,
                                  struct mt_err *err);

#endif
