/*
 * term.h - the terminal: what it can show, a pager before it, a progress line on it.
 *
 * The one file of lib/ that writes to the user's terminal by itself: the progress line goes to
 * stderr, and the pager takes stdout's place. All functions are for the main thread.
 */
#ifndef MT_TERM_H
#define MT_TERM_H

#include "lib/base/mem.h"
#include <stdbool.h>
#include <stdint.h>

enum mt_color { MT_COLOR_AUTO, MT_COLOR_ALWAYS, MT_COLOR_NEVER };

struct mt_term {
    bool out_tty, err_tty; /* stdout, stderr are terminals */
    bool dumb;             /* TERM is unset or "dumb": no control sequences */
    bool utf8;             /* the locale's encoding is UTF-8; setlocale(LC_CTYPE, "") comes first */
    bool color;            /* colours on stdout */
    int width;             /* of stdout: COLUMNS, else what the terminal says, else 80;
                              0 when stdout is no terminal */
    int err_width;         /* the same of stderr */
    int height;            /* the same: LINES, the terminal, 24 */
};

/*
 * Finds out about the terminal. With MT_COLOR_AUTO colours are off when NO_COLOR is not empty;
 * else on when CLICOLOR_FORCE is set and not "0"; else on for a terminal that is not dumb.
 * Call before mt_pager_start.
 */
struct mt_term mt_term_probe(enum mt_color color);

/* How many colours a background can have on the terminal that TERM and COLORTERM name: 1 << 24,
 * 256, or 0: too few to tell boxes apart. */
int mt_term_colors(void);

/*
 * Sends stdout through $MEMTOOL_PAGER, else $PAGER, else `less -FRX`. Does nothing when stdout is
 * no terminal, the terminal is dumb, or the command is empty or "cat". A command that cannot be
 * started leaves stdout as it is. Until mt_stdout_end, Ctrl-C is left to the pager, so call it
 * when the report is ready and only writing is left. Returns whether a pager runs.
 */
bool mt_pager_start(const struct mt_term *term);

/*
 * Ends the output: writes out stdout, waits until the user leaves the pager, and gives the
 * terminal back as stdout. Only then write to stderr. Returns 0, or the errno of the write that
 * failed. A user who leaves the pager early is no failure. Also runs at exit when a pager does.
 */
int mt_stdout_end(void);
/* Why an earlier write to it failed, as far as can be seen now, for a stream remembers only that:
 * EPIPE, EFBIG, ENOSPC, EDQUOT or EIO. */
int mt_write_error(int fd);

/*
 * The progress of one long reading, on one line of stderr:
 *     trace.json.gz  41 %  1.118 GiB/s  ETA 3 s
 * Drawn at most ten times a second, first after a tenth of a second; nothing at all when stderr is
 * no terminal or a dumb one, or CI is set and not empty.
 */
struct mt_progress {
    char *name; /* NULL: not shown */
    int64_t total_b, start_ns, drawn_ns;
    int width;
    bool on_screen, ascii;
};

/* name: of the input, any bytes; total_b: -1 = unknown. */
void mt_progress_start(struct mt_progress *p, const struct mt_term *term, const char *name,
                       int64_t total_b);
void mt_progress_update(struct mt_progress *p, int64_t done_b);
/* Erases the line. Harmless on a zeroed struct and when called twice. */
void mt_progress_end(struct mt_progress *p);

/* Appends the text of the line after elapsed_ns, cut in the name so that it takes less than
 * p->width columns where that can be. Pure. */
void mt_progress_text(struct mt_buf *out, const struct mt_progress *p, int64_t done_b,
                      int64_t elapsed_ns);

#endif
