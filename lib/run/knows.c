#include "lib/run/knows.h"

#include "lib/base/mem.h"
#include "lib/model/extras.h"

enum {
    TRACE = 1 << MT_RUN_TRACE,
    SNAPSHOT = 1 << MT_RUN_SNAPSHOT,
    RECORDS = TRACE | SNAPSHOT,
    PROCESS = 1 << MT_RUN_PROCESS,
    ANY = (1 << MT_RUN_KIND_N) - 1
};

#define EXTRA(name) MT_KNOWS_EXTRA(MT_EXTRA_##name)

/* What is missing, by what would be needed and the kind of run: the first that fits. */
static const struct lack {
    unsigned bit; /* enum mt_knows; or several */
    unsigned kinds;
    const char *lacks;   /* behind the name of the run */
    const char *instead; /* whole sentences; NULL: the reports that work */
} lacks[] = {
    {MT_KNOWS_SEGMENTS, ANY, "has no segment data",
     "Only allocator snapshots have it: torch.cuda.memory._dump_snapshot() writes one."},
    {MT_KNOWS_OPS | MT_KNOWS_THREADS | MT_KNOWS_PLACES | MT_KNOWS_AT_END | MT_KNOWS_BLOCKS |
         MT_KNOWS_AT_PEAK | MT_KNOWS_MOMENTS | MT_KNOWS_ALLOC | MT_KNOWS_FREED_IN,
     PROCESS, "is a process log: it tells how much memory there was, not who allocated it", NULL},
    {MT_KNOWS_OPS, SNAPSHOT, "is an allocator snapshot, which has no operators",
     "Profiler traces have them."},
    {MT_KNOWS_OPS, ANY, "has no operators, only call paths and what they hold",
     "`memtool table --by name`, and by site, scope, top or path, work without them."},
    {MT_KNOWS_THREADS, RECORDS, "does not say which thread allocated what",
     "Leave out what asks for threads."},
    {MT_KNOWS_THREADS, ANY, "does not keep threads apart",
     "`memtool import --split thread` does, where the file has threads: of memray, jemalloc, rows "
     "of your own."},
    {MT_KNOWS_LABELS, ANY, "does not keep labels apart",
     "`memtool import --split label` does, where the file has labels: of pprof, rows of your own."},
    {MT_KNOWS_SIZES, ANY, "does not keep blocks apart by size",
     "`memtool import --split size` does, where the file has single blocks or events. Without it "
     "`memtool table --by size`, with no other key, works for what heaptrack_interpret wrote."},
    {MT_KNOWS_PLACES, RECORDS, "does not keep libraries and files apart",
     "`--by line` has file and line of your code, where stacks were recorded; site, name, scope or "
     "path work, too."},
    {MT_KNOWS_PLACES, ANY, "does not say which library or file its functions are in",
     "Heap logs do. `--by site`, name, scope or path work without."},
    {MT_KNOWS_BLOCKS, RECORDS,
     "has no addresses in its records: which block is freed when is unknown",
     "PyTorch writes addresses from 1.11 on. `memtool timeline` and `memtool table` work without "
     "them."},
    {MT_KNOWS_CATEGORIES, TRACE,
     "does not say what its memory is for: it was imported by an older memtool, or has no "
     "addresses",
     "`memtool import --replace FILE` imports the trace again; categories need PyTorch 1.11 or "
     "later."},
    {MT_KNOWS_CATEGORIES, SNAPSHOT,
     "is an allocator snapshot without stacks that tell what its memory is for, or was imported by "
     "an older memtool",
     "Record it with torch.cuda.memory._record_memory_history(); `memtool import --replace FILE` "
     "imports one again."},
    {MT_KNOWS_CATEGORIES, ANY, "does not say what its memory is for",
     "Only PyTorch's profiler traces and memory timelines do."},
    {MT_KNOWS_STEPS, RECORDS, "has no steps", "`memtool info` says how to mark them."},
    {MT_KNOWS_STEPS, ANY, "has no steps", "Ask for times instead, or for all of it."},
    {MT_KNOWS_AT_END, RECORDS,
     "has no addresses in its records: which block is freed when is unknown",
     "PyTorch writes addresses from 1.11 on. `memtool timeline` and `memtool table` work without "
     "them."},
    {MT_KNOWS_AT_END, ANY, "does not say what is alive at the end", NULL},
    {MT_KNOWS_BLOCKS, ANY, "has no single blocks, only sums of call paths", NULL},
    {MT_KNOWS_LEVEL, ANY, "has no curve over time", NULL},
    {MT_KNOWS_PEAK, ANY, "does not say how high memory rose", NULL},
    {MT_KNOWS_AT_PEAK, ANY, "does not say what call paths held at its peak", NULL},
    {MT_KNOWS_MOMENTS, ANY, "does not say what call paths held over time", NULL},
    {MT_KNOWS_ALLOC, ANY, "does not say what was allocated in all", NULL},
    {MT_KNOWS_COUNTS, ANY, "does not count blocks", "Ask for bytes."},
    {MT_KNOWS_FREED, ANY, "does not say what was freed", NULL},
    {MT_KNOWS_FREED_IN, ANY, "does not say which call path freed what",
     "`memtool table` shows what was allocated, and what is alive."},
    {EXTRA(TEMPORARY_N) | EXTRA(TEMPORARY_B), ANY, "does not say which blocks are temporary",
     "heaptrack's raw logs and memray's files of all allocations do."},
    {EXTRA(TEMPORARY_MOST_N), ANY, "does not say how many blocks may be temporary",
     "heaptrack's files do."},
    {EXTRA(READ_B) | EXTRA(WRITTEN_B), ANY, "does not say what was read and written",
     "valgrind --tool=dhat counts it."},
    {EXTRA(LIFETIME_NS) | EXTRA(SHORT_LIVED_N), ANY,
     "does not say how long blocks of its call paths lived", "valgrind --tool=dhat does."},
    {EXTRA(COPIED_B) | EXTRA(COPIES_N), ANY, "does not say what was copied",
     "valgrind --tool=dhat --mode=copy counts it."},
    {EXTRA(UNITS_N) | EXTRA(EVENTS_N), ANY, "has no events of the program's own",
     "valgrind --tool=dhat --mode=ad-hoc counts them."},
};

/* Reports of sums, and what one of must be known for them to answer. */
enum { SUMS = MT_KNOWS_ALLOC | MT_KNOWS_AT_PEAK | MT_KNOWS_AT_END };
#define TABLE (SUMS | MT_KNOWS_EXTRAS)
static const struct answer {
    unsigned any;
    const char *command;
} answers[] = {{MT_KNOWS_PEAK, "`memtool peak`"},
               {MT_KNOWS_MOMENTS, "`memtool peak --at TIME`"},
               {MT_KNOWS_AT_END, "`memtool leaks`"},
               {TABLE, "`memtool table`"},
               {SUMS, "`memtool tree`"},
               {MT_KNOWS_LEVEL, "`memtool timeline`"}};

/* What a run of a kind may know where it has no device. */
static unsigned of_kind(enum mt_run_kind kind)
{
    const unsigned all = ~0u, segments = MT_KNOWS_SEGMENTS;
    const unsigned events = MT_KNOWS_OPS | MT_KNOWS_BLOCKS | MT_KNOWS_FREED_IN | MT_KNOWS_STEPS;
    if (kind == MT_RUN_PROCESS)
        return MT_KNOWS_PEAK | MT_KNOWS_LEVEL;
    return kind == MT_RUN_SNAPSHOT ? all & ~(unsigned)MT_KNOWS_OPS
           : kind == MT_RUN_TRACE  ? all & ~segments
                                   : all & ~segments & ~events;
}

static const struct lack *find(const struct mt_run *run, const struct mt_run_device *device,
                               unsigned need)
{
    unsigned missing = need & ~(device ? device->knows : of_kind(run->kind));
    for (size_t i = 0; i < MT_ARRAY_LEN(lacks); i++)
        if (missing & lacks[i].bit && lacks[i].kinds & 1u << run->kind)
            return &lacks[i];
    return NULL;
}

/* "`memtool peak` and `memtool table` answer from what it knows." */
static void suggest(const struct mt_run *run, const struct mt_run_device *device,
                    struct mt_err *err)
{
    unsigned knows = device ? device->knows : of_kind(run->kind);
    struct mt_buf text = {0};
    size_t n = 0, last = 0;
    for (size_t i = 0; i < MT_ARRAY_LEN(answers); i++) {
        if (!(knows & answers[i].any))
            continue;
        last = text.n;
        mt_buf_addf(&text, "%s%s", n++ ? ", " : "", answers[i].command);
    }
    const char *more = mt_run_notes_get(&run->notes, MT_NOTE_VALUES)
                           ? " Its figures may be others: `memtool import --values` says which."
                           : "";
    if (n > 1)
        mt_err_hint(err, "%.*s and%s answer from what it knows.%s", (int)last, text.s,
                    text.s + last + 1, more);
    else if (n)
        mt_err_hint(err, "%s answers from what it knows.%s", text.s, more);
    else
        mt_err_hint(err, "`memtool info` shows what it has.");
    mt_buf_free(&text);
}

const char *mt_knows_lack(const struct mt_run *run, const struct mt_run_device *device,
                          unsigned need)
{
    const struct lack *lack = find(run, device, need);
    return lack ? lack->lacks : "";
}

void mt_hint_again(const struct mt_run *run, struct mt_err *err)
{
    static const char *const command[] = {
        [MT_AGAIN_PIPE] = "An older memtool imported it, from a pipe: send the same recording to "
                          "`memtool import --replace -%s`.",
        [MT_AGAIN_GONE] = "An older memtool imported it, and %s is not there any more: `memtool "
                          "import --replace FILE` imports it again from wherever that is now.",
        [MT_AGAIN_READ_ONLY] =
            "An older memtool imported it, and this database cannot be written: "
            "in a copy of it (--db), `memtool info` imports %s again by itself."};
    if (mt_run_is_older(run) && run->not_again < MT_ARRAY_LEN(command) && command[run->not_again])
        mt_err_hint(err, command[run->not_again],
                    run->not_again == MT_AGAIN_PIPE ? "" : run->source);
}

enum mt_status mt_knows(const struct mt_run *run, const struct mt_run_device *device, unsigned need,
                        struct mt_err *err)
{
    const struct lack *lack = find(run, device, need);
    if (!lack)
        return MT_OK;
    bool of_run = !(lack->kinds & (lack->kinds - 1)); /* because it is of that one kind */
    if (device && !of_run)
        MT_FAIL(err, MT_EUSAGE, "run '%s', %s: it %s", run->name, device->name, lack->lacks);
    else
        MT_FAIL(err, MT_EUSAGE, "run '%s' %s", run->name, lack->lacks);
    mt_err_cannot_tell(err);
    if (lack->bit & MT_KNOWS_CATEGORIES)
        mt_hint_again(run, err);
    if (lack->instead)
        mt_err_hint(err, "%s", lack->instead);
    else
        suggest(run, device, err);
    return MT_EUSAGE;
}

enum mt_status mt_knows_sums(const struct mt_run *run, const struct mt_run_device *device,
                             struct mt_err *err)
{
    bool any = mt_device_has_events(device) || device->knows & SUMS;
    return any ? MT_OK : mt_knows(run, device, MT_KNOWS_AT_PEAK, err);
}

bool mt_knows_failures(const struct mt_run *run)
{
    bool pytorch = run->kind == MT_RUN_TRACE || run->kind == MT_RUN_SNAPSHOT;
    static const enum mt_note_kind without[] = {MT_NOTE_STATE_ONLY, MT_NOTE_NO_MEMORY,
                                                MT_NOTE_UNWRITTEN, MT_NOTE_EMPTY,
                                                MT_NOTE_CUT_MEMORY};
    for (size_t i = 0; i < MT_ARRAY_LEN(without); i++)
        pytorch &= !mt_run_notes_get(&run->notes, without[i]);
    return pytorch;
}
