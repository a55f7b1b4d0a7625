/* The cache for files given as runs: shows and empties it. */
#include "cmd/runs.h"

#include "cmd/cache.h"
#include "cmd/common.h"
#include "lib/base/human.h"
#include "lib/render/columns.h"
#include <stdio.h>
#include <time.h>

static const char *utc(struct mt_report *r, int64_t ns)
{
    char text[32];
    struct tm parts;
    time_t s = ns / 1000000000;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&s, &parts));
    return mt_report_text(r, text);
}

/* Of which file a database is, or what it is instead; NULL where this memtool cannot read it. */
static const char *source_of(struct mt_report *r, const struct mt_cached *file)
{
    if (file->kind != MT_CACHED_COPY)
        return file->kind == MT_CACHED_BEGUN ? "[being imported]" : "[interrupted]";
    struct mt_err ignored = MT_ERR_INIT;
    struct mt_db *db = NULL;
    struct mt_run run;
    const char *source = NULL;
    if (mt_db_open(file->path, MT_DB_READ, &db, NULL, &ignored) == MT_OK &&
        mt_run_find(db, NULL, &run, &ignored) == MT_OK)
        source = mt_report_text(r, run.source);
    mt_db_close(db);
    return source;
}

enum mt_status mt_show_cache(struct mt_err *err)
{
    struct mt_cached_all all;
    struct mt_report r;
    char most[MT_HUMAN_MAX], sum[MT_HUMAN_MAX];
    int64_t size_b = 0;
    mt_report_init(&r, "memtool.cache", 1);
    r.keep_order = true;
    r.empty = "the cache is empty";
    mt_report_columns(&r, "source size_b used_at database");
    enum mt_status st = mt_cache_list(&all, err);
    for (size_t i = 0; i < all.n; i++) {
        const struct mt_cell cells[] = {mt_cell_text(source_of(&r, &all.v[i])),
                                        mt_cell_int(all.v[i].size_b),
                                        mt_cell_text(utc(&r, all.v[i].used_ns)),
                                        mt_cell_text(mt_report_text(&r, all.v[i].path))};
        struct mt_row *row = mt_report_row(&r);
        row->explicit_row = all.v[i].kind != MT_CACHED_COPY;
        for (size_t c = 0; c < MT_ARRAY_LEN(cells); c++)
            row->cells[c] = cells[c];
        size_b += all.v[i].size_b;
    }
    mt_report_total(&r, "size_b", mt_cell_int(size_b));
    mt_report_footer(
        &r,
        "%s in %s; beyond %d files or %s the least recently used are deleted, --clear-cache "
        "deletes all.",
        mt_human_bytes(size_b, sum), all.folder ? all.folder : "", MT_CACHE_FILES,
        mt_human_bytes(MT_CACHE_BYTES, most));
    if (st == MT_OK)
        st = mt_show(&r, err);
    mt_report_free(&r);
    mt_cached_free(&all);
    return st;
}

enum mt_status mt_clear_cache(struct mt_err *err)
{
    struct mt_cache_cleared done;
    char rest[MT_HUMAN_LONG], size[MT_HUMAN_MAX];
    enum mt_status st = mt_cache_clear(&done, err);
    if (st != MT_OK && !done.copy_n && !done.leftover_n)
        return st;
    mt_human_plural(done.leftover_n, "interrupted import", rest);
    printf("deleted %lld cached cop%s%s%s, %s\n", (long long)done.copy_n,
           done.copy_n == 1 ? "y" : "ies", done.leftover_n ? " and what is left of " : "",
           done.leftover_n ? rest : "", mt_human_bytes(done.size_b, size));
    return st;
}
