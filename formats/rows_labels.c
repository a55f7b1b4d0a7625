/* Columns of rows that are no figures: left out, or threads and labels that call paths begin with.
 */
#include "formats/rows.h"
#include "lib/model/label_text.h"

#include <string.h>
#include <strings.h>

enum { LABELS_MAX = 64, OTHERS_MAX = 1 << 10, NAME_MAX_SHOWN = 64 };

void mt_rows_trim(const char **name, size_t *n)
{
    while (*n && (**name == ' ' || **name == '\t')) {
        ++*name;
        --*n;
    }
    while (*n && ((*name)[*n - 1] == ' ' || (*name)[*n - 1] == '\t'))
        --*n;
}

void mt_rows_leave_out(struct mt_rows *r, const char *name, size_t n)
{
    uint32_t known = r->others.n;
    mt_rows_trim(&name, &n);
    if (known == OTHERS_MAX || mt_strtab_add(&r->others, name, n) < known)
        return;
    mt_rec_note(r->rec, MT_NOTE_COLUMNS, -1, 0);
    mt_buf_adds(&r->left_out, known ? ", " : "");
    mt_buf_add(&r->left_out, name, n < NAME_MAX_SHOWN ? n : NAME_MAX_SHOWN);
    mt_buf_adds(&r->left_out, "");
    mt_rec_note_detail(r->rec, MT_NOTE_COLUMNS, "%s", r->left_out.s);
}

static bool is_thread(const char *name, size_t n)
{
    mt_rows_trim(&name, &n);
    return n == 6 && strncasecmp(name, "thread", n) == 0;
}

bool mt_rows_keeps(const struct mt_rows *r, const char *name, size_t n)
{
    return n && r->opts->split & (is_thread(name, n) ? MT_SPLIT_THREAD : MT_SPLIT_LABEL);
}

void mt_rows_tell(struct mt_rows *r, const char *name, size_t name_n, const char *value,
                  size_t value_n)
{
    uint32_t text = mt_strtab_add(&r->rec->strings, value, value_n);
    if (!value_n)
        return;
    if (is_thread(name, name_n) && r->opts->split & MT_SPLIT_THREAD) {
        r->thread = text;
        return;
    }
    uint32_t key = mt_strtab_add(&r->rec->strings, name, name_n);
    size_t at = 0; /* in the order of keys, each once */
    while (at < r->labels.n && strcmp(mt_strtab_get(&r->rec->strings, r->labels.v[at].key),
                                      mt_strtab_get(&r->rec->strings, key)) < 0)
        at++;
    if (r->labels.n == LABELS_MAX || (at < r->labels.n && r->labels.v[at].key == key))
        return;
    mt_vec_push(&r->labels);
    memmove(r->labels.v + at + 1, r->labels.v + at, (r->labels.n - 1 - at) * sizeof *r->labels.v);
    r->labels.v[at] = (struct mt_rows_label){key, text};
}

uint32_t mt_rows_root(struct mt_rows *r)
{
    uint32_t root = MT_NONE;
    if (r->thread != MT_NONE)
        root = mt_path_root(&r->paths, root, mt_strtab_get(&r->rec->strings, r->thread),
                            MT_PATH_THREAD);
    if (!r->labels.n)
        return root;
    struct mt_buf text = {0};
    for (size_t i = 0; i < r->labels.n; i++)
        mt_label_add(&text, mt_strtab_get(&r->rec->strings, r->labels.v[i].key),
                     mt_strtab_get(&r->rec->strings, r->labels.v[i].value));
    root = mt_path_root(&r->paths, root, text.s, MT_PATH_LABEL);
    mt_buf_free(&text);
    return root;
}
