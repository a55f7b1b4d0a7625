/*
 * path_text.h - call paths as text: every path has a text of its own, however deep it is.
 */
#ifndef MT_PATH_TEXT_H
#define MT_PATH_TEXT_H

#include <stdint.h>

struct mt_buf;
struct mt_tree;

/* What is known of the path down to each node; freed with mt_paths_free. */
struct mt_paths {
    struct mt_path {
        uint64_t hash;  /* of its names: the same in every run */
        uint32_t n;     /* names on it */
        uint32_t outer; /* node of the last name of its shown beginning */
    } * of;
    uint32_t *first; /* of mt_paths_number: the first node whose path has the same names */
};

void mt_paths_init(struct mt_paths *p, const struct mt_tree *t);
/* The same, and which nodes have one path. */
void mt_paths_number(struct mt_paths *p, const struct mt_tree *t);
void mt_paths_free(struct mt_paths *p);

/*
 * "a > b > c", its id in the strings of the tree. Of more than 256 names the outermost 16 and the
 * innermost 48 are shown; between them stands how many are left out, and the hash of the path,
 * written like an address: "a > [236 more, 0x1f00c0ffee] > z".
 */
uint32_t mt_path_text(const struct mt_paths *p, struct mt_tree *t, uint32_t node);
/* Appends that text. */
void mt_path_add(const struct mt_paths *p, const struct mt_tree *t, uint32_t node,
                 struct mt_buf *out);
/* strcmp of the texts of two nodes of numbered paths, which are made only where names do not say.
 */
int mt_path_cmp(const struct mt_paths *p, const struct mt_tree *t, uint32_t a, uint32_t b);

#endif
