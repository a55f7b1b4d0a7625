/*
 * text_line.h - what a line of a log of text says of memory and of loops: its pairs, and whose they
 * are. Colours and other escapes of terminals are no part of it.
 */
#ifndef MT_TEXT_LINE_H
#define MT_TEXT_LINE_H

#include "formats/text_owners.h"
#include "formats/text_pair.h"

struct mt_text_line {
    struct mt_buf plain; /* the line under way; owners are blanks there once it is taken apart */
    struct mt_text_owners owners;
    MT_VEC(struct mt_text_pair) pairs;
};

void mt_text_line_init(struct mt_text_line *l);
void mt_text_line_free(struct mt_text_line *l);
/* The first line of the n bytes at s, which ends where the text says so: bars of progress begin
 * again at "\r". Into l->plain; returns how many bytes it has with its end. */
size_t mt_text_line_next(struct mt_text_line *l, const char *s, size_t n);
/* Its owners, and its pairs with what they mean. */
void mt_text_line_pairs(struct mt_text_line *l);
/* Whether it names an rss, and a size that no pair has, which may be that: "| RSS | 5 GB |". */
bool mt_text_line_is_unread(const struct mt_text_line *l);

#endif
