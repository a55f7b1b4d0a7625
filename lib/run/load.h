/*
 * load.h - the tree of a run out of the database, and its grouping: what table and tree are made
 * of.
 */
#ifndef MT_LOAD_H
#define MT_LOAD_H

#include "lib/base/numbers.h"
#include "lib/model/categories.h"
#include "lib/model/extras.h"
#include "lib/model/recording.h"
#include "lib/run/group_keys.h"
#include "lib/run/path_text.h"
#include "lib/run/runs.h"
#include "lib/run/time_arg.h"

/* A node of the call tree, in preorder, parents before children; an op of it while it is grouped;
 * or a block of memory (live.h). */
struct mt_item {
    uint32_t parent; /* index of the item, MT_NONE = root */
    uint32_t node;   /* index of the node (mt_load_nodes' own order); MT_NONE = outside ops */
    uint32_t group;  /* filled by mt_group */
    int64_t calls_n, time_ns, self_time_ns;
    struct mt_sums self, total;
    /* ops and blocks only */
    uint32_t shape, thread, forward; /* string, thread index, string; MT_NONE = none */
    int64_t step;                    /* INT64_MIN = outside steps */
    int64_t size_b;                  /* of blocks; MT_UNKNOWN */
    uint8_t category, rule;          /* of blocks: enum mt_category, enum mt_category_rule */
    uint32_t tensor;                 /* of blocks: string; MT_NONE = unknown */
    uint32_t own;                    /* the same as of mt_origin */
};

/* Where something happened: what groups are made of. */
struct mt_origin {
    uint32_t node; /* MT_NONE = outside ops */
    uint32_t shape, thread, forward;
    int64_t step;
    int64_t size_b;   /* MT_UNKNOWN = that of the node, if it has one */
    uint8_t category; /* MT_CATEGORY_NONE: the same */
    uint8_t rule;     /* that says so; MT_CATEGORY_NO_RULE = unknown */
    uint32_t tensor;  /* string; MT_NONE = unknown */
    uint32_t own;     /* the user's category: string + 1; 0 = that of the node, MT_NONE = none */
};

static inline struct mt_origin mt_origin_of_node(uint32_t node)
{
    return (struct mt_origin){.node = node,
                              .shape = MT_NONE,
                              .thread = MT_NONE,
                              .forward = MT_NONE,
                              .step = INT64_MIN,
                              .size_b = MT_UNKNOWN,
                              .tensor = MT_NONE};
}

static inline struct mt_origin mt_origin_of_item(const struct mt_item *i)
{
    return (struct mt_origin){i->node,   i->shape,    i->thread, i->forward, i->step,
                              i->size_b, i->category, i->rule,   i->tensor,  i->own};
}

/* An item that is nothing but a node. */
static inline struct mt_item mt_item_of_node(uint32_t node)
{
    return (struct mt_item){.parent = MT_NONE,
                            .node = node,
                            .shape = MT_NONE,
                            .thread = MT_NONE,
                            .forward = MT_NONE,
                            .step = INT64_MIN,
                            .size_b = MT_UNKNOWN,
                            .tensor = MT_NONE};
}

struct mt_tree_node {
    uint32_t parent, frame, top, scope, module; /* node index; frames as string ids */
    uint32_t object, file;                      /* of the top: string ids; MT_NONE: unknown */
    uint32_t category, thread, label, size;     /* the same; of what is nearest on the path */
    uint32_t line;  /* of traces with Python: the user's innermost function, by its name, or what
                       is said of what autograd runs (sites.h); MT_NONE */
    uint32_t layer; /* nn.Modules around it, outermost first: "Gpt_0.Block_3"; MT_NONE: none */
    uint8_t phase;
    bool line_is_text; /* that */
    bool python_or_annotation, is_python;
};

/* What ops did of each node; nothing where a run has no ops. */
struct mt_node_ops {
    struct mt_numbers calls_n, time_ns, self_time_ns;
};

/* Records outside every op: all in one, or by what the keys of mt_group_ops ask for. */
struct mt_outside {
    struct mt_sums sums;
    uint32_t thread;  /* MT_NONE = any */
    int64_t step;     /* INT64_MIN = outside steps, or any */
    int64_t size_b;   /* MT_UNKNOWN = any */
    uint8_t category; /* MT_CATEGORY_NONE = any */
    uint8_t rule;     /* MT_CATEGORY_NO_RULE = any */
    uint32_t tensor;  /* MT_NONE = any */
    uint32_t own;     /* as of mt_origin */
    bool unseen;      /* no records, but frees that nobody saw: of no thread */
};

struct mt_tree {
    struct mt_strtab strings;
    MT_VEC(struct mt_tree_node) nodes;
    struct mt_node_ops ops; /* of mt_load_nodes */
    MT_VEC(struct mt_item) items;
    MT_VEC(struct mt_outside) outside;
    bool has_lines;                /* some node has one */
    const char *outside_name;      /* static: its row */
    bool has_ops;                  /* Python's functions are around them, no rows */
    MT_VEC(uint32_t) thread_names; /* string ids */
    MT_VEC(int64_t) thread_ids;    /* of the database, rising, in the same order */
    struct mt_map texts; /* of shapes, tensors, objects, files: string id of the database -> ours */
    struct mt_map lines; /* name of a function -> its site (sites.h) */
    struct mt_buf site;  /* the last that was made (sites.h) */
    int64_t before_at_peak_b, before_at_end_b; /* what older blocks add to the level there */
    MT_VEC(const char **) tuples;              /* keys of groups, many in a piece */
    size_t tuple_used;                         /* of the last piece */
    struct mt_known_frames *known;             /* of mt_tree_reuse; NULL: none are kept */
    bool kept;                                 /* its nodes, for the next one (kept_nodes.h) */
    struct mt_paths *paths; /* where groups are to have, in place of the text of a path, the number
                               of its first node, in digits: filled by the first grouper; borrowed;
                               NULL: they have the text */
};

/* The site of a node, top op and scope, as a key: equal for equal sites. MT_NONE: outside ops. */
static inline uint64_t mt_tree_site(const struct mt_tree *t, uint32_t node)
{
    if (node == MT_NONE)
        return UINT64_MAX;
    return (uint64_t)t->nodes.v[node].top << 32 | t->nodes.v[node].scope;
}

void mt_tree_free(struct mt_tree *t);
/* Empties a tree, new or loaded, for another run of the same database: texts and frames stay, so
 * that those that runs share are read once. What groups borrowed is gone. */
void mt_tree_reuse(struct mt_tree *t);
/* The same where groups go on: what they borrowed stays, and texts have the ids that they had.
 * same_db: the run is in the database that the tree was of. */
void mt_tree_go_on(struct mt_tree *t, bool same_db);
/* What only mt_tree_go_on for a further run of the database would need. */
void mt_tree_forget_frames(struct mt_tree *t);
/* Frees all but what groups borrow. */
void mt_tree_keep_texts(struct mt_tree *t);

/* Indexes 0..n - 1 in preorder, allocated. parent: the index of each one's parent, MT_NONE = root,
 * one every `stride` bytes. */
uint32_t *mt_preorder(const uint32_t *parent, size_t stride, uint32_t n);
/* Brings items into preorder, wherever their parents stand. */
void mt_tree_preorder(struct mt_tree *t);

/* The nodes of the call tree, without items. Errors: MT_EDB. */
enum mt_status mt_load_nodes(struct mt_db *db, const struct mt_run *run, struct mt_tree *out,
                             struct mt_err *err);

/* The same with one item per node, in preorder: its time and calls, and the stored rollup of one
 * device (NULL: of none). Errors: MT_EDB. */
enum mt_status mt_load_rollup(struct mt_db *db, const struct mt_run *run,
                              const struct mt_run_device *device, struct mt_tree *out,
                              struct mt_err *err);

/* What each of the run's nodes did on a device, if anything, in itself or below. Errors: MT_EDB. */
typedef void mt_stats_use(void *closure, uint64_t node, const struct mt_sums *self,
                          const struct mt_sums *total);
enum mt_status mt_load_stats(struct mt_db *db, const struct mt_run *run, int64_t device,
                             const struct mt_tree *t, mt_stats_use *use, void *closure,
                             struct mt_err *err);

/* Of them only what each holds itself at the end, or at the peak, where that is something. */
typedef void mt_held_use(void *closure, uint64_t node, int64_t bytes, int64_t blocks_n);
enum mt_status mt_load_held(struct mt_db *db, const struct mt_run *run, int64_t device,
                            uint64_t node_n, bool end, mt_held_use *use, void *closure,
                            struct mt_err *err);

/* Calls use with two cells of each node that has a further figure itself, and of others: its id, 0
 * where there is no call path, and the value, MT_UNKNOWN where it leaves 64 bits. Errors: MT_EDB.
 */
enum mt_status mt_load_extra_each(struct mt_db *db, int64_t device, enum mt_extra extra,
                                  mt_db_cells *use, void *closure, struct mt_err *err);

/* A further figure of the run's nodes on a device: of each itself, and with its subtree. node_n + 1
 * of them, the last of what has no call path; MT_UNKNOWN where they leave 64 bits. Errors: MT_EDB.
 */
enum mt_status mt_load_extra(struct mt_db *db, const struct mt_run *run, int64_t device,
                             enum mt_extra extra, const struct mt_tree *t, int64_t *self,
                             int64_t *total, struct mt_err *err);
/* A sum that leaves 64 bits is MT_UNKNOWN. */
void mt_extra_add(int64_t *to, int64_t v);

/* What blocks older than the recording add to the levels of a device: [before trace]. */
void mt_tree_add_before(struct mt_tree *t, const struct mt_run_device *device);
/* The same, and what is outside every op of it or freed unseen. */
void mt_tree_add_device(struct mt_tree *t, const struct mt_run_device *device);

/* The rule that says what a block is for, in a column of a row, and what that is. older: than the
 * recording. */
struct mt_stmt;
uint8_t mt_load_rule(const struct mt_stmt *s, int column, bool older);
uint8_t mt_load_category(const struct mt_stmt *s, int column, bool older);

/* Fills thread_names and thread_ids. Errors: MT_EDB. */
enum mt_status mt_load_threads(struct mt_db *db, const struct mt_run *run, struct mt_tree *t,
                               struct mt_err *err);
/* Index of the thread of that id, MT_NONE = none. */
uint32_t mt_tree_thread(const struct mt_tree *t, int64_t id);
/* Our id of a string of the database. Errors: MT_EDB. */
enum mt_status mt_load_text(struct mt_db *db, struct mt_tree *t, int64_t id, uint32_t *out,
                            struct mt_err *err);

/* The tensor of a block (a string) in a column of a row; MT_NONE: unknown. Errors: MT_EDB. */
enum mt_status mt_load_tensor(struct mt_db *db, struct mt_tree *t, const struct mt_stmt *s,
                              int column, uint32_t *out, struct mt_err *err);

/* One row of a grouped tree. Inclusive sums leave out what lies below another item of the group; so
 * do the calls of top ops, sites, scopes, modules and phases, unless names are among the keys. */
struct mt_group {
    const char *const *key; /* by position of the keys asked for; borrowed from the tree */
    bool explicit_row, has_calls;
    int64_t calls_n, time_ns, self_time_ns;
    int64_t recomputed_n; /* ops of it that run again in backward (MT_PHASE_RECOMPUTED) */
    struct mt_sums self, total;
    const struct mt_extra_sums *extra; /* NULL: not looked for */
};

/* Further figures; MT_UNKNOWN where they leave 64 bits. */
struct mt_extra_sums {
    int64_t self[MT_EXTRA_N], total[MT_EXTRA_N];
};

struct mt_groups {
    MT_VEC(struct mt_group) rows;
    MT_VEC(struct mt_extra_sums) extras; /* like rows, where the device has any */
};

/* The user's own categories of nodes (own_categories.h), by their call paths. */
struct mt_own_nodes {
    uint32_t *of; /* NULL: not asked for yet */
    struct mt_paths paths;
};
/* A string; MT_NONE: none. Used: there are such categories. */
uint32_t mt_own_of_node(struct mt_own_nodes *own, struct mt_tree *t, uint32_t node);
void mt_own_nodes_free(struct mt_own_nodes *own);

/* Whether what a node frees says nothing of the category of what is freed: that of a block is by
 * the path that allocated it, and the user has some of such paths. */
bool mt_own_needs_blocks(const struct mt_run_device *device, const enum mt_group_key *keys, int n);

/* Says to which group an item belongs; groups are numbered as they come, in each run. */
struct mt_grouper {
    struct mt_tree *tree;
    enum mt_group_key keys[MT_BY_N];
    int key_n;
    MT_VEC(uint32_t) first[2]; /* by the string of the first key, explicit or not: its number */
    uint32_t first_n;
    struct mt_group_behinds { /* of the others, by the number of the keys before it: */
        struct mt_group_behind {
            uint32_t key, number; /* the first that came, and their number together */
        } * v;
        size_t n, cap;
    } behind[MT_BY_N];
    struct mt_map index[MT_BY_N]; /* those that came later: number of the keys before, key */
    uint32_t behind_n[MT_BY_N];   /* numbers given */
    uint32_t *memo;               /* what a key is for a node */
    struct mt_own_nodes own;
    struct mt_paths paths; /* where paths are asked for */
    int64_t step;          /* the last one asked for, and */
    uint32_t step_text;    /* its string, MT_NONE = none yet */
    int64_t size_b;        /* the same of sizes */
    uint32_t size_text;
    uint32_t category_text[MT_CATEGORY_N]; /* and 1 more; 0 = not asked yet */
    uint32_t tensor, dtype_text;           /* the last one asked for, and what its type is called */
    MT_VEC(struct mt_group_name {
        const char *const *key; /* by position of the keys; borrowed from the tree */
        bool explicit_row;
        uint32_t shared; /* its number among those of all runs */
    })
    names;
    MT_VEC(struct mt_group_shared {
        const char *const *key;
        uint32_t own; /* its number in this run; MT_NONE: it has not come */
    })
    shared; /* of all runs */
};
void mt_grouper_init(struct mt_grouper *g, struct mt_tree *t, const enum mt_group_key *keys,
                     int key_n);
/* For another run, whose tree has the texts of the one before (mt_tree_go_on): what both have is
 * known by names.v[].shared. */
void mt_grouper_go_on(struct mt_grouper *g, struct mt_tree *t);
/* Frees what only the run at hand needs. */
void mt_grouper_pause(struct mt_grouper *g);
void mt_grouper_free(struct mt_grouper *g);
/* Node MT_NONE: the explicit group [outside ops]. */
uint32_t mt_grouper_of(struct mt_grouper *g, const struct mt_origin *origin);
uint32_t mt_grouper_explicit(struct mt_grouper *g, const char *name);
/* The explicit group [outside ops] or [freed unseen], or that of a thread or step. */
uint32_t mt_grouper_of_outside(struct mt_grouper *g, const struct mt_outside *outside);
/* The group of these texts: of the same keys, grouped elsewhere. */
uint32_t mt_grouper_of_texts(struct mt_grouper *g, const char *const *key, bool explicit_row);

/* What a node adds to its group: some of its figures, the others are 0. */
struct mt_node_part {
    uint32_t group;
    bool outermost; /* no node of the group is around it: inclusive figures count */
    int64_t calls_n, recomputed_n, time_ns, self_time_ns;
    struct mt_sums self, total;
    enum mt_extra extra; /* MT_EXTRA_N: none */
    int64_t extra_self, extra_total;
};
typedef void mt_node_use(void *closure, const struct mt_node_part *part);

/* Calls use() for the stored figures of the nodes of the grouper's tree, those of memory of one
 * device (NULL: none), with its further figures if asked for. Groups are numbered in preorder; of
 * what is outside the tree there is no group. Errors: MT_EDB. */
enum mt_status mt_nodes_each(struct mt_db *db, const struct mt_run *run,
                             const struct mt_run_device *device, bool extras, struct mt_grouper *g,
                             mt_node_use *use, void *closure, struct mt_err *err);

/* All nodes grouped, with what is outside ops. The texts of the groups belong to the tree, which is
 * empty before. Errors: MT_EDB. */
enum mt_status mt_group_nodes(struct mt_db *db, const struct mt_run *run,
                              const struct mt_run_device *device, const enum mt_group_key *keys,
                              int key_n, struct mt_tree *t, struct mt_groups *out,
                              struct mt_err *err);

/* Whether the groups of these keys are what blocks of each size did, which is stored; and those.
 * The texts belong to the tree, which is empty before. Errors: MT_EDB. */
bool mt_groups_are_sizes(const struct mt_run_device *device, const enum mt_group_key *keys,
                         int key_n);
enum mt_status mt_group_sizes(struct mt_db *db, const struct mt_run_device *device,
                              struct mt_tree *t, struct mt_groups *out, struct mt_err *err);

/* The same of keys among which is the category of blocks, from what is stored of each: no calls,
 * no times. Of a device that is narrowed, from the blocks. Errors: MT_EDB. */
enum mt_status mt_group_categories(struct mt_db *db, const struct mt_run *run,
                                   const struct mt_run_device *device,
                                   const enum mt_group_key *keys, int key_n, struct mt_tree *t,
                                   struct mt_groups *out, struct mt_err *err);

/* What is alive at the peak of a device by what it is for, from what is stored. Errors: MT_EDB. */
enum mt_status mt_categories_at_peak(struct mt_db *db, const struct mt_run_device *device,
                                     int64_t out[MT_CATEGORY_N], struct mt_err *err);

/* The items of a tree and what is outside ops, grouped. */
void mt_group(struct mt_tree *t, const enum mt_group_key *keys, int key_n, struct mt_groups *out);
void mt_groups_free(struct mt_groups *g);

/* Which ops: only those of a thread (its tid; NULL = all) that start in steps from..to; and by what
 * they are grouped. */
struct mt_op_filter {
    const char *thread;
    bool by_step;
    struct mt_step_range steps;
    const enum mt_group_key *keys;
    int key_n;
};

/*
 * Every op grouped, with sums from the blocks: for figures by shape, thread, step, forward op. The
 * texts of the groups belong to the tree, which is empty before. Where an op is left out, what is
 * below it stands for itself: no figures above it include it.
 * Errors: MT_EUSAGE: no such thread or steps; MT_EDB.
 */
enum mt_status mt_group_ops(struct mt_db *db, const struct mt_run *run,
                            const struct mt_run_device *device, const struct mt_op_filter *filter,
                            struct mt_tree *t, struct mt_groups *out, struct mt_err *err);

/* ---- what grouping of any kind consists of ---- */

/* The row of a group, added if it is the next new one. Valid until the next call. */
struct mt_group *mt_groups_row(struct mt_groups *out, const struct mt_grouper *g, uint32_t group);
/* Adds the rows of what is outside ops and of what was there before. */
void mt_groups_add_explicit(struct mt_groups *out, struct mt_grouper *g);
/* Adds the grouper's tree: its items, and these rows. */
void mt_groups_add_tree(struct mt_groups *out, struct mt_grouper *g);

#endif
