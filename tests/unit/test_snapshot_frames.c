/* formats/snapshot_frames.h: how frames of stacks read, and what is read off them. */
#include "formats/snapshot_frames.h"
#include "lib/model/recording.h"
#include "tests/unit/rows.h"

#define TORCH  "/opt/env/lib/python3.11/site-packages/torch/"
#define EINOPS "/opt/env/lib/python3.11/site-packages/einops/_backends.py"

static const struct name {
    const char *title; /* of the test */
    const char *name, *file;
    int64_t line;
    const char *text;
} names[] = {
    {"Python: file, line, function", "forward", "/home/me/model.py", 42, "model.py:42 forward"},
    {"Python of a prompt", "<module>", "<stdin>", 1, "<stdin>:1 <module>"},
    {"a line of -1 is none", "init_gpu_context", "/x/utils.py", -1, "init_gpu_context"},
    {"parameters go", "at::native::add(at::Tensor const&)", "??", 0, "at::native::add"},
    {"the return type goes", "void at::cuda::blas::gemm<float>(char, long)", "", 0,
     "at::cuda::blas::gemm"},
    {"a return type of a template goes", "std::vector<int, std::less<int> > f<a::b>(int)", "", 0,
     "f"},
    {"anonymous namespaces go", "at::(anonymous namespace)::wrapper(at::Tensor const&)", "", 0,
     "at::wrapper"},
    {"destructors stay", "c10::StorageImpl::~StorageImpl()", "", 0,
     "c10::StorageImpl::~StorageImpl"},
    {"compiler suffixes go", "run_mod.llvm.9196888086361497952", "", 0, "run_mod"},
    {"clones go", "c10::TensorImpl::~TensorImpl() [clone .localalias]", "", 0,
     "c10::TensorImpl::~TensorImpl"},
    {"call operators", "torch::autograd::Node::operator()(std::vector<int>&&)", "", 0,
     "torch::autograd::Node::operator()"},
    {"shift operators", "std::ostream& c10::operator<<(std::ostream&, int)", "", 0,
     "c10::operator<<"},
    {"lambdas", "at::parallel_for<f(int)::{lambda(long, long)#1}>(long)", "", 0,
     "at::parallel_for"},
    {"inside lambdas", "at::sum(int)::{lambda()#1}::operator()() const", "", 0, "at::sum"},
    {"nothing", "", "??", 0, "[unknown function]"},
    {"brackets that never close", "f<a<b", "", 0, "f"},
    {"plain C", "_start", "??", 0, "_start"},
};

static void test_name(void **state)
{
    const struct name *n = *state;
    struct mt_buf out = {0};
    mt_snap_frame_text(&out, n->name, n->file, n->line);
    assert_string_equal(out.s, n->text);
    mt_buf_free(&out);
}

static const struct look {
    const char *name, *file;
    struct mt_snap_look look;
} looks[] = {
    {"train_step", "/home/me/train.py", {.python = true, .rank = MT_RANK_USER}},
    {"forward",
     "/home/me/model.py",
     {.python = true, .module = true, .rank = MT_RANK_USER, .phase = MT_PHASE_FORWARD}},
    {"forward",
     TORCH "nn/modules/linear.py",
     {.python = true, .module = true, .rank = MT_RANK_TORCH, .phase = MT_PHASE_FORWARD}},
    {"step",
     TORCH "optim/adam.py",
     {.python = true, .rank = MT_RANK_TORCH, .phase = MT_PHASE_OPTIMIZER}},
    {"fetch",
     TORCH "utils/data/_utils/fetch.py",
     {.python = true, .rank = MT_RANK_TORCH, .phase = MT_PHASE_DATA}},
    {"_engine_run_backward",
     TORCH "autograd/graph.py",
     {.python = true, .rank = MT_RANK_TORCH, .phase = MT_PHASE_BACKWARD}},
    {"einsum", EINOPS, {.python = true, .rank = MT_RANK_PACKAGE}},
    {"run", "/usr/lib/python3.11/threading.py", {.python = true, .rank = MT_RANK_TORCH}},
    {"call", "/tmp/torchinductor_me/cz/cz3v.py", {.python = true, .rank = MT_RANK_TORCH}},
    {"_find", "<frozen importlib._bootstrap>", {.python = true, .rank = MT_RANK_TORCH}},
    {"<module>", "<stdin>", {.python = true, .rank = MT_RANK_USER}},
    {"at::native::add(at::Tensor const&)", "??", {.rank = MT_RANK_NATIVE}},
    {"torch::autograd::Engine::thread_main(int)", "??", {.phase = MT_PHASE_BACKWARD}},
    {"torch::autograd::generated::MmBackward0::apply(int)",
     "",
     {.rank = MT_RANK_NATIVE, .phase = MT_PHASE_BACKWARD}},
    {"_PyEval_EvalFrameDefault", "??", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"c10::cuda::CUDACachingAllocator::Native::malloc(int)",
     "",
     {.noise = true, .rank = MT_RANK_NATIVE}},
    {"at::_ops::add::redispatch(int)", "??", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"f", "/src/Python/ceval.c", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"??", "??", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"pymain_run_python", "??", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"pyrun_file", "??", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"pythread_wrapper", "??", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"pybind11::cpp_function::dispatcher(_object*)", "??", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"pytorch_flash::mha_fwd(at::Tensor&)", "??", {.rank = MT_RANK_NATIVE}},
    {"pyg::sampler::sample(at::Tensor const&)", "??", {.rank = MT_RANK_NATIVE}},
    {"slot_tp_call", "??", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"slot_nb_multiply", "??", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"slot_table_grow(int)", "??", {.rank = MT_RANK_NATIVE}},
    {"slot_map_grow", "/home/me/slots.cpp", {.rank = MT_RANK_NATIVE}},
    {"partial_call", "??", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"partial_vectorcall.llvm.123", "??", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"partial_sum(float const*, int)", "??", {.rank = MT_RANK_NATIVE}},
    {"partial_callback", "??", {.rank = MT_RANK_NATIVE}},
    {"type_call", "??", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"type_call(Value const&)", "??", {.rank = MT_RANK_NATIVE}},
    {"cfunction_call", "??", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"cfunction_vectorcall_NOARGS.llvm.17104391946697789317",
     "??",
     {.noise = true, .rank = MT_RANK_NATIVE}},
    {"cfunction_table(int)", "??", {.rank = MT_RANK_NATIVE}},
    {"dynamo_eval_custom_code_impl.constprop.0",
     "eval_frame.c",
     {.noise = true, .rank = MT_RANK_NATIVE}},
    {"dynamo_custom_eval_frame_shim", "??", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"dynamo_db_get(char const*)", "??", {.rank = MT_RANK_NATIVE}},
    {"call_function", "??", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"call_function(Graph&)", "??", {.rank = MT_RANK_NATIVE}},
    {"run_mod.llvm.9196888086361497952", "??", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"run_model", "??", {.rank = MT_RANK_NATIVE}},
    {"f", "/src/python-3.10.14/Objects/call.c", {.noise = true, .rank = MT_RANK_NATIVE}},
    {"f", "/home/me/Python/ext.cpp", {.rank = MT_RANK_NATIVE}},
    {"f(int)", "/home/me/Modules/net.cc", {.rank = MT_RANK_NATIVE}},
    {"f", "/src/Modules/main.h", {.noise = true, .rank = MT_RANK_NATIVE}},
};

static void test_look(void **state)
{
    const struct look *l = *state;
    struct mt_snap_look look = mt_snap_look(l->name, l->file, 1);
    assert_int_equal(look.python, l->look.python);
    assert_int_equal(look.noise, l->look.noise);
    assert_int_equal(look.module, l->look.module);
    assert_int_equal(look.rank, l->look.rank);
    assert_int_equal(look.phase, l->look.phase);
}

int main(void)
{
    struct row_tests tests = {0};
    ROWS_ADD(&tests, test_name, names);
    ROWS_ADD(&tests, test_look, looks);
    return ROWS_RUN(&tests, "snapshot frames");
}
