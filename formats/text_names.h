/*
 * text_names.h - what a log of text calls the memory of a process: two names in one line are two
 * figures, of which one is the process's rss (or its peak), and a name may stand without bytes.
 */
#ifndef MT_TEXT_NAMES_H
#define MT_TEXT_NAMES_H

#include "formats/text_line.h"
#include "formats/text_pattern.h"
#include "formats/text_table.h"
#include "lib/model/recording.h"

/* Zero-initialise; free with mt_text_names_free. */
struct mt_text_names {
    char main_name[2][MT_PAIR_NAME];   /* what was called the process's rss first, and its peak */
    MT_VEC(struct mt_text_pair) apart; /* names that stand beside these in a line */
    MT_VEC(struct mt_text_unread {
        char name[MT_PAIR_NAME]; /* of the process's memory; its number is none of bytes in */
        uint64_t line_n;         /* so many lines */
        int64_t offset;          /* of the first of these, bytes */
        bool sized;              /* a line has a size that may be it */
    })
    unread;
    struct mt_text_table table; /* whose rows are not read */
    uint64_t foreign_n;         /* of names that may be those of another process */
};

/* Which pairs of a line at `offset` are the process's rss and its peak, of each owner: the meaning
 * of others becomes MT_PAIR_OTHER, with a note of the recording. */
void mt_text_names_tell(struct mt_text_names *n, struct mt_text_line *line,
                        struct mt_recording *rec, int64_t offset);

/* The metric of a name that is not the process's rss nor its peak; "": none. */
void mt_text_names_metric(const char *name, char metric[MT_TEXT_NAME]);

/* At the end: what other lines say in bytes, or what may be in bytes, is lost where it cannot be
 * read, for the peak may have been there. */
void mt_text_names_note(const struct mt_text_names *n, struct mt_recording *rec);
void mt_text_names_free(struct mt_text_names *n);

#endif
