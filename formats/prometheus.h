/*
 * prometheus.h - series of Prometheus: what a name and its labels mean, and whose they are. For
 * both readers; docs/formats/prometheus.md says what is read.
 *
 * A reader adds the labels of a series, asks which it is, and gives its values in any order; at the
 * end they come into the recording in order of time. Where each series should be in order already,
 * a value that is not is noted.
 */
#ifndef MT_PROMETHEUS_H
#define MT_PROMETHEUS_H

#include "formats/format.h"
#include "lib/base/strtab.h"
#include "lib/model/process.h"

struct mt_prometheus {
    struct mt_recording *rec;
    struct mt_process_log log;
    struct mt_strtab texts;
    MT_VEC(struct mt_prometheus_label { uint32_t key, value; }) labels; /* of the series; texts */
    MT_VEC(struct mt_prometheus_owner {
        uint32_t identity; /* text: of all labels */
        uint32_t name;     /* text: what people call it */
        bool container;
        int rank; /* of what is its level, the highest */
        size_t process;
    })
    owners;
    MT_VEC(struct mt_prometheus_series {
        uint32_t owner;
        int meaning;
        int64_t round;   /* for the reader: the last one that it was in */
        int64_t last_ns; /* the time of its last value */
    })
    series;
    struct mt_map owner_at[2]; /* by identity; of containers the second */
    struct mt_map called[2];   /* the owners of a name, by it */
    struct mt_map series_at;   /* by owner and meaning */
    MT_VEC(struct mt_prometheus_value {
        int64_t t_ns;
        uint32_t series;
        bool placed; /* t_ns is of the epoch; else a number */
        int64_t bytes;
    })
    values;
    uint64_t beside;
    bool ordered; /* for the reader to say: values of a series stand in order of time */
};

/* rec: what mt_prometheus_close gives processes to. Free in any case. */
void mt_prometheus_open(struct mt_prometheus *p, struct mt_recording *rec);
void mt_prometheus_free(struct mt_prometheus *p);

/* Whether a metric of that name is read. */
bool mt_prometheus_reads(const char *name, size_t n);

/* The labels of a series, "__name__" among them; mt_prometheus_begin forgets those before. */
void mt_prometheus_begin(struct mt_prometheus *p);
void mt_prometheus_label(struct mt_prometheus *p, const char *key, size_t key_n, const char *value,
                         size_t value_n);
/* Which series has these labels; MT_NONE: one that is not read. Errors: MT_ELIMIT. */
enum mt_status mt_prometheus_find(struct mt_prometheus *p, uint32_t *series, struct mt_err *err);

/* A number as Prometheus writes it. *bytes MT_UNKNOWN: none, such as NaN. False: it is no number of
 * bytes. */
bool mt_prometheus_number(const char *s, size_t n, int64_t *bytes);
/* A time in seconds, with a fraction or none; in milliseconds where it cannot be seconds. */
bool mt_prometheus_time(const char *s, size_t n, int64_t *ns);

/* Errors: MT_ELIMIT. */
enum mt_status mt_prometheus_value(struct mt_prometheus *p, uint32_t series, int64_t t_ns,
                                   bool placed, int64_t bytes, struct mt_err *err);

/* All is read. Values without a time beside others that have one are left out, with a note. zoned:
 * times are those of the epoch. Errors: MT_EINPUT: there is none; as mt_process_level. */
enum mt_status mt_prometheus_close(struct mt_prometheus *p, bool zoned, struct mt_err *err);

#endif
