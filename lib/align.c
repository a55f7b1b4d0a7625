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

struct aligner {
    const enum mt_group_key *keys;
    int key_n;
    struct mt_strtab forms;
    MT_VEC(uint32_t) row_of; /* form -> row, MT_NONE = none yet */
    struct mt_alignment *out;
};

/* The id of a key as seen by a kind of match; MT_NONE: it cannot match so. */
static uint32_t form_of(struct aligner *a, const struct mt_align_key *k, enum mt_match match)
{
    struct mt_buf text = {0};
    bool path = false;
    for (int i = 0; i < a->key_n; i++) {
        const char *s = k->key[i];
        path |= a->keys[i] == MT_BY_PATH;
        if (match == MT_MATCH_NAME && a->keys[i] == MT_BY_PATH)
            s = last_name(s);
        if (match == MT_MATCH_SAME)
            mt_buf_adds(&text, s);
        else
            mt_align_form(&text, s);
        mt_buf_addc(&text, '\x1f');
    }
    mt_buf_addc(&text, k->explicit_row ? '!' : (char)('0' + match));
    uint32_t id =
        match == MT_MATCH_NAME && !path ? MT_NONE : mt_strtab_add(&a->forms, text.s, text.n);
    mt_buf_free(&text);
    while (id != MT_NONE && a->row_of.n <= id)
        *mt_vec_push(&a->row_of) = MT_NONE;
    return id;
}

static void join(struct aligner *a, struct mt_align_key *k, int side, uint32_t form,
                 enum mt_match match)
{
    uint32_t *row = &a->row_of.v[form];
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

/* Joins what both sides have in this form; rows are made only where both do. */
static void match_all(struct aligner *a, struct mt_align_key *side[2], const size_t n[2],
                      enum mt_match match)
{
    struct mt_map seen = {0}; /* form -> sides that have it, as bits */
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < n[s]; i++) {
            uint32_t form = side[s][i].row == MT_NONE ? form_of(a, &side[s][i], match) : MT_NONE;
            if (form == MT_NONE)
                continue;
            uint32_t *bits = mt_map_at(&seen, form);
            *bits = (*bits == MT_NONE ? 0 : *bits) | 1u << s;
        }
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < n[s]; i++) {
            uint32_t form = side[s][i].row == MT_NONE ? form_of(a, &side[s][i], match) : MT_NONE;
            if (form != MT_NONE && mt_map_get(&seen, form) == 3)
                join(a, &side[s][i], s, form, match);
        }
    mt_map_free(&seen);
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
                join(&a, &side[s][i], s, form_of(&a, &side[s][i], MT_MATCH_SAME), MT_MATCH_ONLY);
    for (size_t i = 0; i < out->rows.n; i++)
        out->match_n[out->rows.v[i].match]++;
    mt_strtab_free(&a.forms);
    mt_vec_free(&a.row_of);
}

void mt_alignment_free(struct mt_alignment *a)
{
    mt_vec_free(&a->rows);
}
