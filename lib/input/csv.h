/*
 * csv.h - records of comma-separated text (RFC 4180), one after the other, without copying more of
 * them than needs be: quotes around fields, doubled inside them, line ends between them, "\n" or
 * "\r\n" behind a record (inside quotes "\r\n" becomes "\n").
 */
#ifndef MT_CSV_H
#define MT_CSV_H

#include "lib/base/mem.h"
#include "lib/input/lines.h"

/* Zero-initialise but for lines.in, .progress, .closure and the separator. */
struct mt_csv {
    struct mt_lines lines;
    char separator;
    /* of the record; valid until the next one is asked for */
    MT_VEC(struct mt_csv_field {
        const char *s;
        size_t n;
        size_t copied; /* private: 1 more than its offset in `text`; 0: it is not there */
    })
    fields;
    uint64_t offset;   /* of the input where it begins */
    bool cut;          /* the input ends behind it, or in it: nobody knows whether it is whole */
    const char *wrong; /* it is none: why, static text; NULL: it is one */
    /* private */
    struct mt_buf joined, text;
};

void mt_csv_free(struct mt_csv *c);

/* The next record; *any false: there is none. Empty lines are left out. Errors: as mt_lines_next;
 * of the limits of a line for the record, too. */
enum mt_status mt_csv_next(struct mt_csv *c, bool *any, struct mt_err *err);

/* Takes n bytes of text apart as one record; false: it is none, and c->wrong says why. */
bool mt_csv_split(struct mt_csv *c, const char *s, size_t n);

#endif
