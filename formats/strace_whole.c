/*
 * Lines of strace's calls that something else was written into, as it is without -o: strace writes
 * the begin of a call when it begins, and its rest when it returns.
 */
#include "formats/strace_parts.h"

#include <string.h>

enum { PAGE = 4096 };

/* Where "strace:" begins: with the folder by which it was run, "/usr/bin/strace:". */
static const char *begin_of_name(const char *line, const char *at)
{
    const char *p = at, *slash = NULL;
    for (; p > line && !memchr(" \t,(){}<>[]\"'=", p[-1], 15); p--)
        slash = p[-1] == '/' ? p - 1 : slash;
    while (slash && slash > p && slash[-1] == '.') /* "../bin/strace:" */
        slash--;
    return slash ? slash : at;
}

/* What strace says at once stands in the line of a call, whose rest is the next line: "wait4(-1,
 * strace: Process 7 attached". */
static bool is_attached(const struct mt_line *line, size_t *begun, uint64_t *pid)
{
    static const char says[] = "strace: Process ";
    const char *at = memmem(line->s, line->n, says, sizeof says - 1);
    struct mt_fields f = {at, line->s + line->n};
    int64_t number;
    if (!at || !mt_field_take(&f, says) || !mt_field_decimal(&f, &number) || number <= 0 ||
        !mt_field_take(&f, "attached") || !mt_field_end(&f))
        return false;
    *begun = (size_t)(begin_of_name(line->s, at) - line->s);
    *pid = (uint64_t)number;
    return true;
}

/* The line behind number, time and place. */
static struct mt_fields call_in(const struct mt_strace *r, const char *s, size_t n, uint64_t *pid)
{
    struct mt_fields f = mt_fields_of(s, n);
    struct mt_call_clock clock = r->clock;
    int64_t t;
    *pid = mt_call_pid(&f);
    mt_call_time(&f, &clock, &t);
    mt_call_place(&f);
    mt_field_blanks(&f);
    return f;
}

/* Whose line it is that has begun is known before strace follows another one. The call before it
 * has its whole stack. */
static enum mt_status settle(struct mt_strace *r, size_t begun, struct mt_err *err)
{
    uint64_t pid;
    uint32_t thread;
    MT_TRY(mt_strace_happen(r, err));
    const struct mt_fields f = call_in(r, r->line.s, begun, &pid);
    if (pid || f.p == f.end || !mt_strace_is_known(&f))
        return MT_OK;
    return mt_strace_thread(r, 0, f, true, &thread, err);
}

/* Whether a call that counts begins there and does not end; *f is it. */
static bool is_begun(const struct mt_strace *r, const char *s, size_t n, struct mt_fields *f)
{
    static const char later[] = " ...>"; /* "<unfinished ...>", "<detached ...>" */
    const size_t tail = sizeof later - 1;
    uint64_t pid;
    if (n >= MT_STRACE_LINE_MAX || memmem(s, n, " = ", 3) ||
        (n >= tail && memcmp(s + n - tail, later, tail) == 0))
        return false;
    *f = call_in(r, s, n, &pid);
    const char *end = memchr(f->p, '(', (size_t)(f->end - f->p));
    const bool makes = end && mt_strace_makes(f->p, (size_t)(end - f->p)); /* fork() has none */
    return end && mt_strace_counts(f->p, (size_t)(end - f->p)) &&
           (makes || (end + 1 < f->end && strchr("0N\"", end[1]))); /* what arguments begin with */
}

/* Whether no fewer of its digits are whole pages, too. */
static bool is_one_size(uint64_t v, uint64_t base)
{
    bool one = true;
    for (v /= base; v && one; v /= base)
        one = v % PAGE != 0;
    return one;
}

/* Of what a program printed behind a call's arguments nobody knows where it begins. That does not
 * matter but behind munmap(): its size ends where the digits do, if these are whole pages.
 * "40960.5" may be "4096" and "0.5"; before a letter or a bracket no program prints a "0". */
static bool cut_print(struct mt_fields *f)
{
    enum { DECIMAL = 10, HEX = 16 };
    struct mt_fields at = *f, size;
    uint64_t v;
    if (!mt_field_take(&at, "munmap("))
        return true;
    if (!mt_field_address(&at, &v) || !mt_field_take(&at, ","))
        return false;
    size = at;
    if (!mt_strace_number(&at, &v) || v % PAGE)
        return false;
    const bool words =
        at.p < at.end && ((*at.p != 'x' && (*at.p | 0x20) - 'a' + 0u < 26) || strchr("([{", *at.p));
    f->end = at.p;
    return words || is_one_size(v, mt_field_take(&size, "0x") ? HEX : DECIMAL);
}

/* The program printed behind the begin of a call. */
static enum mt_status hold(struct mt_strace *r, struct mt_fields f, struct mt_err *err)
{
    MT_TRY(settle(r, r->line.n, err));
    if (!cut_print(&f)) {
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->line.offset, 0);
        return MT_OK;
    }
    mt_buf_set(&r->held, r->line.s, (size_t)(f.end - r->line.s));
    r->held_at = r->line.offset;
    r->torn = true;
    return MT_OK;
}

static bool begins(const struct mt_line *line, const char *text)
{
    const size_t n = strlen(text);
    return line->n >= n && memcmp(line->s, text, n) == 0;
}

/* Whether the line is how a call goes on when it returns, or when another thread has a line; ")"
 * alone may be the program's. */
static bool is_rest(const struct mt_line *line)
{
    struct mt_fields f = mt_fields_of(line->s, line->n);
    if (begins(line, ")"))
        return mt_field_take(&f, ")") && mt_field_take(&f, "= ");
    return begins(line, " <unfinished ...>") ||
           ((begins(line, " => ") || begins(line, ", ")) && memmem(line->s, line->n, " = ", 3));
}

void mt_strace_unended(struct mt_strace *r)
{
    if (r->held.n && !r->whole && r->torn)
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->held_at, 0);
    mt_buf_clear(&r->held);
}

static enum mt_status attached(struct mt_strace *r, size_t begun, uint64_t pid, struct mt_err *err)
{
    const struct mt_line *line = &r->line;
    struct mt_fields f;
    if (!r->held.n) {
        MT_TRY(settle(r, begun, err));
        r->held_at = line->offset;
        r->torn = is_begun(r, line->s, begun, &f);
        begun = memchr(line->s, '(', begun) ? begun : 0; /* else it is no call's */
    }
    mt_buf_add(&r->held, line->s, r->held.n + begun < MT_STRACE_LINE_MAX ? begun : 0);
    mt_strace_attached(r, pid);
    return MT_OK;
}

enum mt_status mt_strace_whole(struct mt_strace *r, bool *whole, struct mt_err *err)
{
    struct mt_line *line = &r->line;
    struct mt_fields f;
    size_t begun;
    uint64_t pid;
    if (r->whole)
        mt_buf_clear(&r->held);
    r->whole = *whole = false;
    if (is_attached(line, &begun, &pid))
        return attached(r, begun, pid, err);
    if (r->held.n && r->torn && !is_rest(line)) {
        f = call_in(r, line->s, line->n, &pid);
        if (!mt_strace_is_call(&f)) /* the program's, too */
            return MT_OK;
        mt_strace_unended(r);
    }
    if (!r->held.n && is_begun(r, line->s, line->n, &f))
        return hold(r, f, err);
    if (r->held.n) {
        mt_buf_add(&r->held, line->s, line->n);
        r->whole = true;
        line->s = r->held.s;
        line->n = r->held.n;
    }
    *whole = true;
    return MT_OK;
}
