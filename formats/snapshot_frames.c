#include "formats/snapshot_frames.h"

#include "formats/native_frames.h"
#include "lib/model/python_files.h"
#include "lib/model/recording.h"
#include <string.h>

/*
 * A text to be found: in the name or the file, at its start or end, as a whole or anywhere; as a
 * whole function of C, which a compiler may have given an ending (".llvm.123") but no parameters;
 * as a folder of C, in which the code of others, in C++, tells something.
 */
struct mark {
    enum { NAME, FILE_ } in;
    enum { STARTS, ENDS, IS, HAS, C_NAME, C_FOLDER } how;
    const char *text;
};

/* Native frames that tell nothing of the program. */
static const struct mark noise[] = {
    /* the recorder itself */
    {NAME, STARTS, "torch::unwind::"},
    {NAME, STARTS, "torch::CapturedTraceback::"},
    {NAME, HAS, "::gather_with_cpp"},
    {NAME, HAS, "::gather()"},
    /* the allocator, and the release of a tensor's memory */
    {NAME, HAS, "CachingAllocator::"},
    {NAME, HAS, "local_raw_delete"},
    {NAME, HAS, "StorageImpl::"},
    {NAME, HAS, "c10::StorageImpl"},
    {NAME, HAS, "c10::TensorImpl::~TensorImpl"},
    {NAME, STARTS, "c10::intrusive_ptr<"},
    {NAME, HAS, "::empty_generic("},
    {NAME, HAS, "::_empty_generic<"},
    {NAME, HAS, "empty_strided_generic"},
    {NAME, HAS, "at::detail::empty_cuda("},
    {NAME, HAS, "at::detail::empty_strided_cuda("},
    /* the dispatcher and what is generated around operators */
    {NAME, HAS, "c10::impl::"},
    {NAME, HAS, "c10::Dispatcher::"},
    {NAME, HAS, "c10::BoxedKernel"},
    {NAME, HAS, "c10::KernelFunction"},
    {NAME, HAS, "c10::OperatorHandle"},
    {NAME, HAS, "::redispatch("},
    {NAME, HAS, "::wrapper_"},
    {FILE_, HAS, "/boxing/"},
    {FILE_, STARTS, "Register"},
    /* the way from Python into PyTorch */
    {NAME, HAS, "torch::autograd::THPVariable_"},
    {NAME, HAS, "torch::autograd::TypeError_to_NotImplemented_"},
    {NAME, STARTS, "THP"},
    {NAME, STARTS, "pybind11::"},
    /* the interpreter */
    {NAME, STARTS, "Py"},
    {NAME, STARTS, "_Py"},
    {NAME, STARTS, "pymain_"},
    {NAME, STARTS, "pyrun_"},
    {NAME, STARTS, "pyinit_"},
    {NAME, STARTS, "pythread_"},
    {NAME, C_NAME, "cfunction_call"},
    {NAME, C_NAME, "cfunction_call_varargs"},
    {NAME, STARTS, "cfunction_vectorcall_"},
    {NAME, STARTS, "method_vectorcall"},
    {NAME, C_NAME, "method_call"},
    {NAME, STARTS, "slot_tp_"},
    {NAME, STARTS, "slot_nb_"},
    {NAME, STARTS, "slot_sq_"},
    {NAME, STARTS, "slot_mp_"},
    {NAME, C_NAME, "type_call"},
    {NAME, C_NAME, "subtype_dealloc"},
    {NAME, C_NAME, "object_vacall"},
    {NAME, STARTS, "vectorcall_"},
    {NAME, C_NAME, "do_call_core"},
    {NAME, C_NAME, "call_function"},
    {NAME, C_NAME, "partial_call"},
    {NAME, C_NAME, "partial_vectorcall"},
    {NAME, C_NAME, "partial_vectorcall_fallback"},
    {NAME, C_NAME, "run_mod"},
    {NAME, C_NAME, "run_eval_code_obj"},
    {NAME, C_NAME, "builtin_exec"},
    {NAME, STARTS, "dynamo_custom_eval_frame"},
    {NAME, STARTS, "dynamo__custom_eval_frame"},
    {NAME, STARTS, "dynamo_eval_custom_code"},
    {NAME, STARTS, "dynamo_eval_frame_default"},
    {NAME, C_NAME, "dynamo_call_callback"},
    {NAME, C_NAME, "frame_dealloc"},
    {NAME, C_NAME, "tupledealloc"},
    {NAME, C_NAME, "list_dealloc"},
    {NAME, C_NAME, "dict_dealloc"},
    {NAME, C_NAME, "cell_dealloc"},
    {FILE_, C_FOLDER, "/Objects/"},
    {FILE_, C_FOLDER, "/Python/"},
    {FILE_, C_FOLDER, "/Modules/"},
    {FILE_, HAS, "/cpython/"},
    {FILE_, ENDS, "pycore_ceval.h"},
    {FILE_, ENDS, "eval_frame.c"},
    /* how programs and threads begin */
    {NAME, IS, "_start"},
    {NAME, IS, "main"},
    {NAME, IS, "clone"},
    {NAME, IS, "__clone"},
    {NAME, IS, "clone3"},
    {NAME, STARTS, "__libc_"},
    {NAME, STARTS, "start_thread"},
    {NAME, STARTS, "execute_native_thread_routine"},
    {NAME, STARTS, "pthread_"},
    {NAME, STARTS, "__xmknod"},
    {NAME, STARTS, "__clone_internal"},
    {NAME, IS, "??"},
    {NAME, IS, ""},
    {0, 0, NULL}};

/* The autograd engine's own functions: what they evaluate says more. */
static const struct mark engine[] = {{NAME, STARTS, "torch::autograd::Engine::"},
                                     {NAME, STARTS, "torch::autograd::python::PythonEngine::"},
                                     {NAME, HAS, "torch::autograd::Node::operator()"},
                                     {NAME, STARTS, "torch::autograd::PyNode::apply"},
                                     {0, 0, NULL}};

static const struct mark backward[] = {{NAME, STARTS, "torch::autograd::Engine::"},
                                       {NAME, STARTS, "torch::autograd::python::PythonEngine::"},
                                       {NAME, STARTS, "torch::autograd::generated::"},
                                       {NAME, IS, "_engine_run_backward"},
                                       {0, 0, NULL}};

static const struct mark optimizer[] = {
    {FILE_, HAS, "torch/optim/"}, {FILE_, HAS, "/apex/optimizers/"}, {0, 0, NULL}};
/* How the weights of a module come to be, and to another device or type. */
static const struct mark builds[] = {{NAME, IS, "_apply"},
                                     {NAME, IS, "_load_from_state_dict"},
                                     {NAME, IS, "__init__"},
                                     {NAME, IS, "reset_parameters"},
                                     {NAME, IS, "to_empty"},
                                     {FILE_, ENDS, "torch/nn/parameter.py"},
                                     {FILE_, ENDS, "torch/nn/init.py"},
                                     {0, 0, NULL}};
static const struct mark data_loading[] = {{FILE_, HAS, "torch/utils/data/"}, {0, 0, NULL}};

static bool ends(const char *s, const char *with)
{
    size_t n = strlen(s), k = strlen(with);
    return n >= k && strcmp(s + n - k, with) == 0;
}

static bool is_marked(const struct mark *m, const char *s)
{
    size_t n = strlen(m->text);
    switch (m->how) {
    case STARTS:
        return strncmp(s, m->text, n) == 0;
    case ENDS:
        return ends(s, m->text);
    case IS:
        return strcmp(s, m->text) == 0;
    case HAS:
        return strstr(s, m->text) != NULL;
    case C_NAME:
        return strncmp(s, m->text, n) == 0 && (!s[n] || s[n] == '.');
    case C_FOLDER:
        return strstr(s, m->text) && (ends(s, ".c") || ends(s, ".h"));
    }
    return false;
}

static bool any(const struct mark *marks, const char *name, const char *file)
{
    for (; marks->text; marks++)
        if (is_marked(marks, marks->in == NAME ? name : file))
            return true;
    return false;
}

static bool is_python(const char *file)
{
    size_t n = strlen(file);
    return (n > 3 && strcmp(file + n - 3, ".py") == 0) ||
           (file[0] == '<' && strchr(file, '>') && strcmp(file, "<unknown>") != 0);
}

static uint8_t python_rank(const char *file)
{
    static const uint8_t rank_of[] = {[MT_CODE_TORCH] = MT_RANK_TORCH,
                                      [MT_CODE_PACKAGE] = MT_RANK_PACKAGE,
                                      [MT_CODE_USER] = MT_RANK_USER};
    return rank_of[mt_python_owner(file, strlen(file))];
}

static uint8_t tells(const char *name, const char *file)
{
    if (strstr(file, "torch/nn/") && !strstr(file, "torch/nn/parallel/"))
        return any(builds, name, file) ? MT_TELLS_BUILDS : 0;
    if (strstr(file, "torch/optim/"))
        return strcmp(name, "_init_group") == 0 ? MT_TELLS_STATE : 0;
    return ends(file, "torch/utils/checkpoint.py") ? MT_TELLS_CHECKPOINTS : 0;
}

struct mt_snap_look mt_snap_look(const char *name, const char *file, int64_t line)
{
    struct mt_snap_look look = {.python = is_python(file) && line >= 0, .phase = MT_PHASE_OTHER};
    if (look.python) {
        look.rank = python_rank(file);
        look.module = strcmp(name, "forward") == 0;
        look.tells = tells(name, file);
    } else {
        look.noise = any(noise, name, file);
        look.rank = any(engine, name, file) ? MT_RANK_NONE : MT_RANK_NATIVE;
    }
    if (any(backward, name, file))
        look.phase = MT_PHASE_BACKWARD;
    else if (look.python && any(optimizer, name, file))
        look.phase = MT_PHASE_OPTIMIZER;
    else if (look.python && any(data_loading, name, file))
        look.phase = MT_PHASE_DATA;
    else if (look.module)
        look.phase = MT_PHASE_FORWARD;
    return look;
}

void mt_snap_frame_text(struct mt_buf *out, const char *name, const char *file, int64_t line)
{
    const char *slash = strrchr(file, '/');
    const char *base = slash ? slash + 1 : file;
    if (is_python(file) && line >= 0) {
        mt_buf_adds(out, base);
        mt_buf_addf(out, ":%lld ", (long long)line);
        mt_buf_adds(out, name);
        return;
    }
    size_t before = out->n;
    mt_native_plain_name(out, name);
    if (out->n == before)
        mt_buf_adds(out, *name ? name : "[unknown function]");
}
