/* lib/record/marks.h: what a recorded program says of itself. */
#include "lib/record/marks.h"
#include "tests/unit/rows.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct line {
    const char *name, *text;
    enum mt_mark_kind kind;
    int64_t number;
    const char *mark;
};

static const struct line lines[] = {
    {"a step", "memtool:step 12", MT_MARK_STEP, 12, NULL},
    {"the first step", "memtool:step 0", MT_MARK_STEP, 0, NULL},
    {"of Windows", "memtool:step 3\r", MT_MARK_STEP, 3, NULL},
    {"blanks at the end", "memtool:step 3 \t", MT_MARK_STEP, 3, NULL},
    {"the end of a step", "memtool:step end", MT_MARK_STEP_END, 0, NULL},
    {"no number", "memtool:step", MT_MARK_DAMAGED, 0, NULL},
    {"nothing behind the word", "memtool:step ", MT_MARK_DAMAGED, 0, NULL},
    {"a negative number", "memtool:step -1", MT_MARK_DAMAGED, 0, NULL},
    {"more than a number", "memtool:step 1.5", MT_MARK_DAMAGED, 0, NULL},
    {"a number that is too large", "memtool:step 9223372036854775808", MT_MARK_DAMAGED, 0, NULL},
    {"two lines in one", "memtool:step 1memtool:step 2", MT_MARK_DAMAGED, 0, NULL},
    {"a mark", "memtool:mark after del", MT_MARK_TEXT, 0, "after del"},
    {"other letters", "memtool:mark \xc3\xa9t\xc3\xa9", MT_MARK_TEXT, 0, "\xc3\xa9t\xc3\xa9"},
    {"a mark without text", "memtool:mark ", MT_MARK_DAMAGED, 0, NULL},
    {"no UTF-8", "memtool:mark \xc3(", MT_MARK_DAMAGED, 0, NULL},
    {"another word", "memtool:stop 1", MT_MARK_DAMAGED, 0, NULL},
    {"somebody else's line", "loss 0.3", MT_MARK_DAMAGED, 0, NULL},
    {"an empty line", "", MT_MARK_NOTHING, 0, NULL},
    {"a blank", "  \r", MT_MARK_NOTHING, 0, NULL},
};

static void test_line(void **state)
{
    const struct line *row = *state;
    struct mt_mark m = mt_mark_of(row->text, strlen(row->text));
    assert_int_equal(m.kind, row->kind);
    if (m.kind == MT_MARK_STEP)
        assert_int_equal(m.number, row->number);
    if (row->mark) {
        assert_int_equal(m.n, strlen(row->mark));
        assert_memory_equal(m.text, row->mark, m.n);
    }
}

/* A text is cut between characters; a byte of 0 is none. */
static void test_long(void **state)
{
    char text[400] = "memtool:mark x";
    (void)state;
    while (strlen(text) < sizeof text - 3)
        strcat(text, "\xc3\xa9");
    struct mt_mark m = mt_mark_of(text, strlen(text));
    assert_int_equal(m.kind, MT_MARK_TEXT);
    assert_int_equal(m.n, MT_MARK_TEXT_MAX - 1);
    assert_int_equal(mt_mark_of("memtool:mark a\0b", 16).kind, MT_MARK_DAMAGED);
}

static void note(void *closure, const struct mt_mark *m)
{
    static const char *const letters = "-SEMD";
    struct mt_buf *out = closure;
    mt_buf_addc(out, letters[m->kind]);
    if (m->kind == MT_MARK_STEP)
        mt_buf_addf(out, "%lld", (long long)m->number);
}

static void say(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* Lines that come in parts, a long one, one without an end; more than is kept. */
static void test_file(void **state)
{
    struct mt_marks m;
    struct mt_buf got = {0};
    char block[4096];
    (void)state;
    mt_marks_open(&m);
    assert_true(m.fd >= 0);
    int fd = mt_marks_give(&m);
    assert_true(fd >= 7);
    say(fd, "memtool:step 1\nmemtool:st");
    mt_marks_read(&m, false, note, &got);
    assert_string_equal(got.s, "S1");
    say(fd, "ep 2\n\nwhat\n");
    mt_marks_read(&m, false, note, &got);
    assert_string_equal(got.s, "S1S2D");
    mt_buf_clear(&got);
    memset(block, 'x', sizeof block - 1);
    block[sizeof block - 1] = '\0';
    for (int i = 0; i < 2000; i++)
        say(fd, block);
    say(fd, "\nmemtool:step 3\nmemtool:mark end");
    for (int i = 0; i < 20; i++)
        mt_marks_read(&m, false, note, &got);
    assert_true(got.n > 1000 && m.kept_from > 0);
    assert_string_equal(got.s + got.n - 3, "DS3");
    mt_marks_read(&m, true, note, &got);
    assert_string_equal(got.s + got.n - 3, "S3M");
    mt_buf_free(&got);
    mt_marks_close(&m);
    close(fd);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, test_line, lines);
    t.v[t.n++] = (struct CMUnitTest){.name = "a long text", .test_func = test_long};
    t.v[t.n++] = (struct CMUnitTest){.name = "the file", .test_func = test_file};
    return ROWS_RUN(&t, "marks");
}
