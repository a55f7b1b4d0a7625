/*
 * reports.h - made-up reports for tests of what is done with reports. Free each with
 * mt_report_free.
 */
#ifndef TEST_REPORTS_H
#define TEST_REPORTS_H

#include "lib/render/report.h"

void build_table(struct mt_report *r);
void build_hostile(struct mt_report *r);
void build_hostile_empty(struct mt_report *r);
void build_long(struct mt_report *r);
void build_extremes(struct mt_report *r);
void build_empty(struct mt_report *r);
void build_tree(struct mt_report *r);
void build_two_texts(struct mt_report *r);
void build_selected(struct mt_report *r);
void build_sentences(struct mt_report *r);
void build_unknown(struct mt_report *r);
void build_spare(struct mt_report *r);
void build_wanted(struct mt_report *r);
void build_lone_unknown(struct mt_report *r);

#endif
