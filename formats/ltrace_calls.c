/*
 * Calls in lines of ltrace. docs/formats/ltrace.md says which are read.
 */
#include "formats/ltrace_calls.h"

#include "formats/call_lines.h"
#include "lib/base/mem.h"
#include <string.h>

static const int64_t size_max = INT64_C(1) << 47; /* of a block; no process has more addresses */

/* What calls are called, whole or how they begin. */
static const struct {
    const char *name;
    bool begins;
    enum mt_ltrace_op op;
} calls[] = {
    {"malloc", false, MT_LTRACE_ALLOCATES},
    {"free", false, MT_LTRACE_FREES},
    {"calloc", false, MT_LTRACE_ALLOCATES_MANY},
    {"realloc", false, MT_LTRACE_MOVES},
    {"reallocarray", false, MT_LTRACE_MOVES_MANY},
    {"memalign", false, MT_LTRACE_ALLOCATES_ALIGNED},
    {"aligned_alloc", false, MT_LTRACE_ALLOCATES_ALIGNED},
    {"valloc", false, MT_LTRACE_ALLOCATES},
    {"pvalloc", false, MT_LTRACE_ALLOCATES},
    {"cfree", false, MT_LTRACE_FREES},
    {"posix_memalign", false,
     MT_LTRACE_LOST}, /* where the block is, or how large, is not in the log */
    {"strdup", false, MT_LTRACE_LOST},
    {"strndup", false, MT_LTRACE_LOST},
    {"__strdup", false, MT_LTRACE_LOST},
    {"asprintf", false, MT_LTRACE_LOST},
    {"fork", false, MT_LTRACE_FORKS},
    {"vfork", false, MT_LTRACE_FORKS},
    {"daemon", false, MT_LTRACE_FORKS},
    {"system", false, MT_LTRACE_FORKS},
    {"popen", false, MT_LTRACE_FORKS},
    {"posix_spawn", true, MT_LTRACE_FORKS},
    {"_Znw", true, MT_LTRACE_ALLOCATES},
    {"_Zna", true, MT_LTRACE_ALLOCATES},
    {"_Zdl", true, MT_LTRACE_FREES},
    {"_Zda", true, MT_LTRACE_FREES},
    {"operator new", true, MT_LTRACE_ALLOCATES},
    {"operator delete", true, MT_LTRACE_FREES},
};

/* Where the types end that begin there, if any do, of a call that ltrace -C names. */
static const char *behind_types(const char *open, const char *end)
{
    enum { LONGEST = 128 }; /* "(unsigned long, std::align_val_t, std::nothrow_t const&)(" */
    const size_t n = (size_t)(end - open);
    return memmem(open, n < LONGEST ? n : LONGEST, ")(", 2);
}

enum mt_ltrace_op mt_ltrace_name(struct mt_fields *f, struct mt_ltrace_call *call,
                                 const char **object, size_t *object_n)
{
    const char *open = memchr(f->p, '(', (size_t)(f->end - f->p));
    const char *arrow = open ? memmem(f->p, (size_t)(open - f->p), "->", 2) : NULL;
    *object = NULL;
    if (arrow) {
        *object = f->p;
        *object_n = (size_t)(arrow - f->p);
        f->p = arrow + 2;
    }
    for (size_t i = 0; open && i < MT_ARRAY_LEN(calls); i++) {
        size_t n = strlen(calls[i].name);
        if ((size_t)(open - f->p) < n || memcmp(f->p, calls[i].name, n) != 0 ||
            (!calls[i].begins && f->p + n != open))
            continue;
        if (*f->p == 'o') /* operator new(unsigned long)(128 */
            open = behind_types(open, f->end);
        f->p = open ? open + 1 + (*f->p == 'o') : f->end;
        call->name = i;
        return call->op = calls[i].op;
    }
    return MT_LTRACE_NOTHING;
}

bool mt_ltrace_is(const struct mt_ltrace_call *call, const char *name, size_t n)
{
    size_t length = strlen(calls[call->name].name);
    return n >= length && memcmp(name, calls[call->name].name, length) == 0 &&
           (n == length || calls[call->name].begins);
}

bool mt_ltrace_address(struct mt_fields *f, uint64_t *v)
{
    if (mt_field_take(f, "nil") || mt_field_address(f, v))
        return true;
    struct mt_fields zero = *f;
    if (!mt_field_take(&zero, "0") || mt_field_goes_on(&zero))
        return false;
    *f = zero;
    return true;
}

static bool take_size(struct mt_fields *f, int64_t *v)
{
    return mt_field_decimal(f, v) && *v >= 0 && *v <= size_max;
}

static bool take_product(struct mt_fields *f, int64_t *v)
{
    int64_t n, each;
    return take_size(f, &n) && mt_field_take(f, ",") && take_size(f, &each) &&
           !__builtin_mul_overflow(n, each, v) && *v <= size_max;
}

/* Whether the arguments end there, or others follow, as of operator new. Behind a blank stands only
 * what ltrace writes: where a program printed, "malloc(105 done", its digits may be among those. */
static bool ends(const struct mt_fields *f)
{
    struct mt_fields rest = *f;
    if (f->p == f->end || *f->p == ')' || (*f->p == ',' && f->p + 1 < f->end && f->p[1] == ' '))
        return true;
    mt_field_blanks(&rest);
    return rest.p > f->p && (rest.p == rest.end || strchr("<)=", *rest.p));
}

static bool take_args(struct mt_fields *f, struct mt_ltrace_call *call)
{
    int64_t alignment;
    switch (call->op) {
    case MT_LTRACE_ALLOCATES:
        return take_size(f, &call->bytes);
    case MT_LTRACE_ALLOCATES_MANY:
        return take_product(f, &call->bytes);
    case MT_LTRACE_ALLOCATES_ALIGNED:
        return take_size(f, &alignment) && mt_field_take(f, ",") && take_size(f, &call->bytes);
    case MT_LTRACE_MOVES:
        return mt_ltrace_address(f, &call->old) && mt_field_take(f, ",") &&
               take_size(f, &call->bytes);
    case MT_LTRACE_MOVES_MANY:
        return mt_ltrace_address(f, &call->old) && mt_field_take(f, ",") &&
               take_product(f, &call->bytes);
    default:
        return mt_ltrace_address(f, &call->old);
    }
}

bool mt_ltrace_args(struct mt_fields *f, struct mt_ltrace_call *call)
{
    return take_args(f, call) && ends(f);
}

bool mt_ltrace_moves(const struct mt_ltrace_call *call)
{
    return (call->op == MT_LTRACE_MOVES || call->op == MT_LTRACE_MOVES_MANY) && call->old;
}

bool mt_ltrace_result(struct mt_fields *f)
{
    for (const char *p = f->end; p-- > f->p + 1;)
        if (p[0] == '=' && p[-1] == ' ' && p + 1 < f->end && p[1] == ' ') {
            f->p = p + 2;
            return true;
        }
    return false;
}

static bool acts(enum mt_ltrace_op op)
{
    return op != MT_LTRACE_NOTHING && op != MT_LTRACE_LOST && op != MT_LTRACE_FORKS;
}

bool mt_ltrace_later(const struct mt_fields *f)
{
    return mt_call_ends(f, "<unfinished ...>") || mt_call_ends(f, "<no return ...>");
}

/* Whether a call with its arguments stands there, and takes it. */
static bool take_begin(struct mt_fields *f)
{
    struct mt_ltrace_call call = {0};
    const char *object;
    size_t object_n;
    return acts(mt_ltrace_name(f, &call, &object, &object_n)) && mt_ltrace_args(f, &call);
}

/* Whether a line ends in what one of these calls returns, and where; it is looked for once. */
static bool take_end(struct mt_fields *f)
{
    struct mt_fields value;
    uint64_t address;
    if (!mt_ltrace_result(f))
        return false;
    value = *f;
    return mt_field_take(&value, "<void>") || mt_field_address(&value, &address);
}

/* Whether the rest of such a call stands there. */
static bool has_rest(const struct mt_fields *f)
{
    size_t n;
    const char *at = mt_call_resumed(f, &n);
    for (size_t i = 0; at && i < MT_ARRAY_LEN(calls); i++)
        if (acts(calls[i].op) && mt_ltrace_is(&(struct mt_ltrace_call){.name = i}, at, n))
            return true;
    return false;
}

bool mt_ltrace_whole(struct mt_fields f)
{
    if (f.p < f.end && *f.p == '<')
        return has_rest(&f) && take_end(&f);
    return take_begin(&f) && (mt_ltrace_later(&f) || take_end(&f));
}

static bool in_name(char c)
{
    return (c | 0x20) - 'a' + 0u < 26 || c - '0' + 0u < 10 || c == '_';
}

/* Where the name begins of a call whose arguments do at `open`: "malloc", "operator new[]". */
static const char *begin_of_name(const char *line, const char *open)
{
    static const char operator[] = "operator ";
    const size_t n = sizeof operator- 1;
    const char *p = open;
    if (p - line >= 2 && memcmp(p - 2, "[]", 2) == 0)
        p -= 2;
    while (p > line && in_name(p[-1]))
        p--;
    return (size_t)(p - line) >= n && memcmp(p - n, operator, n) == 0 ? p - n : p;
}

bool mt_ltrace_hides(const struct mt_fields *f)
{
    struct mt_fields end = *f;
    if (has_rest(f))
        return true;
    if (mt_ltrace_later(f))
        end.p = f->end;
    else if (!take_end(&end))
        return false;
    for (const char *at = f->p; (at = memchr(at, '(', (size_t)(end.p - at))); at++) {
        struct mt_fields call = {begin_of_name(f->p, at), f->end};
        if (take_begin(&call))
            return true;
    }
    return false;
}
