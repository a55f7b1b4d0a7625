#include "formats/native_frames.h"
#include "formats/rust_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* ---- names ---- */

/* The word "operator" at the end of the name that starts there: what follows belongs to it. */
static bool ends_in_operator(const struct mt_buf *out, size_t start)
{
    static const char word[] = "operator";
    const size_t k = sizeof word - 1;
    if (out->n - start < k || memcmp(out->s + out->n - k, word, k) != 0)
        return false;
    unsigned char before = out->n - start > k ? (unsigned char)out->s[out->n - k - 1] : ' ';
    return !isalnum(before) && before != '_';
}

/* Skips a bracketed part at s; returns what follows it (the end if it is not closed). */
static const char *skip_brackets(const char *s)
{
    int depth = 0;
    for (; *s; s++) {
        if (strchr("<({[", *s))
            depth++;
        else if (strchr(">)}]", *s) && !(*s == '>' && s[-1] == '-') && --depth == 0)
            return s + 1;
    }
    return s;
}

/* A function without a name, as s has it in braces. */
static const char *local_function(const char *s)
{
    if (strncmp(s, "{lambda", 7) == 0)
        return "{lambda}";
    return strncmp(s + strspn(s, "{"), "closure", 7) == 0 ? "{closure}" : "{}";
}

/* How many bytes at s mean nothing but themselves: most do. */
static size_t ordinary(const char *s)
{
    return strcspn(s, "<>({[-. ");
}

void mt_native_plain_name(struct mt_buf *out, const char *s)
{
    static const char anonymous[] = "(anonymous namespace)::";
    size_t start = out->n;
    while (*s) {
        const size_t plain = ordinary(s);
        mt_buf_add(out, s, plain);
        s += plain;
        if (!*s)
            break;
        if (strncmp(s, anonymous, sizeof anonymous - 1) == 0) {
            s += sizeof anonymous - 1;
        } else if (ends_in_operator(out, start) && strchr("<>([-", *s)) {
            size_t n = *s == '(' || *s == '[' ? 2 : strspn(s, "<>-=");
            n = strnlen(s, n);
            mt_buf_add(out, s, n);
            s += n;
        } else if (*s == '<') {
            if (out->n - start >= 2 && memcmp(out->s + out->n - 2, "::", 2) == 0)
                out->n -= 2; /* of Rust: f::<T> */
            s = skip_brackets(s);
        } else if (*s == '{') {
            mt_buf_adds(out, local_function(s));
            s = skip_brackets(s);
        } else if (*s == '(' || *s == '[' || strncmp(s, ".llvm.", 6) == 0) {
            break;
        } else if (*s == ' ' && !isdigit((unsigned char)s[1]) && !ends_in_operator(out, start)) {
            out->n = start; /* what came was the return type */
            s++;
        } else {
            mt_buf_addc(out, *s++);
        }
    }
    if (out->s)
        out->s[out->n] = '\0';
}

/* Length of s without the parts that compilers add to the names of C: "f.part.0.cold" is f. */
static size_t without_parts(const char *s, size_t n)
{
    static const struct part {
        const char *text;
        bool numbered;
    } parts[] = {{".cold", false},      {".localalias", false}, {".part.", true}, {".isra.", true},
                 {".constprop.", true}, {".lto_priv.", true},   {".llvm.", true}};
    for (size_t at = 1; at < n; at++)
        for (size_t i = 0; s[at] == '.' && i < MT_ARRAY_LEN(parts); i++) {
            size_t k = strlen(parts[i].text);
            if (at + k > n || memcmp(s + at, parts[i].text, k) != 0)
                continue;
            char next = at + k < n ? s[at + k] : '\0';
            if (parts[i].numbered ? isdigit((unsigned char)next) : !next || next == '.')
                return at;
        }
    return n;
}

/* Length of s without Rust's hash: "f::h0123456789abcdef" is f. */
static size_t without_hash(const char *s, size_t n)
{
    enum { HASH = 3 + 16 };
    if (n <= HASH || memcmp(s + n - HASH, "::h", 3) != 0)
        return n;
    for (size_t i = n - HASH + 3; i < n; i++)
        if (!isxdigit((unsigned char)s[i]))
            return n;
    return n - HASH;
}

/* Length of s without the version of a symbol: "f@@GLIBC_2.34", "f@plt" are f. */
static size_t without_version(const char *s, size_t n)
{
    const char *at = n > 1 ? memchr(s + 1, '@', n - 1) : NULL;
    return at ? (size_t)(at - s) : n;
}

/* "<T as Trait>::f" of Rust is T::f, "<T>::f" too; *s goes behind the bracket. */
static void add_rust_type(struct mt_buf *out, const char **s)
{
    const char *end = skip_brackets(*s);
    size_t n = (size_t)(end - *s);
    if (n < 3 || end[-1] != '>' || strncmp(end, "::", 2) != 0)
        return;
    struct mt_buf type = {0};
    mt_buf_add(&type, *s + 1, n - 2);
    char *as = strstr(type.s, " as ");
    if (as)
        *as = '\0';
    mt_native_plain_name(out, type.s);
    mt_buf_free(&type);
    *s = end;
}

/* "main.(*T).f" of Go is its name; Objective-C's "-[T f:]" too. */
static bool is_whole(const char *s)
{
    return strncmp(s, "-[", 2) == 0 || strncmp(s, "+[", 2) == 0 || strstr(s, ".(*");
}

static bool is_unknown(const char *name)
{
    size_t n = strlen(name);
    return n == strspn(name, "?") ||
           (strncmp(name, "0x", 2) == 0 && n == 2 + strspn(name + 2, "0123456789abcdefABCDEF"));
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void add_unknown(struct mt_buf *out, const char *object)
{
    object = base_name(object);
    if (*object)
        mt_buf_addf(out, "[%s]", object);
    else
        mt_buf_adds(out, "[unknown function]");
}

/* Symbols of one function that has several, for its versions. */
static bool has_other_name(const char *name, const char **other)
{
    *other = "pthread_create";
    return strcmp(name, "__pthread_create_2_1") == 0;
}

/* The name as it is read by people. */
static void add_name(struct mt_buf *out, const char *name, const char *object)
{
    static const char internal[] = "__GI_"; /* of glibc: the same function */
    size_t start = out->n;
    if (is_unknown(name)) {
        add_unknown(out, object);
        return;
    }
    const char *s = name, *other;
    if (is_whole(name) || has_other_name(name, &other)) {
        mt_buf_adds(out, is_whole(name) ? name : other);
        return;
    }
    if (strncmp(s, internal, sizeof internal - 1) == 0 && s[sizeof internal - 1])
        s += sizeof internal - 1;
    if (*s == '<')
        add_rust_type(out, &s);
    mt_native_plain_name(out, s);
    if (out->n == start) {
        mt_buf_adds(out, name);
        return;
    }
    size_t n = out->n - start;
    n = without_parts(out->s + start, n);
    n = without_version(out->s + start, n);
    n = without_hash(out->s + start, n);
    out->s[out->n = start + n] = '\0';
}

void mt_native_name(struct mt_buf *out, const char *name, const char *object)
{
    struct mt_buf rust = {0};
    add_name(out, mt_rust_unescaped(&rust, name) ? rust.s : name, object);
    mt_buf_free(&rust);
}

/* ---- kinds ---- */

/* Names as a whole, or their beginnings, or ends; objects' beginnings; sources as a whole; objects'
 * beginnings of functions that are unknown. */
struct mark {
    enum { IS, STARTS, ENDS, OBJECT, SOURCE, UNKNOWN } how;
    const char *text;
};

static const struct mark allocators[] = {
    /* C */
    {IS, "malloc"},
    {IS, "calloc"},
    {IS, "realloc"},
    {IS, "reallocarray"},
    {IS, "memalign"},
    {IS, "posix_memalign"},
    {IS, "aligned_alloc"},
    {IS, "valloc"},
    {IS, "pvalloc"},
    {IS, "strdup"},
    {IS, "strndup"},
    {IS, "__strdup"},
    {IS, "__strndup"},
    {STARTS, "__libc_malloc"},
    {IS, "__libc_calloc"},
    {IS, "__libc_realloc"},
    {IS, "__libc_reallocarray"},
    {IS, "__libc_memalign"},
    {IS, "__libc_valloc"},
    {IS, "__libc_pvalloc"},
    {IS, "__posix_memalign"},
    {IS, "_int_malloc"},
    {IS, "_int_realloc"},
    {IS, "_int_memalign"},
    {IS, "sysmalloc"},
    {STARTS, "__interceptor_"},
    /* C++ */
    {IS, "operator new"},
    {ENDS, "::operator new"},
    {ENDS, "new_allocator::allocate"},
    {IS, "std::allocator::allocate"},
    {IS, "std::allocator_traits::allocate"},
    {IS, "__gnu_cxx::__alloc_traits::allocate"},
    {ENDS, "_M_allocate"},
    {ENDS, "_M_get_node"},
    {ENDS, "_M_create_storage"},
    {SOURCE, "new_allocator.h"},
    {SOURCE, "alloc_traits.h"},
    {IS, "std::__libcpp_allocate"},
    {IS, "std::__libcpp_operator_new"},
    /* Rust */
    {IS, "__rust_alloc"},
    {IS, "__rust_alloc_zeroed"},
    {IS, "__rust_realloc"},
    {STARTS, "__rdl_"},
    {STARTS, "__rg_"},
    /* its crate `alloc`: functions of the library that no debug information gives a file */
    {STARTS, "alloc::alloc::"},
    {STARTS, "alloc::borrow::"},
    {STARTS, "alloc::boxed::"},
    {STARTS, "alloc::collections::"},
    {STARTS, "alloc::fmt::"},
    {STARTS, "alloc::raw_vec::"},
    {STARTS, "alloc::rc::"},
    {STARTS, "alloc::slice::"},
    {STARTS, "alloc::str::"},
    {STARTS, "alloc::string::"},
    {STARTS, "alloc::sync::"},
    {STARTS, "alloc::vec::"},
    /* Go */
    {IS, "runtime.mallocgc"},
    {IS, "runtime.newobject"},
    /* Python */
    {IS, "PyMem_Malloc"},
    {IS, "PyMem_Calloc"},
    {IS, "PyMem_Realloc"},
    {STARTS, "PyMem_Raw"},
    {STARTS, "_PyMem_Raw"},
    {STARTS, "_PyMem_Debug"},
    {IS, "PyObject_Malloc"},
    {IS, "PyObject_Calloc"},
    {IS, "PyObject_Realloc"},
    {IS, "_PyObject_Malloc"},
    {IS, "_PyObject_Calloc"},
    {IS, "_PyObject_Realloc"},
    /* pages */
    {IS, "mmap"},
    {IS, "mmap64"},
    {IS, "__mmap"},
    {IS, "__mmap64"},
    {IS, "mremap"},
    {IS, "__mremap"},
    {IS, "mprotect"},
    {IS, "__mprotect"},
    {IS, "__brk"},
    {IS, "brk"},
    {IS, "sbrk"},
    {IS, "__sbrk"},
    {IS, "__default_morecore"},
    {IS, "__glibc_morecore"},
    {IS, "sysmalloc_mmap"},
    /* allocators of their own, linked into the program or as a library */
    {IS, "je_malloc"},
    {IS, "je_calloc"},
    {IS, "je_realloc"},
    {IS, "je_mallocx"},
    {IS, "je_rallocx"},
    {IS, "je_memalign"},
    {IS, "je_posix_memalign"},
    {IS, "je_aligned_alloc"},
    {STARTS, "je_malloc_default"},
    {STARTS, "je_prof_"},
    {STARTS, "je_arena_"},
    {STARTS, "_rjem_"},
    {IS, "tc_malloc"},
    {IS, "tc_calloc"},
    {IS, "tc_realloc"},
    {IS, "tc_memalign"},
    {IS, "tc_posix_memalign"},
    {STARTS, "tc_new"},
    {STARTS, "tcmalloc::"},
    {STARTS, "mi_malloc"},
    {IS, "mi_calloc"},
    {IS, "mi_zalloc"},
    {IS, "mi_realloc"},
    {STARTS, "mi_heap_malloc"},
    {STARTS, "mi_new"},
    {OBJECT, "libjemalloc"},
    {OBJECT, "libtcmalloc"},
    {OBJECT, "libmimalloc"},
    {OBJECT, "libc_malloc_debug"},
    {OBJECT, "libheaptrack"},
    {OBJECT, "vgpreload_"},
    {OBJECT, "libasan"},
    {OBJECT, "liblsan"},
};

static const struct mark mains[] = {
    {IS, "main"}, {IS, "main.main"}, {IS, "__static_initialization_and_destruction_0"}};

static const struct mark starting[] = {
    {IS, "_start"},
    {IS, "(below main)"},
    {STARTS, "__libc_start_"},
    {IS, "clone"},
    {IS, "clone3"},
    {IS, "__clone"},
    {IS, "__clone3"},
    {IS, "__clone_internal"},
    {IS, "start_thread"},
    {IS, "thread_start"},
    {IS, "execute_native_thread_routine"},
    {STARTS, "std::thread::_"},
    {STARTS, "std::__invoke"},
    {IS, "__invoke"},
    {IS, "__invoke_impl"},
    {SOURCE, "std_thread.h"},
    {UNKNOWN, "libstdc++"},
    {UNKNOWN, "libc.so"},
    {UNKNOWN, "libc-"},
    {UNKNOWN, "libpthread"},
    {UNKNOWN, "ld-linux"},
    {IS, "runtime.main"},
    {IS, "runtime.goexit"},
};

static bool starts(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

static bool ends(const char *s, const char *with)
{
    size_t n = strlen(s), k = strlen(with);
    return n >= k && strcmp(s + n - k, with) == 0;
}

static bool fits(const struct mark *m, const char *name, const char *object, const char *file)
{
    const char *of = m->how == OBJECT || m->how == UNKNOWN ? object
                     : m->how == SOURCE                    ? file
                                                           : name;
    if (m->how == ENDS)
        return ends(name, m->text);
    if (*of != *m->text) /* most */
        return false;
    if (m->how == IS || m->how == SOURCE)
        return strcmp(of, m->text) == 0;
    return (m->how != UNKNOWN || *name == '[') && starts(of, m->text);
}

static bool any(const struct mark *m, size_t n, const char *name, const char *object,
                const char *file)
{
    for (; n; n--, m++)
        if (fits(m, name, object, file))
            return true;
    return false;
}

enum mt_native_kind mt_native_kind(const char *name, const char *object, const char *file)
{
    /* what Vec, Box and String do, inlined: names without their crate */
    if (strstr(file, "library/alloc/src/") || strstr(file, "src/liballoc/"))
        return MT_NATIVE_ALLOCATOR;
    object = base_name(object);
    file = base_name(file);
    if (any(allocators, MT_ARRAY_LEN(allocators), name, object, file))
        return MT_NATIVE_ALLOCATOR;
    if (any(mains, MT_ARRAY_LEN(mains), name, object, file))
        return MT_NATIVE_MAIN;
    return any(starting, MT_ARRAY_LEN(starting), name, object, file) ? MT_NATIVE_START
                                                                     : MT_NATIVE_CODE;
}
