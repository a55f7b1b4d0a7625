#include "lib/render/cut_path.h"

#include "lib/base/human.h"
#include "lib/model/python_files.h"

#include <stdlib.h>
#include <string.h>

#define ARROW " > "

struct name {
    const char *s;
    size_t n;
    bool own, kept; /* a function of the user's; shown */
};

struct names {
    struct name *v;
    size_t n, cap;
};

static bool is_own(const char *s, size_t n)
{
    char *name = mt_strndup(s, n);
    bool own = mt_python_is_users(name);
    free(name);
    return own;
}

static void split(const char *path, struct names *out)
{
    for (const char *s = path, *next; s; s = next ? next + strlen(ARROW) : NULL) {
        next = strstr(s, ARROW);
        size_t n = next ? (size_t)(next - s) : strlen(s);
        *mt_vec_push(out) = (struct name){s, n, is_own(s, n), false};
    }
}

/* What the names kept read, with a mark for each gap. */
static void join(const struct names *names, const char *mark, struct mt_buf *out)
{
    bool gap = false;
    mt_buf_clear(out);
    for (size_t i = 0; i < names->n; i++) {
        if (names->v[i].kept || !gap) {
            mt_buf_adds(out, out->n ? ARROW : "");
            if (names->v[i].kept)
                mt_buf_add(out, names->v[i].s, names->v[i].n);
            else
                mt_buf_adds(out, mark);
        }
        gap = !names->v[i].kept;
    }
}

/* Keeps names of that kind as far as there is room, inner ones first. */
static void keep(struct names *names, bool own, const char *mark, int width, struct mt_buf *text)
{
    for (size_t i = names->n; i-- > 0;) {
        if (names->v[i].kept || names->v[i].own != own)
            continue;
        names->v[i].kept = true;
        join(names, mark, text);
        if (mt_display_width(text->s) > width) {
            names->v[i].kept = false;
            return;
        }
    }
}

/* The last name and the innermost function of the user's: what is shown in any case. */
static void keep_least(struct names *names)
{
    size_t own = names->n;
    while (own > 0 && !names->v[own - 1].own)
        own--;
    names->v[own > 0 ? own - 1 : names->n - 1].kept = true;
    names->v[names->n - 1].kept = true;
}

void mt_cut_path(struct mt_buf *out, const char *path, int width, bool ascii)
{
    const char *mark = ascii ? "..." : "\u2026";
    struct names names = {0};
    struct mt_buf text = {0};
    split(path, &names);
    keep_least(&names);
    join(&names, mark, &text);
    if (mt_display_width(text.s) < width) {
        keep(&names, true, mark, width, &text);
        keep(&names, false, mark, width, &text);
        join(&names, mark, &text);
    }
    const char *shown = text.s;
    if (mt_display_width(shown) > width && !names.v[0].kept) /* not even room for the mark */
        shown += strlen(mark) + strlen(ARROW);
    mt_cut_middle(out, shown, width, ascii);
    mt_vec_free(&names);
    mt_buf_free(&text);
}
