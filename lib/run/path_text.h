/*
 * path_text.h - call paths as text: every path has a text of its own, however deep it is.
 */
#ifndef MT_PATH_TEXT_H
#define MT_PATH_TEXT_H

#include <stdint.h>

struct mt_tree;

/* What is known of the path down to each node; freed with mt_paths_free. */
struct mt_paths {
    struct mt_path {
        uint64_t hash;  /* of its names: the same in every run */
        uint32_t n;     /* names on it */
        uint32_t outer; /* node of the last name of its shown beginning */
    } * of;
};

void mt_paths_init(struct mt_paths *p, const struct mt_tree *t);
void mt_paths_free(struct mt_paths *p);

/*
 * "a > b > c", its id in the strings of the tree. Of more than 256 names the outermost 16 and the
 * innermost 48 are shown; between them stands how many are left out, and the hash of the path,
 * written like an address: "a > [236 more, 0x1f00c0ffee] > z".
 */
uint32_t mt_path_text(const struct mt_paths *p, struct mt_tree *t, uint32_t node);

#endif
