#include "lib/model/notes.h"

#include "lib/base/human.h"
#include "lib/model/recording.h"
#include <string.h>

const char *const mt_note_names[MT_NOTE_N] = {
    [MT_NOTE_SKIPPED] = "skipped",
    [MT_NOTE_UNREAD] = "unread",
    [MT_NOTE_CUT] = "cut",
    [MT_NOTE_CUT_THREADS] = "cut_threads",
    [MT_NOTE_CUT_ORDER] = "cut_order",
    [MT_NOTE_OVERLAP] = "overlap",
    [MT_NOTE_NEGATIVE_DUR] = "negative_dur",
    [MT_NOTE_UNSEEN] = "freed_unseen",
    [MT_NOTE_REUSED_ADDRESS] = "reused_address",
    [MT_NOTE_REPLACED] = "replaced",
    [MT_NOTE_SIZE_MISMATCH] = "size_mismatch",
    [MT_NOTE_NO_ADDRESS] = "no_address",
    [MT_NOTE_UNMATCHED_BE] = "unmatched_begin_end",
    [MT_NOTE_FORWARD] = "forward_ambiguous",
    [MT_NOTE_RESIDUAL] = "residual",
    [MT_NOTE_NO_MEMORY] = "no_memory",
    [MT_NOTE_UNWRITTEN] = "no_memory_written",
    [MT_NOTE_EMPTY] = "empty",
    [MT_NOTE_CUT_MEMORY] = "no_memory_before_cut",
    [MT_NOTE_OUTSIDE] = "outside_ops",
    [MT_NOTE_BEFORE] = "before_trace",
    [MT_NOTE_RAN_BEFORE] = "ran_before",
    [MT_NOTE_DEVICE_EVENTS] = "device_events",
    [MT_NOTE_OOM] = "out_of_memory",
    [MT_NOTE_NO_TIMES] = "no_times",
    [MT_NOTE_CLOCK] = "clock",
    [MT_NOTE_ORDER] = "order",
    [MT_NOTE_LULL] = "lull",
    [MT_NOTE_UNKNOWN_ACTION] = "unknown_action",
    [MT_NOTE_STATE_ONLY] = "state_only",
    [MT_NOTE_NO_PATH] = "no_path",
    [MT_NOTE_HISTORY_CUT] = "history_cut",
    [MT_NOTE_TRAILING] = "trailing",
    [MT_NOTE_BAD_SIZE] = "bad_size",
    [MT_NOTE_LOST_NAME] = "lost_name",
    [MT_NOTE_BY_SIZE] = "paired_by_size",
    [MT_NOTE_STEPS_MERGED] = "steps_merged",
    [MT_NOTE_STEPS_ROUNDS] = "steps_rounds",
    [MT_NOTE_STEPS_UNKNOWN] = "steps_unknown",
    [MT_NOTE_STEPS_UNMARKED] = "steps_unmarked",
    [MT_NOTE_NO_PARAMETERS] = "parameters_unknown",
    [MT_NOTE_NO_GRADIENTS] = "gradients_unknown",
    [MT_NOTE_NO_STATE] = "state_unknown",
    [MT_NOTE_STEPS_APART] = "steps_processes",
    [MT_NOTE_OLDER] = "older_unknown",
    [MT_NOTE_BAD_BASE] = "bad_base",
    [MT_NOTE_STEPS_IDLE] = "steps_idle",
    [MT_NOTE_STEPS_NUMBER] = "steps_renumbered",
    [MT_NOTE_ALLOC_UNSEEN] = "alloc_unseen",
    [MT_NOTE_MOMENT_SUM] = "moment_sum",
    [MT_NOTE_NO_PEAK] = "no_peak",
    [MT_NOTE_CALLERS] = "callers",
    [MT_NOTE_NO_ALLOCATIONS] = "no_allocations",
    [MT_NOTE_UNLISTED] = "unlisted",
    [MT_NOTE_PROCESSES] = "processes",
    [MT_NOTE_OWNERS] = "owners",
    [MT_NOTE_UNTRACED] = "untraced",
    [MT_NOTE_APPENDED] = "appended",
    [MT_NOTE_REPORTS] = "reports",
    [MT_NOTE_AGAIN] = "reported_again",
    [MT_NOTE_SAMPLED] = "sampled",
    [MT_NOTE_NO_SYMBOLS] = "no_symbols",
    [MT_NOTE_SAMPLE_TYPES] = "sample_types",
    [MT_NOTE_MOMENTS] = "moments",
    [MT_NOTE_COLUMNS] = "columns_left_out",
    [MT_NOTE_VALUES] = "values_unsaid",
    [MT_NOTE_DUMPS] = "dumps",
    [MT_NOTE_KINDS] = "kinds_left_out",
    [MT_NOTE_BASE_TWICE] = "base_twice",
    [MT_NOTE_BASE_DIFFERS] = "base_differs",
    [MT_NOTE_PEAK_UNSEEN] = "peak_unseen",
    [MT_NOTE_PEAK_AT_MOST] = "peak_at_most",
    [MT_NOTE_UNWATCHED] = "unwatched",
    [MT_NOTE_ATTACHED] = "attached",
    [MT_NOTE_NO_TRACE] = "no_trace",
    [MT_NOTE_NO_MALLOC] = "no_malloc",
    [MT_NOTE_PROFILER] = "profiler",
    [MT_NOTE_LEVEL] = "level_of",
    [MT_NOTE_SAID] = "lines_left_out",
    [MT_NOTE_LIBRARY] = "library_folded",
    [MT_NOTE_INTERPRETER] = "interpreter_folded",
    [MT_NOTE_UNITS] = "units",
    [MT_NOTE_NAMES] = "names",
    [MT_NOTE_NO_LEVEL] = "no_level",
    [MT_NOTE_NAMES_LEFT_OUT] = "names_left_out",
    [MT_NOTE_LONG_NAMES] = "long_names",
    [MT_NOTE_YIELDED] = "yielded",
};

/* The one table of what touches what; 0: nobody decided (tests/matrix/test_notes.py). */
const unsigned mt_note_about[MT_NOTE_N] = {
#define ABOUT(what) MT_ABOUT_##what
    [MT_NOTE_SKIPPED] = ABOUT(ALL),
    [MT_NOTE_UNREAD] = ABOUT(ALL),
    [MT_NOTE_CUT] = ABOUT(ALL),
    [MT_NOTE_CUT_THREADS] = ABOUT(LEVELS),
    [MT_NOTE_CUT_ORDER] = ABOUT(LEVELS),
    [MT_NOTE_TRAILING] = ABOUT(ALL),
    [MT_NOTE_RESIDUAL] = ABOUT(ALL),
    [MT_NOTE_NO_ALLOCATIONS] = ABOUT(ALL),
    [MT_NOTE_PROCESSES] = ABOUT(ALL),
    [MT_NOTE_OWNERS] = ABOUT(ALL),
    [MT_NOTE_UNTRACED] = ABOUT(ALL),
    [MT_NOTE_APPENDED] = ABOUT(ALL),
    [MT_NOTE_REPORTS] = ABOUT(END) | ABOUT(SITES),
    [MT_NOTE_AGAIN] = ABOUT(NO_FIGURE),
    [MT_NOTE_SAMPLED] = ABOUT(ALL),
    [MT_NOTE_MOMENTS] = ABOUT(LEVELS),
    [MT_NOTE_COLUMNS] = ABOUT(NO_FIGURE),
    [MT_NOTE_LIBRARY] = ABOUT(NO_FIGURE),
    [MT_NOTE_INTERPRETER] = ABOUT(NO_FIGURE),
    [MT_NOTE_UNITS] = ABOUT(NO_FIGURE),
    [MT_NOTE_NAMES] = ABOUT(LEVELS),
    [MT_NOTE_NO_LEVEL] = ABOUT(NO_FIGURE),
    [MT_NOTE_NAMES_LEFT_OUT] = ABOUT(NO_FIGURE),
    [MT_NOTE_LONG_NAMES] = ABOUT(NO_FIGURE),
    [MT_NOTE_VALUES] = ABOUT(ALL),
    [MT_NOTE_DUMPS] = ABOUT(LEVELS),
    [MT_NOTE_KINDS] = ABOUT(END),
    [MT_NOTE_PEAK_UNSEEN] = ABOUT(LEVELS),
    [MT_NOTE_PEAK_AT_MOST] = ABOUT(LEVELS),
    [MT_NOTE_UNWATCHED] = ABOUT(LEVELS),
    [MT_NOTE_ATTACHED] = ABOUT(LEVELS),
    [MT_NOTE_NO_TRACE] = ABOUT(LEVELS),
    [MT_NOTE_YIELDED] = ABOUT(SUMS) | ABOUT(LEVELS),
    [MT_NOTE_NO_MALLOC] = ABOUT(LEVELS),
    [MT_NOTE_PROFILER] = ABOUT(LEVELS) | ABOUT(LIFETIMES),
    [MT_NOTE_LEVEL] = ABOUT(LEVELS),
    [MT_NOTE_SAID] = ABOUT(STEPS),
    [MT_NOTE_BAD_SIZE] = ABOUT(SUMS) | ABOUT(LEVELS) | ABOUT(END) | ABOUT(SITES) | ABOUT(LIFETIMES),
    [MT_NOTE_UNKNOWN_ACTION] = ABOUT(SUMS) | ABOUT(LEVELS),
    [MT_NOTE_HISTORY_CUT] = ABOUT(SUMS) | ABOUT(LEVELS) | ABOUT(LIFETIMES),
    [MT_NOTE_BEFORE] = ABOUT(LEVELS) | ABOUT(END) | ABOUT(LIFETIMES),
    [MT_NOTE_RAN_BEFORE] = ABOUT(LEVELS) | ABOUT(END),
    [MT_NOTE_BAD_BASE] = ABOUT(LEVELS) | ABOUT(END),
    [MT_NOTE_BASE_TWICE] = ABOUT(LEVELS) | ABOUT(END),
    [MT_NOTE_BASE_DIFFERS] = ABOUT(LEVELS) | ABOUT(END),
    [MT_NOTE_UNSEEN] = ABOUT(UNSEEN),
    [MT_NOTE_ALLOC_UNSEEN] = ABOUT(UNSEEN),
    [MT_NOTE_OLDER] = ABOUT(OLDER),
    [MT_NOTE_NO_PEAK] = ABOUT(LEVELS),
    [MT_NOTE_MOMENT_SUM] = ABOUT(LEVELS) | ABOUT(SITES),
    [MT_NOTE_CALLERS] = ABOUT(SITES),
    [MT_NOTE_UNLISTED] = ABOUT(SHOWN),
    [MT_NOTE_REUSED_ADDRESS] = ABOUT(LEVELS) | ABOUT(END) | ABOUT(LIFETIMES),
    [MT_NOTE_REPLACED] = ABOUT(LEVELS) | ABOUT(END) | ABOUT(LIFETIMES),
    [MT_NOTE_SIZE_MISMATCH] = ABOUT(END) | ABOUT(SITES) | ABOUT(LIFETIMES),
    [MT_NOTE_NO_ADDRESS] = ABOUT(END) | ABOUT(SITES) | ABOUT(LIFETIMES),
    [MT_NOTE_BY_SIZE] = ABOUT(END) | ABOUT(SITES) | ABOUT(LIFETIMES),
    [MT_NOTE_UNMATCHED_BE] = ABOUT(SITES) | ABOUT(DURATIONS),
    [MT_NOTE_LOST_NAME] = ABOUT(SCOPES),
    [MT_NOTE_FORWARD] = ABOUT(FORWARD),
    [MT_NOTE_OVERLAP] = ABOUT(DURATIONS),
    [MT_NOTE_NEGATIVE_DUR] = ABOUT(DURATIONS),
    [MT_NOTE_NO_TIMES] = ABOUT(TIMES),
    [MT_NOTE_CLOCK] = ABOUT(TIMES),
    [MT_NOTE_ORDER] = ABOUT(TIMES) | ABOUT(LIFETIMES),
    [MT_NOTE_LULL] = ABOUT(TIMES) | ABOUT(LIFETIMES),
    [MT_NOTE_STEPS_MERGED] = ABOUT(STEPS),
    [MT_NOTE_STEPS_ROUNDS] = ABOUT(STEPS),
    [MT_NOTE_STEPS_UNKNOWN] = ABOUT(STEPS),
    [MT_NOTE_STEPS_UNMARKED] = ABOUT(SITES),
    [MT_NOTE_NO_PARAMETERS] = ABOUT(CATEGORIES),
    [MT_NOTE_NO_GRADIENTS] = ABOUT(CATEGORIES),
    [MT_NOTE_NO_STATE] = ABOUT(CATEGORIES),
    [MT_NOTE_STEPS_APART] = ABOUT(STEPS),
    [MT_NOTE_STEPS_IDLE] = ABOUT(NO_FIGURE),
    [MT_NOTE_STEPS_NUMBER] = ABOUT(STEPS),
    [MT_NOTE_NO_MEMORY] = ABOUT(SHOWN),
    [MT_NOTE_UNWRITTEN] = ABOUT(SHOWN),
    [MT_NOTE_EMPTY] = ABOUT(SHOWN),
    [MT_NOTE_CUT_MEMORY] = ABOUT(SHOWN),
    [MT_NOTE_OUTSIDE] = ABOUT(SHOWN),
    [MT_NOTE_NO_PATH] = ABOUT(SHOWN),
    [MT_NOTE_STATE_ONLY] = ABOUT(SHOWN),
    [MT_NOTE_DEVICE_EVENTS] = ABOUT(NO_FIGURE),
    [MT_NOTE_OOM] = ABOUT(NO_FIGURE),
    [MT_NOTE_NO_SYMBOLS] = ABOUT(NO_FIGURE),
    [MT_NOTE_SAMPLE_TYPES] = ABOUT(NO_FIGURE),
#undef ABOUT
};

/* %N count, %O first offset, %B bytes, %D detail; "thing/things" picks by count. */
static const char *const texts[MT_NOTE_N] = {
    [MT_NOTE_SKIPPED] = "%N damaged event/events left out{, the first at byte %O}",
    [MT_NOTE_UNREAD] = "%N line/lines with an rss, or what may be one, was/were left out, as it "
                       "cannot be read{, the first at byte %O}; import --pattern says what it is",
    [MT_NOTE_CUT] = "the file ends early, at byte %O; what was complete is kept",
    [MT_NOTE_CUT_THREADS] =
        "records stand thread by thread, and those of the last threads are lost: memory may have "
        "been higher or lower at any time",
    [MT_NOTE_CUT_ORDER] =
        "records stand in no order of time, and some of any time are lost: memory "
        "may have been higher or lower at any time",
    [MT_NOTE_OVERLAP] =
        "%N op/ops ended after the op around it/them, and was/were cut at that one's end",
    [MT_NOTE_NEGATIVE_DUR] = "%N negative duration/durations set to 0{, the first at byte %O}",
    [MT_NOTE_UNSEEN] = "%N block/blocks (%B) was/were freed where the profiler did not see it, "
                       "e.g. by a thread of its own: figures for %D are upper bounds (\"at most\")",
    [MT_NOTE_REUSED_ADDRESS] = "%N block/blocks (%B) was/were handed out again without a recorded "
                               "free; counted as alive at the end",
    [MT_NOTE_REPLACED] = "%N block/blocks (%B) was/were handed out again without a recorded free; "
                         "counted as freed then",
    [MT_NOTE_SIZE_MISMATCH] =
        "%N free/frees of another size than the block at that address, not paired",
    [MT_NOTE_ALLOC_UNSEEN] = "%N block/blocks (%B) was/were allocated where the profiler did not "
                             "see it, and assumed to be "
                             "alive since the block there before was freed",
    [MT_NOTE_MOMENT_SUM] = "at %N time/times call paths hold %B more than the file's own "
                           "total, which was raised",
    [MT_NOTE_NO_ADDRESS] =
        "%N record/records carry no address (torch 1.9): lifetimes, at-peak and at-end are unknown",
    [MT_NOTE_UNMATCHED_BE] = "%N begin or end event/events without its/their other half",
    [MT_NOTE_FORWARD] =
        "%N backward op/ops could belong to forward ops of several threads; left unassigned",
    [MT_NOTE_RESIDUAL] =
        "records are missing: %D; a thread without the profiler leaves none, for instance",
    [MT_NOTE_NO_MEMORY] =
        "no memory records in this file; record them with profile(profile_memory=True)",
    [MT_NOTE_UNWRITTEN] = "recorded with profile_memory=True, but PyTorch wrote no memory records "
                          "(profile_all_threads=True writes none)",
    [MT_NOTE_EMPTY] = "neither ops nor memory records in this file; a profiler with a schedule "
                      "discards one cycle as the next begins: export in on_trace_ready, or give "
                      "the schedule repeat=1",
    [MT_NOTE_CUT_MEMORY] =
        "no memory records in what was read: PyTorch writes them after the ops, so "
        "the cut lost them; copy the file again, or record again",
    [MT_NOTE_OUTSIDE] = "%N record/records (%B net) outside every op, e.g. tensors deleted by "
                        "Python between operators",
    [MT_NOTE_BEFORE] =
        "%N block/blocks (%B) freed here was/were allocated before the recording began",
    [MT_NOTE_RAN_BEFORE] = "the recorder was attached to a program that ran already: what this had "
                           "allocated by then is in no figure",
    [MT_NOTE_DEVICE_EVENTS] =
        "%N kernel and copy event/events on accelerators are not ops, and not stored",
    [MT_NOTE_OOM] = "%N allocation/allocations failed: out of memory",
    [MT_NOTE_NO_TIMES] = "the file has no times: event numbers stand for times, shown as ns",
    [MT_NOTE_CLOCK] = "%N event/events with an earlier time than the event before, moved to "
                      "that event's time",
    [MT_NOTE_ORDER] = "%N value/values of an earlier time than the one before in the file, put in "
                      "order; a time may be damaged",
    [MT_NOTE_LULL] = "nearly all of the time is %D, in which nothing was recorded: the program "
                     "waited or was stopped, or a time in the file is damaged",
    [MT_NOTE_UNKNOWN_ACTION] =
        "%N event/events of a kind this version does not know, kept as they are in v_event: "
        "%D",
    [MT_NOTE_STATE_ONLY] = "the file has no history, only what was alive when it was written; "
                           "torch.cuda.memory._record_memory_history() before the run records one",
    [MT_NOTE_HISTORY_CUT] =
        "the recorder's buffer was full and dropped the oldest events; what was "
        "allocated before the first remaining one counts as older",
    [MT_NOTE_NO_PATH] =
        "%N record/records (%B net) without a call path: no stacks were recorded for "
        "them, or only uninformative frames (--cpp-frames all keeps those)",
    [MT_NOTE_TRAILING] = "%N byte/bytes behind the end of the recording, from byte %O on, left out",
    [MT_NOTE_BAD_SIZE] = "%N impossible size/sizes of events, blocks or segments, not used; such "
                         "events are kept as they are in v_event",
    [MT_NOTE_LOST_NAME] =
        "%N annotation/annotations called 'unknown': PyTorch writes this for a name that it cannot "
        "export, such as one with a line break; different scopes may share this row",
    [MT_NOTE_BY_SIZE] = "%N record/records (%B) without an address: paired with blocks of the same "
                        "size, the latest first, so which block was freed is a guess",
    [MT_NOTE_STEPS_MERGED] =
        "%N step marker/markers that begin inside another are part of its step",
    [MT_NOTE_STEPS_ROUNDS] =
        "%N optimizer steps make %D of the loop: several optimizers, or tasks, take turns; import "
        "with --step-marker REGEX where a step is something else",
    [MT_NOTE_STEPS_UNKNOWN] =
        "no steps: %N optimizer step/steps follow no pattern that shows how many of them make one "
        "of the loop; import with --step-marker REGEX to say what a step is, such as a "
        "record_function() of yours or 'Optimizer.step#SGD'",
    [MT_NOTE_STEPS_UNMARKED] =
        "no step of an optimizer is marked, as torch.compile(optimizer.step) leaves it: what an "
        "optimizer keeps cannot be told from what else is kept, and reads [unknown]",
    [MT_NOTE_NO_PARAMETERS] =
        "something learns, and no block is known as a parameter: they have another category, such "
        "as those that are views of one tensor",
    [MT_NOTE_NO_GRADIENTS] =
        "something learns, and no block is known as a gradient: they have another category, such "
        "as those that were made before the first backward pass",
    [MT_NOTE_NO_STATE] =
        "an optimizer keeps state, and no block is known as that: it has another category, such as "
        "what was loaded from a checkpoint",
    [MT_NOTE_STEPS_APART] =
        "no steps: %N processes have steps of their own, which are not the same; import the "
        "recording of each by itself, or with --step-marker REGEX a marker that only one has",
    [MT_NOTE_OLDER] =
        "allocated before the recording and not counted: %D; if you know the exact size, import "
        "--base SIZE counts it",
    [MT_NOTE_BAD_BASE] =
        "the file's own \"memtool_base\" is neither a number of bytes nor an object of "
        "such numbers by device, and was not used",
    [MT_NOTE_BASE_TWICE] =
        "the file's own \"memtool_base\" gives two sizes for %D: the first was used",
    [MT_NOTE_BASE_DIFFERS] =
        "--base was used, though the file's own \"memtool_base\" gives another size: %D",
    [MT_NOTE_PEAK_UNSEEN] =
        "the peak is higher than what was seen: the command, or a child of it, had %B when nobody "
        "looked",
    [MT_NOTE_PEAK_AT_MOST] = "the peak may be higher than what was seen: %D %B at most",
    [MT_NOTE_UNWATCHED] = "not all was recorded: %D",
    [MT_NOTE_ATTACHED] = "the process had run for %D when the recording began: nothing is known of "
                         "that time but its highest rss, %B",
    [MT_NOTE_NO_MALLOC] = "what malloc has was not recorded, or not of all processes: %D",
    [MT_NOTE_PROFILER] =
        "rss includes what PyTorch's profiler needs, and is lower without --torch: %D",
    [MT_NOTE_NO_TRACE] = "what PyTorch allocated was not recorded, or not all of it: %D",
    [MT_NOTE_YIELDED] = "the trace ends where the program started a profiler of its own: memory "
                        "may have been higher after that, as the program's own trace says",
    [MT_NOTE_NO_ALLOCATIONS] =
        "nothing is allocated in this file: the program ended at once, or the recorder "
        "was not loaded into it",
    [MT_NOTE_NO_PEAK] =
        "no moment is marked as the peak: the program freed nothing, the file was cut off behind "
        "one of them, or heaptrack_print -M wrote it",
    [MT_NOTE_DUMPS] =
        "made of %N dumps: what was held is known when each was written, and between two of them "
        "more may have been",
    [MT_NOTE_KINDS] = "more is alive at the end than is listed: %D",
    [MT_NOTE_PROCESSES] =
        "%N processes wrote this log and are not told apart: figures may be off; write one for "
        "each",
    [MT_NOTE_OWNERS] = "one process wrote this log, or several did, which are not told apart: its "
                       "lines name %D; `memtool import --processes one`, or `several`, says so",
    [MT_NOTE_UNTRACED] = "not all was recorded, and figures may be off: %D",
    [MT_NOTE_APPENDED] =
        "%N recordings stand in this file, one behind the other, and figures are of all; import "
        "each by itself to tell them apart",
    [MT_NOTE_REPORTS] =
        "%N processes report leaks in this file, and figures are sums of all; import "
        "the report of each by itself to tell them apart",
    [MT_NOTE_AGAIN] =
        "%N earlier report/reports of leaks is/are left out: its/their process reported "
        "again, and the last one counts",
    [MT_NOTE_SAMPLED] = "figures are estimates: the recorder sampled %D",
    [MT_NOTE_NO_SYMBOLS] = "%N place/places in code is/are shown without its/their function: %D",
    [MT_NOTE_SAMPLE_TYPES] = "%N figure/figures of samples left out, which is/are not of "
                             "memory or come twice: %D",
    [MT_NOTE_MOMENTS] = "%N moment/moments is/are recorded; between them more may have been alive",
    [MT_NOTE_COLUMNS] = "%N column/columns left out, as not known or of no use here: %D",
    [MT_NOTE_VALUES] = "the file does not say what its figures are; taken for %D: import --values "
                       "WHAT tells it",
    [MT_NOTE_UNLISTED] = "%B in the report's own total have no call path: %D",
    [MT_NOTE_CALLERS] =
        "in %N place/places the file's call paths hold %B less in all than it says: what is "
        "missing has no callers, or no call path",
    [MT_NOTE_LEVEL] = "what is called rss here is %D",
    [MT_NOTE_LIBRARY] = "%N line/lines of the standard library and of installed packages "
                        "counts/count for the line of yours around it/them, where there is one; "
                        "--by site,name shows it/them, import --library-sites makes sites of "
                        "it/them",
    [MT_NOTE_INTERPRETER] =
        "%N function/functions of the Python interpreter is/are left out of call "
        "paths; import --cpp-frames all keeps it/them",
    [MT_NOTE_UNITS] =
        "%N value/values in KB, MB or GB was/were read by 1024, as programs that print "
        "memory mean them: 1 MB is 1048576 B",
    [MT_NOTE_NAMES] = "lines have several names for the memory of the process: %D",
    [MT_NOTE_NO_LEVEL] = "the memory of the process is unknown: %D",
    [MT_NOTE_NAMES_LEFT_OUT] =
        "%N value/values left out: the file has more names for them than a run has "
        "room for, such as %D",
    [MT_NOTE_LONG_NAMES] =
        "%N name/names of more than 8192 bytes was/were cut; length and hash stand "
        "for what is missing",
    [MT_NOTE_SAID] = "%N line/lines that the program wrote to MEMTOOL_FD was/were left out: %D",
    [MT_NOTE_STEPS_NUMBER] =
        "%N step/steps got the next free number: the recorded one is not larger than that of the "
        "step before, or not a number",
    [MT_NOTE_STEPS_IDLE] = "%N step/steps at the end left out: no op ran there and nothing was "
                           "allocated, as after the "
                           "last prof.step() of a loop",
};

static const char breaks[] = " ,.;:(){}";

/* Appends the word at p, "one/many", picking by count; returns its end. */
static const char *add_word(struct mt_buf *out, const char *p, bool many)
{
    size_t n = strcspn(p, breaks);
    const char *slash = memchr(p, '/', n);
    if (!slash)
        mt_buf_add(out, p, n);
    else if (many)
        mt_buf_add(out, slash + 1, (size_t)(p + n - slash - 1));
    else
        mt_buf_add(out, p, (size_t)(slash - p));
    return p + n;
}

void mt_note_text(struct mt_buf *out, enum mt_note_kind kind, const struct mt_note *note)
{
    char number[MT_HUMAN_MAX];
    for (const char *p = texts[kind]; *p;) {
        if (*p == '{' || *p == '}') {
            p += *p == '{' && note->first_offset < 0 ? strcspn(p, "}") : 1;
            continue;
        }
        if (p[0] == '%' && p[1] == 'N')
            mt_buf_adds(out, mt_human_count((int64_t)note->count, number));
        else if (p[0] == '%' && p[1] == 'O')
            mt_buf_adds(out, mt_human_count(note->first_offset, number));
        else if (p[0] == '%' && p[1] == 'B')
            mt_buf_adds(out, mt_human_bytes(note->bytes, number));
        else if (p[0] == '%' && p[1] == 'D')
            mt_buf_adds(out, note->detail);
        else if (strchr(breaks, *p)) {
            mt_buf_addc(out, *p++);
            continue;
        } else {
            p = add_word(out, p, note->count != 1);
            continue;
        }
        p += 2;
    }
}
