/*
 * match.h - which group of one run is which of another.
 */
#ifndef MT_MATCH_H
#define MT_MATCH_H

#include "lib/run/load.h"

enum mt_match {
    MT_MATCH_SAME, /* the same keys */
    MT_MATCH_FORM, /* the same but for what changes from run to run: see mt_canonical_name */
    MT_MATCH_NAME, /* the last name of a call path is the same, or the function of a Python line */
    MT_MATCH_ONLY, /* in one of the runs only */
    MT_MATCH_N
};

/* A group of one run. */
struct mt_match_key {
    const char *const *key;
    uint32_t number; /* of MT_MATCH_NUMBERED */
    bool explicit_row;
    uint32_t row; /* filled: row of the alignment; several groups of one run may share one */
};

/* A row: what matched. Texts are borrowed from the keys, those of NEW where both have it. */
struct mt_match_row {
    const char *const *key;
    bool explicit_row;
    bool in[2]; /* BASE, NEW */
    enum mt_match match;
};

struct mt_matches {
    MT_VEC(struct mt_match_row) rows;
    int64_t match_n[MT_MATCH_N];
};

/* Forms that names may match in, or-ed; they are tried in the order of enum mt_match. */
enum {
    MT_MATCH_STRICT = 0, /* the same keys alone */
    MT_MATCH_TOLERANT = 1 << MT_MATCH_FORM | 1 << MT_MATCH_NAME,
    MT_MATCH_NUMBERED = 1 << MT_MATCH_N /* and the same keys have the same number, others another */
};

/*
 * keys: which grouping keys the texts are of. Fills row of every key. Where both runs have as many
 * lines of a function left, the first is the first, and so on: lines move when a file is edited.
 */
void mt_match_groups(struct mt_match_key *base, size_t base_n, struct mt_match_key *new,
                     size_t new_n, const enum mt_group_key *keys, int key_n, unsigned forms,
                     struct mt_matches *out);
void mt_matches_free(struct mt_matches *a);

/*
 * Appends a name without what changes from run to run: folders and line numbers of Python frames
 * ("/tmp/a/train.py(12): step" -> "train.py: step", "train.py:12 step" -> "train.py step"),
 * instance numbers of modules ("nn.Module: Linear_3" -> "nn.Module: Linear"), heap addresses
 * (0x...), numbers behind '#'.
 */
void mt_canonical_name(struct mt_buf *out, const char *name);

#endif
