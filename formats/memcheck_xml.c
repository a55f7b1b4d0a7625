/*
 * Reader of the leaks that memcheck reports as XML (valgrind --leak-check=full --xml=yes).
 * docs/formats/memcheck.md says what is read.
 */
#include "formats/leak_report.h"
#include "lib/base/wrap.h"
#include "lib/input/fields.h"
#include "lib/input/xml.h"

#include <stdio.h>
#include <string.h>

static const char *const kinds[MT_LEAK_KIND_N] = {
    [MT_LEAK_DEFINITE] = "Leak_DefinitelyLost",
    [MT_LEAK_INDIRECTLY_LOST] = "Leak_IndirectlyLost",
    [MT_LEAK_POSSIBLE] = "Leak_PossiblyLost",
    [MT_LEAK_REACHABLE] = "Leak_StillReachable",
};

/* What elements of one frame say. */
enum part { OBJ, FN, DIR, FILE_NAME, LINE, IP, PART_N };
static const char *const parts[PART_N] = {"obj", "fn", "dir", "file", "line", "ip"};

struct reader {
    struct mt_leak_report report;
    struct mt_recording *rec;
    struct mt_xml xml;
    struct mt_buf frame[PART_N];
    uint64_t process;
    int64_t indirect_b; /* that definitely lost blocks point to */
    int64_t of;         /* records of the report */
    struct mt_map seen; /* their numbers */

    /* The error under way. */
    enum mt_leak_kind kind; /* MT_LEAK_KIND_N: no leak */
    int64_t bytes, blocks, direct;
    bool in_stack, added; /* its first stack; it is in the report */

    bool is_memcheck, checks_leaks, any;
    bool in_suppressions, lists_all, suppresses; /* all kinds of leaks; some of them */
};

/* ---- elements ---- */

static bool number_of(const char *text, int64_t *v)
{
    struct mt_fields f = mt_fields_of(text, strlen(text));
    return mt_field_decimal(&f, v) && mt_field_end(&f) && *v >= 0 && *v <= MT_LEAK_SIZE_MAX;
}

/* ".. in loss record 1 of 5": with one that was there, or that is of another number of them,
 * another report begins. Each says all. */
static void read_number(struct reader *r, const char *text)
{
    static const char in_record[] = "loss record ";
    const char *at = strstr(text, in_record);
    int64_t number, of;
    if (!at)
        return;
    struct mt_fields f = mt_fields_of(at, strlen(at));
    if (!mt_field_take(&f, in_record) || !mt_field_decimal(&f, &number) ||
        !mt_field_take(&f, "of") || !mt_field_decimal(&f, &of))
        return;
    if (of != r->of || mt_map_get(&r->seen, (uint64_t)number) != MT_MAP_NONE) {
        mt_leak_report_forget(&r->report, r->process);
        mt_map_free(&r->seen);
        r->indirect_b = 0;
    }
    r->of = of;
    *mt_map_at(&r->seen, (uint64_t)number) = 0;
}

/* "12 (4 direct, 8 indirect) bytes in ..": what is indirect has records of its own. */
static void read_direct(struct reader *r, const char *text)
{
    struct mt_fields f = mt_fields_of(text, strlen(text));
    int64_t direct, indirect;
    if (!mt_leak_take_bytes(&f, &direct, &indirect) || !mt_field_take(&f, "bytes in")) {
        if (strstr(text, " direct,"))
            mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->xml.offset, 0);
        return;
    }
    r->direct = direct;
    mt_wrap_inc(&r->indirect_b, indirect);
}

/* The leak under way comes into the report. */
static enum mt_status add(struct reader *r, struct mt_err *err)
{
    if (r->kind == MT_LEAK_KIND_N || r->added)
        return MT_OK;
    if (r->bytes == MT_UNKNOWN || r->blocks == MT_UNKNOWN) {
        r->kind = MT_LEAK_KIND_N;
        mt_rec_note(r->rec, MT_NOTE_SKIPPED, (int64_t)r->xml.offset, 0);
        return MT_OK;
    }
    r->added = r->any = true;
    return mt_leak_report_add(&r->report, r->kind, r->direct == MT_UNKNOWN ? r->bytes : r->direct,
                              r->blocks, r->process, err);
}

static const char *part_of(const struct reader *r, enum part p)
{
    return r->frame[p].s ? r->frame[p].s : "";
}

static void add_frame(struct reader *r)
{
    struct mt_buf file = {0};
    struct mt_fields ip = mt_fields_of(part_of(r, IP), r->frame[IP].n);
    struct mt_native_frame f = {part_of(r, FN), part_of(r, OBJ), "", 0};
    uint64_t address = 0;
    mt_field_address(&ip, &address);
    if (r->frame[FILE_NAME].n) {
        if (r->frame[DIR].n)
            mt_buf_addf(&file, "%s/", part_of(r, DIR));
        mt_buf_adds(&file, part_of(r, FILE_NAME));
        f.file = file.s;
        if (!number_of(part_of(r, LINE), &f.line))
            f.line = 0;
    }
    mt_leak_report_frame(&r->report, &f, address);
    mt_buf_free(&file);
}

static void clear_frame(struct reader *r)
{
    for (int p = 0; p < PART_N; p++)
        mt_buf_clear(&r->frame[p]);
}

static enum mt_status begin(void *closure, const char *name, struct mt_err *err)
{
    struct reader *r = closure;
    enum mt_status st = MT_OK;
    if (strcmp(name, "error") == 0) {
        r->kind = MT_LEAK_KIND_N;
        r->bytes = r->blocks = r->direct = MT_UNKNOWN;
        r->added = r->in_stack = false;
    } else if (strcmp(name, "stack") == 0) {
        bool first = !r->added;
        st = add(r, err);
        r->in_stack = first && r->added;
    } else if (strcmp(name, "suppcounts") == 0) {
        r->in_suppressions = true;
    } else if (strcmp(name, "frame") == 0) {
        clear_frame(r);
    }
    return st;
}

static void end_of_part(struct reader *r, const char *name, const char *text)
{
    for (int p = 0; p < PART_N; p++)
        if (r->in_stack && strcmp(name, parts[p]) == 0) {
            mt_buf_clear(&r->frame[p]);
            mt_buf_adds(&r->frame[p], text);
        }
}

/* What a leak is stands before its stack: behind that, its frames need the report as it is. */
static void end_of_leak(struct reader *r, const char *name, const char *text)
{
    if (r->added)
        return;
    if (strcmp(name, "kind") == 0) {
        for (int k = 0; k < MT_LEAK_KIND_N; k++)
            r->kind = kinds[k] && strcmp(text, kinds[k]) == 0 ? (enum mt_leak_kind)k : r->kind;
        if (r->kind == MT_LEAK_KIND_N && strncmp(text, "Leak_", 5) == 0) /* damaged */
            mt_rec_note(r->rec, MT_NOTE_SKIPPED, -1, 0);
    } else if (strcmp(name, "text") == 0 && r->kind != MT_LEAK_KIND_N) {
        read_number(r, text);
        read_direct(r, text);
    } else if (strcmp(name, "leakedbytes") == 0) {
        r->bytes = number_of(text, &r->bytes) ? r->bytes : MT_UNKNOWN;
    } else if (strcmp(name, "leakedblocks") == 0) {
        r->blocks = number_of(text, &r->blocks) ? r->blocks : MT_UNKNOWN;
    }
}

/* --show-leak-kinds=all, or each of them. */
static bool names_all_kinds(const char *arg)
{
    static const char option[] = "--show-leak-kinds=";
    if (strncmp(arg, option, sizeof option - 1) != 0)
        return false;
    arg += sizeof option - 1;
    return strcmp(arg, "all") == 0 || (strstr(arg, "definite") && strstr(arg, "indirect") &&
                                       strstr(arg, "possible") && strstr(arg, "reachable"));
}

static void end_of_head(struct reader *r, const char *name, const char *text)
{
    int64_t v;
    if (strcmp(name, "pid") == 0)
        r->process = number_of(text, &v) ? (uint64_t)v : 0;
    else if (strcmp(name, "protocoltool") == 0)
        r->is_memcheck = strcmp(text, "memcheck") == 0;
    else if (strcmp(name, "pair") == 0)
        r->suppresses |= r->in_suppressions;
    else if (strcmp(name, "suppcounts") == 0)
        r->in_suppressions = false;
    else if (strcmp(name, "arg") == 0) {
        r->checks_leaks |=
            strcmp(text, "--leak-check=full") == 0 || strcmp(text, "--leak-check=yes") == 0;
        r->lists_all |= names_all_kinds(text);
    }
}

static enum mt_status end(void *closure, const char *name, const char *text, struct mt_err *err)
{
    struct reader *r = closure;
    if (strcmp(name, "frame") == 0 && r->in_stack)
        add_frame(r);
    else if (strcmp(name, "stack") == 0)
        r->in_stack = false;
    end_of_part(r, name, text);
    end_of_leak(r, name, text);
    end_of_head(r, name, text);
    return strcmp(name, "error") == 0 ? add(r, err) : MT_OK;
}

/* ---- the whole ---- */

/* What is whole of a file that ends early, or whose rest makes no sense. */
static enum mt_status damaged(struct reader *r, struct mt_err *err)
{
    return r->any ? mt_reader_cut(r->report.opts, r->rec, r->xml.offset, "", err)
                  : mt_reader_refuse(-1, "Copy the file again, or record again.", err);
}

static enum mt_status check_whole(const struct reader *r, struct mt_err *err)
{
    if (r->is_memcheck && (r->any || r->checks_leaks))
        return MT_OK;
    MT_FAIL(err, MT_EINPUT,
            r->is_memcheck ? "it lists no leaks, and does not say that it looked for any"
                           : "the XML of another tool than memcheck");
    return mt_reader_refuse(-1,
                            "Record with valgrind --leak-check=full --show-leak-kinds=all "
                            "--xml=yes --xml-file=FILE.",
                            err);
}

/* The XML has no totals: what is not listed is in no figure. */
static void note_kinds(struct reader *r)
{
    if (r->lists_all && !r->suppresses)
        return;
    mt_rec_note(r->rec, MT_NOTE_KINDS, -1, 0);
    mt_rec_note_detail(r->rec, MT_NOTE_KINDS, "%s",
                       r->lists_all
                           ? "some leaks were suppressed"
                           : "valgrind --show-leak-kinds=all lists what is reachable, too");
}

static enum mt_status read_all(struct reader *r, struct mt_err *err)
{
    enum mt_status st = mt_xml_read(&r->xml, err);
    if (st == MT_EINPUT)
        st = damaged(r, err);
    MT_TRY(st);
    MT_TRY(check_whole(r, err));
    note_kinds(r);
    if (r->indirect_b > 0 && !r->lists_all)
        MT_TRY(mt_leak_report_total(&r->report, MT_LEAK_INDIRECTLY_LOST, r->indirect_b, MT_UNKNOWN,
                                    r->process, "valgrind --show-leak-kinds=all lists them", err));
    return mt_leak_report_close(&r->report, err);
}

static enum mt_status memcheck_xml_read(struct mt_stream *in, const struct mt_read_opts *opts,
                                        struct mt_recording *rec, struct mt_err *err)
{
    struct reader r = {.rec = rec, .kind = MT_LEAK_KIND_N};
    r.xml = (struct mt_xml){.in = in,
                            .begin = begin,
                            .end = end,
                            .closure = &r,
                            .progress = opts->progress,
                            .progress_closure = opts->closure};
    mt_leak_report_init(&r.report, opts, rec);
    enum mt_status st = read_all(&r, err);
    mt_leak_report_free(&r.report);
    mt_map_free(&r.seen);
    for (int p = 0; p < PART_N; p++)
        mt_buf_free(&r.frame[p]);
    return st;
}

static int memcheck_xml_probe(const char *head, size_t n)
{
    static const char root[] = "<valgrindoutput>";
    return memmem(head, n, root, sizeof root - 1) ? 94 : 0;
}

const struct mt_reader mt_reader_memcheck_xml = {
    .name = "memcheck-xml",
    .kind = MT_RUN_HEAP,
    .probe = memcheck_xml_probe,
    .read = memcheck_xml_read,
};
