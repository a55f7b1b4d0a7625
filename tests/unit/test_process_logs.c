/* Readers of process logs: small files, whole, damaged and strange, and what becomes of them. */
#include "lib/model/process.h"
#include "tests/unit/process_log.h"
#include "tests/unit/rows.h"

#include <string.h>

/* want: what read_process_log says. */
struct log_file {
    const char *name;
    const struct mt_reader *reader;
    const char *text, *want;
};

static void test_log(void **state)
{
    const struct log_file *f = *state;
    struct mt_buf out = {0};
    read_process_log(&out, f->reader, f->text, strlen(f->text), NULL);
    assert_string_equal(out.s, f->want);
    assert_in_range(f->reader->probe(f->text, strlen(f->text)), 90, 96);
    for (size_t n = 0; n < strlen(f->text); n++) { /* cut anywhere it is an answer, or an error */
        mt_buf_clear(&out);
        read_process_log(&out, f->reader, f->text, n, NULL);
    }
    mt_buf_free(&out);
}

#define NOTHING           "error: holds no value of memory that can be read\n"
#define PIDSTAT           "#      Time   UID       PID  minflt/s  majflt/s     VSZ     RSS   %MEM  Command\n"
#define ROLLUP            "5632e63d6000-7ffea98c6000 ---p 00000000 00:00 0  [rollup]\n"
#define MAPPING(from, to) from "-" to " r-xp 00000000 fe:00 260131    /usr/bin/a (b)\nSize: 99 kB\n"
#define DOCKER            "CONTAINER ID   NAME   CPU %   MEM USAGE / LIMIT   MEM %\n"
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
    {"statuses: what grep leaves of them behind a time, and a second process", &mt_reader_proc_text,
     "1763870000\nVmPeak:\t   900 kB\nVmRSS:\t   100 kB\n1763870001\n1763870002\nVmRSS:\t  1000 "
     "kB\n"
     "VmRSS:\t    50 kB\n",
     "ns 2000000000 from 1763870000000000000\n"
     "process 102400..1024000 until 2000000000 peak 1024000\nnote skipped 1\n"},
    {"statuses: their names, and what grep leaves of them", &mt_reader_proc_text,
     "Name:\ta\nVmRSS:\t   100 kB\nName:\ta\nVmRSS:\t  1000 kB\n",
     "samples 1 from 0\nprocess 102400..1024000 until 1 peak 1024000\n"},
    {"rollups: the head of the second is missing", &mt_reader_proc_text,
     ROLLUP "Rss: 100 kB\nPrivate_Clean: 4 kB\nRss: 80 kB\nPrivate_Clean: 3 kB\n",
     "samples 0 from 0\nprocess unchanged peak 102400\nprivate of process 4096 at 0\n"
     "note skipped 2\n"},
    {"rollups: none has an rss", &mt_reader_proc_text, ROLLUP "Rss: 0 kB\n", NOTHING},
    {"smaps: the sums of its mappings, by which it is known where one begins", &mt_reader_proc_text,
     "1763870000\n" MAPPING(
         "5000", "6000") "Rss: 100 kB\nPss: 90 kB\nPrivate_Clean: 4 kB\n"
                         "Private_Dirty: 5 kB\nSwap: 1 kB\nVmFlags: rd ex mr\n" MAPPING(
                             "6000",
                             "7000") "Name: [anon:malloc]\nRss: 50 kB\nPss: 40 kB\nPrivate_Clean: "
                                     "1 kB\nSwap: 2 kB\n"
                                     "1763870001\n" MAPPING("5000", "6000") "Rss: 70 kB\n" MAPPING(
                                         "6000",
                                         "7000") "Rss: 7 kB\n" MAPPING("5000",
                                                                       "7000") "Rss: 80 kB\n",
     "ns 1000000000 from 1763870000000000000\n"
     "process 153600..81920 until 1000000000 peak 153600\n"
     "pss of process 133120 at 0\nprivate of process 10240 at 0\nswap of process 3072 at 0\n"},
    {"smaps: behind what is no time, of a process that ended as it was read", &mt_reader_proc_text,
     "== 1 ==\n" MAPPING("5000", "6000") "Rss: 100 kB\n7ffc0e210000-7ffc0e231000 rw-p 00000000 "
                                         "00:00 0    [stack]\nRss: 50 kB\n"
                                         "== 2 ==\n" MAPPING("5000", "6000") "Rss: 100 kB\n",
     "samples 1 from 0\nprocess unchanged peak 153600\nnote skipped 3\n"},
    {"rollups: two processes with CUDA, of which one had none at first", &mt_reader_proc_text,
     "1763870000\n5632e63d6000-7ffea98c6000 ---p 00000000 00:00 0  [rollup]\nRss: 100 kB\n"
     "200000000-7ffc0e231000 ---p 00000000 00:00 0  [rollup]\nRss: 10 kB\n"
     "1763870001\n200000000-7ffea98c6000 ---p 00000000 00:00 0  [rollup]\nRss: 200 kB\n"
     "200000000-7ffc0e231000 ---p 00000000 00:00 0  [rollup]\nRss: 20 kB\n",
     "ns 1000000000 from 1763870000000000000\n"
     "process:1 102400..204800 until 1000000000 peak 204800\n"
     "process:2 0..20480 until 1000000000 peak 20480\n"},
    {"rollups: two processes whose stacks are not moved", &mt_reader_proc_text,
     "1763870000\n400000-7ffffffff000 ---p 00000000 00:00 0  [rollup]\nRss: 100 kB\n"
     "555555554000-7ffffffff000 ---p 00000000 00:00 0  [rollup]\nRss: 10 kB\n",
     "ns 0 from 1763870000000000000\n"
     "process:1 unchanged peak 102400\nprocess:2 0..10240 until 0 peak 10240\n"},
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
/* ---- when a process was looked at ---- */

/* Looks at two processes; want: what describe_looks says. */
static const struct looks {
    const char *name, *want;
    struct look {
        size_t process;
        int64_t t, bytes, peak;
    } all[8];
} looks[] = {
    {"of looks that change nothing there are the first and the last",
     "process:7 0:5@0 3:5@30\nprocess:8 0:9@1 2:9@21\n",
     {{0, 0, 5, 0},
      {1, 1, 9, 0},
      {0, 10, 5, 0},
      {1, 11, 9, 0},
      {0, 20, 5, 0},
      {1, 21, 9, 0},
      {0, 30, 5, 0}}},
    {"of one look there is one",
     "process:7 0:5@0\nprocess:8 0:9@1\n",
     {{0, 0, 5, 0}, {1, 1, 9, 0}}},
    {"a change is the last look",
     "process:7 0:5@0 2:6@20\nprocess:8\n",
     {{0, 0, 5, 0}, {0, 10, 5, 0}, {0, 20, 6, 0}}},
    {"a peak is between two looks",
     "process:7 0:5@0 1:8@0 2:5@0 4:5@20\nprocess:8\n",
     {{0, 0, 5, 8}, {0, 10, 5, 0}, {0, 20, 5, 0}}},
};

static void test_looks(void **state)
{
    const struct looks *l = *state;
    struct mt_recording rec;
    struct mt_process_log log;
    struct mt_err err = MT_ERR_INIT;
    struct mt_buf out = {0};
    size_t process;
    mt_rec_init(&rec);
    mt_process_open(&log, &rec);
    for (int64_t number = 7; number < 9; number++)
        assert_int_equal(mt_process_of(&log, number, &process, &err), MT_OK);
    for (const struct look *k = l->all; k->bytes; k++) {
        assert_int_equal(mt_process_level(&log, k->process, k->t, k->bytes, &err), MT_OK);
        if (k->peak)
            assert_int_equal(mt_process_peak(&log, k->process, k->peak, &err), MT_OK);
    }
    assert_int_equal(mt_process_close(&log, &err), MT_OK);
    mt_process_free(&log);
    describe_looks(&out, &rec);
    assert_string_equal(out.s, l->want);
    mt_buf_free(&out);
    mt_rec_free(&rec);
}

int main(void)
{
    struct row_tests t = {.n = 0};
    ROWS_ADD(&t, test_log, logs);
    ROWS_ADD(&t, test_looks, looks);
    return ROWS_RUN(&t, "process logs");
}
