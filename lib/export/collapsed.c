/* Collapsed stacks: a line for each path, ";" between functions, one figure behind them. */
#include "lib/export/formats.h"

#include <inttypes.h>

static void add_frame(struct mt_buf *line, const char *text)
{
    if (line->n)
        mt_buf_addc(line, ';');
    for (; *text; text++)
        mt_buf_addc(line, *text == ';' ? ':' : *text); /* there is no escape */
}

void mt_export_collapsed(const struct mt_stacks *s, enum mt_measure measure, FILE *out)
{
    struct mt_buf line = {0};
    MT_VEC(struct {
        uint32_t node;
        size_t before; /* length of the line without it */
    })
    open = {0};
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        const struct mt_stack_node *n = &s->nodes.v[i];
        while (open.n && open.v[open.n - 1].node != n->parent) {
            line.n = open.v[--open.n].before;
            line.s[line.n] = '\0';
        }
        mt_vec_push(&open);
        open.v[open.n - 1].node = i;
        open.v[open.n - 1].before = line.n;
        add_frame(&line, mt_stacks_text(s, s->frames.v[n->frame].text));
        if (n->self[measure] > 0)
            fprintf(out, "%s %" PRId64 "\n", line.s, n->self[measure]);
    }
    mt_vec_free(&open);
    mt_buf_free(&line);
}
