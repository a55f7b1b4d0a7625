/* lib/model/python_files.h: whose code a file is, and the parts of a function's name. */
#include "lib/model/python_files.h"
#include "tests/unit/rows.h"

#include <string.h>

static const struct owner {
    const char *file;
    enum mt_code_owner owner;
} owners[] = {
    {"train.py", MT_CODE_USER},
    {"models/vit/attention.py", MT_CODE_USER},
    {"/home/me/project/train.py", MT_CODE_USER},
    {"C:\\project\\train.py", MT_CODE_USER},
    {"torch_utils.py", MT_CODE_USER},
    {"torch_utils/layers.py", MT_CODE_USER},
    {"profile.py", MT_CODE_USER},
    {"my/torch/train.py", MT_CODE_USER},
    {"<stdin>", MT_CODE_USER},
    {"<ipython-input-3-2f1c>", MT_CODE_USER},
    {"torch/nn/modules/linear.py", MT_CODE_TORCH},
    {"torch\\nn\\modules\\linear.py", MT_CODE_TORCH},
    {"/v/lib/python3.11/site-packages/torch/_tensor.py", MT_CODE_TORCH},
    {"/usr/lib/python3.11/threading.py", MT_CODE_TORCH},
    {"threading.py", MT_CODE_TORCH},
    {"lib/python3.11/pathlib.py", MT_CODE_TORCH},
    {"lib/mine.py", MT_CODE_USER},
    {"logging/__init__.py", MT_CODE_TORCH},
    {"<frozen os>", MT_CODE_TORCH},
    {"<eval_with_key>.3", MT_CODE_TORCH},
    {"/tmp/torchinductor_me/cz/c.py", MT_CODE_TORCH},
    {"transformers/models/gpt2/modeling_gpt2.py", MT_CODE_PACKAGE},
    {"einops.py", MT_CODE_PACKAGE},
    {"/v/lib/python3.11/site-packages/mine/a.py", MT_CODE_PACKAGE},
};

static void test_owner(void **state)
{
    const struct owner *o = *state;
    assert_int_equal(mt_python_owner(o->file, strlen(o->file)), o->owner);
}

static const struct function {
    const char *name;
    const char *site; /* NULL: it is no function of Python */
} functions[] = {
    {"train.py(12): step", "train.py:12 step"},
    {"/home/me/my (old) code/train.py(12): step", "/home/me/my (old) code/train.py:12 step"},
    {"a.py(3)/b.py(4): f", "a.py(3)/b.py:4 f"},
    {"<stdin>(1): <module>", "<stdin>:1 <module>"},
    {"train.py(0): <module>", "train.py:0 <module>"},
    {"train.py(): step", NULL},
    {"train.py(12) step", NULL},
    {"train.py(9999999999999999999999): step", NULL},
    {"nn.Module: Linear", NULL},
    {"<built-in method empty of type object>", NULL},
    {"aten::add", NULL},
    {"f(1): x", NULL},
    {".py(1): x", NULL},
    {"", NULL},
};

static void test_function(void **state)
{
    const struct function *f = *state;
    struct mt_python_function parsed, again;
    struct mt_buf site = {0};
    assert_int_equal(mt_python_function_parse(f->name, &parsed), f->site != NULL);
    if (!f->site)
        return;
    mt_python_site(&site, &parsed);
    assert_string_equal(site.s, f->site);
    assert_true(mt_python_site_parse(site.s, &again));
    assert_int_equal(again.line, parsed.line);
    assert_int_equal(again.file_n, parsed.file_n);
    assert_string_equal(again.function, parsed.function);
    mt_buf_free(&site);
}

static void test_backward(void **state)
{
    struct mt_python_function f;
    (void)state;
    assert_true(mt_python_site_parse(MT_BACKWARD_OF "net/model.py:41 forward in step", &f));
    assert_int_equal(f.line, 41);
    assert_int_equal(f.file_n, strlen("net/model.py"));
    assert_memory_equal(f.file, "net/model.py", f.file_n);
    assert_false(mt_python_site_parse("(line unknown) aten::add", &f));
}

int main(void)
{
    struct row_tests tests = {0};
    ROWS_ADD(&tests, test_owner, owners);
    ROWS_ADD(&tests, test_function, functions);
    tests.v[tests.n++] = (struct CMUnitTest)cmocka_unit_test(test_backward);
    return ROWS_RUN(&tests, "python files");
}
