/*
 * text_tags.h - what stands in front of the lines of a log and says whose they are without a word:
 * "0: " of srun -l, "[0] " of mpiexec -l, "[4711] " of a PID, "R0: ". Numbers of lines, steps and
 * epochs look the same, and so do parts of one program that takes them in turns: which of them it
 * is, all lines from the begin of the log tell, or none. What kubectl and docker compose write are
 * names, and a PID may stand behind the date.
 */
#ifndef MT_TEXT_TAGS_H
#define MT_TEXT_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mt_text_tag_kind {
    MT_TAG_COLON,
    MT_TAG_BRACKET,
    MT_TAG_LETTER,
    MT_TAG_BAR,    /* "train-1  | " of docker compose, "node-1: ": the number stands for the name */
    MT_TAG_HEADER, /* text_header.h */
    MT_TAG_N
};

enum mt_text_tag_verdict {
    MT_TAG_NONE,  /* they count something, or there are none */
    MT_TAG_DOUBT, /* it may be either */
    MT_TAG_RANKS,
    MT_TAG_PIDS,
    MT_TAG_NAMES
};

/* The tag of a line of that kind; its end, or NULL: it has none. */
const char *mt_text_tag(const char *line, size_t n, enum mt_text_tag_kind kind, uint64_t *number);

/* "[pod/train-0/pytorch] " and "train-1  | ": the name, "train-0", of n bytes in the line; the
 * tag's end, or NULL: it has none. */
const char *mt_text_tag_name(const char *line, size_t n, const char **name, size_t *name_n);

/* "Nov 22 10:00:01 host python[4711]: " of syslog and journalctl: the PID; the tag's end, or NULL:
 * it has none. */
const char *mt_text_tag_syslog(const char *line, size_t n, uint64_t *pid);
/* "/proc/4711/status:" that grep -H writes in front of lines: the PID; the tag's end, or NULL. */
const char *mt_text_tag_proc(const char *line, size_t n, uint64_t *pid);

/* "[1,0]<stdout>:" or "[prterun-host-7@1,0]<stdout>:" that mpirun --tag-output writes in front of
 * lines: the rank; the tag's end, or NULL. */
const char *mt_text_tag_mpirun(const char *line, size_t n, uint64_t *rank);

/* What lines so far had. Zero-initialise. */
struct mt_text_tags {
    bool said; /* what a process has in memory is known by other signs than these lines' words */
    bool launched;   /* a line is srun's own */
    uint64_t line_n; /* that are not empty */
    struct mt_text_tag_lines {
        uint64_t line_n;  /* with a tag */
        uint64_t same_n;  /* of these with the step of the line before, whose number is another */
        uint64_t rss_n;   /* that may say what a process has in memory */
        uint64_t again_n; /* whose tag was there before, but not in the line before */
        uint64_t down_n;  /* whose number falls, but not to the least */
        uint64_t reset_n; /* whose number falls to the least */
        uint64_t other_n; /* whose number is not that of the line before */
        uint64_t sure_n;  /* in a form that others than processes hardly have */
        uint64_t turn_n;  /* how often another number came that was there before */
        uint64_t odd_n; /* of these: not as many lines, or not the same number next, as last time */
        unsigned not_by;  /* bits: some number is no multiple of a round one */
        bool no_status;   /* some number is none of HTTP */
        bool rss_several; /* lines that may say what a process has are of several numbers, */
        bool shared;      /* and one of them says the same words as one of another number */
        uint64_t least, most, last, step, rss_last;
        size_t different_n, last_i;
        uint64_t run_n;                   /* lines since another number */
        uint64_t different[1024];         /* the first numbers */
        uint16_t runs[1024], nexts[1024]; /* of these, when it was there last: lines, the next */
        struct mt_text_tag_words {
            uint32_t words; /* a hash */
            uint64_t number;
        } words[64]; /* of lines that may say what a process has */
    } kinds[MT_TAG_N];
};
void mt_text_tags_add(struct mt_text_tags *t, const char *line, size_t n);
/* The same of all lines of a text, but for a last one that is not whole; how many bytes these are.
 */
size_t mt_text_tags_add_all(struct mt_text_tags *t, const char *text, size_t n);
enum mt_text_tag_verdict mt_text_tags_judge(const struct mt_text_tags *t,
                                            enum mt_text_tag_kind kind);
/* What they are where it is known that they tell processes apart. */
enum mt_text_tag_verdict mt_text_tags_apart(const struct mt_text_tags *t,
                                            enum mt_text_tag_kind kind);

#endif
