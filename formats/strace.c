/*
 * Reader of what strace writes, of the calls that map memory: mmap, munmap, mremap, mprotect, brk.
 * docs/formats/strace.md says what is read.
 */
#include "formats/strace_parts.h"
#include "lib/input/fields.h"

#include <string.h>

/* Whether a word is the name of a call. */
static bool is_name(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!((s[i] | 0x20) >= 'a' && (s[i] | 0x20) <= 'z') && s[i] != '_' &&
            !(i && s[i] >= '0' && s[i] <= '9'))
            return false;
    return n > 0;
}

/* ---- calls ---- */

/* The call that was begun earlier, with what follows now; false: nobody knows of it. */
static bool resume(struct mt_strace *r, uint32_t thread, struct mt_fields *f)
{
    struct mt_buf *pending = &r->processes.threads.v[thread].pending;
    const char *s, *rest;
    size_t n;
    mt_field_blanks(f);
    if (f->end - f->p > 6 && memcmp(f->p, "execve", 6) == 0 &&
        (pending->n < 6 || memcmp(pending->s, "execve", 6) != 0))
        mt_strace_take_over(r, thread, 0); /* -qqq does not say so */
    if (!mt_field_until(f, '>', &s, &n) || n < 8 || memcmp(s + n - 7, "resumed", 7) != 0 ||
        !pending->n)
        return false;
    rest = f->p;
    mt_buf_set(&r->text, pending->s, pending->n);
    mt_buf_add(&r->text, rest, (size_t)(f->end - rest));
    mt_buf_clear(pending);
    *f = mt_fields_of(r->text.s, r->text.n);
    return true;
}

/* "execve("./a", ["./a"], 0x7f <pid changed to 7 ...>": cuts that off; false: it is not there. */
static bool take_other_pid(struct mt_fields *f, uint64_t *pid)
{
    static const char other[] = "<pid changed to ";
    const char *at = memrchr(f->p, '<', (size_t)(f->end - f->p));
    struct mt_fields rest = {at, f->end};
    int64_t number;
    if (!at || !mt_field_take(f, "execve") || !mt_field_take(&rest, other) ||
        !mt_field_decimal(&rest, &number) || number <= 0)
        return false;
    f->end = at;
    *pid = (uint64_t)number;
    return true;
}

static const char unfinished[] = "<unfinished ...>";

static bool ends_later(const struct mt_fields *f)
{
    return mt_call_ends(f, unfinished);
}

/* Whether the call ends later, on a line of its own; it is kept until then. */
static bool is_unfinished(struct mt_strace *r, uint32_t thread, const struct mt_fields *f)
{
    if (!ends_later(f))
        return false;
    size_t n = (size_t)(f->end - f->p) - (sizeof unfinished - 1);
    mt_strace_pending(r, thread, f->p, n < MT_STRACE_LINE_MAX ? n : MT_STRACE_LINE_MAX);
    return true;
}

/* Whether a call of that name, "mmap(", stands there, with one of `first` as its first byte. */
static bool has_call(const struct mt_fields *f, const char *name, const char *first)
{
    const char *at = f->p;
    size_t n = strlen(name);
    for (; (at = memmem(at, (size_t)(f->end - at), name, n)); at += n)
        if ((size_t)(f->end - at) > n && strchr(first, at[n])) /* what ends it is behind all */
            return ends_later(f) || memmem(at, (size_t)(f->end - at), ") ", 2);
    return false;
}

/* Whether the rest of such a call stands there, or the end of a thread. */
static bool has_rest(const struct mt_fields *f)
{
    size_t n = (size_t)(f->end - f->p);
    if (memmem(f->p, n, "+++ exited with ", 16) || memmem(f->p, n, "+++ killed by ", 14))
        return true;
    const char *name = mt_call_resumed(f, &n);
    return name && mt_strace_counts(name, n);
}

/* Whether the line has a call that is read behind something else: what a program printed without
 * an end of line, or a number that is damaged. */
static bool hides_call(const struct mt_fields *f)
{
    static const struct {
        const char *name, *first;
    } hidden[] = {{"brk(", "0N"},    {"mmap(", "0N"},     {"mmap2(", "0N"},  {"munmap(", "0N"},
                  {"mremap(", "0N"}, {"mprotect(", "0N"}, {"execve(", "\""}, {"clone(", "c"},
                  {"clone3(", "{"},  {"fork(", ")"}};
    for (size_t i = 0; i < MT_ARRAY_LEN(hidden); i++)
        if (has_call(f, hidden[i].name, hidden[i].first))
            return true;
    return has_rest(f);
}

/* What is to happen when the lines of its stack are read. */
static enum mt_status begin_call(struct mt_strace *r, uint32_t thread, struct mt_fields f,
                                 struct mt_err *err)
{
    const char *s = f.p, *end = memchr(f.p, '(', (size_t)(f.end - f.p)), *equal = NULL;
    if (!end || !is_name(s, (size_t)(end - s)))
        return MT_OK;
    for (const char *p = f.end; p-- > end + 2 && !equal;)
        if (p[0] == '=' && p[-1] == ' ' && p + 1 < f.end && p[1] == ' ')
            equal = p;
    if (!equal)
        return MT_OK;
    const struct mt_strace_call call = {
        .thread = thread,
        .name = s,
        .name_n = (size_t)(end - s),
        .args = {end + 1, equal - 1},
        .result = {equal + 2, f.end},
    };
    return mt_strace_begin(r, &call, err);
}

/* Whether "--- SIGCHLD {.., si_code=CLD_EXITED, .." says that the child has ended. */
static bool is_end(struct mt_fields f)
{
    static const char code[] = "si_code=";
    static const char *const ends[] = {"CLD_EXITED", "CLD_KILLED", "CLD_DUMPED"};
    uint64_t number; /* -X raw, from 1 on */
    const char *at = memmem(f.p, (size_t)(f.end - f.p), code, sizeof code - 1);
    f.p = at ? at + sizeof code - 1 : f.end;
    for (size_t i = 0; i < MT_ARRAY_LEN(ends); i++)
        if (mt_field_take(&f, ends[i]))
            return true;
    return mt_strace_number(&f, &number) && number && number <= MT_ARRAY_LEN(ends);
}

/* "+++ exited with 0 +++": whether it has called exit() or not, no more lines of it follow. */
static void ends(struct mt_strace *r, uint32_t thread)
{
    if (!r->processes.threads.v[thread].ended)
        mt_strace_exit(r, thread);
    r->processes.threads.v[thread].gone = false;
}

/* "+++ exited with 0 +++", "--- SIGCHLD {.., si_pid=12, ..} ---" */
static enum mt_status read_sign(struct mt_strace *r, uint32_t thread, struct mt_fields f,
                                struct mt_err *err)
{
    static const char child[] = "si_pid=";
    int64_t pid;
    if (mt_field_take(&f, "+++")) {
        if (mt_field_take(&f, "exited") || mt_field_take(&f, "killed"))
            ends(r, thread);
        if (!mt_field_take(&f, "superseded by execve in pid") || !mt_field_decimal(&f, &pid))
            return MT_OK;
        mt_strace_take_over(r, thread, (uint64_t)pid);
        return mt_strace_run(r, thread, err);
    }
    const char *at = memmem(f.p, (size_t)(f.end - f.p), child, sizeof child - 1);
    if (mt_field_take(&f, "--- SIGCHLD") && at) {
        struct mt_fields number = {at + sizeof child - 1, f.end};
        if (mt_field_decimal(&number, &pid) && pid > 0)
            mt_strace_was_child(r, (uint64_t)pid, is_end(f));
    }
    return MT_OK;
}

/* Whether what stands before a call, or the end of one or of a thread, cannot be read. */
static bool is_damaged(const struct mt_fields *f)
{
    size_t n = (size_t)(f->end - f->p);
    if (is_name(f->p, 1) || *f->p == '<')
        return false;
    return (memchr(f->p, '(', n) && (ends_later(f) || memmem(f->p, n, " = ", 3))) ||
           memmem(f->p, n, " resumed>", 9) || memmem(f->p, n, "+++ ", 4);
}

static bool is_mark(const struct mt_fields *f)
{
    static const char *const marks[] = {"<... ", "+++ ", "--- "};
    for (size_t i = 0; i < MT_ARRAY_LEN(marks); i++)
        if (f->end - f->p > 4 && memcmp(f->p, marks[i], 4) == 0)
            return true;
    return false;
}

bool mt_strace_is_known(const struct mt_fields *f)
{
    const char *end = memchr(f->p, '(', (size_t)(f->end - f->p));
    return is_mark(f) || (end && mt_strace_knows(f->p, (size_t)(end - f->p)));
}

/* Whether a name with its arguments stands there, of a call or of what a program prints. */
static bool is_named(const struct mt_fields *f)
{
    const char *end = memchr(f->p, '(', (size_t)(f->end - f->p));
    return end && is_name(f->p, (size_t)(end - f->p));
}

/* Whether a call begins there by which a program prints, reads what is typed, which the terminal
 * prints, or waits for others, which may print. */
static bool is_printed_into(struct mt_fields f)
{
    static const char *const calls[] = {"write(",      "writev(",         "read(",   "futex(0x",
                                        "poll([",      "ppoll([",         "waitid(", "epoll_wait(",
                                        "nanosleep({", "clock_nanosleep("};
    for (size_t i = 0; i < MT_ARRAY_LEN(calls); i++)
        if (mt_field_take(&f, calls[i]))
            return true;
    return false;
}

bool mt_strace_is_call(const struct mt_fields *f)
{
    static const char gone[] =
        "?\?\?("; /* the thread ended before strace could ask what it called */
    const size_t n = (size_t)(f->end - f->p);
    if (mt_strace_is_known(f) || (n >= sizeof gone && memcmp(f->p, gone, sizeof gone - 1) == 0))
        return true;
    return is_named(f) && (memmem(f->p, n, " = ", 3) || mt_call_ends(f, " ...>"));
}

/* Whether a call returns there that a program printed into: "done)   = 4". */
static bool has_result(const struct mt_fields *f)
{
    for (const char *p = f->p; (p = memchr(p, ')', (size_t)(f->end - p)));) {
        struct mt_fields rest = {++p, f->end};
        if (mt_field_take(&rest, "= "))
            return true;
    }
    return false;
}

/* Whether a number with a fraction stands there, and takes it. */
static bool take_fraction(struct mt_fields *f)
{
    const char *s;
    size_t n;
    int64_t v;
    return mt_field_word(f, &s, &n) && memchr(s, '.', n) &&
           mt_field_fraction(&(struct mt_fields){s, s + n}, 0, &v);
}

/* Whether the line is one of the sums that -C ends with, "100.00    0.002102          21  ..": what
 * it begins with is no time. */
static bool is_sum(struct mt_fields f)
{
    return take_fraction(&f) && take_fraction(&f);
}

/* A call, the end of one, or a sign, behind number, time and place. */
static enum mt_status read_call(struct mt_strace *r, uint64_t pid, bool timed, int64_t t,
                                struct mt_fields f, struct mt_err *err)
{
    MT_TRY(mt_strace_happen(r, err));
    MT_TRY(mt_strace_leave(r, err));
    MT_TRY(mt_strace_time(r, timed, t, err));
    struct mt_fields call = f, program = f;
    const bool runs = mt_field_take(&program, "execve(");
    if (r->processes.threads.n && !r->processes.running_n)
        r->again_n += runs;
    /* What a program asks for first, before it maps libraries, is where its heap begins. */
    if (r->processes.joined && !runs && !mt_field_take(&program, "brk(NULL)"))
        mt_rec_note(r->rec, MT_NOTE_RAN_BEFORE, (int64_t)r->line.offset, 0);
    r->processes.joined = false;
    uint32_t thread;
    MT_TRY(mt_strace_thread(r, pid, f, !r->whole && mt_strace_is_known(&f), &thread, err));
    if (*f.p == '+' || *f.p == '-')
        return read_sign(r, thread, f, err);
    if (mt_field_take(&f, "<...") && !resume(r, thread, &f))
        return MT_OK;
    if (take_other_pid(&call, &pid))
        return mt_strace_becomes(r, thread, pid, f.p, (size_t)(call.end - f.p), err);
    return is_unfinished(r, thread, &f) ? MT_OK : begin_call(r, thread, f, err);
}

static enum mt_status read_line(struct mt_strace *r, struct mt_err *err)
{
    struct mt_fields f = mt_fields_of(r->line.s, r->line.n);
    if (is_sum(f))
        return MT_OK;
    if (mt_field_take(&f, "> ") && *r->line.s == ' ') {
        mt_strace_frame(r, f);
        return MT_OK;
    }
    uint64_t pid = mt_call_pid(&f);
    struct mt_call_clock clock = r->clock;
    int64_t t;
    bool timed = mt_call_time(&f, &clock, &t);
    mt_call_place(&f);
    mt_field_blanks(&f);
    if (f.p == f.end)
        return MT_OK;
    /* Behind the number of a thread it is one, too, whose rest follows what was printed; behind a
     * time, which programs print, too, one of those that are printed into. */
    const bool own =
        pid ? mt_map_get(&r->processes.of_pid, pid) != MT_MAP_NONE : timed && is_printed_into(f);
    const bool is_call = mt_strace_is_call(&f) || (own && is_named(&f));
    if (is_call || pid) /* else a time is the program's own */
        r->clock = clock;
    if (is_call)
        return read_call(r, pid, timed, t, f, err);
    const bool lost = is_damaged(&f) || hides_call(&f);
    if (lost)
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
    /* What follows is its stack, not that of the call before. */
    return lost || has_result(&f) ? mt_strace_happen(r, err) : MT_OK;
}

/* ---- the whole ---- */

static enum mt_status read_all(struct mt_strace *r, struct mt_err *err)
{
    bool any = true, whole;
    enum mt_status st;
    while ((st = mt_reader_line(&r->lines, &r->line, r->opts, r->rec, &any, err)) == MT_OK && any) {
        MT_TRY(mt_strace_whole(r, &whole, err));
        if (whole)
            MT_TRY(read_line(r, err));
        if (mt_lines_due(&r->lines))
            MT_TRY(mt_strace_check_memory(r, err));
    }
    MT_TRY(st);
    mt_strace_unended(r);
    MT_TRY(mt_strace_happen(r, err));
    if (!r->call_n) {
        MT_FAIL(err, MT_EINPUT, "no call in it maps memory");
        return mt_reader_refuse(
            -1, "strace -f -ttt -e trace=%memory,%process -o FILE COMMAND records them.", err);
    }
    return mt_strace_close(r, err);
}

static enum mt_status strace_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                  struct mt_recording *rec, struct mt_err *err)
{
    struct mt_strace r = {
        .lines = {.in = in, .progress = opts->progress, .closure = opts->closure},
        .opts = opts,
        .rec = rec,
    };
    mt_strace_init(&r);
    enum mt_status st = read_all(&r, err);
    mt_strace_free(&r);
    return st;
}

/* Whether the line is a call, or part of one; *memory: of those that are read. */
static bool is_call(const char *s, size_t n, bool *memory)
{
    static const char *const calls[] = {"brk", "mmap", "mmap2", "munmap", "mremap", "mprotect"};
    struct mt_call_clock none = {0};
    struct mt_fields f = mt_fields_of(s, n);
    int64_t t;
    mt_call_pid(&f);
    mt_call_time(&f, &none, &t);
    mt_call_place(&f);
    mt_field_blanks(&f);
    *memory = false;
    if (mt_field_take(&f, "<... ") || mt_field_take(&f, "+++ ") || mt_field_take(&f, "--- SIG"))
        return true;
    const char *end = memchr(f.p, '(', (size_t)(f.end - f.p));
    if (!end || !is_name(f.p, (size_t)(end - f.p)))
        return false;
    bool ends = memmem(end, (size_t)(f.end - end), " = ", 3);
    bool later = ends_later(&f);
    for (size_t i = 0; i < MT_ARRAY_LEN(calls); i++)
        *memory |= (ends || later) && strlen(calls[i]) == (size_t)(end - f.p) &&
                   memcmp(calls[i], f.p, strlen(calls[i])) == 0 && end + 1 < f.end &&
                   (end[1] == '0' || end[1] == 'N');
    return ends || later;
}

/* Most lines are calls, and one of them maps memory. Where a program prints more, several do: then
 * it is what the log is of, unless that is memory that the program printed. */
static int strace_probe(const char *head, size_t n)
{
    enum { SURE = 91, CALLS = 45, AMONG_OTHERS = 20, SEVERAL = 4 };
    size_t line_n = 0, call_n = 0, memory_n = 0;
    bool memory;
    const char *p = head, *end = head + n;
    for (const char *stop; p < end && (stop = memchr(p, '\n', (size_t)(end - p))); p = stop + 1) {
        size_t length = (size_t)(stop - p);
        if (length > 3 && memcmp(p, " > ", 3) == 0)
            continue;
        line_n++;
        call_n += is_call(p, length, &memory);
        memory_n += memory;
    }
    if (2 * call_n <= line_n)
        return memory_n >= SEVERAL ? AMONG_OTHERS : 0;
    return memory_n ? SURE : line_n > 2 ? CALLS : 0;
}

const struct mt_reader mt_reader_strace = {
    .name = "strace",
    .kind = MT_RUN_HEAP,
    .probe = strace_probe,
    .reads_lines = true,
    .read = strace_read,
};
