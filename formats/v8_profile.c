/*
 * Reader of V8's sampling heap profiles (.heapprofile), which Node's --heap-prof and the developer
 * tools of Chrome write: a tree of functions with what each allocated that is alive.
 * docs/formats/v8-profile.md says what is read.
 */
#include "formats/head.h"
#include "formats/meaning.h"
#include "lib/base/human.h"
#include "lib/input/json_walk.h"
#include "lib/model/paths.h"

#include <stdio.h>
#include <string.h>

enum { NODES_PER_CHECK = 1 << 12 };
static const int64_t size_max = INT64_C(1) << 60; /* of a node; more cannot be true */

struct reader {
    struct mt_json_walk walk;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_path_tree paths;
    struct mt_heap *heap;
    MT_VEC(struct tree_node {
        uint32_t parent; /* in `tree`, before it; MT_NONE: the root */
        uint32_t frame;  /* number of mt_path_frame; MT_NONE: none */
        int64_t bytes;   /* its own */
    })
    tree;
    MT_VEC(uint32_t) open;  /* nodes that the walk is in */
    MT_VEC(uint32_t) nodes; /* of the recording, of each of `tree` */
    int64_t sample_n;       /* blocks that the recorder kept; -1: it does not say */
    bool has_tree;
    struct mt_buf name, url; /* scratch */
    uint64_t beside;
};

static enum mt_status check_memory(struct reader *r, struct mt_err *err)
{
    mt_rec_beside(r->rec, &r->beside,
                  mt_path_tree_bytes(&r->paths) + mt_vec_bytes(&r->tree) + mt_vec_bytes(&r->open) +
                      mt_vec_bytes(&r->nodes));
    return mt_rec_check_memory(r->rec, err);
}

static enum mt_status bad(struct reader *r, const char *what, struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT, "%s", what);
    return mt_reader_refuse((int64_t)mt_json_walk_offset(&r->walk), "", err);
}

/* ---- functions ---- */

/* Whether the function is of V8, of Node or of an installed package: it is no site of its own. Of a
 * script that was gone when the profile was written only the number is left. */
static bool is_library(const char *url, bool has_script)
{
    return (!*url && !has_script) || strncmp(url, "node:", 5) == 0 ||
           strncmp(url, "internal/", 9) == 0 || strstr(url, "/node_modules/");
}

/* "app.js:12" of a script's address and a line; 0: unknown. */
static void add_place(struct mt_buf *out, const char *url, int64_t line)
{
    size_t n = strcspn(url, "?#");
    const char *slash = strncmp(url, "node:", 5) == 0 ? NULL : memrchr(url, '/', n);
    if (slash && slash + 1 < url + n) {
        n -= (size_t)(slash + 1 - url);
        url = slash + 1;
    }
    mt_buf_add(out, url, n);
    if (line > 0)
        mt_buf_addf(out, ":%lld", (long long)line);
}

/* The function as call paths name it, "app.js:12 load". The line is where it begins. */
static uint32_t frame_of(struct reader *r, bool has_script, int64_t line)
{
    struct mt_buf text = {0};
    const char *name = r->name.s, *url = r->url.s;
    const char *file = strncmp(url, "file://", 7) == 0 ? url + 7 : url;
    if (*file) {
        add_place(&text, file, line);
        mt_buf_addc(&text, ' ');
    }
    mt_buf_adds(&text, *name ? name : "(anonymous)");
    bool aside = is_library(url, has_script) ||
                 (r->opts->alloc_fn && regexec(r->opts->alloc_fn, name, 0, NULL, 0) == 0);
    uint32_t frame = mt_path_frame(&r->paths, text.s, "", file, line, aside ? MT_PATH_ASIDE : 0);
    mt_buf_free(&text);
    return frame;
}

/* A member of a function that is none of its texts: its line, or of which script it is; "0": of
 * none. */
static enum mt_status read_number(struct reader *r, int64_t *line, bool *has_script,
                                  struct mt_err *err)
{
    bool is_line = strcmp(r->walk.key.s, "lineNumber") == 0;
    bool is_script = strcmp(r->walk.key.s, "scriptId") == 0;
    struct mt_slice s;
    MT_TRY(mt_json_walk_value(&r->walk, &s, err));
    if (is_script)
        *has_script = !(s.n == 3 && memcmp(s.s, "\"0\"", 3) == 0);
    if (is_line && (!mt_json_int(s, line) || *line < -1 || *line >= INT32_MAX))
        *line = -1;
    return MT_OK;
}

/* {"functionName": "load", "scriptId": "6", "url": "file:///app.js", "lineNumber": 11, ..}; lines
 * count from 0 */
static enum mt_status read_function(struct reader *r, uint32_t *frame, struct mt_err *err)
{
    bool any, is, has_script = false;
    int64_t line = -1;
    mt_buf_clear(&r->name);
    mt_buf_clear(&r->url);
    MT_TRY(mt_json_walk_enter(&r->walk, '{', err));
    for (;;) {
        MT_TRY(mt_json_walk_member(&r->walk, &any, err));
        if (!any)
            break;
        const char *key = r->walk.key.s;
        if (strcmp(key, "functionName") == 0)
            MT_TRY(mt_json_walk_text(&r->walk, &r->name, &is, err));
        else if (strcmp(key, "url") == 0)
            MT_TRY(mt_json_walk_text(&r->walk, &r->url, &is, err));
        else
            MT_TRY(read_number(r, &line, &has_script, err));
    }
    mt_buf_adds(&r->name, "");
    mt_buf_adds(&r->url, "");
    *frame = frame_of(r, has_script, line + 1);
    return MT_OK;
}

/* ---- the tree ---- */

/* A member of the node that is open; *children: its children come next. */
static enum mt_status read_member(struct reader *r, bool *children, struct mt_err *err)
{
    uint32_t at = r->open.v[r->open.n - 1];
    const char *key = r->walk.key.s;
    struct mt_slice s;
    *children = strcmp(key, "children") == 0;
    if (*children)
        return mt_json_walk_enter(&r->walk, '[', err);
    if (strcmp(key, "callFrame") == 0)
        return read_function(r, &r->tree.v[at].frame, err);
    bool is_size = strcmp(key, "selfSize") == 0;
    MT_TRY(mt_json_walk_value(&r->walk, &s, err));
    int64_t bytes;
    if (!is_size)
        return MT_OK;
    if (!mt_json_int(s, &bytes) || bytes < 0 || bytes > size_max)
        return bad(r, "a size is not a whole number of bytes, or cannot be true", err);
    r->tree.v[at].bytes = bytes;
    return MT_OK;
}

static enum mt_status enter_node(struct reader *r, struct mt_err *err)
{
    uint32_t parent = r->open.n ? r->open.v[r->open.n - 1] : MT_NONE;
    MT_TRY(mt_json_walk_enter(&r->walk, '{', err));
    if (r->tree.n >= MT_NONE - 1)
        return MT_FAIL(err, MT_ELIMIT, "more functions than memtool can hold");
    *mt_vec_push(&r->open) = (uint32_t)r->tree.n;
    *mt_vec_push(&r->tree) = (struct tree_node){.parent = parent, .frame = MT_NONE};
    return r->tree.n % NODES_PER_CHECK ? MT_OK : check_memory(r, err);
}

/* Without recursion: nothing limits how deep a file is. */
static enum mt_status read_tree(struct reader *r, struct mt_err *err)
{
    bool any, in_children = false;
    if (r->has_tree)
        return bad(r, "a second tree of functions", err);
    r->has_tree = true;
    MT_TRY(enter_node(r, err));
    while (r->open.n) {
        if (in_children) {
            MT_TRY(mt_json_walk_element(&r->walk, &any, err));
            in_children = false;
            if (any)
                MT_TRY(enter_node(r, err));
            continue;
        }
        MT_TRY(mt_json_walk_member(&r->walk, &any, err));
        if (any) {
            MT_TRY(read_member(r, &in_children, err));
        } else {
            r->open.n--;
            in_children = r->open.n > 0;
        }
    }
    return MT_OK;
}

static enum mt_status count_samples(struct reader *r, struct mt_err *err)
{
    struct mt_slice s;
    bool any;
    MT_TRY(mt_json_walk_enter(&r->walk, '[', err));
    for (r->sample_n = 0;; r->sample_n++) {
        MT_TRY(mt_json_walk_element(&r->walk, &any, err));
        if (!any)
            return MT_OK;
        MT_TRY(mt_json_walk_value(&r->walk, &s, err));
    }
}

static enum mt_status refuse_snapshot(struct mt_err *err)
{
    MT_FAIL(err, MT_EINPUT,
            "this is a snapshot of V8's heap (.heapsnapshot): objects and what "
            "keeps them, not who allocated them");
    return mt_reader_refuse(-1,
                            "`node --heap-prof`, or Allocation sampling in Chrome's developer "
                            "tools, records a profile (.heapprofile), which memtool reads.",
                            err);
}

static enum mt_status read_document(struct reader *r, struct mt_err *err)
{
    struct mt_slice other;
    bool any;
    MT_TRY(mt_json_walk_enter(&r->walk, '{', err));
    for (;;) {
        MT_TRY(mt_json_walk_member(&r->walk, &any, err));
        if (!any)
            return MT_OK;
        if (strcmp(r->walk.key.s, "snapshot") == 0)
            return refuse_snapshot(err);
        if (strcmp(r->walk.key.s, "head") == 0)
            MT_TRY(read_tree(r, err));
        else if (strcmp(r->walk.key.s, "samples") == 0)
            MT_TRY(count_samples(r, err));
        else
            MT_TRY(mt_json_walk_value(&r->walk, &other, err));
    }
}

/* ---- the whole ---- */

/* The root is no function: what it has itself has no call path. */
static enum mt_status give(struct reader *r, enum mt_meaning meaning, struct mt_err *err)
{
    for (size_t i = 0; i < r->tree.n; i++) {
        const struct tree_node *t = &r->tree.v[i];
        uint32_t node = t->parent == MT_NONE ? MT_NONE : r->nodes.v[t->parent];
        if (t->frame != MT_NONE && t->parent != MT_NONE)
            node = mt_path_node(&r->paths, node, t->frame);
        *mt_vec_push(&r->nodes) = node;
        MT_TRY(mt_meaning_give(r->heap, node, meaning, t->bytes, MT_UNKNOWN, err));
        if (i % NODES_PER_CHECK == 0)
            MT_TRY(check_memory(r, err));
    }
    return MT_OK;
}

static void note_samples(const struct reader *r)
{
    char number[MT_HUMAN_MAX];
    if (r->sample_n >= 0)
        mt_rec_note_detail(r->rec, MT_NOTE_SAMPLED, "some blocks: %s are in the file",
                           mt_human_count(r->sample_n, number));
    else
        mt_rec_note_detail(r->rec, MT_NOTE_SAMPLED, "some blocks, the file does not say how many");
    mt_rec_note(r->rec, MT_NOTE_SAMPLED, -1, 0);
    if (!r->sample_n)
        mt_rec_note(r->rec, MT_NOTE_NO_ALLOCATIONS, -1,
                    0); /* nor is it known that there were none */
}

static enum mt_status read_all(struct reader *r, struct mt_stream *in, struct mt_err *err)
{
    enum mt_meaning meaning = r->opts->values ? r->opts->values : MT_MEANS_AT_END;
    r->rec->values_unsaid = true;
    mt_heap_knows(r->heap, mt_meaning_figures(meaning, false));
    MT_TRY(mt_json_walk_begin(&r->walk, in, err));
    enum mt_status st = read_document(r, err);
    if (st == MT_OK && !r->has_tree)
        return bad(r, "it has no tree of functions (\"head\")", err);
    if (st != MT_OK && r->walk.cut)
        MT_TRY(mt_reader_cut(r->opts, r->rec, mt_json_walk_offset(&r->walk),
                             "ends early: the file was cut off", err));
    else if (st != MT_OK)
        return st;
    else
        MT_TRY(mt_reader_json_rest(&r->walk, r->rec, err));
    MT_TRY(give(r, meaning, err));
    note_samples(r);
    return mt_heap_close(r->heap, err);
}

static enum mt_status v8_profile_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                      struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {.walk = {.progress = opts->progress, .closure = opts->closure},
                       .opts = opts,
                       .rec = rec,
                       .sample_n = -1};
    rec->time_unit = NULL;
    mt_path_tree_init(&r.paths, rec);
    r.heap = mt_heap_open(rec, MT_DEVICE_HEAP);
    enum mt_status st = read_all(&r, in, err);
    mt_heap_free(r.heap);
    mt_rec_beside(rec, &r.beside, 0);
    mt_path_tree_free(&r.paths);
    mt_json_walk_free(&r.walk);
    mt_vec_free(&r.tree);
    mt_vec_free(&r.open);
    mt_vec_free(&r.nodes);
    mt_buf_free(&r.name);
    mt_buf_free(&r.url);
    return st;
}

/* A profile, or a snapshot, which the reader refuses by name. */
static int v8_profile_probe(const char *head, size_t n)
{
    static const char snapshot[] = "\"snapshot\":{\"meta\"";
    size_t i = mt_head_json(head, n);
    if (i == n || head[i] != '{')
        return 0;
    if (mt_head_has(head + i, n - i < 64 ? n - i : 64, snapshot))
        return 96;
    return mt_head_has(head, n, "\"head\"") && mt_head_has(head, n, "\"callFrame\"") &&
                   mt_head_has(head, n, "\"selfSize\"")
               ? 96
               : 0;
}

const struct mt_reader mt_reader_v8_profile = {
    .name = "v8-profile",
    .kind = MT_RUN_HEAP,
    .probe = v8_profile_probe,
    .read = v8_profile_read,
};
