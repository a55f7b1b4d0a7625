/*
 * check.h - the ways to say what memtool check found.
 */
#ifndef MT_CHECK_CMD_H
#define MT_CHECK_CMD_H

#include "lib/analysis/findings.h"
#include "lib/render/report.h"

/* ---- words (check_words.c): plain text, not yet escaped for anything ---- */

/* "peak of cpu grew 97.8 % (16.55 MiB -> 32.74 MiB), limit 5%" */
void mt_finding_text(const struct mt_findings *f, const struct mt_checked *c, struct mt_buf *out);
/* "op relu, scope forward"; "": the whole device. */
void mt_finding_subject(const struct mt_checked *c, struct mt_buf *out);
/* "aten::relu +6 MiB, aten::add in forward +4 MiB"; "": nothing. */
void mt_finding_explained(const struct mt_checked *c, struct mt_buf *out);
/* The command that shows more, for a shell; "": none. */
void mt_finding_look(const struct mt_findings *f, const struct mt_checked *c, struct mt_buf *out);
/* "2 rules: 1 failed, 1 inconclusive" */
void mt_findings_sum(const struct mt_findings *f, struct mt_buf *out);

/* ---- formats (check_report.c) ---- */

enum mt_check_format {
    MT_CHECK_TABLE,
    MT_CHECK_REPORT, /* csv, tsv, json: as every report */
    MT_CHECK_MARKDOWN,
    MT_CHECK_GITHUB, /* workflow commands; also appends to $GITHUB_STEP_SUMMARY */
    MT_CHECK_JUNIT
};
/* name: one of the command's formats; NULL: table. */
enum mt_check_format mt_check_format_of(const char *name);

/* Writes what was found in that form, and notes to standard error; MT_CHECK_GITHUB also the summary
 * of the step. Errors: MT_EIO. */
enum mt_status mt_check_show(const struct mt_findings *f, enum mt_check_format format,
                             struct mt_err *err);

/* Appended by check_ci.c: annotations; a JUnit document. */
void mt_check_github(const struct mt_findings *f, struct mt_buf *out);
void mt_check_junit(const struct mt_findings *f, struct mt_buf *out);

#endif
