/* Which ops make views of parts of tensors, and how large these tensors are. */
#include "lib/advice/facts.h"

#include "lib/base/map.h"
#include <stdlib.h>
#include <string.h>

static bool makes_view(const char *name)
{
    static const char *const views[] = {"aten::slice", "aten::select", "aten::narrow",
                                        "aten::split", "aten::chunk",  "aten::unbind"};
    for (size_t i = 0; i < MT_ARRAY_LEN(views); i++)
        if (strcmp(name, views[i]) == 0)
            return true;
    return false;
}

/* Numbers in a tensor of the first shape of "[[128, 64], []]"; 0: it has none. */
static int64_t first_numbers(const char *shapes)
{
    int64_t n = 1;
    if (strncmp(shapes, "[[", 2) != 0 || shapes[2] == ']')
        return 0;
    for (const char *p = shapes + 2; *p && *p != ']';) {
        char *end;
        int64_t size = strtoll(p, &end, 10);
        if (end == p || size <= 0 || __builtin_mul_overflow(n, size, &n))
            return 0;
        p = end + strspn(end, ", ");
    }
    return n;
}

enum mt_status mt_advice_find_views(struct mt_allocations *blocks, struct mt_advice_facts *f,
                                    struct mt_err *err)
{
    struct mt_map text_of = {0}; /* string of the database -> its text in the tree's strings */
    enum mt_status st = MT_OK;
    for (uint32_t i = 0; st == MT_OK && i < f->ops.n; i++) {
        int64_t shape = f->ops.v[i].shape_id;
        if (f->ops.v[i].top != i || !makes_view(mt_advice_name(f, i)))
            continue;
        struct mt_advice_view *view = mt_vec_push(&f->views);
        *view = (struct mt_advice_view){.op = i};
        uint32_t *text = shape ? mt_map_at(&text_of, (uint64_t)shape) : NULL;
        if (text && *text == MT_MAP_NONE)
            st = mt_load_text(blocks->db, &blocks->tree, shape, text, err);
        if (text && st == MT_OK)
            view->numbers_n = first_numbers(mt_strtab_get(&f->tree->strings, *text));
    }
    mt_map_free(&text_of);
    return st;
}
