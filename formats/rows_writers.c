/* Processes that wrote rows, as columns name them: they are not told apart, which is said where
 * figures are wrong by it. */
#include "formats/rows.h"

#include <string.h>
#include <strings.h>

enum { WRITERS_MAX = 1 << 10, FIRST = 0 };

bool mt_rows_is_process(const char *name, size_t n)
{
    static const char *const names[] = {"pid",  "process",    "process_id",
                                        "rank", "local_rank", "global_rank"};
    mt_rows_trim(&name, &n);
    for (size_t i = 0; i < MT_ARRAY_LEN(names); i++)
        if (strlen(names[i]) == n && strncasecmp(names[i], name, n) == 0)
            return true;
    return false;
}

void mt_rows_process(struct mt_rows *r, const char *value, size_t n)
{
    if (!n)
        return;
    mt_buf_adds(&r->writer, r->writer.n ? " " : "");
    mt_buf_add(&r->writer, value, n);
}

uint32_t mt_rows_writer(struct mt_rows *r)
{
    if (!r->writer.n)
        return MT_NONE;
    if (r->writers.n < WRITERS_MAX)
        return mt_strtab_add(&r->writers, r->writer.s, r->writer.n);
    return mt_strtab_find(&r->writers, r->writer.s, r->writer.n);
}

/* Of the first process, which is mostly the only one, no address is kept. What is freed and was
 * never allocated is older, of whomever. */
void mt_rows_own(struct mt_rows *r, uint32_t writer, uint64_t freed, uint64_t allocated)
{
    if (writer == MT_NONE || r->writers.n < 2)
        return;
    if (freed) {
        uint32_t node, owner = mt_map_take(&r->owners, freed);
        r->freed_others |= (owner == MT_MAP_NONE ? FIRST : owner) != writer &&
                           mt_heap_block_at(r->heap, freed, &node);
    }
    if (allocated && writer == FIRST)
        mt_map_take(&r->owners, allocated);
    else if (allocated)
        *mt_map_at(&r->owners, allocated) = writer;
}

/* Of a series each row is what one of them holds; of events an address may be a block of each, and
 * a child frees its copy of what its parent has. Sums and sizes add up. */
void mt_rows_note_processes(struct mt_rows *r)
{
    const struct mt_note *notes = r->rec->notes;
    if (r->writers.n < 2 || r->kind == MT_ROWS_SUMS ||
        (r->kind == MT_ROWS_EVENTS && !r->freed_others && !notes[MT_NOTE_REUSED_ADDRESS].count &&
         !notes[MT_NOTE_REPLACED].count))
        return;
    mt_rec_note_n(r->rec, MT_NOTE_PROCESSES, r->writers.n, -1);
}
