/*
 * complete.h - what the word at the end of a command line could be.
 *
 * All is read off the tables of cmd.h and the database that the line names: a new option or command
 * needs nothing here.
 */
#ifndef MT_COMPLETE_H
#define MT_COMPLETE_H

#include "cmd/cmd.h"

struct mt_candidate {
    char *text;          /* the whole word */
    const char *meaning; /* static; "": none */
};

struct mt_candidates {
    MT_VEC(struct mt_candidate) v;
    bool files; /* or the name of a file, behind "--option=" where the word begins so */
    bool open;  /* a candidate may go on: ",phase" */
};

/*
 * The candidates for words[n - 1], which may be empty, behind the words before it; words[0] is the
 * program. They need not begin with what is typed of the word. Names from the database that a
 * terminal would obey, or that look like options, are left out; one that cannot be read has none.
 * Sets --db. Free with mt_candidates_free.
 */
void mt_complete(const char *const *words, size_t n, struct mt_candidates *out);
void mt_candidates_free(struct mt_candidates *c);

#endif
