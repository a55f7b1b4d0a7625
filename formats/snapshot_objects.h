/*
 * snapshot_objects.h - the dicts of an allocator snapshot as small records, taken from the pickle
 * machine while it runs. Which kind of object a dict is, its keys say: "action" makes an event,
 * "blocks" a segment, "state" a block, "stage" an annotation, "filename" a frame.
 */
#ifndef MT_SNAPSHOT_OBJECTS_H
#define MT_SNAPSHOT_OBJECTS_H

#include "formats/snapshot_paths.h"

enum mt_snap_token { /* what a token of the pickle machine numbers */
                     MT_TOKEN_FRAME = 1,
                     MT_TOKEN_PATH,
                     MT_TOKEN_EVENT,
                     MT_TOKEN_BLOCK,
                     MT_TOKEN_SEGMENT,
                     MT_TOKEN_ANNOTATION,
};

enum mt_snap_action {
    MT_SNAP_ALLOC,
    MT_SNAP_FREE_REQUESTED,
    MT_SNAP_FREE_COMPLETED,
    MT_SNAP_SEGMENT_ALLOC,
    MT_SNAP_SEGMENT_FREE,
    MT_SNAP_SEGMENT_MAP,
    MT_SNAP_SEGMENT_UNMAP,
    MT_SNAP_OOM,
    MT_SNAP_SNAPSHOT,
    MT_SNAP_ANNOTATE,
    MT_SNAP_USER_DEFINED,
    MT_SNAP_WORKSPACE,
    MT_SNAP_ACTION_N /* of a kind we do not know, or of a size that cannot be */
};

struct mt_snap_event {
    uint64_t addr;         /* oom: what the driver had left */
    int64_t size, time_us; /* time MT_GONE: none */
    int64_t stream;
    uint32_t path;
    uint32_t label; /* string: the user's metadata, or a profile's category; MT_NONE = none */
    uint32_t pool;  /* string "0,0" of the pickle's table; MT_NONE = none */
    uint8_t action;
};

struct mt_snap_block {
    uint64_t address;
    int64_t size, requested; /* requested falls back to the size */
    uint32_t path;
    uint8_t state; /* enum mt_block_state; MT_BLOCK_FREED: inactive */
    bool has_address;
};

struct mt_snap_segment {
    uint64_t address;
    int64_t device, total, stream;
    uint32_t path, pool;
    uint32_t first_block, block_n; /* in final_blocks */
    bool small, expandable;
};

struct mt_snap_annotation {
    int64_t device, time_us; /* never MT_GONE */
    uint32_t name;
    bool start;
};

struct mt_snap_objects {
    struct mt_snap_paths paths;
    MT_VEC(struct mt_snap_event) events;
    MT_VEC(struct mt_snap_block) blocks; /* as they come */
    MT_VEC(uint32_t) final_blocks;       /* block numbers, segment by segment */
    MT_VEC(struct mt_snap_segment) segments;
    MT_VEC(struct mt_snap_annotation) annotations;
    uint64_t timed_n; /* events with a time */
    uint64_t bad_n;   /* sizes that cannot be true: such events have no effect */
    /* What events of unknown actions and of such sizes call themselves, in order of events. */
    MT_VEC(struct mt_snap_word { uint32_t event, word; }) words;
    uint64_t unknown_n;       /* events of unknown actions */
    MT_VEC(uint32_t) unknown; /* the first names of such, each once: strings of the pickle */
    mt_pvalue pool_value;     /* the last pool seen, and its text */
    uint32_t pool;
    bool has_category; /* made from a profile */
};

void mt_snap_objects_init(struct mt_snap_objects *o, enum mt_cpp_frames cpp);
void mt_snap_objects_free(struct mt_snap_objects *o);

/* Adds the keys it compares by number to a new machine's strings. */
void mt_snap_objects_add_words(struct mt_strtab *strings);

/* Takes in a complete dict or list of the pickle (struct mt_pickle_hooks): the token of what it
 * became, 0 if it is none of ours. */
mt_pvalue mt_snap_dict(struct mt_snap_objects *o, struct mt_pickle *p, const mt_pvalue *v,
                       size_t n);
mt_pvalue mt_snap_list(struct mt_snap_objects *o, const mt_pvalue *v, size_t n);

/* What an event calls itself, of the pickle's strings; "[none]" where it says nothing. */
const char *mt_snap_action_name(const struct mt_snap_objects *o, const struct mt_strtab *strings,
                                const struct mt_snap_event *e);

/* Appends the names of unknown actions with commas between them, as many as fit into max bytes. */
void mt_snap_unknown_names(const struct mt_snap_objects *o, const struct mt_strtab *strings,
                           size_t max, struct mt_buf *out);

uint64_t mt_snap_objects_bytes(const struct mt_snap_objects *o); /* memory in use, about */

#endif
