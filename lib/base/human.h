/*
 * human.h - figures as people write them: sizes, times, counts; and escaping of hostile text.
 */
#ifndef MT_HUMAN_H
#define MT_HUMAN_H

#include "lib/base/mem.h"
#include <stdbool.h>
#include <stdint.h>

#define MT_HUMAN_MAX  40 /* enough for any figure below, */
#define MT_HUMAN_LONG 80 /* and for one with words */

/* From now on bytes and times are written exactly, as 4,194,304 B and 1,204 ns: what --bytes asks
 * for. For the whole process; set it before the first figure is written. */
void mt_human_exactly(bool on);

/* 0 B, 512 B, 3.815 MiB, -81.59 MiB: binary units, 4 significant digits, trailing zeros cut
 * ("40 MiB"), never rounded up to 1024 of a unit ("1 MiB", not "1,024 KiB"; "1,023 KiB" is none).
 */
const char *mt_human_bytes(int64_t bytes, char out[MT_HUMAN_MAX]);

/* The same even where figures are exact: for what is round or passing, the ticks of an axis. */
const char *mt_human_bytes_round(int64_t bytes, char out[MT_HUMAN_MAX]);

/* 0 ns, 640 ns, 2.233 us, 165.7 ms, 12.35 s: same rules. */
const char *mt_human_ns(int64_t ns, char out[MT_HUMAN_MAX]);
/* A moment in that unit: "ns" as above, "sample 11" of samples, of others "1,234 instructions"; ""
 * or NULL: no unit. */
const char *mt_human_time(const char *unit, int64_t t, char out[MT_HUMAN_LONG]);
/* How long: the same, but "11 samples". */
const char *mt_human_span(const char *unit, int64_t t, char out[MT_HUMAN_LONG]);

/* 1,204 with thousands separators; sign kept. */
const char *mt_human_count(int64_t n, char out[MT_HUMAN_MAX]);

/* The same with so many decimals (9 at most): 35,419.3. */
const char *mt_human_decimal(double v, int decimals, char out[MT_HUMAN_MAX]);

/* Decimals of a change in percent: 1, none from 1,000 on, and below 0.1 as many as show a digit;
 * -1: it is next to nothing. */
int mt_percent_decimals(double percent);

/* A count that need not be whole, such as a mean: 12,345, and with 4 significant digits 2.5,
 * 0.3333, 1,235. */
const char *mt_human_number(double v, char out[MT_HUMAN_MAX]);

/* "1 step", "1,204 steps", "2 processes": a count of things, which are called by their singular. */
const char *mt_human_plural(int64_t n, const char *thing, char out[MT_HUMAN_LONG]);

/* "16.55 MiB (17,355,520 B)"; once where both are the same. */
const char *mt_human_with_exact(int64_t bytes, char out[MT_HUMAN_LONG]);

/* Sizes on the command line: 512, 64KiB, 1.5GiB, 2GB (decimal is decimal), 10k/10K = KiB.
 * Optional sign. False if it is none, or does not fit int64. */
bool mt_parse_size(const char *text, int64_t *bytes);

/* "5%", "2.5 %": a number of digits, 1e9 at most. */
bool mt_parse_percent(const char *text, double *percent);

/* Times on the command line: 12ms, 1.5s, 300us, 40ns, 2min, 1h; a bare number is nanoseconds. Where
 * times count another unit than "ns": a number of these, as mt_human_time writes it or bare. */
bool mt_parse_time(const char *unit, const char *text, int64_t *t);

/* Appends s with control bytes, DEL, C1 controls, bidirectional overrides and invalid UTF-8 shown
 * as \xNN (each byte), so that it is safe on a terminal. Newline and tab become \n and \t. */
void mt_escape_terminal(struct mt_buf *out, const char *s);

/* The same for texts in which ops are named: "autograd::engine::evaluate_function: X" reads X, as
 * autograd's node is called. Machine formats have the whole name. */
void mt_escape_short(struct mt_buf *out, const char *s);

/* The same as mt_escape_terminal, for text and attributes of XML. */
void mt_escape_xml(struct mt_buf *out, const char *s);

/* What that reads in a list of ops: "X (engine)", since the node's own op X is another row. */
void mt_escape_op(struct mt_buf *out, const char *s);

/* Appends s as the inside of a JSON string: quotes, backslashes and characters that act on a
 * terminal escaped, a byte that is no UTF-8 as \u00NN. */
void mt_escape_json(struct mt_buf *out, const char *s);

/* Appends a word of a command line that people copy into their shell, quoted where it must be. */
void mt_shell_word(struct mt_buf *out, const char *word);

/* Columns that s takes on a terminal (UTF-8, escaped already). */
int mt_display_width(const char *s);

/* Cuts s (escaped already) in the middle to at most `width` columns, keeping more of its end:
 * "autograd::engine::…ConvolutionBackward0" (mark "…", or "..." when ascii). The number of a line
 * of a file stays where there is room: "trans…:84 forward". width >= 8. */
void mt_cut_middle(struct mt_buf *out, const char *s, int width, bool ascii);

/* Cuts s (escaped already) at its end to at most `width` columns: "aten::conv…", or ".." when
 * ascii; to nothing where there is no room for the mark. */
void mt_cut_end(struct mt_buf *out, const char *s, int width, bool ascii);

/* Whether a word of n bytes is a unit of figures, KiB or ms, perhaps with a full stop behind it. */
bool mt_is_unit(const char *word, size_t n);

/*
 * Appends s (escaped already) in lines that end before column `width`. The first begins at column
 * `indent`, where the caller is, the others behind as many blanks; no newline at the end. Breaks at
 * blanks only, so that a longer word stays whole; neither before a middle dot nor between a figure
 * and its unit. width <= 0: as it is.
 */
void mt_wrap_words(struct mt_buf *out, const char *s, int width, int indent);

/* Edit distance (insert, delete, substitute, swap neighbours), for "did you mean". */
int mt_edit_distance(const char *a, const char *b);

#endif
