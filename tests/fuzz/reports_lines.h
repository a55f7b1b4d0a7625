/*
 * reports_lines.h - the command lines of fuzz_reports; `~` stands for a blank within a word.
 */
#ifndef MT_FUZZ_REPORTS_LINES_H
#define MT_FUZZ_REPORTS_LINES_H

extern const char *const fuzz_reports_lines[]; /* NULL-terminated */

#endif
