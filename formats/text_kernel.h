/*
 * text_kernel.h - whose the lines of /proc/PID/status and smaps_rollup are, in a log that has other
 * lines between them: "Pid:" of a status stands in front of what it says of memory, and a rollup
 * has a head, which says where the memory lies.
 */
#ifndef MT_TEXT_KERNEL_H
#define MT_TEXT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line in front of the kernel's. */
struct mt_text_kernel_head {
    uint64_t number; /* its last; 0: it has none that may be a PID */
    uint64_t words;  /* a hash of what else it says */
};

/* Zero-initialise. */
struct mt_text_kernel {
    bool known;           /* whose the text under way is: */
    uint64_t number;      /* a PID, or the number of a place, from 1 on */
    uint64_t first;       /* the first such; 0: none */
    bool several;         /* and others came */
    uint64_t places[256]; /* where rollups lie; of further ones nothing is known */
    size_t place_n;
    struct mt_text_kernel_head head;                 /* the last line, if it is not the kernel's */
    struct mt_text_kernel_head heads[16], last_head; /* those in front of the kernel's lines */
    size_t head_n;
    bool many;      /* there are more */
    uint64_t again; /* how often one came again, another in between */
};

/* Each line as it comes; whether it is the kernel's, and of k->number. */
bool mt_text_kernel_take(struct mt_text_kernel *k, const char *line, size_t n);
/* Whether lines in front of the kernel's, "== 4711 ==", may say whose these are. */
bool mt_text_kernel_doubt(const struct mt_text_kernel *k);

#endif
