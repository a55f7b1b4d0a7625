/* Readers of process logs: small files, whole, damaged and strange, and what becomes of them. */
#include "formats/format.h"
#include "lib/model/curve.h"
#include "tests/unit/rows.h"

#include <string.h>

/* want: time unit and end; of each device its first and its last level and when that began, the
 * peak; other values; notes; or the error. */
struct log_file {
    const char *name;
    const struct mt_reader *reader;
    const char *text, *want;
};

static void describe_device(struct mt_buf *out, const struct mt_recording *r, size_t device)
{
    char name[MT_DEVICE_NAME];
    const struct mt_usage_chunk *first = NULL, *last = NULL;
    for (size_t i = 0; i < r->history.curve.chunks.n; i++) {
        const struct mt_usage_chunk *c = &r->history.curve.chunks.v[i];
        if (c->device != device)
            continue;
        first = first ? first : c;
        last = c;
    }
    mt_rec_device_name(r, &r->devices.v[device], name);
    if (first)
        mt_buf_addf(out, "%s %lld..%lld until %lld", name, (long long)first->start_b,
                    (long long)last->last.level_b, (long long)last->last.t_ns);
    else
        mt_buf_addf(out, "%s unchanged", name);
    mt_buf_addf(out, " peak %lld\n", (long long)r->devices.v[device].peak_b);
}

static void describe(struct mt_buf *out, const struct mt_recording *r)
{
    char name[MT_DEVICE_NAME];
    mt_buf_addf(out, "%s %lld from %lld\n", r->time_unit, (long long)r->end_ns,
                (long long)r->base_ns);
    for (size_t i = 0; i < r->devices.n; i++)
        describe_device(out, r, i);
    for (size_t i = 0; i < r->samples.n; i++) {
        const struct mt_sample *s = &r->samples.v[i];
        mt_rec_device_name(r, &r->devices.v[s->device], name);
        mt_buf_addf(out, "%s of %s %lld at %lld\n", mt_rec_metric_name(r, s->metric), name,
                    (long long)s->value, (long long)s->t_ns);
    }
    for (size_t i = 0; i < r->steps.n; i++)
        mt_buf_addf(out, "%s%lld%s", i ? " " : "steps ", (long long)r->steps.v[i].number,
                    i + 1 == r->steps.n ? "\n" : "");
    for (int i = 0; i < MT_NOTE_N; i++)
        if (r->notes[i].count)
            mt_buf_addf(out, "note %s %llu\n", mt_note_names[i],
                        (unsigned long long)r->notes[i].count);
}

/* where: NULL, or as --pattern. */
static void read_text(struct mt_buf *out, const struct log_file *f, size_t n, const char *where)
{
    struct mt_text_pattern *pattern = NULL;
    struct mt_stream *in;
    struct mt_recording rec;
    struct mt_err err = MT_ERR_INIT;
    if (where && mt_text_pattern_new(where, &pattern, &err) != MT_OK) {
        mt_buf_addf(out, "error: %s\n", err.what);
        return;
    }
    const struct mt_read_opts opts = {.pattern = pattern};
    const struct mt_reader *reader = f->reader;
    const char *text = f->text;
    mt_rec_init(&rec);
    assert_int_equal(mt_stream_open_memory(text, n, &in, &err), MT_OK);
    if (mt_reader_read(reader, in, &opts, &rec, &err) == MT_OK)
        describe(out, &rec);
    else
        mt_buf_addf(out, "error: %s\n", err.what);
    assert_int_equal(rec.beside_bytes, 0);
    mt_rec_free(&rec);
    mt_stream_close(in);
    mt_text_pattern_free(pattern);
}

static void test_log(void **state)
{
    const struct log_file *f = *state;
    struct mt_buf out = {0};
    read_text(&out, f, strlen(f->text), NULL);
    assert_string_equal(out.s, f->want);
    assert_in_range(f->reader->probe(f->text, strlen(f->text)), 90, 96);
    for (size_t n = 0; n < strlen(f->text); n++) { /* cut anywhere it is an answer, or an error */
        mt_buf_clear(&out);
        read_text(&out, f, n, NULL);
    }
    mt_buf_free(&out);
}

#define TEXT    "[1] begins\n[1] mem=2.5MB gpu 12 KB\n[2] mem=3 MB gpu 13 KB\n[2] mem=1 MB\n"
#define NOTHING "error: holds no value of memory that can be read\n"
#define PIDSTAT "#      Time   UID       PID  minflt/s  majflt/s     VSZ     RSS   %MEM  Command\n"
#define ROLLUP  "5632e63d6000-7ffea98c6000 ---p 00000000 00:00 0  [rollup]\n"
#define DOCKER  "CONTAINER ID   NAME   CPU %   MEM USAGE / LIMIT   MEM %\n"
#define MATRIX(series)                                                                             \
    "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[" series "]}}"
#define RSS "process_resident_memory_bytes"

static const struct log_file logs[] = {
    {"pidstat: two processes, one ends", &mt_reader_pidstat,
     PIDSTAT "1000 0 7 1.0 0.0 2000 100 0.1 a\n1000 0 8 1.0 0.0 2000 50 0.1 b\n"
             "1001 0 7 1.0 0.0 2000 200 0.1 a\n1001 0 8 0.0 0.0 0 0 0.0 b\n",
     "ns 1000000000 from 1000000000000\n"
     "process:7 102400..204800 until 1000000000 peak 204800\n"
     "process:8 0..51200 until 0 peak 51200\n"
     "virtual of process:7 2048000 at 0\nvirtual of process:8 2048000 at 0\n"
     "virtual of process:7 2048000 at 1000000000\n"},
    {"mprof: two, as it appends to a file", &mt_reader_mprof,
     "CMDLINE a\nMEM 1.0 1000.0\nMEM 0.0 1001.0\nCMDLINE b\nMEM 2.0 1002.0\n",
     "ns 2000000000 from 1000000000000\nprocess 1048576..2097152 until 2000000000 peak 2097152\n"
     "note appended 2\n"},
    {"mprof: a short run, in which calls of functions stand before all else", &mt_reader_mprof,
     "FUNC a.f 1.0 1000.5 2.0 1000.75 1\nCMDLINE a\nMEM 1.0 1000.0\nMEM 2.0 1001.0\n",
     "ns 1000000000 from 1000000000000\nprocess 1048576..2097152 until 1000000000 peak 2097152\n"},
    {"pidstat: a row that makes no sense", &mt_reader_pidstat,
     PIDSTAT "1000 0 7 1.0 0.0 2000 100 0.1 a\n1001 0 7 1.0 0.0 2000 much 0.1 a\n",
     "ns 0 from 1000000000000\nprocess unchanged peak 102400\n"
     "virtual of process 2048000 at 0\nnote skipped 1\n"},
    {"pidstat: with carriage returns", &mt_reader_pidstat,
     "Linux 6.1.0 (a)\r\n\r\n#      Time   UID       PID  minflt/s  majflt/s     VSZ     RSS   "
     "%MEM  "
     "Command\r\n1000 0 7 1.0 0.0 2000 100 0.1 a\r\n",
     "ns 0 from 1000000000000\nprocess unchanged peak 102400\n"
     "virtual of process 2048000 at 0\n"},
    {"pidstat: rows that lack a column, or a dot of one", &mt_reader_pidstat,
     PIDSTAT "1000 0 7 1.0 0.0 2000 100 0.1 a\n1001 0 7 1.0 2000 200 0.1 a\n"
             "1002 0 7 1.0 0.0 2000 300 a\n1003 0 7 1.0 0.0 2000 300 b c\n",
     "ns 3000000000 from 1000000000000\nprocess 102400..307200 until 3000000000 peak 307200\n"
     "virtual of process 2048000 at 0\nvirtual of process 2048000 at 3000000000\n"
     "note skipped 2\n"},
    {"pidstat: nothing but a head", &mt_reader_pidstat, PIDSTAT, NOTHING},
    {"rollups: two, their values", &mt_reader_proc_text,
     "1763870000\n" ROLLUP "Rss: 100 kB\nPss: 90 kB\nPrivate_Clean: 4 kB\nPrivate_Dirty: 5 kB\n"
     "1763870002\n" ROLLUP "Rss: 80 kB\n",
     "ns 2000000000 from 1763870000000000000\n"
     "process 102400..81920 until 2000000000 peak 102400\n"
     "pss of process 92160 at 0\nprivate of process 9216 at 0\n"},
    {"statuses: a peak that nobody saw, without times", &mt_reader_proc_text,
     "Name: a\nState: R\nPid: 9\nVmHWM: 300 kB\nVmRSS: 100 kB\n"
     "Name: a\nState: R\nPid: 9\nVmHWM: 400 kB\nVmRSS: 200 kB\n",
     "samples 1 from 0\nprocess 102400..204800 until 1 peak 409600\n"},
    {"rollups: the head of the second is missing", &mt_reader_proc_text,
     ROLLUP "Rss: 100 kB\nPrivate_Clean: 4 kB\nRss: 80 kB\nPrivate_Clean: 3 kB\n",
     "samples 0 from 0\nprocess unchanged peak 102400\nprivate of process 4096 at 0\n"
     "note skipped 2\n"},
    {"rollups: none has an rss", &mt_reader_proc_text, ROLLUP "Rss: 0 kB\n", NOTHING},
    {"docker: two containers, one stops", &mt_reader_docker_stats,
     DOCKER "b95a83497c91   web    0.28%   5MiB / 1GiB   0.5%\n"
            "67b2525d8ad1   db     0.28%   1kB / 1GiB   0.5%\n" DOCKER
            "b95a83497c91   web    0.28%   6MiB / 1GiB   0.5%\n"
            "67b2525d8ad1   db     0.28%   -- / --   0.5%\n",
     "samples 1 from 0\ncontainer:web 5242880..6291456 until 1 peak 6291456\n"
     "container:db 0..1000 until 0 peak 1000\n"
     "limit of container:web 1073741824 at 0\nlimit of container:db 1073741824 at 0\n"
     "limit of container:web 1073741824 at 1\nnote level_of 1\n"},
    {"docker: none runs", &mt_reader_docker_stats,
     DOCKER "b95a83497c91   web    --   -- / --   --\n", NOTHING},

    {"prometheus: scrapes without times", &mt_reader_prometheus_text,
     "# HELP " RSS " Resident memory size in bytes.\n# TYPE " RSS " gauge\n" RSS " 2.5165824e+07\n"
     "process_virtual_memory_bytes 1e9\ngo_goroutines 3\n# EOF\n" RSS " 3e7\n",
     "samples 1 from 0\nprocess 25165824..30000000 until 1 peak 30000000\n"
     "virtual of process 1000000000 at 0\n"},
    {"prometheus: scrapes with times between", &mt_reader_prometheus_text,
     "1763870000\n" RSS " 100\n1763870005\n" RSS " 90\n",
     "ns 5000000000 from 1763870000000000000\n"
     "process 100..90 until 5000000000 peak 100\n"},
    {"prometheus: values with times, in any order", &mt_reader_prometheus_text,
     RSS "{job=\"api\",instance=\"a:90\"} 200 1763870015000\n" RSS
         "{instance=\"a:90\",job=\"api\"} 100 1763870000000\n" RSS
         "{job=\"api\",instance=\"b:90\"} 300 1763870000000\n" RSS
         "{job=\"api\",instance=\"b:90\"} NaN 1763870015000\n",
     "ns 15000000000 from 1763870000000000000\n"
     "process:api@a:90 100..200 until 15000000000 peak 200\n"
     "process:api@b:90 0..300 until 0 peak 300\n"},
    {"prometheus: OpenMetrics, seconds and examples", &mt_reader_prometheus_text,
     "# TYPE " RSS " gauge\n" RSS " 100 1763870000.5 # {trace=\"a b\"} 1 1.5\n" RSS
     " 200 1763870001\n# EOF\n",
     "ns 500000000 from 1763870000500000000\nprocess 100..200 until 500000000 peak 200\n"},
    {"prometheus: a dump of its database", &mt_reader_prometheus_text,
     "{__name__=\"" RSS "\", job=\"a \\\"b\\\"\"} 100 1763870000000\n"
     "{__name__=\"up\", job=\"x\"} 1 1763870000000\n{\"" RSS "\", job=\"c}\"} 7 1763870000000\n",
     "ns 0 from 1763870000000000000\n"
     "process:a__b_ unchanged peak 100\nprocess:c_ 0..7 until 0 peak 7\n"},
    {"prometheus: damaged values and labels", &mt_reader_prometheus_text,
     RSS " 100 1763870000000\n" RSS "{job=\"a} 1\n" RSS "{job} 1\n" RSS " -5 1763870000000\n" RSS
         " 0x 1763870000000\n" RSS " 7 yesterday\n" RSS " 5\n" RSS " +Inf 1763870001000\n",
     "ns 0 from 1763870000000000000\nprocess unchanged peak 100\nnote skipped 6\n"},
    {"prometheus: more than can be true", &mt_reader_prometheus_text,
     RSS " 1e30 1763870000000\n" RSS " 5 1763870001000\n"
         "process_virtual_memory_bytes 18446744073709547520 1763870001000\n" RSS
         " 7 1763870003000\n",
     "ns 2000000000 from 1763870001000000000\nprocess 5..7 until 2000000000 peak 7\n"
     "note skipped 2\n"},
    {"prometheus: nothing that can be true", &mt_reader_prometheus_text,
     RSS " 1e300 1763870000000\n", NOTHING},
    {"prometheus: the level is another's where the best one's cannot be true",
     &mt_reader_prometheus_text,
     "container_memory_working_set_bytes{name=\"c\"} 1e30 1763870000000\n"
     "container_memory_rss{name=\"c\"} 9 1763870000000\n"
     "container_spec_memory_limit_bytes{name=\"c\"} 18446744073709547520 1763870000000\n",
     "ns 0 from 1763870000000000000\ncontainer:c unchanged peak 9\nnote skipped 1\n"
     "note level_of 1\n"},
    {"prometheus: a label with a new line", &mt_reader_prometheus_text,
     RSS "{job=\"a\\nb\"} 5 1763870000000\n" RSS "{job=\"anb\"} 6 1763870000000\n",
     "ns 0 from 1763870000000000000\nprocess:a_b unchanged peak 5\n"
     "process:anb 0..6 until 0 peak 6\n"},
    {"prometheus: names that become the same", &mt_reader_prometheus_text,
     RSS "{job=\"a+b\"} 5 1763870000000\n" RSS "{job=\"a*b\"} 6 1763870000000\n" RSS
         "{job=\"a?b\"} 7 1763870000000\n",
     "ns 0 from 1763870000000000000\nprocess:a_b unchanged peak 5\n"
     "process:a_b~2 0..6 until 0 peak 6\nprocess:a_b~3 0..7 until 0 peak 7\n"},
    {"prometheus: a comma in a label", &mt_reader_prometheus_text,
     RSS "{pod=\"1,q=2\"} 5 1763870000000\n" RSS "{pod=\"1\",q=\"2\"} 6 1763870000000\n",
     "ns 0 from 1763870000000000000\nprocess:pod_1__q_2 unchanged peak 5\n"
     "process:pod_1_q_2 0..6 until 0 peak 6\n"},
    {"prometheus: none of memory", &mt_reader_prometheus_text,
     "# TYPE up gauge\nup{job=\"api\"} 1 1763870000000\n", NOTHING},

    {"query_range: the best level of a container", &mt_reader_prometheus_json,
     MATRIX("{\"metric\":{\"__name__\":\"container_memory_rss\",\"namespace\":\"n\",\"pod\":\"p\","
            "\"container\":\"c\"},\"values\":[[1763870000.5,\"90\"],[1763870015.5,\"95\"]]},"
            "{\"values\":[[1763870000.5,\"100\"],[1763870015.5,\"1.2e2\"]],\"metric\":{"
            "\"__name__\":\"container_memory_working_set_bytes\",\"container\":\"c\","
            "\"namespace\":\"n\",\"pod\":\"p\"}},"
            "{\"metric\":{\"__name__\":\"container_spec_memory_limit_bytes\",\"container\":\"c\","
            "\"namespace\":\"n\",\"pod\":\"p\"},\"values\":[[1763870000.5,\"1000\"],"
            "[1763870015.5,\"0\"]]}"),
     "ns 15000000000 from 1763870000500000000\n"
     "container:n/p/c 100..120 until 15000000000 peak 120\n"
     "anon of container:n/p/c 90 at 0\nlimit of container:n/p/c 1000 at 0\n"
     "anon of container:n/p/c 95 at 15000000000\nnote level_of 1\n"},
    {"query_range: two of one name", &mt_reader_prometheus_json,
     MATRIX("{\"metric\":{\"__name__\":\"" RSS "\",\"job\":\"a\",\"pid\":\"1\"},"
            "\"values\":[[1,\"5\"]]},{\"metric\":{\"__name__\":\"" RSS
            "\",\"job\":\"a\",\"pid\":\"2\"},\"values\":[[1,\"6\"]]}"),
     "ns 0 from 1000000000\nprocess:a unchanged peak 5\n"
     "process:job_a_pid_2 0..6 until 0 peak 6\n"},
    {"query: one value", &mt_reader_prometheus_json,
     "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[{\"metric\":{"
     "\"__name__\":\"" RSS "\"},\"value\":[1763870000.5,\"17\"]}]}}\n",
     "ns 0 from 1763870000500000000\nprocess unchanged peak 17\n"},
    {"query_range: damaged values", &mt_reader_prometheus_json,
     MATRIX("{\"metric\":{\"__name__\":\"" RSS "\"},\"values\":[[1,\"5\"],[2],[3,\"x\"],[-4,\"5\"],"
            "[5,\"6\",7],[6,\"NaN\"]]}"),
     "ns 0 from 1000000000\nprocess unchanged peak 5\nnote skipped 4\n"},
    {"query_range: an error", &mt_reader_prometheus_json,
     "{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"no such thing\"}",
     "error: Prometheus answered with an error: no such thing\n"},
    {"query_range: an answer of some stores", &mt_reader_prometheus_json,
     "{\"status\":\"success\",\"isPartial\":true,\"warnings\":[\"store b is away\",7],\"data\":{"
     "\"resultType\":\"vector\",\"result\":[{\"metric\":{\"__name__\":\"" RSS
     "\"},\"value\":[1,\"17\"]}]}}\n",
     "ns 0 from 1000000000\nprocess unchanged peak 17\nnote unwatched 2\n"},
    {"query_range: a whole answer", &mt_reader_prometheus_json,
     "{\"isPartial\":false,\"warnings\":[],\"status\":\"success\",\"data\":{\"resultType\":"
     "\"vector\",\"result\":[{\"metric\":{\"__name__\":\"" RSS "\"},\"value\":[1,\"17\"]}]}}\n",
     "ns 0 from 1000000000\nprocess unchanged peak 17\n"},
    {"query_range: nothing", &mt_reader_prometheus_json, MATRIX(""), NOTHING},

};

/* 4,090 characters: of what is behind 4,096 nothing is read. */
#define X10       "xxxxxxxxxx"
#define X100      X10 X10 X10 X10 X10 X10 X10 X10 X10 X10
#define X1000     X100 X100 X100 X100 X100 X100 X100 X100 X100 X100
#define LONG_LINE X1000 X1000 X1000 X1000 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10

/* Texts with --pattern; NULL: without. */
struct pattern_file {
    const char *name, *text, *want, *pattern;
};
static const struct pattern_file patterns[] = {
    {"two names in a line are two figures, from then on",
     "Initial RSS: 1 KiB\nPython RSS: 5 KiB, Process RSS: 7 KiB, Max RSS: 8 KiB, Peak RSS: 9 KiB\n"
     "Process RSS: 6 KiB\nFinal RSS: 2 KiB\n",
     "samples 4 from 0\nprocess 1024..2048 until 4 peak 8192\n"
     "process_rss of process 7168 at 2\npeak_rss_2 of process 9216 at 2\n"
     "peak_rss of process 8192 at 2\nprocess_rss of process 6144 at 3\nnote names 2\n",
     NULL},
    {"thousands with commas, and what stands right behind a unit",
     "step 1,234: RSS: 999.5 KiB.\nstep 1,235 (RSS: 1,020.5 KiB)\nRSS: 2KiB/4KiB, GPU 1,002 KiB\n",
     "samples 3 from 0\nprocess 1023488..2048 until 3 peak 1044992\n"
     "gpu of process 1026048 at 3\nsteps 1234 1235\n",
     NULL},
    {"steps of so many, and what cannot be",
     "Epoch 1/3:\nRSS: 5 MB\nEpoch 2/3: RSS: -5 MB\nRSS: 6 MB\nepoch 3/3x RSS: 7 MB\n",
     "samples 5 from 0\nprocess 5242880..7340032 until 5 peak 7340032\nsteps 1 2\n"
     "note skipped 1\nnote units 3\n",
     NULL},
    {"what stands behind the process's memory: what it became, its peak",
     "RSS: 1 KiB -> 5 KiB\nRSS: 2 KiB (peak 7 KiB)\nRSS 2 KiB, GPU 1 KiB, peak 9 KiB\n",
     "samples 3 from 0\nprocess 1024..2048 until 2 peak 7168\npeak_rss of process 7168 at 2\n"
     "gpu of process 1024 at 3\n",
     NULL},
    {"how much more there is, or may be, is no level",
     "RSS limit: 9 KiB\nRSS delta: 8 KiB, RSS: 2 KiB\nmemory usage increased from 1 KiB to 3 KiB\n"
     "peak_rss_growth=7KiB\nRSS deltas: 4 KiB\n",
     "samples 5 from 0\nprocess 2048..4096 until 5 peak 4096\nrss_limit of process 9216 at 1\n"
     "rss_delta of process 8192 at 2\npeak_rss_growth of process 7168 at 4\n",
     NULL},
    {"words of that which are about something else, or when the rss was what it is",
     "memory limit approaching rss: 1 KiB\n[diff] RSS: 2 KiB\nRSS after growth: 3 KiB\n"
     "memory usage before change: 4 KiB\nchange in process rss: 9 KiB\ndelta max rss: 9 KiB\n"
     "delta rss: 9 KiB\n",
     "samples 7 from 0\nprocess 1024..4096 until 4 peak 4096\n"
     "change_in_process_rss of process 9216 at 5\ndelta_max_rss of process 9216 at 6\n"
     "delta_rss of process 9216 at 7\n",
     NULL},
    {"words of what was added, is allowed, or is an average or the least",
     "RSS grew by 1 KiB to 5 KiB\nRSS increased by 9 KiB\nmin RSS: 1 KiB, RSS: 6 KiB\n"
     "RSS grew to 7 KiB\nRSS budget 90 KiB, RSS 4 KiB, max allowed RSS 99 KiB\n"
     "avg RSS 1 KiB, mean RSS 2 KiB\nsystem memory usage: 80 KiB\n",
     "samples 7 from 0\nprocess 5120..4096 until 5 peak 7168\n"
     "rss_grew_by of process 1024 at 1\nrss_increased_by of process 9216 at 2\n"
     "min_rss of process 1024 at 3\nrss_budget of process 92160 at 5\n"
     "max_allowed_rss of process 101376 at 5\navg_rss of process 1024 at 6\n"
     "mean_rss of process 2048 at 6\nsystem_memory_usage of process 81920 at 7\n",
     NULL},
    {"when the rss was what it is, in more words",
     "RSS after loading the target: 1 KiB\nRSS once caches were freed: 2 KiB\n",
     "samples 2 from 0\nprocess 1024..2048 until 2 peak 2048\n", NULL},
    {"memory usage of others than the process",
     "memory usage: 4 KiB\ntotal memory usage: 9 KiB\nKV cache memory usage: 8 KiB\n"
     "input memory usage: 5 KiB\nvirtual memory usage=7 KiB, process memory usage=3 KiB\n",
     "samples 5 from 0\nprocess 4096..3072 until 5 peak 5120\n"
     "total_memory_usage of process 9216 at 2\nkv_cache_memory_usage of process 8192 at 3\n"
     "virtual_memory_usage of process 7168 at 5\n",
     NULL},
    {"a peak in words", "RSS is 5 KiB; Peak was 9 KiB\nRSS 4 KiB\n",
     "samples 2 from 0\nprocess 5120..4096 until 2 peak 9216\npeak_rss of process 9216 at 1\n",
     NULL},
    {"what tracemalloc has is none of the process",
     "Current memory usage is 5.5MB; Peak was 9MB\nRSS 4 KiB\n"
     "Current memory usage: 5 KiB, Peak: 9 KiB\n",
     "samples 3 from 0\nprocess unchanged peak 4096\n"
     "current_memory_usage_is of process 5500000 at 1\npeak_memory_usage of process 9000000 at 1\n"
     "current_memory_usage of process 5120 at 3\npeak_memory_usage of process 9216 at 3\n",
     NULL},
    {"parts of the rss are none",
     "VmRSS: 9 KiB\nRssAnon: 5 KiB\nRssFile: 3 KiB\nRssShmem: 1 KiB\n"
     "anon-rss:4kib, file-rss:2kib\n",
     "samples 5 from 0\nprocess unchanged peak 9216\nanon of process 5120 at 2\n"
     "file of process 3072 at 3\nshmem of process 1024 at 4\nanon of process 4096 at 5\n"
     "file of process 2048 at 5\n",
     NULL},
    {"the memory usage of a device that is named before it, and the rss of children",
     "[GPU 0] Memory usage: 7 KiB, RSS: 3 KiB\nRSS: 4 KiB\nchildren rss: 9 KiB\n"
     "cuda:0 memory usage: 8 KiB\n",
     "samples 4 from 0\nprocess 3072..4096 until 2 peak 4096\n"
     "memory_usage of process 7168 at 1\nchildren_rss of process 9216 at 3\n"
     "memory_usage of process 8192 at 4\n",
     NULL},
    {"lines of several ranks",
     "[rank0]: RSS 5 KiB\n[rank1]: RSS 9 KiB, gpu 3 KiB\n[Rank 1] RSS 8 KiB\n"
     "RSS 2 KiB (rank 0)\n",
     "samples 4 from 0\nprocess:rank0 5120..2048 until 4 peak 5120\n"
     "process:rank1 9216..8192 until 3 peak 9216\ngpu of process:rank1 3072 at 2\n",
     NULL},
    {"lines of several processes", "pid=3 RSS 5 KiB\npid: 4 RSS 9 KiB\npid: 4 RSS 8 KiB\n",
     "samples 3 from 0\nprocess:3 unchanged peak 5120\nprocess:4 9216..8192 until 3 peak 9216\n",
     NULL},
    {"what another began has no figure that stands in front of it",
     "RSS 5 KiB\nRSS 9 KiB, spawned worker pid 7\nRSS 6 KiB, spawned worker pid 8\n",
     "samples 3 from 0\nprocess 5120..6144 until 3 peak 9216\n", NULL},
    {"devices of one process are no processes",
     "RSS 5 KiB\n[GPU 0] allocated: 2 KiB\n[GPU 1] allocated: 3 KiB\n",
     "samples 3 from 0\nprocess unchanged peak 5120\nallocated of process 2048 at 2\n"
     "allocated of process 3072 at 3\n",
     NULL},
    {"tags of mpirun",
     "[1,0]<stdout>: RSS 5 KiB\n[1,1]<stdout>:RSS 7 KiB\n[1,0]<stderr>:RSS 6 KiB\n[1,1]<s\n",
     "samples 3 from 0\nprocess:rank0 5120..6144 until 3 peak 6144\n"
     "process:rank1 unchanged peak 7168\n",
     NULL},
    {"clients that one process may tell of",
     "client 1: done; RSS 5 KiB\nclient 2: done; RSS 6 KiB\nclient 3: done; RSS 7 KiB\n",
     "samples 3 from 0\nprocess 5120..7168 until 3 peak 7168\nnote processes 3\n", NULL},
    {"clients that are there again",
     "client 1: RSS 5 KiB\nclient 2: RSS 6 KiB\nclient 1: RSS 7 KiB\n",
     "samples 3 from 0\nprocess:client1 5120..7168 until 3 peak 7168\n"
     "process:client2 unchanged peak 6144\n",
     NULL},
    {"a line of several owners",
     "worker 0 rss 1 KiB worker 1 rss 7 KiB\nworker 0 rss 2 KiB worker 1 rss 8 KiB\n"
     "rss rank0: 3 KiB, rank1: 9 KiB\nRSS: rank 0 4 KiB | rank 1 5 KiB\n",
     "samples 4 from 0\nprocess:worker0 1024..2048 until 2 peak 2048\n"
     "process:worker1 7168..8192 until 2 peak 8192\nprocess:rank0 3072..4096 until 4 peak 4096\n"
     "process:rank1 9216..5120 until 4 peak 9216\n",
     NULL},
    {"owners behind what is theirs, or in words that memtool does not know",
     "RSS 1 KiB (rank 0), RSS 7 KiB (rank 1)\n"
     "train rss 3 KiB | loader rss 1 KiB\ntrain rss 4 KiB | loader rss 1 KiB\n",
     "samples 2 from 0\nprocess 3072..4096 until 2 peak 4096\nloader_rss of process 1024 at 1\n"
     "loader_rss of process 1024 at 2\nnote processes 2\nnote names 1\n",
     NULL},
    {"ranks whose steps come one behind the other, and begin again",
     "[rank0] step 1 RSS 1 KiB\n[rank0] step 2 RSS 2 KiB\n[rank0] step 1 RSS 3 KiB\n"
     "[rank1] step 1 RSS 4 KiB\n[rank1] step 2 RSS 5 KiB\n[rank1] step 1 RSS 6 KiB\n",
     "samples 6 from 0\nprocess:rank0 1024..3072 until 3 peak 3072\n"
     "process:rank1 4096..6144 until 6 peak 6144\nsteps 1 2 3\nnote steps_renumbered 2\n",
     NULL},
    {"steps that begin again, of two lines each",
     "step 1 a\nstep 1 RSS 1 KiB\nstep 2 a\nstep 2 RSS 2 KiB\nstep 1 a\nstep 1 RSS 3 KiB\n",
     "samples 6 from 0\nprocess 1024..3072 until 6 peak 3072\nsteps 1 2 3\nnote steps_renumbered "
     "1\n",
     NULL},
    {"bars of progress, colours, brackets around steps",
     "\r[step 1] rss \033[1m1 KiB\033[0m\r[step 2] rss 2 KiB\r\n\033[32m[step 3/9] rss 3 KiB\n"
     " step     4/  9 | rss 4 KiB\n",
     "samples 4 from 0\nprocess 1024..4096 until 4 peak 4096\nsteps 1 2 3 4\n", NULL},
    {"lines of one rank", "rank 1 rapid 2 RSS 5 KiB\nrank 1 rapid 3 RSS 9 KiB\nranks 5 RSS 6 KiB\n",
     "samples 3 from 0\nprocess 5120..6144 until 3 peak 9216\n", NULL},
    {"before and after", "RSS before: 1 KiB after: 5 KiB\nRSS 2 KiB after 7 KiB\n",
     "samples 2 from 0\nprocess 1024..2048 until 2 peak 5120\n", NULL},
    {"the process's memory in no unit is lost, where other lines have one",
     "RSS: 1,5 KiB\nRSS: 2G\nRSS: 3 KiB, RSS feed: 3\nRSS: 4 KiB\nRSS: 1,020,5 KiB\nRSS: 7\n",
     "samples 2 from 0\nprocess 3072..4096 until 2 peak 4096\nnote skipped 4\n", NULL},
    {"a comma of fractions", "RSS (MB): 1.5\nRSS (MB): 2,5\nRSS (MB): 2.000,5\nRSS (MB): 3\n",
     "samples 2 from 0\nprocess 1572864..3145728 until 2 peak 3145728\nnote skipped 2\nnote units "
     "2\n",
     NULL},
    {"time -v: how long it took is damaged",
     "\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:04.G7\n"
     "\tMaximum resident set size (kbytes): 100\n",
     "(null) 0 from 0\nprocess unchanged peak 102400\nnote skipped 1\n", NULL},
    {"the name that was there first is the rss",
     "RSS: 5 KiB\nOwn RSS: 7 KiB | RSS: 6 KiB\nOwn RSS: 8 KiB | RSS: 6 KiB\n",
     "samples 3 from 0\nprocess 5120..6144 until 2 peak 6144\nown_rss of process 7168 at 2\n"
     "own_rss of process 8192 at 3\nnote names 1\n",
     NULL},
    {"names in different lines are one figure at different times",
     "RSS before: 5 KiB\nRSS after: 7 KiB\n",
     "samples 2 from 0\nprocess 5120..7168 until 2 peak 7168\n", NULL},
    {"steps, levels with units, other figures", TEXT,
     "samples 2 from 0\nprocess 2621440..3145728 until 2 peak 3145728\n"
     "gpu of process 12288 at 1\ngpu of process 13312 at 2\nsteps 1 2\nnote units 4\n",
     "^\\[{step}\\] mem={rss} gpu {gpu}"},
    {"the unit is the line's, else the pattern's", "rss 5 of 7\nrss 6 kB of 7\n",
     "samples 2 from 0\nprocess 5120..6144 until 2 peak 7340032\n"
     "peak_rss of process 7340032 at 1\npeak_rss of process 7340032 at 2\n"
     "note units 3\n",
     "{rss:kib} of {peak_rss:MB}"},
    {"groups, lists and repetitions of the user's", "ab] x1 7 b\n",
     "(null) 0 from 0\nprocess unchanged peak 7\n", "^(a|c)[^]x]{1,2}[]] (x|y[(])?1 {rss}"},
    {"a bracket of a list that has a class", "x( 7 B\nx4 8 B\n",
     "samples 2 from 0\nprocess 7..8 until 2 peak 8\n", "^x[[:digit:](] {rss}"},
    {"a bracket of a list behind a sign of its own", "x( 7 B\n",
     "(null) 0 from 0\nprocess unchanged peak 7\n", "^x[][.a.](] {rss}"},
    {"a backslash in a list is one", "x\\ 7 B\n", "(null) 0 from 0\nprocess unchanged peak 7\n",
     "^x[\\] {rss}"},
    {"an escaped backslash before a field", "x\\7 B\n",
     "(null) 0 from 0\nprocess unchanged peak 7\n", "^x\\\\{rss}"},
    {"of alternatives one has a number", "a 7 B\nb 8 B\n",
     "samples 2 from 0\nprocess unchanged peak 7\nbs of process 8 at 2\n", "^(a {rss}|b {bs})"},
    {"a metric of its own alone", "ram 5 MiB\nram 6 MiB\n",
     "samples 2 from 0\nprocess unchanged peak -9223372036854775808\nram of process 5242880 at "
     "1\nram of process 6291456 at 2\n"
     "note no_level 1\n",
     "ram {ram}"},
    {"no line matches", TEXT, "error: no line matches --pattern\n", "rss={rss}"},
    {"no unit", "5 B\nat 6\n", "error: the number of {rss}, 6, has no unit behind it\n", "{rss}"},
    {"a number that is too long", "99999999999999999999999 B\n5 B\n",
     "(null) 0 from 0\nprocess unchanged peak 5\nnote skipped 1\n", "{rss}"},
    {"no field", TEXT, "error: --pattern has no field\n", "mem=[0-9]+"},
    {"steps alone", TEXT, "error: --pattern has no field\n", "{step}"},
    {"a field twice", TEXT, "error: --pattern: '{rss:MB}' is there twice\n",
     "mem={rss} gpu {rss:MB}"},
    {"a metric by two names", TEXT, "error: --pattern: '{private}' is there twice\n",
     "mem={uss} gpu {private}"},
    {"a name of no size", TEXT, "error: --pattern: '{cpu_ns:MB}' is no size\n",
     "mem={rss:MB} cpu={cpu_ns:MB}"},
    {"two steps", TEXT, "error: --pattern: '{step}' is there twice\n", "{step} {step} {rss}"},
    {"a field in a list", TEXT, "error: --pattern: '{step}' stands in a list [..]\n",
     "^[{step}] mem={rss}"},
    {"a unit that nobody knows behind the number", "mem 512M\nmem 2G\n",
     "error: the number of {rss}, 512, has 'M' behind it, which is no unit\n", "mem {rss:MB}"},
    {"a number that goes on", "mem 1,234,567\n",
     "error: the number of {rss}, 1, goes on behind a comma\n", "mem {rss:KB}"},
    {"a number that goes on behind a point", "mem 1.234.567\n",
     "error: the number of {rss}, 1.234, goes on behind a point\n", "mem {rss:B}"},
    {"a number that goes on behind an apostrophe", "mem 1'234\n",
     "error: the number of {rss}, 1, goes on behind an apostrophe\n", "mem {rss:B}"},
    {"a number that goes on behind a blank", "mem 1 234 KB\n",
     "error: the number of {rss}, 1, goes on behind a blank\n", "mem {rss:KB}"},
    {"a number that goes on behind a blank of Unicode",
     "mem 1\xe2\x80\xaf"
     "234 KB\n",
     "error: the number of {rss}, 1, goes on behind a blank\n", "mem {rss:KB}"},
    {"columns of numbers", "mem 1 234\nmem 5 678\n",
     "samples 2 from 0\nprocess 1..5 until 2 peak 5\nn of process 234 at 1\n"
     "n of process 678 at 2\n",
     "mem {rss:B} {n:B}"},
    {"columns with commas", "1,234\n2,345\n",
     "samples 2 from 0\nprocess 234..345 until 2 peak 345\nsteps 1 2\n", "^{step},{rss:B}"},
    {"a step that goes on", "step 1,000 mem 5 B\n",
     "error: the number of {step}, 1, goes on behind a comma\n", "step {step}.*mem {rss}"},
    {"a step that is none", "epoch 0.25 mem 5 B\n",
     "error: the number of {step}, 0, goes on behind a point\n", "epoch {step}.*mem {rss}"},
    {"a percentage", "mem 50%\n",
     "error: the number of {rss}, 50, has '%' behind it, which is no unit\n", "mem {rss:KB}"},
    {"a speed", "mem 50 MB/s\n",
     "error: the number of {rss}, 50, has 'MB/s' behind it, which is no unit\n", "mem {rss:KB}"},
    {"sizes one by the other", "mem 5 KiB/7KiB\n", "(null) 0 from 0\nprocess unchanged peak 5120\n",
     "mem {rss}/{most}"},
    {"a unit in short behind a blank", "mem 5 G\n",
     "error: the number of {rss}, 5, has 'G' behind it, which is no unit\n", "mem {rss:MB}"},
    {"a unit behind more blanks, or a tab", "mem 5  MiB\nmem 6\tMiB\n",
     "samples 2 from 0\nprocess 5242880..6291456 until 2 peak 6291456\n", "mem {rss:KiB}"},
    {"a number that is cut", LONG_LINE "mem=7100\nmem=5\n",
     "(null) 0 from 0\nprocess unchanged peak 5242880\nnote units 1\n", "mem={rss:MB}"},
    {"a power", "mem 1e3\n", "error: the number of {rss}, 1, has 'e' behind it, which is no unit\n",
     "mem {rss:KB}"},
    {"a word behind a blank that is no unit", "mem 7 pages\n",
     "error: the number of {rss}, 7, has 'pages' behind it, which is no unit\n", "mem {rss}"},
    {"a word of the line that is no unit", "mem 512 b=3\nmem 600 b=3\n",
     "samples 2 from 0\nprocess 536870912..629145600 until 2 peak 629145600\nnote units 2\n",
     "mem {rss:MB}"},
    {"a unit that is none", TEXT, "error: --pattern: '{rss:pages}' is no field\n",
     "mem={rss:pages}"},
    {"no end of a field", TEXT, "error: --pattern: '{rss' is no field\n", "mem={rss"},
    {"dates with a zone", "2026-11-22 23:59:59,5 +0100 rss 5 B\n2026-11-22T23:00:01Z rss 7 B\n",
     "ns 1500000000 from 1795388399500000000\nprocess 5..7 until 1500000000 peak 7\n",
     "^{time} rss {rss}"},
    {"dates without a zone: nobody knows the epoch",
     "[2026-11-22 10:00:00] step 1 5 B\n[2026-11-22 10:00:00] step 2 6 B\n",
     "ns 0 from 0\nprocess 5..6 until 0 peak 6\nsteps 1 2\n", "^\\[{time}\\] step {step} {rss}"},
    {"times of day, over midnight", "23:59:58.25 5 B\n00:00:01 7 B\n00:00:02 x 3 B\n",
     "ns 3750000000 from 0\nprocess 5..3 until 3750000000 peak 7\n", "^{time} (x )?{rss}"},
    {"seconds of the epoch", "1763870000.25 5 B\n1763870001 7 B\n",
     "ns 750000000 from 1763870000250000000\nprocess 5..7 until 750000000 peak 7\n",
     "^{time} {rss}"},
    {"milliseconds", "1763870000250 5 B\n1763870001000 7 B\n",
     "ns 750000000 from 1763870000250000000\nprocess 5..7 until 750000000 peak 7\n",
     "^{time:ms} {rss}"},
    {"milliseconds taken for seconds", "1763870000250 5 B\n",
     "error: the time of {time}, 1763870000250, cannot be read\n", "^{time} {rss}"},
    {"seconds since it began", "t=3s 5 B\nt=4.5s 7 B\n",
     "ns 1500000000 from 0\nprocess 5..7 until 1500000000 peak 7\n", "^t={time}s {rss}"},
    {"a time that goes back", "3 5 B\n2 7 B\n4 6 B\n",
     "ns 1000000000 from 0\nprocess 5..6 until 1000000000 peak 7\nnote clock 1\n", "^{time} {rss}"},
    {"times of two kinds", "3 5 B\n10:00:00 7 B\n",
     "error: the time of {time}, 10:00:00, cannot be read, or is none like those before\n",
     "^{time} {rss}"},
    {"no time of day", "24:00:00 5 B\n", "error: the time of {time}, 24:00:00, cannot be read\n",
     "^{time} {rss}"},
    {"times alone", TEXT, "error: --pattern has no field\n", "{time}"},
    {"a time with a unit of sizes", TEXT, "error: --pattern: '{time:KB}' is no field\n",
     "{time:KB} {rss}"},
};

static void test_pattern(void **state)
{
    const struct pattern_file *p = *state;
    const struct log_file f = {p->name, &mt_reader_memory_text, p->text, NULL};
    struct mt_buf out = {0};
    read_text(&out, &f, strlen(p->text), p->pattern);
    assert_string_equal(out.s, p->want);
    mt_buf_free(&out);
}

int main(void)
{
    struct row_tests t = {.n = 0};
    ROWS_ADD(&t, test_log, logs);
    ROWS_ADD(&t, test_pattern, patterns);
    return ROWS_RUN(&t, "process logs");
}
