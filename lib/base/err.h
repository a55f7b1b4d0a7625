/*
 * err.h - the one way a failure travels from lib/ and formats/ to the user.
 *
 * Functions that can fail return enum mt_status and fill a struct mt_err given by the caller.
 * The first failure wins: a filled mt_err is never overwritten. Nothing in lib/ or formats/ prints.
 */
#ifndef MT_ERR_H
#define MT_ERR_H

#include <stdbool.h>
#include <stdint.h>

enum mt_status {
    MT_OK = 0,
    MT_EUSAGE,     /* the command line asks for something that cannot be */
    MT_EINPUT,     /* an input file is damaged, cut off or of no known format */
    MT_ELIMIT,     /* an input needs more than a limit allows */
    MT_EIO,        /* reading or writing failed */
    MT_EDB,        /* the database cannot be used */
    MT_EINTERRUPT, /* the user pressed Ctrl-C */
};

struct mt_err {
    enum mt_status code; /* MT_OK until the first failure */
    const char *src_file;
    int src_line;     /* where in memtool; shown with --verbose only */
    char input[256];  /* file or database the error is about; "" if none */
    int64_t offset;   /* byte offset in the decompressed input, -1 = unknown */
    int64_t line;     /* 1-based line of that offset, 0 = unknown */
    char what[512];   /* the fact, one sentence without a full stop */
    char hint[512];   /* what was done and what to do, whole sentences; "" if none */
    bool cannot_tell; /* the question is sound, but what was recorded does not hold the answer */
};

#define MT_ERR_INIT                                                                                \
    {                                                                                              \
        .offset = -1                                                                               \
    }

/* Records a failure (if it is the first) and evaluates to its code. */
#define MT_FAIL(e, code, ...) mt_err_set((e), (code), __FILE__, __LINE__, __VA_ARGS__)

/* Runs x; on failure returns its status at once, or jumps to the label `out` with it in `st`. */
#define MT_TRY(x)                                                                                  \
    do {                                                                                           \
        enum mt_status s_ = (x);                                                                   \
        if (s_ != MT_OK)                                                                           \
            return s_;                                                                             \
    } while (0)
#define MT_TRY_OUT(x)                                                                              \
    do {                                                                                           \
        if ((st = (x)) != MT_OK)                                                                   \
            goto out;                                                                              \
    } while (0)

/* Behind MT_FAIL. Returns the code of the first failure; a later one changes nothing. */
enum mt_status mt_err_set(struct mt_err *err, enum mt_status code, const char *src_file,
                          int src_line, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Adds the hint of a failure just recorded; a hint already there stays. */
void mt_err_hint(struct mt_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Says that a failure just recorded lies in what was recorded (cannot_tell above). */
void mt_err_cannot_tell(struct mt_err *err);

/* Names the input of a failure just recorded; a name already there stays. */
void mt_err_input(struct mt_err *err, const char *input);

#endif
