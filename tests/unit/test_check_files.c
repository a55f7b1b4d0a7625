/* lib/analysis/rules.h, baseline.h: rule and baseline files, and what is wrong with them. */
#include "lib/analysis/check.h"
#include "tests/unit/rows.h"
#include <string.h>

struct file_row {
    const char *name;
    bool baseline;
    const char *text, *what, *hint; /* parts of what is said; hint NULL: any */
    int64_t line;
};

#define RULES(text)    "{\"schema\": \"memtool.rules\", \"version\": 1,\n\"rules\": [\n" text "\n]}"
#define BASELINE(text) "{\"schema\": \"memtool.baseline\", \"version\": 1,\n" text "}"
#define FIGURES                                                                                    \
    "\"peak_b\": 9, \"net_b\": 0, \"at_end_b\": 0, \"alloc_b\": 0, \"freed_b\": 0, \"alloc_n\": "  \
    "0, "                                                                                          \
    "\"freed_n\": 0, \"calls_n\": 0, \"step_n\": 0, \"per_step_b\": null"

static const struct file_row file_rows[] = {
    {"rules: empty", false, "", "ends too early", NULL, 1},
    {"rules: cut", false, "{\"schema\":\n\"mem", "ends too early", NULL, 2},
    {"rules: no JSON", false, "max-peak = 2GiB", "is not JSON", NULL, 1},
    {"rules: a comma is missing", false, RULES("{\"max-peak\": 1 \"op\": 2}"), "',' or", NULL, 3},
    {"rules: text behind the end", false, RULES("{\"max-peak\": 1}") "\n\nx", "follows", NULL, 6},
    {"rules: another schema", false, "{\"schema\": \"other\"}", "must be \"memtool.rules\"", NULL,
     1},
    {"rules: newer", false, "{\"schema\": \"memtool.rules\",\n\"version\": 2}", "is 2; this", NULL,
     2},
    {"rules: no version", false, "{\"schema\": \"memtool.rules\"}", "\"version\" is missing", NULL,
     1},
    {"rules: misspelt key", false, RULES("{\"max-peek\": 1}"), "no key \"max-peek\"",
     "Did you mean max-peak", 3},
    {"rules: far from any key", false, RULES("{\n\"colour\": 1}"), "no key \"colour\"",
     "Keys: name, device", 4},
    {"rules: a key twice", false, RULES("{\"max-peak\": 1,\n\"max-peak\": 2}"), "a second time",
     NULL, 4},
    {"rules: a rule is no object", false, RULES("5"), "must be an object", NULL, 3},
    {"rules: no list", false, "{\"schema\": \"memtool.rules\", \"version\": 1, \"rules\": {}}",
     "\"rules\" must be a list", NULL, 1},
    {"rules: none", false, "{\"schema\": \"memtool.rules\", \"version\": 1}",
     "\"rules\" is missing", NULL, 1},
    {"rules: no limit", false, RULES("{\"op\": \"relu\"}"), "without a limit", NULL, 3},
    {"rules: a wrong limit", false, RULES("{\"op\": \"relu\",\n\"max-peak\": \"5%\"}"),
     "percentage of what", NULL, 4},
    {"rules: a wrong expression", false, RULES("{\"max-peak\": 5,\n\"op\": \"(\"}"),
     "invalid regular expression", NULL, 3},
    {"rules: a list as limit", false, RULES("{\"max-peak\": []}"), "must be a text", NULL, 3},
    {"rules: too deep", false, "[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]", "too deep", NULL, 1},
    {"baseline: no devices", true, BASELINE("\"run\": \"a\""), "\"devices\" is missing", NULL, 1},
    {"baseline: a run that is no text", true, BASELINE("\"run\": 5"), "\"run\" must be a text",
     NULL, 2},
    {"baseline: a figure is missing", true, BASELINE("\"devices\": [\n{\"device\": \"cpu\"}]"),
     "without \"sites\"", NULL, 3},
    {"baseline: a device twice", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES "},\n"
              "{\"device\": \"cpu\", \"sites\": [],\n" FIGURES "}]"),
     "the device \"cpu\" appears a second time", NULL, 4},
    {"baseline: a figure is text", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES
              ", \"spread\": {\n\"peak_b\": "
              "\"x\"}}]"),
     "\"peak_b\" must be a whole number", NULL, 4},
    {"baseline: a negative spread", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES
              ", \"spread\": {\n\"peak_b\": "
              "-1}}]"),
     "must not be negative: -1", NULL, 4},
    {"baseline: a negative peak", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES
              ", \"last_step_peak_b\": 1, \"after_steps_peak_b\": 1, \"peak_by_step\": [\n[0, "
              "-5]]}]"),
     "must not be negative: -5", NULL, 4},
    {"baseline: a site that allocates less than nothing", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [{\"op\": \"a\",\n\"alloc_b\": "
              "-4}],\n" FIGURES "}]"),
     "must not be negative: -4", NULL, 3},
    {"baseline: a figure out of range", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [{\"op\": \"a\",\n\"alloc_b\": "
              "9223372036854775807}],\n" FIGURES "}]"),
     "out of range", NULL, 3},
    {"baseline: a site without a name", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [\n{}],\n" FIGURES "}]"),
     "without \"op\"", NULL, 3},
    {"baseline: a flag that is none", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [{\"op\": \"[other]\",\n\"is_op\": "
              "1}],\n" FIGURES "}]"),
     "\"is_op\" must be true or false", NULL, 3},
    {"baseline: peaks of steps that fall", true,
     BASELINE(
         "\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES
         ", \"last_step_peak_b\": 1, \"after_steps_peak_b\": 1, \"peak_by_step\": [[0, 5],\n[1, "
         "4]]}]"),
     "that rise from 0 steps on", NULL, 4},
    {"baseline: peaks of steps that do not begin at 0", true,
     BASELINE(
         "\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES
         ", \"last_step_peak_b\": 1, \"after_steps_peak_b\": 1, \"peak_by_step\": [\n[2, 5]]}]"),
     "that rise from 0 steps on", NULL, 4},
    {"baseline: a peak of no step", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES
              ", \"last_step_peak_b\": 1, \"after_steps_peak_b\": 1, \"peak_by_step\": [\n[0]]}]"),
     "must list pairs", NULL, 4},
    {"baseline: peaks of steps without that of the last", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES
              ",\n\"peak_by_step\": [[0, 5]]}]"),
     "without \"last_step_peak_b\"", NULL, 4},
    {"baseline: ends of steps that do not begin at 0", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES
              ", \"end_by_step\": [\n[2, 5]]}]"),
     "of ever more steps from 0 on", NULL, 4},
    {"baseline: ends of steps that go back", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES
              ", \"end_by_step\": [[0, 5],\n[0, 4]]}]"),
     "of ever more steps from 0 on", NULL, 4},
    {"baseline: an end of no step", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES
              ", \"end_by_step\": [[0, 5],\n[1]]}]"),
     "must list pairs", NULL, 4},
    {"baseline: steps of a repeat that is not there", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES
              ",\n\"steps_of_each\": [{\"step_n\": 8}]}]"),
     "steps of 1 of 0 repeats", NULL, 4},
    {"baseline: levels of a repeat that fall", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES
              ", \"steps_of_each\": [{\"step_n\": 8, \"end_by_step\": [[0, 5],\n[0, 4]]}]}]"),
     "of ever more steps from 0 on", NULL, 4},
    {"baseline: levels of a repeat by another name", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES
              ", \"steps_of_each\": [{\n\"steps\": 8}]}]"),
     "\"steps\"", NULL, 4},
    {"baseline: a reason without a run", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES
              ", \"unknown\": [\n{\"why\": \"is cut\", \"figures\": []}]}]"),
     "\"unknown\" without \"run\"", NULL, 4},
    {"baseline: a reason that is no text", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES
              ", \"unknown\": [{\"run\": \"a\",\n\"why\": 5, \"figures\": []}]}]"),
     "\"why\" must be a text", NULL, 4},
    {"baseline: a reason for no figure", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [],\n" FIGURES
              ", \"unknown\": [{\"run\": \"a\", \"why\": \"b\", \"figures\": [\n\"peek_b\"]}]}]"),
     "no figure is called \"peek_b\"", NULL, 4},
    {"baseline: names of too few repeats", true,
     BASELINE("\"runs_n\": 3,\n\"repeats\": [\"a\", \"b\"], \"devices\": []"),
     "\"repeats\" names 2 runs, but \"runs_n\" is 3", NULL, 3},
    {"baseline: a hash of contents that is no text", true,
     BASELINE("\"contents\": [\n5], \"devices\": []"), "must be a text", NULL, 3},
    {"baseline: a repeat without a figure", true,
     BASELINE("\"runs_n\": 2, \"repeats\": [\"a\", \"b\"], \"devices\": [{\"device\": \"cpu\", "
              "\"sites\": [{\"op\": \"a\",\n\"alloc_b_each\": [7]}],\n" FIGURES "}]"),
     "\"alloc_b_each\" has 1 figures of 2 repeats", NULL, 3},
    {"baseline: a repeat that is not there", true,
     BASELINE("\"runs_n\": 2, \"repeats\": [\"a\", \"b\"], \"devices\": [{\"device\": \"cpu\", "
              "\"sites\": [{\"op\": \"a\",\n\"alloc_b_each\": [[2, 7]]}],\n" FIGURES "}]"),
     "\"alloc_b_each\" must list pairs", NULL, 3},
    {"baseline: repeats that go back", true,
     BASELINE("\"runs_n\": 2, \"repeats\": [\"a\", \"b\"], \"devices\": [{\"device\": \"cpu\", "
              "\"sites\": [{\"op\": \"a\",\n\"alloc_b_each\": [[1, 7], [0, 5]]}],\n" FIGURES "}]"),
     "\"alloc_b_each\" must list pairs", NULL, 3},
    {"baseline: a pair without a figure", true,
     BASELINE("\"runs_n\": 2, \"repeats\": [\"a\", \"b\"], \"devices\": [{\"device\": \"cpu\", "
              "\"sites\": [{\"op\": \"a\",\n\"alloc_b_each\": [[1]]}],\n" FIGURES "}]"),
     "\"alloc_b_each\" must list pairs", NULL, 3},
    {"baseline: a repeat whose figure is out of range", true,
     BASELINE(
         "\"runs_n\": 2, \"repeats\": [\"a\", \"b\"], \"devices\": [{\"device\": \"cpu\", "
         "\"sites\": [{\"op\": \"a\",\n\"alloc_b_each\": [[1, 9223372036854775807]]}],\n" FIGURES
         "}]"),
     "a figure is out of range: 9223372036854775807", NULL, 3},
    {"baseline: a repeat whose figure is no number", true,
     BASELINE("\"runs_n\": 2, \"repeats\": [\"a\", \"b\"], \"devices\": [{\"device\": \"cpu\", "
              "\"sites\": [{\"op\": \"a\",\n\"alloc_b_each\": [1.5, 2]}],\n" FIGURES "}]"),
     "this value must be a whole number", NULL, 3},
    {"baseline: figures of repeats that are unknown", true,
     BASELINE("\"devices\": [{\"device\": \"cpu\", \"sites\": [{\"op\": "
              "\"a\",\n\"alloc_b_each\": [7]}],\n" FIGURES "}]"),
     "has 1 figures of 0 repeats", NULL, 3},
    {"baseline: left by a merge", true, "<<<<<<< HEAD\n{}", "is not JSON", "writes a baseline anew",
     1},
};

static void file_test(void **state)
{
    const struct file_row *row = *state;
    const struct mt_rule_about about = {0};
    struct mt_rules rules = {0};
    struct mt_baseline base = {0};
    struct mt_err err = MT_ERR_INIT;
    enum mt_status st =
        row->baseline ? mt_baseline_parse("file", row->text, strlen(row->text), &base, &err)
                      : mt_rules_parse("file", row->text, strlen(row->text), &about, &rules, &err);
    assert_int_not_equal(st, MT_OK);
    assert_string_equal(err.input, "file");
    if (!strstr(err.what, row->what) || (row->hint && !strstr(err.hint, row->hint)))
        fail_msg("%s / %s", err.what, err.hint);
    assert_int_equal(err.line, row->line);
    assert_true(err.hint[0]);
    mt_rules_free(&rules);
    mt_baseline_free(&base);
}

static void rules_test(void **state)
{
    (void)state;
    static const char text[] = RULES(
        "{\"name\": \"two\", \"max-peak\": 100, \"max-peak-growth\": \"5%\", \"op\": \"^b\"},\n"
        "{\"max-growth-per-step\": \"1KiB\", \"device\": \"cuda\", \"scope\": \"s\\u0031\"}");
    const struct mt_rule_about about = {.device = "cpu"};
    struct mt_rules rules = {0};
    struct mt_err err = MT_ERR_INIT;
    assert_int_equal(mt_rules_parse("file", text, sizeof text - 1, &about, &rules, &err), MT_OK);
    assert_int_equal(rules.v.n, 3);
    const struct mt_rule *r = rules.v.v;
    assert_string_equal(r[0].name, "two");
    assert_string_equal(r[1].kind->name, "max-peak-growth");
    assert_string_equal(r[1].device, "cpu");
    assert_string_equal(r[2].device, "cuda");
    assert_string_equal(r[2].scope, "s1");
    const struct mt_baseline_site a = {.op = "ab", .scope = "s1"}, b = {.op = "ba"};
    assert_false(mt_rule_is_about(&r[0], &a));
    assert_true(mt_rule_is_about(&r[0], &b));
    assert_true(mt_rule_is_about(&r[2], &a));
    assert_false(mt_rule_is_about(&r[2], &b));
    mt_rules_free(&rules);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, file_test, file_rows);
    t.v[t.n++] = (struct CMUnitTest){.name = "rules: read from a file", .test_func = rules_test};
    return ROWS_RUN(&t, "check files");
}
