/* Which rank a file is of, by its name. */
#include "rows.h"

#include "lib/run/job.h"
#include "lib/run/job_folder.h"
#include <string.h>

struct behind_row {
    const char *name;
    const char *path, *word;
    int64_t expected;
};

static const struct behind_row behind_rows[] = {
    {"a number right behind the word", "rank12.json", "rank", 12},
    {"an underscore between", "traces/rank_3.json.gz", "rank", 3},
    {"a dash between", "cpu_only_rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", "rank", 34},
    {"the time behind it is not it", "oom_rank-12_1699999999.pickle", "rank", 12},
    {"vLLM: the rank, not its coordinates", "dp1_pp0_tp2_rank12.1699.pt.trace.json.gz", "rank", 12},
    {"the stage among the coordinates", "dp1_pp3_tp2_rank12.1699.pt.trace.json.gz", "pp", 3},
    {"the folder, where the name says nothing", "job/rank_12/dump.pickle", "rank", 12},
    {"the name before the folder", "rank_1/rank_12.pickle", "rank", 12},
    {"a folder further up", "rank_1/x/dump.pickle", "rank", 1},
    {"the nearest one", "rank_1/rank_2/x/y/dump.pickle", "rank", 2},
    {"no folder further up of another name", "lora_rank8_a16/x/dump.pickle", "rank", MT_UNKNOWN},
    {"the folder right above whatever its name", "exp_rank8_b/dump.pickle", "rank", 8},
    {"a folder at the root", "/rank3/x/dump.pickle", "rank", 3},
    {"no part of another word", "frank12.json", "rank", MT_UNKNOWN},
    {"not the rank on its machine", "local_rank3.json", "rank", MT_UNKNOWN},
    {"not that of its node", "node_rank1.json", "rank", MT_UNKNOWN},
    {"not the place among parts", "dp_rank_0_tp_rank_1.json", "rank", MT_UNKNOWN},
    {"a word that ends as one of parts", "fsdp_rank3.pickle", "rank", 3},
    {"and another", "job/dump-rank-3.pickle", "rank", 3},
    {"not so behind a mark", "job/a.dp_rank3.pickle", "rank", MT_UNKNOWN},
    {"but of these it is", "dp_rank_0_tp_rank_1.json", "tp", 1},
    {"and of stages", "dp_rank_0_pp_rank_2.json", "pp", 2},
    {"the job's rank beside that of the machine", "rank9_local_rank3.json", "rank", 9},
    {"no number", "rank_non_gpu.json.gz", "rank", MT_UNKNOWN},
    {"the last one counts", "rank1_of_rank8.json", "rank", 8},
    {"rank 0", "iteration_10/rank0_memory_snapshot.pickle", "rank", 0},
    {"too many digits for a rank", "rank1234567890.json", "rank", MT_UNKNOWN},
    {"the word alone", "rank", "rank", MT_UNKNOWN},
    {"the word and a mark alone", "rank_", "rank", MT_UNKNOWN},
    {"nothing", "", "rank", MT_UNKNOWN},
    {"capitals", "RANK3", "rank", 3},
    {"SGLang: the part of a tensor", "1700000000.25-TP-3.trace.json.gz", "tp", 3},
    {"SGLang: of memory", "1700000000.25-TP-3-memory-DECODE.pickle", "tp", 3},
    {"SGLang: with coordinates", "1700000000.25-TP-3-DP-1-PP-2-EP-3.trace.json.gz", "pp", 2},
    {"Megatron: of its own profiler", "torch_profile/rank-5.json.gz", "rank", 5},
    {"NeMo: of its callback", "memory_snapshot-rank7.pickle", "rank", 7},
    {"torchtitan: out of memory", "iteration_8_oom/rank2_memory_snapshot.pickle", "rank", 2},
    {"Composer: behind epoch and batch", "ep0-ba10-rank6.json", "rank", 6},
    {"a step behind the rank", "memory_snapshot_rank1_step6.pkl", "rank", 1},
    {"vLLM: behind an instance", "vllm-instance-7f3a-rank-2.1699.pt.trace.json.gz", "rank", 2},
    {"vLLM 0.17: parts of the KV cache and experts",
     "dp0_pp1_tp2_dcp3_ep4_rank9.1.pt.trace.json.gz", "tp", 2},
    {"Primus: in brackets", "primus-megatron-exp[llama2]-rank[3].1700.pt.trace.json.gz", "rank", 3},
    {"TensorRT-LLM: before the ending", "trace-rank-6.json", "rank", 6},
    {"Composer: out of memory", "rank7_oom_snapshot.pickle", "rank", 7},
    {"Composer: a batch behind it", "rank5.20.memory_snapshot.pickle", "rank", 5},
    {"Megatron: out of memory", "oom_rank-11_snapshot.pickle", "rank", 11},
    {"LMMs: out of memory", "memory_snapshot/oom_rank2.pickle", "rank", 2},
    {"a host and a process", "node1_4711.1700000000000.pt.trace.json", "rank", MT_UNKNOWN},
};

static void test_behind(void **state)
{
    const struct behind_row *r = *state;
    assert_int_equal(mt_number_behind(r->path, r->word), r->expected);
}

struct apart_row {
    const char *name;
    const char *texts[3];
    bool apart;
    int64_t expected[3];
};

static const struct apart_row apart_rows[] = {
    {"one number apart", {"dump_0.pickle", "dump_1.pickle", "dump_2.pickle"}, true, {0, 1, 2}},
    {"digits that numbers share", {"d10.p", "d11.p", "d1.p"}, true, {10, 11, 1}},
    {"of unlike length", {"d8.p", "d9.p", "d10.p"}, true, {8, 9, 10}},
    {"digits shared at the end", {"d10", "d20", "d30"}, true, {10, 20, 30}},
    {"nothing around the number", {"5", "6", "71"}, true, {5, 6, 71}},
    {"two numbers apart", {"a0_b0", "a0_b1", "a1_b0"}, false, {0}},
    {"two are equal", {"d1.p", "d1.p", "d2.p"}, false, {0}},
    {"the same number, written twice", {"d1.p", "d01.p", "d2.p"}, false, {0}},
    {"one has no number", {"d.p", "d1.p", "d2.p"}, false, {0}},
    {"no numbers", {"a", "b", "c"}, false, {0}},
    {"a rank that is missing", {"d0.p", "d40.p", "d63.p"}, true, {0, 40, 63}},
    {"numbers of processes", {"n_4711.p", "n_4712.p", "n_4713.p"}, false, {0}},
};

static void test_apart(void **state)
{
    const struct apart_row *r = *state;
    int64_t out[3] = {-1, -1, -1};
    assert_int_equal(mt_numbers_apart(r->texts, 3, out), r->apart);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(out[i], r->apart ? r->expected[i] : -1);
}

struct folder_row {
    const char *name, *folder;
    bool host, of_time;
};

static const struct folder_row folder_rows[] = {
    {"a node", "node3", true, false},
    {"part of a longer word", "gpunode-012", true, false},
    {"with its domain", "gpu-a7.cluster.example", true, false},
    {"an address", "10.0.3.17", true, false},
    {"a name of an address", "ip-10-0-3-17", true, false},
    {"too large for an address", "10.0.3.256", false, true},
    {"half an address", "10.0.3", false, true},
    {"an address and a dot", "10.0.3.17.", false, true},
    {"not a word that only begins so", "nodes_removed", false, false},
    {"not two letters of a word", "zip", false, false},
    {"a step", "iteration_10", false, true},
    {"a number", "100", false, true},
    {"a date and a time", "2026-11-26T10:00:00Z", false, true},
    {"SGLang's time", "1758551299.0762882", false, true},
    {"a repeat", "run_2", false, true},
    {"a restart of torchrun", "attempt_0", false, true},
    {"a job", "a-17", false, false},
    {"what was recorded", "memory_snapshot", false, false},
};

static void test_folder(void **state)
{
    const struct folder_row *r = *state;
    assert_int_equal(mt_folder_is_host(r->folder, strlen(r->folder)), r->host);
    assert_int_equal(mt_folder_is_of_time(r->folder, strlen(r->folder)), r->of_time);
}

int main(void)
{
    static struct row_tests t;
    ROWS_ADD(&t, test_folder, folder_rows);
    ROWS_ADD(&t, test_behind, behind_rows);
    ROWS_ADD(&t, test_apart, apart_rows);
    return ROWS_RUN(&t, "job");
}
