/*
 * import_file.h - one file into a database: read, build, store.
 */
#ifndef MT_IMPORT_FILE_H
#define MT_IMPORT_FILE_H

#include "cmd/cmd.h"
#include "formats/format.h"
#include "lib/build/told_base.h"
#include "lib/store/store.h"

struct mt_import_opts {
    const char *name;         /* of the run; NULL = made up */
    struct mt_strings groups; /* of the run */
    int folders;              /* whose names are in one that is made up (mt_store_name_of) */
    const char *source;       /* said of where it is from; NULL = the path */
    const char *step_marker;  /* NULL = the usual ones */
    enum mt_cpp_frames cpp_frames;
    bool library_sites; /* mt_read_opts */
    enum mt_meaning values;
    enum mt_writers processes;
    const char *alloc_fn;  /* expression: further allocators of heap logs; NULL = none */
    const char *pattern;   /* where figures stand in a text (formats/text_pattern.h); NULL */
    bool no_symbols;       /* functions of places in code are not looked for */
    const char *sysroot;   /* folder in which they are; NULL = this machine */
    struct mt_bases bases; /* what is older than the recording */
    unsigned split;        /* enum mt_split */
    bool replace, partial;
    int64_t again;           /* id of the run that is imported again (mt_store_opts); 0 = none */
    size_t series_n;         /* dumps of one process that are one run; 0 = it is one file */
    int64_t max_memory;      /* bytes; 0 = half of the machine's, less for small files */
    int share_n;             /* files in memory beside each other that share these; 0 = one */
    bool quiet;              /* no progress is shown: not in the main thread */
    bool brief;              /* a line is said of each, for there are many */
    bool built;              /* of mt_import_store: nothing is left to build */
    const char *imported_at; /* NULL = now */
};

/* Sets how much memory a recording may take, and how many call paths (max_bytes, max_why,
 * max_nodes); path: the file that it is read
 * of, NULL: several. */
void mt_import_limit(const char *path, const struct mt_import_opts *how, struct mt_recording *rec);

/* Reads the file at path as its reader leaves it. Free rec also on failure. Errors: as
 * mt_import_read. */
enum mt_status mt_import_parse(const char *path, const struct mt_import_opts *how,
                               struct mt_recording *rec, char hash[33], struct mt_err *err);

/* What --split means: thread, label, or both with a comma; NULL = nothing. Errors: MT_EUSAGE. */
enum mt_status mt_import_split(const char *text, unsigned *out, struct mt_err *err);

/* And back; NULL: nothing. */
const char *mt_import_split_words(unsigned split);

/* What --cpp-frames means: fold, all, none; NULL = fold. Errors: MT_EUSAGE. */
enum mt_status mt_import_cpp_frames(const char *text, enum mt_cpp_frames *out, struct mt_err *err);

/* What --values means: at-end and the like; NULL = MT_MEANS_UNSAID. Errors: MT_EUSAGE. */
enum mt_status mt_import_values(const char *text, enum mt_meaning *out, struct mt_err *err);
/* Its word for it; NULL of MT_MEANS_UNSAID. */
const char *mt_import_values_word(enum mt_meaning values);

/* What --processes means: one, several; NULL = MT_WRITERS_UNSAID. Errors: MT_EUSAGE. */
enum mt_status mt_import_processes(const char *text, enum mt_writers *out, struct mt_err *err);
/* Its word for it; NULL of MT_WRITERS_UNSAID. */
const char *mt_import_processes_word(enum mt_writers processes);

/*
 * Reads the file at path and builds its ops; the rest as below. hash: of the content, as 32 hex
 * digits and NUL.
 */
enum mt_status mt_import_read(const char *path, const struct mt_import_opts *how,
                              struct mt_recording *rec, char hash[33], struct mt_err *err);

/* Reads dumps of one process, n > 0 paths, into one recording (lib/model/series.h), and builds it;
 * else as mt_import_read. Errors: MT_EUSAGE, too: they are no dumps of one process. */
enum mt_status mt_import_series(char *const *paths, size_t n, const struct mt_import_opts *how,
                                struct mt_recording *rec, char hash[33], struct mt_err *err);

/* Orders dumps by their names, in which digits are numbers, where their recorder numbers them or
 * they are in the order of their names, as of a folder or a shell's *. Others stay as they are. */
void mt_import_series_sort(char **paths, size_t n);

/* In the order of their names, in which digits are numbers. */
int mt_import_path_cmp(const char *a, const char *b);

/*
 * Whether a file has the content of the stored run of that key, imported with the same choices;
 * costs reading and a hash. False, too: only what is in it tells its key, or it is no plain file.
 */
bool mt_import_is_same(const char *path, const struct mt_import_opts *how, const char *key);

/* The hash of the content of a file, as it would be imported. false: it cannot be read. */
bool mt_import_hash(const char *path, char hash[33]);

/*
 * What shaped the import of a run, from its content hash in the database: the options, whose texts
 * lie in key, and hash, 32 digits and NUL, of what was read. false: key, which is changed, says
 * something else.
 */
bool mt_import_of_key(char *key, struct mt_import_opts *how, char hash[33]);

/* Builds what is left, stores all. Errors: MT_EUSAGE, MT_EDB. */
enum mt_status mt_import_store(struct mt_db *db, const char *path, const struct mt_import_opts *how,
                               struct mt_recording *rec, const char *hash,
                               struct mt_store_result *result, struct mt_err *err);

#endif
