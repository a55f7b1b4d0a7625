#include "lib/run/frames.h"

#include "gen/queries.h"
#include "lib/base/sort.h"
#include "lib/base/wrap.h"
#include "lib/model/python_files.h"
#include "lib/run/sites.h"
#include <stdlib.h>
#include <string.h>

void mt_frames_free(struct mt_known_frames *known)
{
    mt_map_free(&known->index);
    for (size_t i = 0; i < known->pages.n; i++)
        free(known->pages.v[i]);
    mt_vec_free(&known->pages);
    mt_vec_free(&known->all);
}

/* Ids count up from 1: there are pages of them, but for those of a damaged database. */
enum { PAGE = 4096, PAGES = 1 << 18 };

static bool has_page(int64_t id)
{
    return (uint64_t)id < (uint64_t)PAGE * PAGES;
}

uint32_t mt_frame_place(const struct mt_known_frames *known, int64_t id)
{
    if (!has_page(id))
        return mt_map_get(&known->index, (uint64_t)id);
    const size_t page = (size_t)(id / PAGE);
    const uint32_t *of = page < known->pages.n ? known->pages.v[page] : NULL;
    return of ? of[id % PAGE] : MT_NONE;
}

static uint32_t *new_place(struct mt_known_frames *known, int64_t id)
{
    if (!has_page(id))
        return mt_map_at(&known->index, (uint64_t)id);
    const size_t page = (size_t)(id / PAGE);
    while (known->pages.n <= page)
        *mt_vec_push(&known->pages) = NULL;
    uint32_t **of = &known->pages.v[page];
    if (!*of) {
        *of = mt_alloc(PAGE * sizeof **of);
        memset(*of, 0xff, PAGE * sizeof **of);
    }
    return &(*of)[id % PAGE];
}

/* Kinds of frames, as they are stored (queries/schema.sql). */
enum { ANNOTATION = 1, PYTHON = 3, CATEGORY = 6, THREAD = 7, LABEL = 8, SIZE = 9, OP = 0 };

static void add_frame(struct mt_known_frames *known, struct mt_tree *t, int64_t id, int64_t kind,
                      uint32_t name, uint32_t object, uint32_t file)
{
    uint32_t *at = new_place(known, id);
    if (*at != MT_NONE)
        return;
    *at = (uint32_t)known->all.n;
    struct mt_known_frame f = {.id = id,
                               .name = name,
                               .object = object,
                               .file = file,
                               .line = MT_NONE,
                               .layer = MT_NONE,
                               .is_python = kind == PYTHON,
                               .python_or_annotation = kind == ANNOTATION || kind == PYTHON,
                               .is_category = kind == CATEGORY,
                               .is_thread = kind == THREAD,
                               .is_label = kind == LABEL,
                               .is_size = kind == SIZE};
    if (f.is_python && mt_python_is_users(mt_strtab_get(&t->strings, name)))
        f.line = name;
    if (kind == OP) {
        f.line = mt_site_of_backward(t, file);
        f.line_is_text = true;
        f.layer = mt_site_of_backward(t, object);
        f.object = f.file = MT_NONE;
    }
    *mt_vec_push(&known->all) = f;
}

/* The text of an object or a file: there are few. id 0: it is unknown. */
static enum mt_status few_text(struct mt_db *db, struct mt_tree *t, int64_t id, uint32_t *out,
                               struct mt_err *err)
{
    *out = MT_NONE;
    return id ? mt_load_text(db, t, id, out, err) : MT_OK;
}

/* Frames as they are read. While some wait, the places of their names are fetched into the
 * processor's cache. */
enum { WAITING = 32 };
struct frame_reader {
    struct mt_db *db;
    struct mt_tree *t;
    struct mt_known_frames *known;
    struct mt_buf names;
    size_t waiting_n;
    struct waiting {
        int64_t id, kind, object_id, file_id;
        size_t name, name_n; /* in names */
        uint32_t hash;       /* of the name */
    } waiting[WAITING];
};

static enum mt_status add_waiting(struct frame_reader *r, struct mt_err *err)
{
    for (size_t i = 0; i < r->waiting_n; i++) {
        const struct waiting *w = &r->waiting[i];
        uint32_t object, file;
        if (mt_frame_place(r->known, w->id) != MT_NONE)
            continue;
        const uint32_t name =
            mt_strtab_add_hashed(&r->t->strings, r->names.s + w->name, w->name_n, w->hash);
        MT_TRY(few_text(r->db, r->t, w->object_id, &object, err));
        MT_TRY(few_text(r->db, r->t, w->file_id, &file, err));
        add_frame(r->known, r->t, w->id, w->kind, name, object, file);
    }
    r->waiting_n = 0;
    mt_buf_clear(&r->names);
    return MT_OK;
}

/* s: a row of load_frames. */
static enum mt_status wait_for(struct frame_reader *r, const struct mt_stmt *s, struct mt_err *err)
{
    const char *name = mt_stmt_text(s, 2);
    struct waiting *w = &r->waiting[r->waiting_n++];
    *w = (struct waiting){.id = mt_stmt_int(s, 0),
                          .kind = mt_stmt_int(s, 1),
                          .object_id = mt_stmt_int(s, 3),
                          .file_id = mt_stmt_int(s, 4),
                          .name = r->names.n,
                          .name_n = strlen(name)};
    mt_buf_add(&r->names, name, w->name_n);
    w->hash = mt_strtab_soon(&r->t->strings, name, w->name_n);
    return r->waiting_n == WAITING ? add_waiting(r, err) : MT_OK;
}

/* Reads the frames first..last, those that are not known, and `wanted` even where there is none. */
static enum mt_status read_range(struct mt_db *db, struct mt_tree *t, struct mt_known_frames *known,
                                 int64_t first, int64_t last, int64_t wanted, struct mt_err *err)
{
    struct frame_reader r = {.db = db, .t = t, .known = known};
    enum mt_status st = MT_OK;
    struct mt_stmt *s;
    bool row = true;
    MT_TRY(mt_db_query(db, MT_Q_LOAD_FRAMES, &s, err));
    mt_stmt_bind(s, "ii", first, last);
    while (row) {
        MT_TRY_OUT(mt_stmt_step(s, &row, err));
        if (row)
            MT_TRY_OUT(wait_for(&r, s, err));
    }
    MT_TRY_OUT(add_waiting(&r, err));
    if (mt_frame_place(known, wanted) == MT_NONE)
        add_frame(known, t, wanted, -1, mt_strtab_add(&t->strings, "", 0), MT_NONE, MT_NONE);
out:
    mt_buf_free(&r.names);
    return st;
}

/*
 * Reads a frame, and the more of those behind it the longer they are asked for in the order of
 * their ids: nodes of a million names were made in that order. At most half of what is read is for
 * nothing.
 */
static enum mt_status read_ahead(struct mt_db *db, struct mt_tree *t, struct mt_known_frames *known,
                                 int64_t id, struct mt_err *err)
{
    enum { MOST = 1024 };
    bool in_order = id == known->next && id < INT64_MAX - 2 * MOST;
    known->n = !in_order ? 1 : known->n < MOST ? 2 * known->n + 1 : known->n;
    known->astray_n += !in_order;
    int64_t last = id + (known->n - 1);
    known->next = mt_wrap_add(last, 1);
    return read_range(db, t, known, id, last, id, err);
}

/* The frames of a run that are not known. */
struct wanted {
    const struct mt_known_frames *known;
    MT_VEC(int64_t) ids;
};

static void want(void *closure, const int64_t *cells)
{
    struct wanted *w = closure;
    for (int i = 0; i < 3; i++)
        if (cells[i] > 0 && (!i || cells[i] != cells[i - 1]) &&
            mt_frame_place(w->known, cells[i]) == MT_NONE)
            *mt_vec_push(&w->ids) = cells[i];
}

/* Reads all frames of the run in the order of their ids: where nodes come in another one, as with
 * names that an earlier run had, each frame is on a page of its own, which would be read for it. */
static enum mt_status read_all(struct mt_db *db, const struct mt_run *run, struct mt_tree *t,
                               struct mt_known_frames *known, struct mt_err *err)
{
    static const int queries[] = {MT_Q_LOAD_FRAME_IDS, MT_Q_LOAD_MODULE_IDS};
    struct wanted w = {.known = known};
    enum mt_status st = MT_OK;
    for (size_t i = 0; i < MT_ARRAY_LEN(queries) && st == MT_OK; i++) {
        struct mt_stmt *s;
        MT_TRY_OUT(mt_db_query(db, queries[i], &s, err));
        mt_stmt_bind(s, "ii", run->node_first, run->node_first + run->node_n);
        st = mt_stmt_each(s, want, &w, err);
    }
    mt_sort_by_time(w.ids.v, w.ids.n, sizeof *w.ids.v, NULL);
    for (size_t from = 0, to; from < w.ids.n && st == MT_OK; from = to) {
        for (to = from + 1; to < w.ids.n && w.ids.v[to] - w.ids.v[to - 1] <= 2; to++)
            ;
        st = read_range(db, t, known, w.ids.v[from], w.ids.v[to - 1], w.ids.v[from], err);
    }
out:
    mt_vec_free(&w.ids);
    return st;
}

enum mt_status mt_frame_find(struct mt_db *db, const struct mt_run *run, struct mt_tree *t,
                             struct mt_known_frames *known, int64_t id, struct mt_known_frame *out,
                             struct mt_err *err)
{
    enum { ASTRAY = 1000 }; /* as many are read one by one before all are */
    size_t at = known->last;
    while (at < known->all.n && at < known->last + 2 && known->all.v[at].id != id)
        at++; /* that again, or the next: mostly without the map */
    if (at >= known->all.n || known->all.v[at].id != id) {
        if (known->run != run->id)
            known->astray_n = 0;
        known->run = run->id;
        if (mt_frame_place(known, id) == MT_NONE && known->astray_n == ASTRAY)
            MT_TRY(read_all(db, run, t, known, err));
        if (mt_frame_place(known, id) == MT_NONE)
            MT_TRY(read_ahead(db, t, known, id, err));
        at = mt_frame_place(known, id);
    }
    known->last = at;
    *out = known->all.v[at];
    return MT_OK;
}
