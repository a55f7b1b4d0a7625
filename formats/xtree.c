/*
 * Reader of the trees that valgrind's tools write (--xtree-memory=full, --xtree-leak=yes): text in
 * callgrind's format, but a whole call path after the other. docs/formats/xtree.md says what is
 * read.
 */
#include "formats/format.h"
#include "formats/leak_report.h"
#include "lib/base/wrap.h"
#include "lib/input/fields.h"
#include "lib/input/lines.h"

#include <string.h>

enum {
    EVENTS_MAX = 64, /* in a line of figures */
    NAMES_MAX = 1 << 20,
    CUT_AT = 10, /* paths of as many functions as the longest are cut, if it has so many */
};

/* What is read of the events of a file; DIB is that part of DB which is listed as IB, too. */
enum event { CUR_B, CUR_N, TOT_B, TOT_N, RB, PB, IB, DB, DIB, RBK, PBK, IBK, DBK, EVENT_N };
static const char *const events[EVENT_N] = {"curB", "curBk", "totB", "totBk", "RB",  "PB", "IB",
                                            "DB",   "DIB",   "RBk",  "PBk",   "IBk", "DBk"};

struct path {
    int64_t v[EVENT_N];
    size_t first, n; /* of `steps`, outermost first */
};

struct reader {
    struct mt_lines lines;
    struct mt_line line;
    const struct mt_read_opts *opts;
    struct mt_recording *rec;
    struct mt_path_tree tree;
    struct mt_strtab texts;
    MT_VEC(uint32_t) names[2]; /* number of a file, or of a function -> text + 1, 0 = none */
    MT_VEC(struct path) paths;
    mt_native_steps steps;
    int event_of[EVENTS_MAX]; /* column -> enum event, EVENT_N: another */
    size_t event_n;
    bool has[EVENT_N];
    int64_t sums[EVENT_N];
    /* the path under way */
    size_t first;                    /* of its steps */
    uint32_t file, function, callee; /* texts; MT_NONE: none */
    bool in_call;                    /* the next line of figures is that of a call */
    bool whole;                      /* the line of totals was there */
    uint64_t beside;
};

enum { FILES, FUNCTIONS };

static enum mt_status damaged(struct reader *r, const char *what, struct mt_err *err)
{
    return mt_reader_cut(r->opts, r->rec, r->line.offset, what, err);
}

/* ---- names: "(3) main", later "(3)" ---- */

static bool take_name(struct reader *r, int kind, struct mt_fields f, uint32_t *out)
{
    const char *s;
    size_t n;
    int64_t number;
    if (!mt_field_take(&f, "(")) {
        mt_field_rest(&f, &s, &n);
        *out = mt_strtab_add(&r->texts, s, n);
        return n > 0;
    }
    if (!mt_field_decimal(&f, &number) || !mt_field_take(&f, ")") || number < 0 ||
        number >= NAMES_MAX)
        return false;
    while (r->names[kind].n <= (size_t)number)
        *mt_vec_push(&r->names[kind]) = 0;
    mt_field_rest(&f, &s, &n);
    uint32_t *at = &r->names[kind].v[number];
    if (n)
        *at = mt_strtab_add(&r->texts, s, n) + 1;
    *out = *at - 1;
    return *at;
}

static const char *text_of(const struct reader *r, uint32_t text)
{
    const char *s = text == MT_NONE ? "" : mt_strtab_get(&r->texts, text);
    return strcmp(s, "UnknownFile???") == 0 || strcmp(s, "UnknownFn???") == 0 ? "" : s;
}

/* ---- paths ---- */

static void add_step(struct reader *r, int64_t line)
{
    const struct mt_native_frame f = {text_of(r, r->function), "", text_of(r, r->file), line};
    mt_native_push_inner(&r->steps, r->first, mt_native_step(&r->tree, &f, r->opts->alloc_fn));
}

static enum mt_status check_memory(struct reader *r, struct mt_err *err)
{
    uint64_t now = mt_vec_bytes(&r->paths) + mt_vec_bytes(&r->steps) + mt_path_tree_bytes(&r->tree);
    mt_rec_beside(r->rec, &r->beside, now);
    return mt_rec_check_memory(r->rec, err);
}

/* The figures behind a line's position; *n: how many there are. */
static bool take_figures(struct mt_fields *f, int64_t v[EVENTS_MAX], size_t *n)
{
    for (*n = 0; !mt_field_end(f); ++*n)
        if (*n == EVENTS_MAX || !mt_field_decimal(f, &v[*n]) || v[*n] < 0 ||
            v[*n] > MT_LEAK_SIZE_MAX)
            return false;
    return true;
}

static enum mt_status end_path(struct reader *r, const int64_t *v, size_t n, struct mt_err *err)
{
    struct path p = {.first = r->first, .n = r->steps.n - r->first};
    for (size_t i = 0; i < n && i < r->event_n; i++) {
        int e = r->event_of[i];
        if (e == EVENT_N)
            continue;
        p.v[e] = v[i];
        r->sums[e] = mt_wrap_add(r->sums[e], v[i]);
    }
    *mt_vec_push(&r->paths) = p;
    r->first = r->steps.n;
    r->file = r->function = r->callee = MT_NONE;
    return r->paths.n % 1024 ? MT_OK : check_memory(r, err);
}

/* "14": where the function calls; "14 128 1 128 1": what it did there itself; the same behind
 * "calls=" is what it calls, which comes again. */
static enum mt_status read_figures(struct reader *r, struct mt_fields f, struct mt_err *err)
{
    int64_t position, v[EVENTS_MAX];
    size_t n;
    if (!mt_field_decimal(&f, &position) || !take_figures(&f, v, &n))
        return damaged(r, "a line of figures makes no sense", err);
    if (r->in_call) {
        r->in_call = false;
        return MT_OK;
    }
    if (r->function == MT_NONE || r->callee != MT_NONE)
        return damaged(r, "its calls are not those of one path", err);
    add_step(r, position);
    r->function = MT_NONE;
    return n ? end_path(r, v, n, err) : MT_OK;
}

static enum mt_status begin_function(struct reader *r, struct mt_fields f, struct mt_err *err)
{
    bool is = take_name(r, FUNCTIONS, f, &r->function);
    bool inside = r->steps.n > r->first;
    if (!is || inside != (r->callee != MT_NONE) || (inside && r->callee != r->function))
        return damaged(r, "its calls are not those of one path", err);
    r->callee = MT_NONE;
    return MT_OK;
}

/* ---- what stands before and behind the paths ---- */

/* What callgrind itself writes counts instructions. */
static enum mt_status check_events(const struct reader *r, struct mt_err *err)
{
    if (r->has[CUR_B] || r->has[TOT_B] || r->has[DB])
        return MT_OK;
    MT_FAIL(err, MT_EINPUT, "it counts no memory");
    return mt_reader_refuse(-1,
                            "memtool reads what valgrind --xtree-memory=full and "
                            "--xtree-leak=yes write.",
                            err);
}

static enum mt_status read_events(struct reader *r, struct mt_fields f, struct mt_err *err)
{
    const char *s;
    size_t n;
    for (r->event_n = 0; r->event_n < EVENTS_MAX && mt_field_word(&f, &s, &n); r->event_n++) {
        int e = 0;
        while (e < EVENT_N && (strlen(events[e]) != n || memcmp(events[e], s, n) != 0))
            e++;
        r->event_of[r->event_n] = e;
        if (e < EVENT_N)
            r->has[e] = true;
    }
    return check_events(r, err);
}

static enum mt_status read_totals(struct reader *r, struct mt_fields f, struct mt_err *err)
{
    int64_t v[EVENTS_MAX];
    size_t n;
    bool nothing = !r->paths.n && mt_field_take(&f, "(null)"); /* so valgrind adds up no paths */
    bool same = nothing || (take_figures(&f, v, &n) && n == r->event_n);
    n = nothing ? 0 : n;
    for (size_t i = 0; same && i < n; i++)
        same = r->event_of[i] == EVENT_N || r->sums[r->event_of[i]] == v[i];
    r->whole = true;
    return same ? MT_OK : damaged(r, "its paths do not add up to its totals", err);
}

static enum mt_status read_head(struct reader *r, struct mt_fields f, struct mt_err *err)
{
    static const char *const keys[] = {"cmd", "pid"};
    const char *key, *s;
    size_t key_n, n;
    if (!mt_field_until(&f, ':', &key, &key_n))
        return MT_OK;
    mt_field_rest(&f, &s, &n);
    for (size_t i = 0; i < MT_ARRAY_LEN(keys); i++)
        if (key_n == strlen(keys[i]) && memcmp(key, keys[i], key_n) == 0)
            mt_rec_meta(r->rec, keys[i], s, n);
    if (key_n == 6 && memcmp(key, "events", 6) == 0)
        return read_events(r, mt_fields_of(s, n), err);
    if (key_n == 6 && memcmp(key, "totals", 6) == 0)
        return read_totals(r, mt_fields_of(s, n), err);
    return MT_OK;
}

static enum mt_status read_line(struct reader *r, struct mt_err *err)
{
    struct mt_fields f = mt_fields_of(r->line.s, r->line.n);
    uint32_t ignored;
    bool is = true;
    if (r->line.n && *r->line.s >= '0' && *r->line.s <= '9')
        return read_figures(r, f, err);
    if (mt_field_take(&f, "fn="))
        return begin_function(r, f, err);
    if (mt_field_take(&f, "calls="))
        r->in_call = true;
    else if (mt_field_take(&f, "fl=") || mt_field_take(&f, "fi="))
        is = take_name(r, FILES, f, &r->file);
    else if (mt_field_take(&f, "cfi=") || mt_field_take(&f, "cfl="))
        is = take_name(r, FILES, f, &ignored);
    else if (mt_field_take(&f, "cfn="))
        is = take_name(r, FUNCTIONS, f, &r->callee);
    else
        return read_head(r, f, err);
    return is ? MT_OK : damaged(r, "a name's number is not known", err);
}

/* ---- into the recording ---- */

static void reverse(struct mt_native_step *v, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        struct mt_native_step other = v[i];
        v[i] = v[n - 1 - i];
        v[n - 1 - i] = other;
    }
}

static uint32_t node_of(struct reader *r, const struct path *p, size_t longest)
{
    struct mt_native_step *stack = r->steps.v + p->first;
    uint32_t node = MT_NONE;
    if (longest >= CUT_AT && p->n == longest && !mt_native_is_rooted(stack, p->n))
        node = mt_path_node(&r->tree, MT_NONE, mt_native_explicit(&r->tree, MT_STACK_CUT).frame);
    return mt_native_path(&r->tree, node, stack, p->n, r->opts->cpp_frames == MT_CPP_ALL);
}

/* Kinds of leaks are roots of paths, as in the reports of memcheck (leak_report.h). */
static const struct kind {
    const char *root;
    enum event bytes, blocks;
} kinds[] = {{"[definitely lost]", DB, DBK},
             {"[indirectly lost]", IB, IBK},
             {"[possibly lost]", PB, PBK},
             {"[still reachable]", RB, RBK}};

static enum mt_status give_leaks(struct reader *r, struct mt_heap *h, struct mt_err *err)
{
    mt_heap_knows(h, MT_SUM_AT_END_B | MT_SUM_AT_END_N);
    for (size_t i = 0; i < r->paths.n; i++) {
        const struct path *p = &r->paths.v[i];
        for (size_t k = 0; k < MT_ARRAY_LEN(kinds); k++) {
            int64_t bytes = p->v[kinds[k].bytes] - (kinds[k].bytes == DB ? p->v[DIB] : 0);
            if (bytes <= 0 && !p->v[kinds[k].blocks])
                continue;
            uint32_t node =
                mt_path_node(&r->tree, MT_NONE, mt_native_explicit(&r->tree, kinds[k].root).frame);
            node = mt_native_path(&r->tree, node, r->steps.v + p->first, p->n,
                                  r->opts->cpp_frames == MT_CPP_ALL);
            MT_TRY(mt_heap_left(h, node, bytes > 0 ? bytes : 0, p->v[kinds[k].blocks], err));
        }
    }
    return MT_OK;
}

static enum mt_status give_sums(struct reader *r, struct mt_heap *h, struct mt_err *err)
{
    size_t longest = 0;
    mt_heap_knows(h, (r->has[CUR_B] ? MT_SUM_AT_END_B : 0) | (r->has[CUR_N] ? MT_SUM_AT_END_N : 0) |
                         (r->has[TOT_B] ? MT_SUM_ALLOC_B : 0) |
                         (r->has[TOT_N] ? MT_SUM_ALLOC_N : 0));
    for (size_t i = 0; i < r->paths.n; i++)
        longest = r->paths.v[i].n > longest ? r->paths.v[i].n : longest;
    for (size_t i = 0; i < r->paths.n; i++) {
        const struct path *p = &r->paths.v[i];
        const struct mt_sums s = {.alloc_b = p->v[TOT_B],
                                  .alloc_n = p->v[TOT_N],
                                  .at_end_b = p->v[CUR_B],
                                  .at_end_n = p->v[CUR_N]};
        if (!s.alloc_b && !s.alloc_n && !s.at_end_b && !s.at_end_n)
            continue; /* it only frees */
        MT_TRY(mt_heap_sums(h, node_of(r, p, longest), &s, err));
    }
    return MT_OK;
}

static enum mt_status give(struct reader *r, struct mt_err *err)
{
    struct mt_heap *h = mt_heap_open(r->rec, MT_DEVICE_HEAP);
    for (size_t i = 0; i < r->paths.n; i++)
        reverse(r->steps.v + r->paths.v[i].first, r->paths.v[i].n);
    enum mt_status st = r->has[DB] ? give_leaks(r, h, err) : give_sums(r, h, err);
    if (st == MT_OK)
        st = mt_heap_close(h, err);
    mt_heap_free(h);
    return st;
}

/* What follows the totals, of which the current line is the first, is no part of it. */
static enum mt_status pass_over_rest(struct reader *r, struct mt_err *err)
{
    uint64_t first = UINT64_MAX;
    for (bool any = true; any;) {
        if (r->line.n && first == UINT64_MAX)
            first = r->line.offset;
        MT_TRY(mt_lines_next(&r->lines, &r->line, &any, err));
    }
    if (first != UINT64_MAX)
        mt_rec_note_n(r->rec, MT_NOTE_TRAILING, mt_lines_offset(&r->lines) - first, (int64_t)first);
    return MT_OK;
}

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    bool any = true;
    enum mt_status st = MT_OK;
    while ((st = mt_lines_next(&r->lines, &r->line, &any, err)) == MT_OK && any && !r->whole &&
           !r->line.cut && !r->rec->notes[MT_NOTE_CUT].count)
        MT_TRY(read_line(r, err));
    if (st == MT_OK && any && r->whole)
        MT_TRY(pass_over_rest(r, err));
    bool cut = r->rec->notes[MT_NOTE_CUT].count;
    if (!cut && (st == MT_EINPUT || (st == MT_OK && !r->whole)))
        st = mt_reader_cut(r->opts, r->rec, mt_lines_offset(&r->lines),
                           "ends early: its totals are missing", err);
    MT_TRY(st);
    MT_TRY(check_events(r, err));
    return give(r, err);
}

static enum mt_status xtree_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                 struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {
        .lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .opts = opts,
        .rec = rec,
        .file = MT_NONE,
        .function = MT_NONE,
        .callee = MT_NONE,
    };
    rec->time_unit = NULL;
    mt_path_tree_init(&r.tree, rec);
    mt_strtab_init(&r.texts);
    enum mt_status st = read_all(&r, err);
    mt_rec_beside(rec, &r.beside, 0);
    mt_path_tree_free(&r.tree);
    mt_strtab_free(&r.texts);
    mt_vec_free(&r.names[FILES]);
    mt_vec_free(&r.names[FUNCTIONS]);
    mt_vec_free(&r.paths);
    mt_vec_free(&r.steps);
    return st;
}

static int xtree_probe(const char *head, size_t n)
{
    static const char first[] = "# callgrind format", creator[] = "\ncreator: xtree-";
    if (memmem(head, n, creator, sizeof creator - 1))
        return 95;
    return n >= sizeof first - 1 && memcmp(head, first, sizeof first - 1) == 0 ? 60 : 0;
}

const struct mt_reader mt_reader_xtree = {
    .name = "xtree",
    .kind = MT_RUN_HEAP,
    .probe = xtree_probe,
    .read = xtree_read,
};
