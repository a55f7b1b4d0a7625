/* memtool timeline: rows for programs, instead of a picture. */
#include "cmd/timeline.h"
#include "lib/render/columns.h"
#include "lib/run/knows.h"

static int64_t max_ns(const struct mt_timeline *t, const struct mt_bucket *b)
{
    int64_t at = mt_levels_time(&t->levels, b->max_at, b->start_ns);
    return at < b->start_ns ? b->start_ns : at;
}

/* What it was, as far as it is known: at least, at most and last. */
static void put_level(const struct mt_bucket *b, struct mt_cell *cells)
{
    if (mt_bucket_unknown(b))
        return;
    cells[0] = mt_cell_int(b->min_b);
    cells[1] = mt_cell_int(b->max_b);
    if (b->last_b != MT_UNKNOWN)
        cells[2] = mt_cell_int(b->last_b);
}

/* One row per bucket. */
void mt_timeline_bucket_rows(struct mt_timeline *t)
{
    static const char *const ends[] = {"min_b", "max_b", "last_b"};
    mt_report_columns(t->report, "start_ns end_ns min_b max_b last_b max_ns");
    for (size_t i = 0; i < t->beside_n * MT_ARRAY_LEN(ends); i++)
        mt_report_columns(t->report, mt_report_textf(t->report, "%s_%s",
                                                     t->beside[i / MT_ARRAY_LEN(ends)].what,
                                                     ends[i % MT_ARRAY_LEN(ends)]));
    if (t->cpu_ns)
        mt_report_columns(t->report, "threads_n cpu_ns");
    for (size_t k = 0; k < t->buckets.all.n; k++) {
        const struct mt_bucket *b = &t->buckets.all.v[k];
        struct mt_cell *cells = mt_report_row(t->report)->cells;
        *cells++ = mt_cell_int(b->start_ns);
        *cells++ = mt_cell_int(b->end_ns);
        put_level(b, cells);
        cells += MT_ARRAY_LEN(ends);
        *cells++ = mt_bucket_unknown(b) ? (struct mt_cell){0} : mt_cell_int(max_ns(t, b));
        for (size_t i = 0; i < t->beside_n; i++, cells += MT_ARRAY_LEN(ends))
            put_level(&t->beside[i].buckets.all.v[k], cells);
        mt_timeline_work_cells(t, k, cells);
    }
}

/* One row per bucket and band: what was live at the bucket's maximum. */
void mt_timeline_band_rows(struct mt_timeline *t)
{
    struct mt_report *r = t->report;
    mt_report_columns(r, "start_ns end_ns max_ns max_b live_b");
    for (int i = 0; i < t->bands.key_n; i++)
        mt_report_column(r, mt_group_key_name(t->by.v[i]), NULL, MT_UNIT_NONE);
    for (size_t k = 0; k < t->buckets.all.n; k++) {
        if (t->buckets.all.v[k].max_at < 0 && t->unknown_until)
            continue; /* nothing is known of it */
        for (size_t n = 0; n < t->bands.all.n; n++) {
            const struct mt_band *band = &t->bands.all.v[n];
            const struct mt_bucket *b = &t->buckets.all.v[k];
            struct mt_row *row = mt_report_row(r);
            row->explicit_row = band->explicit_row;
            const int64_t figures[] = {b->start_ns, b->end_ns, max_ns(t, b), b->max_b,
                                       band->bytes[k]};
            for (size_t c = 0; c < MT_ARRAY_LEN(figures); c++)
                row->cells[c] = mt_cell_int(figures[c]);
            for (int i = 0; i < t->bands.key_n; i++)
                row->cells[5 + i] = mt_cell_text(band->key[i]);
        }
    }
}
