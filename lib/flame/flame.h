/*
 * flame.h - flame graphs. The place of a box says nothing of time: siblings stand by name.
 */
#ifndef MT_FLAME_H
#define MT_FLAME_H

#include "lib/export/stacks.h"

/* Whose code a box is of: its colour. */
enum mt_flame_kind {
    MT_FLAME_USER,     /* Python of the program */
    MT_FLAME_LIBRARY,  /* Python of torch, of other packages, built in */
    MT_FLAME_OP,       /* operators and scopes of PyTorch */
    MT_FLAME_BACKWARD, /* autograd */
    MT_FLAME_NATIVE,   /* C and C++ */
    MT_FLAME_OUTSIDE,  /* [outside ops] and the like */
    MT_FLAME_KIND_N
};

struct mt_flame_box {
    uint32_t node;    /* of the stacks */
    int level;        /* 0: the outermost */
    int64_t x, width; /* in the unit of the measure; x of a box within that of its parent */
};

struct mt_flame {
    const struct mt_stacks *stacks; /* borrowed; finished */
    enum mt_measure measure;
    bool compared;                     /* MT_MEASURE_BASE has the figures of another run */
    int64_t total, base;               /* what all boxes have; of the other run */
    MT_VEC(struct mt_flame_box) boxes; /* in preorder */
    int level_n;
    const char *title, *what; /* of the picture; "at peak", in words; borrowed */
    const char *command;      /* that prints it; borrowed */
};

/* Makes the boxes of all stacks that have something of that measure. f: zeroed, but for texts and
 * `compared`; s: stays until f is freed. */
void mt_flame_lay(struct mt_flame *f, const struct mt_stacks *s, enum mt_measure measure);
void mt_flame_free(struct mt_flame *f);

/* Whose code a box is, by its name, file and phase: what its colour says. */
enum mt_flame_kind mt_flame_kind(const struct mt_stacks *s, const struct mt_stack_node *n);

/* How much it changed: -5 (the box that lost most) .. 5 (won most); 0: nothing worth a colour. */
int mt_flame_change(const struct mt_flame *f, const struct mt_flame_box *b);

/* What is said of a box: "aten::mm: 1 KiB (1,024 B), 12.5 %". Appended. */
void mt_flame_tell(const struct mt_flame *f, const struct mt_flame_box *b, struct mt_buf *out);

/* Lines of a terminal, width columns; colors: how many it has (mt_term_colors), 0: boxes have
 * borders instead. Of many levels those in which nothing branches are left out
 * but for the last of them; their number is returned. */
int mt_flame_text(const struct mt_flame *f, int width, bool ascii, int colors, struct mt_buf *out);

/* An SVG document, width pixels; boxes too narrow to be seen are left out, and their number is
 * returned. The outermost functions stand at the top. */
size_t mt_flame_svg(const struct mt_flame *f, int width, struct mt_buf *out);
/* A page around it, with a field to search in. */
size_t mt_flame_html(const struct mt_flame *f, int width, struct mt_buf *out);

#endif
