#include "formats/meaning.h"

static const char *const meanings[MT_MEANS_N] = {
    [MT_MEANS_AT_END] = "what is alive at the end",
    [MT_MEANS_AT_PEAK] = "what is alive at the peak",
    [MT_MEANS_ALLOCATED] = "what is allocated in all",
    [MT_MEANS_TEMPORARY] = "temporary allocations",
};

enum mt_meaning mt_meaning_of(const struct mt_read_opts *opts, enum mt_meaning usual,
                              struct mt_recording *rec)
{
    rec->values_unsaid = true;
    if (opts->values)
        return opts->values;
    mt_rec_note_detail(rec, MT_NOTE_VALUES, "%s", meanings[usual]);
    mt_rec_note(rec, MT_NOTE_VALUES, -1, 0);
    return usual;
}

unsigned mt_meaning_figures(enum mt_meaning what, bool blocks)
{
    static const unsigned bytes[MT_MEANS_N] = {[MT_MEANS_AT_END] = MT_SUM_AT_END_B,
                                               [MT_MEANS_AT_PEAK] = MT_SUM_AT_PEAK_B,
                                               [MT_MEANS_ALLOCATED] = MT_SUM_ALLOC_B};
    static const unsigned counts[MT_MEANS_N] = {[MT_MEANS_AT_END] = MT_SUM_AT_END_N,
                                                [MT_MEANS_AT_PEAK] = MT_SUM_AT_PEAK_N,
                                                [MT_MEANS_ALLOCATED] = MT_SUM_ALLOC_N};
    return bytes[what] | (blocks ? counts[what] : 0);
}

/* Puts the figure of a path in its place, in sums whose other figures stay as they are. */
static void put(struct mt_heap *h, uint32_t node, enum mt_meaning what, int64_t bytes,
                int64_t blocks, struct mt_sums *sums)
{
    switch (what) {
    case MT_MEANS_AT_PEAK:
        sums->at_peak_b = bytes;
        sums->at_peak_n = blocks;
        break;
    case MT_MEANS_ALLOCATED:
        sums->alloc_b = bytes;
        sums->alloc_n = blocks;
        break;
    case MT_MEANS_TEMPORARY:
        if (bytes > 0)
            mt_heap_extra(h, node, "temporary_b", bytes);
        if (blocks > 0)
            mt_heap_extra(h, node, "temporary_n", blocks);
        break;
    default:
        sums->at_end_b = bytes;
        sums->at_end_n = blocks;
    }
}

enum mt_status mt_meaning_give(struct mt_heap *h, uint32_t node, enum mt_meaning what,
                               int64_t bytes, int64_t blocks, struct mt_err *err)
{
    struct mt_sums s = MT_SUMS_UNKNOWN;
    put(h, node, what, bytes, blocks, &s);
    return mt_heap_sums(h, node, &s, err);
}
