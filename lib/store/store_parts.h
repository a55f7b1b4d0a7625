/*
 * store_parts.h - the store's insides, shared by store*.c.
 */
#ifndef MT_STORE_PARTS_H
#define MT_STORE_PARTS_H

#include "lib/db/db.h"
#include "lib/model/recording.h"
#include "lib/store/store.h"

/* Where the rows of this run go. */
struct mt_writer {
    struct mt_db *db;
    const struct mt_recording *r;
    int64_t run, op, alloc, node, device, thread, segment; /* first ids */
    int64_t *string_id, *frame_id; /* database ids of our ids; 0 = not asked yet */
    uint64_t alloc_n;
    /* cursors of the bulk rows */
    uint32_t at_thread;
    uint64_t at_alloc;
    size_t at_record;
};

/* Id, and name unless NULL, of the run that a query by name or by content finds; id 0: none. */
enum mt_status mt_store_find_run(struct mt_db *db, int query, const char *key, int64_t *id,
                                 char name[256], struct mt_err *err);

/* What a new run takes over from those it replaces, beside their groups. */
struct mt_kept {
    char name[256]; /* "": none */
};

/* Puts a new run in the groups asked for; where there are none, in those of the runs it replaces.
 */
enum mt_status mt_store_take_groups(struct mt_db *db, int64_t run, const struct mt_store_opts *o,
                                    struct mt_err *err);

/* Whether the content is there: sets *out, or deletes that run where it is to be replaced. Errors:
 * MT_EUSAGE (there under another name). */
enum mt_status mt_store_check_content(struct mt_db *db, const struct mt_store_opts *o,
                                      struct mt_kept *kept, struct mt_store_result *out,
                                      struct mt_err *err);

/* Sets out->name; deletes the run of that name where it is to be replaced. Errors: MT_EUSAGE (taken
 * by other content). */
enum mt_status mt_store_choose_name(struct mt_db *db, const struct mt_store_opts *o,
                                    struct mt_kept *kept, struct mt_store_result *out,
                                    struct mt_err *err);

/* Database id of a string, added if new. */
enum mt_status mt_store_string(struct mt_writer *w, uint32_t string, int64_t *id,
                               struct mt_err *err);

/* The rows of `device`; those of `node`, `node_op`, `node_stat` and `node_category`. */
enum mt_status mt_store_devices(struct mt_writer *w, struct mt_err *err);
enum mt_status mt_store_nodes(struct mt_writer *w, struct mt_err *err);

/* The rows of `usage_chunk`, `live_keyframe`, `moment`, `holding`, `node_extra`, `max_lifetime` and
 * `unseen`. */
enum mt_status mt_store_history(struct mt_writer *w, struct mt_err *err);

/* What only snapshots have: the rows of `segment`, `block` and `event`. */
enum mt_status mt_store_segments(struct mt_writer *w, struct mt_err *err);

#endif
