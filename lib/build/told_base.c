#include "lib/build/told_base.h"

#include "lib/base/human.h"
#include "lib/base/wrap.h"
#include "lib/input/json_doc.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_B (INT64_C(1) << 60) /* as of the sums of a recording (validate.c) */

static enum mt_status no_size(const char *text, struct mt_err *err)
{
    MT_FAIL(err, MT_EUSAGE, "invalid --base size '%s'", text);
    mt_err_hint(err, "Nothing was imported. Write --base 8MiB, which is for the CPU, or --base "
                     "cuda:0=1.5GiB.");
    return MT_EUSAGE;
}

static enum mt_status told_twice(const char *device, struct mt_err *err)
{
    MT_FAIL(err, MT_EUSAGE, "--base is given twice for %s", device);
    mt_err_hint(err, "Nothing was imported.");
    return MT_EUSAGE;
}

enum mt_status mt_base_parse(const char *text, struct mt_bases *out, struct mt_err *err)
{
    const char *equals = strchr(text, '=');
    struct mt_base one = {.device = "cpu"};
    size_t n = equals ? (size_t)(equals - text) : 0;
    if (!mt_parse_size(equals ? equals + 1 : text, &one.bytes) || one.bytes < 0 ||
        one.bytes >= MOST_B || (equals && !n) || n >= sizeof one.device)
        return no_size(text, err);
    if (equals) {
        memcpy(one.device, text, n);
        one.device[n] = '\0';
    }
    for (size_t i = 0; i < out->n; i++)
        if (strcmp(out->v[i].device, one.device) == 0)
            return told_twice(one.device, err);
    *mt_vec_push(out) = one;
    return MT_OK;
}

/* Bytes allocated on each device; allocated. */
static int64_t *sums_of(const struct mt_recording *r)
{
    int64_t *sums = mt_alloc((r->devices.n + 1) * sizeof *sums);
    for (size_t i = 0; i < r->records.n; i++)
        if (r->records.v[i].bytes > 0)
            mt_wrap_inc(&sums[r->records.v[i].device], r->records.v[i].bytes);
    return sums;
}

static bool is_called(const struct mt_device *d, const char *asked, bool whole)
{
    char name[32];
    mt_device_name(d->type, d->index, name);
    return mt_device_is(name, asked, whole);
}

/* NULL: there is none. "cuda" is the one with most bytes allocated, as for --device. */
static struct mt_device *find_device(struct mt_recording *r, const char *asked)
{
    struct mt_device *v = r->devices.v;
    size_t most = SIZE_MAX;
    for (size_t i = 0; i < r->devices.n; i++)
        if (is_called(&v[i], asked, true))
            return &v[i];
    int64_t *sums = sums_of(r);
    for (size_t i = 0; i < r->devices.n; i++)
        if (is_called(&v[i], asked, false) && (most == SIZE_MAX || sums[i] > sums[most]))
            most = i;
    free(sums);
    return most == SIZE_MAX ? NULL : &v[most];
}

static enum mt_status no_device(const struct mt_recording *r, const char *asked, struct mt_err *err)
{
    struct mt_buf list = {0};
    char name[32];
    for (size_t i = 0; i < r->devices.n; i++) {
        mt_device_name(r->devices.v[i].type, r->devices.v[i].index, name);
        mt_buf_addf(&list, "%s%s", i ? ", " : "", name);
    }
    MT_FAIL(err, MT_EUSAGE, "--base names the device '%s', which has no memory records here",
            asked);
    mt_err_hint(err, "Nothing was imported. %s%s.", list.n ? "Devices: " : "It holds none at all",
                list.n ? list.s : "");
    mt_buf_free(&list);
    return MT_EUSAGE;
}

enum mt_status mt_base_apply(struct mt_recording *r, const struct mt_bases *bases,
                             struct mt_err *err)
{
    if (bases->n && r->without_ops) {
        MT_FAIL(err, MT_EUSAGE, "--base applies to traces: %s",
                r->kind == MT_RUN_SNAPSHOT ? "a snapshot lists what was allocated before it"
                                           : "this is none");
        mt_err_hint(err, "Nothing was imported. Leave --base out.");
        return MT_EUSAGE;
    }
    for (size_t i = 0; i < bases->n; i++) {
        struct mt_device *d = find_device(r, bases->v[i].device);
        if (!d)
            return no_device(r, bases->v[i].device, err);
        if (d->kept_from == MT_KEPT_OPTION)
            return told_twice(bases->v[i].device, err);
        d->kept_b = bases->v[i].bytes;
        d->kept_from = MT_KEPT_OPTION;
    }
    return MT_OK;
}

/* ---- the file's own word ---- */

/* What else is said of the device, and not used; the first of several is named. */
static void note_unused(struct mt_recording *r, const struct mt_device *d, int64_t bytes)
{
    bool option = d->kept_from == MT_KEPT_OPTION;
    enum mt_note_kind kind = option ? MT_NOTE_BASE_DIFFERS : MT_NOTE_BASE_TWICE;
    char name[32], used[MT_HUMAN_MAX], unused[MT_HUMAN_MAX];
    if (bytes == d->kept_b)
        return;
    mt_rec_note(r, kind, -1, 0);
    mt_device_name(d->type, d->index, name);
    if (!r->notes[kind].detail[0])
        mt_rec_note_detail(r, kind, "%s (%s, %s %s)", name, mt_human_bytes(d->kept_b, used),
                           option ? "in the file" : "then", mt_human_bytes(bytes, unused));
}

/* One size of the metadata; false: it is none. A device without records is left out. */
static bool use_size(struct mt_recording *r, const struct mt_json_doc *doc, const char *device,
                     const struct mt_json_doc_value *v)
{
    struct mt_err ignored = MT_ERR_INIT;
    int64_t bytes;
    if (mt_json_doc_int(doc, v, &bytes, &ignored) != MT_OK || bytes < 0 || bytes >= MOST_B)
        return false;
    struct mt_device *d = find_device(r, device);
    if (d && d->kept_from != MT_KEPT_UNKNOWN)
        note_unused(r, d, bytes);
    else if (d) {
        d->kept_b = bytes;
        d->kept_from = MT_KEPT_FILE;
    }
    return true;
}

static bool use_value(struct mt_recording *r, const char *text)
{
    struct mt_err ignored = MT_ERR_INIT;
    struct mt_json_doc doc;
    bool good = mt_json_doc_parse(MT_BASE_KEY, text, strlen(text), &doc, &ignored) == MT_OK;
    const struct mt_json_doc_value *root = good ? mt_json_doc_root(&doc) : NULL;
    if (root && root->kind == MT_JSON_DOC_OBJECT)
        for (const struct mt_json_doc_value *v = mt_json_doc_first(&doc, root); v;
             v = mt_json_doc_next(&doc, v))
            good &= use_size(r, &doc, v->key, v);
    else if (root)
        good = use_size(r, &doc, "cpu", root);
    mt_json_doc_free(&doc);
    return good;
}

void mt_base_read_meta(struct mt_recording *r)
{
    for (size_t i = 0; i < r->meta.n && !r->without_ops; i++)
        if (strcmp(mt_strtab_get(&r->strings, r->meta.v[i].key), MT_BASE_KEY) == 0 &&
            !use_value(r, mt_strtab_get(&r->strings, r->meta.v[i].value)))
            mt_rec_note(r, MT_NOTE_BAD_BASE, -1, 0);
}
