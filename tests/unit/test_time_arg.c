/* lib/run/time_arg.h: steps, and the moments and windows of the command line. */
#include "lib/run/time_arg.h"
#include "tests/unit/rows.h"
#include <string.h>

/* Between steps 4 and 7 there is time that belongs to none; 4 comes twice, as with two loops. */
static struct mt_step step_rows[] = {{3, 100, 200}, {4, 210, 300}, {7, 400, 500}, {4, 500, 600}};
static char before[] = "before del", after[] = "after";
static struct mt_said marks[] = {{before, 150}, {after, 410}, {before, 420}};
static const struct mt_steps steps = {
    {step_rows, MT_ARRAY_LEN(step_rows), 0}, 2000000000, {marks, MT_ARRAY_LEN(marks), 0}};
static const struct mt_steps no_steps = {.dur_ns = 2000000000};
static const struct mt_run run = {.name = "r", .dur_ns = 2000000000};

/* The last of two steps ends with the run. */
static struct mt_step last_rows[] = {{0, 0, 10}, {1, 10, 20}};
static const struct mt_steps last_steps = {.all = {last_rows, MT_ARRAY_LEN(last_rows), 0},
                                           .dur_ns = 20};

static void check_error(enum mt_status st, const struct mt_err *err, const char *says)
{
    assert_int_equal(st, says ? MT_EUSAGE : MT_OK);
    if (says && !strstr(err->what, says))
        assert_string_equal(err->what, says);
}

struct moment {
    const char *name, *text;
    const struct mt_steps *steps;
    struct mt_time_arg want;
    const char *error;
};

static const struct moment moments[] = {
    {"milliseconds", "12ms", &steps, {MT_AT_TIME, 12000000, 0, false}, NULL},
    {"part of a second", "1.5s", &steps, {MT_AT_TIME, 1500000000, 0, false}, NULL},
    {"nanoseconds", "7ns", &steps, {MT_AT_TIME, 7, 0, false}, NULL},
    {"the last nanosecond", "2s", &steps, {MT_AT_TIME, 2000000000, 0, false}, NULL},
    {"after the end", "2000000001", &steps, {0}, "is after the end of run 'r'"},
    {"before the start", "-1ns", &steps, {0}, "is before the start of run 'r'"},
    {"start", "@start", &no_steps, {MT_AT_TIME, INT64_MIN, 0, false}, NULL},
    {"end", "@end", &no_steps, {MT_AT_TIME, INT64_MAX, 0, false}, NULL},
    {"peak", "@peak", &no_steps, {MT_AT_PEAK, INT64_MAX, INT64_MIN, false}, NULL},
    {"end of a step", "@step 3", &steps, {MT_AT_TIME, 200, 100, true}, NULL},
    {"written without a blank", "@step3", &steps, {MT_AT_TIME, 200, 100, true}, NULL},
    {"written with =", "@step=3", &steps, {MT_AT_TIME, 200, 100, true}, NULL},
    {"end, in words", "@step 7:end", &steps, {MT_AT_TIME, 500, 400, true}, NULL},
    {"start of a step", "@step 7:start", &steps, {MT_AT_TIME, 400, 400, true}, NULL},
    {"peak of a step", "@step 7:peak", &steps, {MT_AT_PEAK, 500, 400, false}, NULL},
    {"a step that comes twice", "@step 4:start", &steps, {MT_AT_TIME, 210, 210, true}, NULL},
    {"end of a step that comes twice", "@step 4", &steps, {MT_AT_TIME, 600, 210, true}, NULL},
    {"a mark", "@mark after", &steps, {MT_AT_TIME, 410, 0, false}, NULL},
    {"a mark of two words, twice", "@mark=before del", &steps, {MT_AT_TIME, 150, 0, false}, NULL},
    {"no such mark", "@mark del", &steps, {0}, "has no mark 'del'"},
    {"no marks", "@mark after", &no_steps, {0}, "has no marks"},
    {"no such step", "@step 5", &steps, {0}, "has no such step"},
    {"no steps", "@step 3", &no_steps, {0}, "has no steps"},
    {"no number", "@step", &steps, {0}, "invalid time"},
    {"another part of a step", "@step 3:middle", &steps, {0}, "invalid time"},
    {"more behind the number", "@step 3x", &steps, {0}, "invalid time"},
    {"another name", "@begin", &steps, {0}, "invalid time"},
    {"nothing", "", &steps, {0}, "invalid time"},
    {"a word", "soon", &steps, {0}, "invalid time"},
};

/* Of a run whose times count something else. */
static const struct mt_run counting = {.name = "c", .dur_ns = 50000, .time_unit = "instructions"};

static const struct moment counted[] = {
    {"a number", "1200", &no_steps, {MT_AT_TIME, 1200, 0, false}, NULL},
    {"as it is shown", "1,200 instructions", &no_steps, {MT_AT_TIME, 1200, 0, false}, NULL},
    {"with its unit behind it", "7instructions", &no_steps, {MT_AT_TIME, 7, 0, false}, NULL},
    {"its end", "@end", &no_steps, {MT_AT_TIME, INT64_MAX, 0, false}, NULL},
    {"a time", "1ms", &no_steps, {0}, "run 'c' counts instructions, not time: '1ms'"},
    {"another unit", "1 bytes", &no_steps, {0}, "counts instructions, not time: '1 bytes'"},
    {"a part", "1.5", &no_steps, {0}, "counts instructions"},
    {"only its unit", "instructions", &no_steps, {0}, "counts instructions"},
    {"a number that is none", "1,", &no_steps, {0}, "counts instructions"},
    {"nothing of it", "", &no_steps, {0}, "counts instructions"},
    {"after its end", "50001", &no_steps, {0}, "is after the end of run 'c'"},
};

static void check_moment(const struct moment *m, const struct mt_run *of)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_time_arg got = {0};
    check_error(mt_time_arg_parse(m->text, of, m->steps, &got, &err), &err, m->error);
    if (m->error)
        return;
    assert_int_equal(got.kind, m->want.kind);
    assert_int_equal(got.t_ns, m->want.t_ns);
    if (got.kind == MT_AT_PEAK)
        assert_int_equal(got.from_ns, m->want.from_ns);
    assert_int_equal(got.before, m->want.before);
}

static void moment(void **state)
{
    check_moment(*state, &run);
}

static void counts(void **state)
{
    check_moment(*state, &counting);
}

struct window {
    const char *name, *from, *to, *step;
    int64_t from_ns, to_ns;
    const char *error;
};

static const struct window windows[] = {
    {"everything", NULL, NULL, NULL, INT64_MIN, INT64_MAX, NULL},
    {"from", "5ns", NULL, NULL, 5, INT64_MAX, NULL},
    {"to", NULL, "5ns", NULL, INT64_MIN, 5, NULL},
    {"from, to", "5ns", "@step 3", NULL, 5, 200, NULL},
    {"a moment", "5ns", "5ns", NULL, 5, 5, NULL},
    {"start to end", "@start", "@end", NULL, INT64_MIN, INT64_MAX, NULL},
    {"to the end of the run", "5ns", "2s", NULL, 5, INT64_MAX, NULL},
    {"the end of the run", "2s", "2s", NULL, 2000000000, INT64_MAX, NULL},
    {"a step", NULL, NULL, "7", 400, 500, NULL},
    {"steps", NULL, NULL, "3..7", 100, 600, NULL},
    {"steps, some of them missing", NULL, NULL, "5..9", 400, 500, NULL},
    {"steps to the last", NULL, NULL, "7..", 400, 500, NULL},
    {"a step beside a moment", "5ns", NULL, "3", 0, 0, "both define a window"},
    {"the end before the start", "@step 7", "5ns", NULL, 0, 0, "before it begins"},
    {"from a peak", "@peak", NULL, NULL, 0, 0, "begin or end at a peak"},
    {"to a step's peak", NULL, "@step 3:peak", NULL, 0, 0, "begin or end at a peak"},
    {"steps that are missing", NULL, NULL, "5..6", 0, 0, "no such step"},
    {"steps backwards", NULL, NULL, "7..3", 0, 0, "neither a step nor a range"},
    {"no step", NULL, NULL, "x", 0, 0, "neither a step nor a range"},
    {"no first step", NULL, NULL, "..3", 0, 0, "neither a step nor a range"},
    {"no last step", NULL, NULL, "3..x", 0, 0, "neither a step nor a range"},
    {"one dot", NULL, NULL, "3.4", 0, 0, "neither a step nor a range"},
    {"an empty step", NULL, NULL, "", 0, 0, "neither a step nor a range"},
    {"an unreadable start", "x", NULL, NULL, 0, 0, "invalid time"},
    {"an unreadable end", NULL, "x", NULL, 0, 0, "invalid time"},
};

static void window(void **state)
{
    const struct window *w = *state;
    struct mt_err err = MT_ERR_INIT;
    struct mt_window got;
    check_error(mt_window_parse(w->from, w->to, w->step, &run, &steps, &got, &err), &err, w->error);
    if (w->error)
        return;
    assert_int_equal(got.from_ns, w->from_ns);
    assert_int_equal(got.to_ns, w->to_ns);
}

struct at {
    const char *name;
    int64_t t_ns, index, number;
};

static const struct at ats[] = {
    {"before all", 99, -1, INT64_MIN},        {"a step begins", 100, 0, 3},
    {"a step is under way", 199, 0, 3},       {"a step has ended", 200, 0, INT64_MIN},
    {"between two steps", 350, 1, INT64_MIN}, {"one ends as another begins", 500, 3, 4},
    {"after all", 601, 3, INT64_MIN},         {"long before", INT64_MIN, -1, INT64_MIN},
    {"long after", INT64_MAX, 3, INT64_MIN},
};

static void step_at(void **state)
{
    const struct at *a = *state;
    assert_int_equal(mt_steps_index_at(&steps, a->t_ns), a->index);
    assert_int_equal(mt_steps_number_at(&steps, a->t_ns), a->number);
    assert_int_equal(mt_steps_index_at(&no_steps, a->t_ns), -1);
}

/* The last moment of the run is in it, and in windows that go that far. */
static void at_the_end(void **state)
{
    static const struct mt_run ending = {.name = "r", .dur_ns = 20};
    struct mt_err err = MT_ERR_INIT;
    struct mt_window w;
    struct mt_time_arg m;
    (void)state;
    assert_int_equal(mt_steps_number_at(&last_steps, 10), 1);
    assert_int_equal(mt_steps_number_at(&last_steps, 20), 1);
    assert_int_equal(mt_steps_until(&last_steps, 0), 10);
    for (int i = 0; i < 3; i++) {
        static const char *const to[] = {"20", "@end", "@step 1"};
        assert_int_equal(mt_window_parse(NULL, to[i], NULL, &ending, &last_steps, &w, &err), MT_OK);
        assert_true(mt_window_has(&w, 20));
    }
    assert_int_equal(mt_window_parse(NULL, NULL, "1", &ending, &last_steps, &w, &err), MT_OK);
    assert_true(mt_window_has(&w, 10) && mt_window_has(&w, 20) && !mt_window_has(&w, 9));
    assert_int_equal(mt_window_parse(NULL, "@step 0", NULL, &ending, &last_steps, &w, &err), MT_OK);
    assert_true(mt_window_has(&w, 9) && !mt_window_has(&w, 10));
    assert_int_equal(mt_time_arg_parse("@step 1", &ending, &last_steps, &m, &err), MT_OK);
    assert_int_equal(m.t_ns, INT64_MAX);
}

int main(void)
{
    static struct row_tests tests;
    ROWS_ADD(&tests, moment, moments);
    ROWS_ADD(&tests, counts, counted);
    ROWS_ADD(&tests, window, windows);
    static const struct {
        const char *name;
    } end[] = {{"the end of the run"}};
    ROWS_ADD(&tests, step_at, ats);
    ROWS_ADD(&tests, at_the_end, end);
    return ROWS_RUN(&tests, "moments");
}
