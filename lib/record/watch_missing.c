/* What nobody saw of the processes that were looked at, in words. */
#include "lib/record/watch_parts.h"

void mt_watch_add_missing(struct mt_buf *out, uint64_t n, const char *text)
{
    if (!n)
        return;
    mt_buf_adds(out, out->n ? "; " : "");
    mt_buf_addf(out, text, (unsigned long long)n);
}

void mt_watch_missing(const struct mt_watch *w, struct mt_buf *out)
{
    mt_watch_add_missing(out, w->left_out_n, "no room for processes, %llu or more");
    mt_watch_add_missing(out, w->hidden_n, "the system hides processes, %llu or more");
    if (w->cut)
        mt_watch_add_missing(out, 1, "what a process had after the last sample, until it ended");
    if (w->missed)
        mt_watch_add_missing(out, 1, "children, perhaps, that came and went between two samples");
    if (w->no_lists)
        mt_watch_add_missing(out, 1, "the kernel does not list children");
}
