#include "lib/model/python_files.h"

#include <stdlib.h>
#include <string.h>

/* Modules of the standard library and folders of packages, as the first part of a relative path
 * without ".py". Modules whose names users give to files of their own, such as profile.py and
 * statistics.py, are left out. */
static const char *const standard[] = {"_collections_abc",
                                       "_weakrefset",
                                       "_distutils_hack",
                                       "abc",
                                       "argparse",
                                       "ast",
                                       "asyncio",
                                       "bisect",
                                       "cProfile",
                                       "codecs",
                                       "collections",
                                       "concurrent",
                                       "configparser",
                                       "contextlib",
                                       "contextvars",
                                       "copy",
                                       "copyreg",
                                       "csv",
                                       "ctypes",
                                       "dataclasses",
                                       "datetime",
                                       "difflib",
                                       "dis",
                                       "email",
                                       "encodings",
                                       "enum",
                                       "fnmatch",
                                       "functools",
                                       "genericpath",
                                       "glob",
                                       "gzip",
                                       "hashlib",
                                       "heapq",
                                       "http",
                                       "importlib",
                                       "inspect",
                                       "io",
                                       "json",
                                       "keyword",
                                       "linecache",
                                       "locale",
                                       "logging",
                                       "multiprocessing",
                                       "ntpath",
                                       "numbers",
                                       "opcode",
                                       "operator",
                                       "os",
                                       "pathlib",
                                       "pickle",
                                       "pkgutil",
                                       "platform",
                                       "posixpath",
                                       "pprint",
                                       "queue",
                                       "random",
                                       "re",
                                       "reprlib",
                                       "runpy",
                                       "selectors",
                                       "shutil",
                                       "signal",
                                       "socket",
                                       "sre_compile",
                                       "sre_parse",
                                       "ssl",
                                       "string",
                                       "struct",
                                       "subprocess",
                                       "tempfile",
                                       "textwrap",
                                       "threading",
                                       "tokenize",
                                       "traceback",
                                       "types",
                                       "typing",
                                       "unittest",
                                       "urllib",
                                       "uuid",
                                       "warnings",
                                       "weakref",
                                       "xml",
                                       "zipfile",
                                       NULL};

static const char *const packages[] = {"IPython",
                                       "PIL",
                                       "_pytest",
                                       "absl",
                                       "accelerate",
                                       "albumentations",
                                       "apex",
                                       "bitsandbytes",
                                       "click",
                                       "cv2",
                                       "dask",
                                       "datasets",
                                       "deepspeed",
                                       "detectron2",
                                       "diffusers",
                                       "einops",
                                       "fairscale",
                                       "fairseq",
                                       "fastai",
                                       "fire",
                                       "flash_attn",
                                       "fsspec",
                                       "gradio",
                                       "h5py",
                                       "huggingface_hub",
                                       "hydra",
                                       "ignite",
                                       "ipykernel",
                                       "jax",
                                       "joblib",
                                       "keras",
                                       "lightning",
                                       "lightning_fabric",
                                       "matplotlib",
                                       "mmcv",
                                       "mmengine",
                                       "networkx",
                                       "numba",
                                       "numpy",
                                       "omegaconf",
                                       "onnx",
                                       "onnxruntime",
                                       "optuna",
                                       "pandas",
                                       "peft",
                                       "pluggy",
                                       "pyarrow",
                                       "pydantic",
                                       "pytest",
                                       "pytorch_lightning",
                                       "ray",
                                       "requests",
                                       "setuptools",
                                       "packaging",
                                       "filelock",
                                       "google",
                                       "jinja2",
                                       "six",
                                       "attr",
                                       "safetensors",
                                       "scipy",
                                       "sentence_transformers",
                                       "sentencepiece",
                                       "skimage",
                                       "sklearn",
                                       "sympy",
                                       "tensorboard",
                                       "tensordict",
                                       "timm",
                                       "tokenizers",
                                       "torch_geometric",
                                       "torchao",
                                       "torchaudio",
                                       "torchdata",
                                       "torchmetrics",
                                       "torchrl",
                                       "torchtext",
                                       "torchvision",
                                       "tornado",
                                       "tqdm",
                                       "traitlets",
                                       "transformer_engine",
                                       "transformers",
                                       "tritonclient",
                                       "trl",
                                       "typing_extensions",
                                       "uvicorn",
                                       "vllm",
                                       "wandb",
                                       "xformers",
                                       "zmq",
                                       NULL};

static const char *const torch[] = {"torch", "functorch", "torchgen", "triton", NULL};

/* Text that is in a path, wherever it is. */
static const struct {
    const char *part;
    enum mt_code_owner owner;
} parts[] = {{"-packages/torch/", MT_CODE_TORCH}, {"-packages\\torch\\", MT_CODE_TORCH},
             {"torchinductor", MT_CODE_TORCH},    {"site-packages", MT_CODE_PACKAGE},
             {"dist-packages", MT_CODE_PACKAGE},  {"/lib/python3", MT_CODE_TORCH},
             {"/lib64/python3", MT_CODE_TORCH},   {"\\Lib\\", MT_CODE_TORCH}};

static bool has(const char *s, size_t n, const char *part)
{
    return memmem(s, n, part, strlen(part)) != NULL;
}

static bool starts(const char *s, size_t n, const char *with)
{
    size_t k = strlen(with);
    return n >= k && memcmp(s, with, k) == 0;
}

/* Names have two bytes at least, of which hardly any has both of s. */
static bool listed(const char *const *names, const char *s, size_t n)
{
    if (n < 2)
        return false;
    while (*names && ((*names)[0] != s[0] || (*names)[1] != s[1] || strncmp(*names, s, n) != 0 ||
                      (*names)[n]))
        names++;
    return *names != NULL;
}

/* Code that is in no file: what was typed in is the user's, what libraries make is not. */
static enum mt_code_owner owner_of_made(const char *file, size_t n)
{
    static const char *const made[] = {"<frozen ", "<eval_with_key>", "<__array_function__",
                                       "<attrs generated"};
    for (size_t i = 0; i < MT_ARRAY_LEN(made); i++)
        if (starts(file, n, made[i]))
            return MT_CODE_TORCH;
    return MT_CODE_USER;
}

enum mt_code_owner mt_python_owner(const char *file, size_t n)
{
    if (n && *file == '<')
        return owner_of_made(file, n);
    for (size_t i = 0; i < MT_ARRAY_LEN(parts); i++)
        if (has(file, n, parts[i].part))
            return parts[i].owner;
    if (starts(file, n, "lib/python3")) /* of an environment, as memray writes it */
        return MT_CODE_TORCH;
    size_t first = 0; /* the first part of the path; of "/home/me/a.py" nothing */
    while (first < n && file[first] != '/' && file[first] != '\\')
        first++;
    if (first == n && n > 3 && memcmp(file + n - 3, ".py", 3) == 0)
        first -= 3;
    if (!first)
        return MT_CODE_USER;
    if (listed(torch, file, first) || listed(standard, file, first))
        return MT_CODE_TORCH;
    return listed(packages, file, first) ? MT_CODE_PACKAGE : MT_CODE_USER;
}

static bool is_python_file(const char *s, size_t n)
{
    return (n > 3 && memcmp(s + n - 3, ".py", 3) == 0) || (n > 2 && *s == '<' && s[n - 1] == '>');
}

/* The number at s; behind it stands `behind`. -1: none. */
static int64_t line_at(const char *s, const char *behind, const char **rest)
{
    enum { DIGITS = 9 };
    size_t n = strspn(s, "0123456789");
    if (!n || n > DIGITS || strncmp(s + n, behind, strlen(behind)) != 0)
        return -1;
    *rest = s + n + strlen(behind);
    return strtol(s, NULL, 10);
}

/* FILE, `before`, LINE, `behind`, FUNCTION; the file ends at the first place that fits. */
static bool parse(const char *name, char before, const char *behind, struct mt_python_function *out)
{
    for (const char *p = strchr(name, before); p; p = strchr(p + 1, before)) {
        *out = (struct mt_python_function){.file = name, .file_n = (size_t)(p - name)};
        if (!is_python_file(name, out->file_n))
            continue;
        out->line = line_at(p + 1, behind, &out->function);
        if (out->line >= 0)
            return true;
    }
    return false;
}

bool mt_python_function_parse(const char *name, struct mt_python_function *out)
{
    return parse(name, '(', "): ", out);
}

bool mt_python_is_users(const char *name)
{
    struct mt_python_function f;
    return mt_python_function_parse(name, &f) && mt_python_owner(f.file, f.file_n) == MT_CODE_USER;
}

void mt_python_site(struct mt_buf *out, const struct mt_python_function *f)
{
    mt_buf_add(out, f->file, f->file_n);
    mt_buf_addf(out, ":%lld %s", (long long)f->line, f->function);
}

bool mt_python_site_parse(const char *site, struct mt_python_function *out)
{
    size_t n = strlen(MT_BACKWARD_OF);
    return parse(strncmp(site, MT_BACKWARD_OF, n) == 0 ? site + n : site, ':', " ", out);
}
