/*
 * sites.h - where a person would look: the user's own line of Python where call paths have it, else
 * the top op. docs/attribution.md has the rules.
 */
#ifndef MT_SITES_H
#define MT_SITES_H

#include "lib/run/load.h"

/* What rows call a node's op, and the outermost one around it. Functions of Python around ops are
 * one, "[Python]": what they hold themselves is outside of ops. */
uint32_t mt_tree_op(struct mt_tree *t, uint32_t node);
uint32_t mt_tree_top(struct mt_tree *t, uint32_t node);

/* "(backward of) " and the line or layer of a forward op; MT_NONE: of MT_NONE. */
uint32_t mt_site_of_backward(struct mt_tree *t, uint32_t forward);

/* The layer of a frame around which is `outer` (MT_NONE: none): "Gpt_0.Block_3", a string of the
 * tree; MT_NONE: the frame is no nn.Module. */
uint32_t mt_layer_of_frame(struct mt_tree *t, uint32_t name, uint32_t outer);

/* In front of the top op of a node whose line is not known, where those of others are. */
#define MT_LINE_UNKNOWN "(line unknown) "

/* Appends the line of a node that has one: "models/vit.py:41 forward". */
void mt_tree_line_add(struct mt_buf *out, const struct mt_tree *t, uint32_t node);

/* The line of a node, a string: that of its site; where no line is known in a tree that has some,
 * "(line unknown) " and its top op; in trees without any, its top. */
uint32_t mt_tree_line(struct mt_tree *t, uint32_t node);

/* The site of a node: its line in its scope. The same, appended to a text. */
uint32_t mt_tree_site_text(struct mt_tree *t, uint32_t node);
void mt_tree_site_add(struct mt_buf *out, const struct mt_tree *t, uint32_t node);

/* Appends what a site is called: "aten::clone in Optimizer.step#SGD.step"; the line or top op alone
 * where no scope (NULL) is around it, or is the op itself, or where both have more than 8192 bytes:
 * a name of a megabyte in each of thousands of scopes would take gigabytes. */
void mt_site_add(struct mt_buf *out, const char *top, const char *scope);

#endif
