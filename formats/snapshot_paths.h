/*
 * snapshot_paths.h - call paths of a snapshot: each list of frames in the file becomes a path (a
 * number), and each path a node of the call tree, under the regions that were open at its moment.
 */
#ifndef MT_SNAPSHOT_PATHS_H
#define MT_SNAPSHOT_PATHS_H

#include "formats/format.h"
#include "formats/snapshot_frames.h"
#include "lib/input/pickle.h"

/* A frame as recorded, each once. */
struct mt_snap_frame {
    uint32_t name, file; /* strings of the pickle; MT_NONE = none */
    int64_t line;
    uint32_t frame; /* of the recording; MT_NONE = not asked for yet */
    struct mt_snap_look look;
};

struct mt_snap_paths {
    enum mt_cpp_frames cpp;
    struct mt_strtab frame_keys; /* name, file, line -> number */
    MT_VEC(struct mt_snap_frame) frames;
    struct mt_map links;                                         /* outer path, frame -> path */
    MT_VEC(struct mt_snap_link { uint32_t outer, frame; }) path; /* outer MT_NONE: outermost */
    struct mt_strtab lists;                                      /* values of lists seen -> path */
    MT_VEC(uint32_t) list_path;
    struct mt_map nodes;    /* region node, path -> node + 1, 0 = none */
    struct mt_map children; /* parent node, frame -> node */
    MT_VEC(uint8_t) rank;   /* of each node's top */
};

void mt_snap_paths_init(struct mt_snap_paths *s, enum mt_cpp_frames cpp);
void mt_snap_paths_free(struct mt_snap_paths *s);

/* Memory in use while the file is read, about. */
uint64_t mt_snap_paths_bytes(const struct mt_snap_paths *s);

/* Number of the frame in `frames`, added if it is new. name, file: strings of the pickle. */
uint32_t mt_snap_frame_number(struct mt_snap_paths *s, uint32_t name, uint32_t file, int64_t line);

/*
 * The path of n values, innermost frame first, as snapshots have them; each must be a token of
 * token_type whose number is a frame. MT_NONE if one is not, or n is 0.
 */
uint32_t mt_snap_path(struct mt_snap_paths *s, const mt_pvalue *v, size_t n, uint32_t token_type);

/*
 * The node of a path (MT_NONE: of none) under the region's node (MT_NONE: under none). Frames that
 * the option cpp leaves out are left out. MT_NONE if nothing remains.
 */
uint32_t mt_snap_node(struct mt_snap_paths *s, struct mt_recording *rec,
                      const struct mt_strtab *strings, uint32_t region, uint32_t path);

/* The node of an annotation under another (MT_NONE: under none). */
uint32_t mt_snap_region_node(struct mt_snap_paths *s, struct mt_recording *rec, uint32_t outer,
                             uint32_t frame);

#endif
