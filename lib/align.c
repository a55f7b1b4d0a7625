#include "lib/align.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The end of a run of digits. */
static const char *digits(const char *s)
{
    while (isdigit((unsigned char)*s))
        s++;
    return s;
}

/* The end of an address that begins at s; s where none does: "10x10" holds none. */
static const char *address(const char *start, const char *s)
{
    size_t n = s[0] == '0' && s[1] == 'x' ? strspn(s + 2, "0123456789abcdefABCDEF") : 0;
    return n && (s == start || !isalnum((unsigned char)s[-1])) ? s + 2 + n : s;
}

/* Appends one frame of a path, s[0..n). */
static void frame_form(struct mt_buf *out, const char *s, size_t n)
{
    const char *start = s, *end = s + n, *stop;
    const char *py = memmem(s, n, ".py", 3);
    bool traced = py && py + 4 < end && (py[3] == '(' || py[3] == ':');
    if (traced && (stop = digits(py + 4)) > py + 4 && *stop == (py[3] == '(' ? ')' : ' ')) {
        const char *name = py;
        while (name > s && name[-1] != '/')
            name--;
        mt_buf_add(out, name, (size_t)(py + 3 - name));
        s = py[3] == '(' ? stop + 1 : stop;
    }
    bool module = end - s > 11 && memcmp(s, "nn.Module: ", 11) == 0;
    while (s < end) {
        if (*s == '#' && digits(s + 1) > s + 1)
            s = digits(s + 1);
        else if (module && *s == '_' && digits(s + 1) == end)
            s = end;
        else if ((stop = address(start, s)) > s)
            s = stop;
        else
            mt_buf_addc(out, *s++);
    }
}

void mt_align_form(struct mt_buf *out, const char *name)
{
    mt_buf_adds(out, "");
    for (const char *next; (next = strstr(name, " > ")); name = next + 3) {
        frame_form(out, name, (size_t)(next - name));
        mt_buf_adds(out, " > ");
    }
    frame_form(out, name, strlen(name));
}

static const char *last_name(const char *path)
{
    const char *last = path;
    for (const char *p = path; (p = strstr(p, " > ")); p += 3)
        last = p + 3;
    return last;
}

/* Where the line number of a Python frame begins: "x.py(12): f", "x.py:12 f"; NULL: no such frame.
 */
static const char *line_number(const char *name)
{
    const char *py = strstr(name, ".py");
    bool traced = py && (py[3] == '(' || py[3] == ':') && digits(py + 4) > py + 4;
    return traced ? py + 4 : NULL;
}

/* "train.py step in scope" -> "step in scope": the function without its file. */
static const char *function_of(const char *form)
{
    const char *py = strstr(form, ".py ");
    return py ? py + 4 : form;
}

struct aligner {
    const enum mt_group_key *keys;
    int key_n;
    struct mt_strtab forms;
    struct mt_alignment *out;
};

/* The id of a key as seen by a kind of match; MT_NONE: it cannot match so. */
static uint32_t form_of(struct aligner *a, const struct mt_align_key *k, enum mt_match match)
{
    struct mt_buf text = {0}, form = {0};
    bool can = match != MT_MATCH_NAME;
    for (int i = 0; i < a->key_n; i++) {
        const char *s = k->key[i];
        bool path = a->keys[i] == MT_BY_PATH, by_name = match == MT_MATCH_NAME;
        mt_buf_clear(&form);
        if (match == MT_MATCH_SAME)
            mt_buf_adds(&form, s);
        else
            mt_align_form(&form, by_name && path ? last_name(s) : s);
        can |= path || line_number(s);
        mt_buf_adds(&text, by_name && !path && line_number(s) ? function_of(form.s) : form.s);
        mt_buf_addc(&text, '\x1f');
    }
    mt_buf_addc(&text, k->explicit_row ? '!' : (char)('0' + match));
    uint32_t id = can ? mt_strtab_add(&a->forms, text.s, text.n) : MT_NONE;
    mt_buf_free(&text);
    mt_buf_free(&form);
    return id;
}

/* Adds a key to a row, which is made when it is MT_NONE. */
static void join(struct aligner *a, struct mt_align_key *k, int side, enum mt_match match,
                 uint32_t *row)
{
    if (*row == MT_NONE) {
        *row = (uint32_t)a->out->rows.n;
        *mt_vec_push(&a->out->rows) =
            (struct mt_align_row){.explicit_row = k->explicit_row, .match = match};
    }
    struct mt_align_row *r = &a->out->rows.v[*row];
    memcpy(r->key, k->key, sizeof r->key);
    r->in[side] = true;
    k->row = *row;
}

/* A key not matched yet. */
struct candidate {
    uint32_t form;
    int side;
    int64_t line; /* of its first Python frame, -1 = none */
    size_t place;
    struct mt_align_key *key;
};

static int candidate_cmp(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->form != y->form)
        return x->form < y->form ? -1 : 1;
    if (x->side != y->side)
        return x->side - y->side;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/*
 * Candidates of one form, c[0..n0) of BASE and c[n0..n) of NEW. As many lines of a function on
 * either side are the same lines, moved; else all of them are one row, unless the function is all
 * they share.
 */
static void match_form(struct aligner *a, struct candidate *c, size_t n0, size_t n,
                       enum mt_match match)
{
    bool lines = n0 * 2 == n && c[0].line >= 0;
    uint32_t row = MT_NONE;
    if (!lines && match == MT_MATCH_NAME && c[0].line >= 0 && a->keys[0] != MT_BY_PATH)
        return;
    for (size_t i = 0; i < (lines ? n0 : n); i++) {
        row = lines ? MT_NONE : row;
        join(a, c[i].key, c[i].side, match, &row);
        if (lines)
            join(a, c[n0 + i].key, c[n0 + i].side, match, &row);
    }
}

/* Joins what both sides have in this form; rows are made only where both do. */
static void match_all(struct aligner *a, struct mt_align_key *side[2], const size_t n[2],
                      enum mt_match match)
{
    MT_VEC(struct candidate) all = {0};
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < n[s]; i++) {
            struct mt_align_key *k = &side[s][i];
            uint32_t form = k->row == MT_NONE ? form_of(a, k, match) : MT_NONE;
            const char *line = line_number(k->key[0]);
            if (form != MT_NONE)
                *mt_vec_push(&all) =
                    (struct candidate){form, s, line ? strtoll(line, NULL, 10) : -1, i, k};
        }
    if (all.n)
        qsort(all.v, all.n, sizeof *all.v, candidate_cmp);
    for (size_t first = 0, stop; first < all.n; first = stop) {
        size_t n0 = 0;
        for (stop = first; stop < all.n && all.v[stop].form == all.v[first].form; stop++)
            n0 += all.v[stop].side == 0;
        if (n0 && n0 < stop - first)
            match_form(a, &all.v[first], n0, stop - first, match);
    }
    mt_vec_free(&all);
}

void mt_align(struct mt_align_key *base, size_t base_n, struct mt_align_key *new, size_t new_n,
              const enum mt_group_key *keys, int key_n, struct mt_alignment *out)
{
    struct aligner a = {.keys = keys, .key_n = key_n, .out = out};
    struct mt_align_key *side[2] = {base, new};
    const size_t n[2] = {base_n, new_n};
    *out = (struct mt_alignment){0};
    mt_strtab_init(&a.forms);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < n[s]; i++)
            side[s][i].row = MT_NONE;
    for (int match = MT_MATCH_SAME; match <= MT_MATCH_NAME; match++)
        match_all(&a, side, n, (enum mt_match)match);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < n[s]; i++)
            if (side[s][i].row == MT_NONE)
                join(&a, &side[s][i], s, MT_MATCH_ONLY, &(uint32_t){MT_NONE});
    for (size_t i = 0; i < out->rows.n; i++)
        out->match_n[out->rows.v[i].match]++;
    mt_strtab_free(&a.forms);
}

void mt_alignment_free(struct mt_alignment *a)
{
    mt_vec_free(&a->rows);
}
