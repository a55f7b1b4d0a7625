/* lib/run/match.h: which group of one run is which of another. */
#include "lib/run/match.h"
#include "tests/unit/rows.h"
#include <string.h>

/* ---- forms ---- */

struct form {
    const char *name, *text, *want;
};

static const struct form forms[] = {
    {"a plain name", "aten::add", "aten::add"},
    {"nothing", "", ""},
    {"folder and line of a Python frame", "/tmp/a/train.py(12): step", "train.py: step"},
    {"Python frame without a folder", "train.py(7): <module>", "train.py: <module>"},
    {"line of a snapshot's frame", "model.py:42 forward", "model.py forward"},
    {"lines of a snapshot's path", "a.py:1 <module> > /m/b.py:20 f > at::empty",
     "a.py <module> > b.py f > at::empty"},
    {"a colon that is no line", "x.py: f", "x.py: f"},
    {"each frame of a path", "/a/x.py(1): f > aten::add > y.py(22): g",
     "x.py: f > aten::add > y.py: g"},
    {"no line number", "x.py(): f", "x.py(): f"},
    {"Python of pyenv", "/home/u/.pyenv/versions/3.11.1/nn/linear.py(117): forward",
     "linear.py: forward"},
    {"Python of pyenv in a snapshot", "/home/u/.pyenv/versions/3.11.1/nn/linear.py:117 forward",
     "linear.py forward"},
    {"folder of a project", "/src/x.pyproj/train.py(3): step", "train.py: step"},
    {"folder that ends like a file", "/src/old.py/train.py(3): step", "train.py: step"},
    {"virtual environment", "/v/lib/python3.11/site-packages/a-1.2.py3.11/b.py(8): f", "b.py: f"},
    {"Windows", "C:\\Users\\u\\.pyenv\\pyenv-win\\nn\\linear.py(117): forward",
     "linear.py: forward"},
    {"frozen library", "<frozen importlib._bootstrap>(241): _call_with_frames_removed",
     "<frozen importlib._bootstrap>: _call_with_frames_removed"},
    {"frozen library in a snapshot", "<frozen abc>:117 __instancecheck__",
     "<frozen abc> __instancecheck__"},
    {"generated graph module", "<eval_with_key>.12:5 forward", "<eval_with_key> forward"},
    {"text of a function is no file", "<lambda>", "<lambda>"},
    {"ends like Python, but is a folder alone", "/home/u/.pyenv(3): f", "/home/u/.pyenv(3): f"},
    {"a comparison is no file", "std::vector<int>::at:12 x", "std::vector<int>::at:12 x"},
    {"nothing before the ending", ".py(3): f", ".py(3): f"},
    {"number of a module", "nn.Module: Linear_3", "nn.Module: Linear"},
    {"number of a module on a path", "nn.Module: Net_0 > nn.Module: Linear_12 > aten::addmm",
     "nn.Module: Net > nn.Module: Linear > aten::addmm"},
    {"a number that belongs to a module's name", "nn.Module: Conv2d", "nn.Module: Conv2d"},
    {"a number that ends an op's name", "aten::add_3", "aten::add_3"},
    {"number behind #", "ProfilerStep#12", "ProfilerStep"},
    {"# without a number", "Optimizer.step#Adam.step", "Optimizer.step#Adam.step"},
    {"address", "<built-in method f of T object at 0x7f00aB12>",
     "<built-in method f of T object at >"},
    {"an address alone", "0x1f", ""},
    {"sizes are no address", "conv_10x10", "conv_10x10"},
    {"an x is no address", "0xyz > 0", "0xyz > 0"},
};

static void form(void **state)
{
    const struct form *f = *state;
    struct mt_buf out = {0};
    mt_canonical_name(&out, f->text);
    assert_string_equal(out.s, f->want);
    mt_buf_free(&out);
}

/* ---- matching ---- */

enum { SIDE_MAX = 4 };

/* An explicit group begins with '!'. Rows are "MATCH SIDES key", in order. */
struct match {
    const char *name;
    enum mt_group_key by;
    const char *base[SIDE_MAX], *new[SIDE_MAX], *rows[SIDE_MAX * 2];
};

static const struct match matches[] = {
    {"the same", MT_BY_NAME, {"a", "b"}, {"b", "a"}, {"same both a", "same both b"}},
    {"nothing in common", MT_BY_NAME, {"a"}, {"b"}, {"only base a", "only new b"}},
    {"an empty run", MT_BY_NAME, {0}, {"a"}, {"only new a"}},
    {"a form, named as in NEW",
     MT_BY_PATH,
     {"/a/t.py(1): f > x"},
     {"/b/t.py(9): f > x"},
     {"form both /b/t.py(9): f > x"}},
    {"several of a form are one row",
     MT_BY_PATH,
     {"t.py(1): f", "t.py(2): f"},
     {"t.py(5): f"},
     {"form both t.py(5): f"}},
    {"a form on one side only is none",
     MT_BY_PATH,
     {"t.py(1): f", "t.py(2): f"},
     {"g"},
     {"only base t.py(1): f", "only base t.py(2): f", "only new g"}},
    {"as many lines of a function have moved",
     MT_BY_SITE,
     {"t.py:3 f", "t.py:9 f"},
     {"t.py:11 f", "t.py:5 f"},
     {"form both t.py:5 f", "form both t.py:11 f"}},
    {"a file by another name",
     MT_BY_SITE,
     {"a.py:8 f", "a.py:10 f"},
     {"b.py:8 f", "b.py:12 f"},
     {"name both b.py:8 f", "name both b.py:12 f"}},
    {"a function is not enough for other counts of lines",
     MT_BY_SITE,
     {"a.py:8 f", "a.py:10 f"},
     {"b.py:8 f"},
     {"only base a.py:8 f", "only base a.py:10 f", "only new b.py:8 f"}},
    {"another function",
     MT_BY_SITE,
     {"a.py:8 f"},
     {"b.py:8 g"},
     {"only base a.py:8 f", "only new b.py:8 g"}},
    {"the same comes before a form",
     MT_BY_PATH,
     {"t.py(1): f", "t.py(2): f"},
     {"t.py(2): f", "t.py(3): f"},
     {"same both t.py(2): f", "form both t.py(3): f"}},
    {"a name that is its own form, of NEW",
     MT_BY_NAME,
     {"b #1", "a #1", "c"},
     {"a ", "d", "b "},
     {"form both b ", "form both a ", "only base c", "only new d"}},
    {"a name that is its own form, of BASE",
     MT_BY_NAME,
     {"a ", "c", "b ", "b #7"},
     {"b #1", "a #2", "b #3"},
     {"form both a #2", "form both b #3", "only base c"}},
    {"last name of a path", MT_BY_PATH, {"a > b > x"}, {"c > x"}, {"name both c > x"}},
    {"several of a last name", MT_BY_PATH, {"a > x"}, {"b > x", "c > x"}, {"name both c > x"}},
    {"last names are of paths only",
     MT_BY_NAME,
     {"a > x"},
     {"b > x"},
     {"only base a > x", "only new b > x"}},
    {"Python of pyenv, another version",
     MT_BY_PATH,
     {"/u/.pyenv/versions/3.11.1/nn/linear.py(117): f > x",
      "/u/.pyenv/versions/3.11.1/nn/conv.py(400): f > x"},
     {"/u/.pyenv/versions/3.11.9/nn/linear.py(118): f > x",
      "/u/.pyenv/versions/3.11.9/nn/conv.py(401): f > x"},
     {"form both /u/.pyenv/versions/3.11.9/nn/linear.py(118): f > x",
      "form both /u/.pyenv/versions/3.11.9/nn/conv.py(401): f > x"}},
    {"lines on one side only",
     MT_BY_PATH,
     {"a > x", "b > x"},
     {"t.py(1): f > x", "t.py(2): f > x"},
     {"name both t.py(2): f > x"}},
    {"lines on the other side only",
     MT_BY_PATH,
     {"t.py(1): f > x", "t.py(2): f > x"},
     {"a > x", "b > x"},
     {"name both b > x"}},
    {"some have lines",
     MT_BY_PATH,
     {"t.py(1): f > x", "b > x"},
     {"u.py(7): g > x", "u.py(9): g > x"},
     {"name both u.py(9): g > x"}},
    {"an explicit row is no other",
     MT_BY_NAME,
     {"![outside ops]"},
     {"[outside ops]"},
     {"only base [outside ops]", "only new [outside ops]"}},
    {"explicit rows match",
     MT_BY_NAME,
     {"![outside ops]"},
     {"![outside ops]"},
     {"same both [outside ops]"}},
};

struct side {
    struct mt_match_key keys[SIDE_MAX];
    const char *texts[SIDE_MAX];
};

static size_t keys_of(const char *const *texts, struct side *out)
{
    size_t n = 0;
    for (; n < SIDE_MAX && texts[n]; n++) {
        bool explicit_row = *texts[n] == '!';
        out->texts[n] = texts[n] + explicit_row;
        out->keys[n] = (struct mt_match_key){.key = &out->texts[n], .explicit_row = explicit_row};
    }
    return n;
}

static void matched(void **state)
{
    static const char *const names[MT_MATCH_N] = {"same", "form", "name", "only"};
    const struct match *m = *state;
    struct side side[2];
    const size_t n[2] = {keys_of(m->base, &side[0]), keys_of(m->new, &side[1])};
    struct mt_matches a;
    size_t row = 0;
    mt_match_groups(side[0].keys, n[0], side[1].keys, n[1], &m->by, 1, MT_MATCH_TOLERANT, &a);
    for (; row < a.rows.n; row++) {
        const struct mt_match_row *r = &a.rows.v[row];
        char *text = mt_asprintf("%s %s %s", names[r->match],
                                 r->in[0] && r->in[1] ? "both"
                                 : r->in[0]           ? "base"
                                                      : "new",
                                 r->key[0]);
        assert_true(m->rows[row] != NULL);
        assert_string_equal(text, m->rows[row]);
        free(text);
    }
    assert_true(m->rows[row] == NULL);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < n[s]; i++) {
            assert_in_range(side[s].keys[i].row, 0, a.rows.n - 1);
            assert_true(a.rows.v[side[s].keys[i].row].in[s]);
        }
    mt_matches_free(&a);
}

/* The same by numbers instead of texts. */
static void numbered(void **state)
{
    const struct match *m = *state;
    struct side side[2], plain[2];
    struct mt_strtab texts;
    struct mt_matches a, b;
    size_t n[2];
    mt_strtab_init(&texts);
    for (int s = 0; s < 2; s++) {
        n[s] = keys_of(s ? m->new : m->base, &side[s]);
        keys_of(s ? m->new : m->base, &plain[s]);
        for (size_t i = 0; i < n[s]; i++) {
            struct mt_match_key *k = &side[s].keys[i];
            char *text = mt_asprintf("%d%s", k->explicit_row, k->key[0]);
            k->number = mt_strtab_add(&texts, text, strlen(text));
            free(text);
        }
    }
    mt_match_groups(plain[0].keys, n[0], plain[1].keys, n[1], &m->by, 1, MT_MATCH_TOLERANT, &a);
    mt_match_groups(side[0].keys, n[0], side[1].keys, n[1], &m->by, 1,
                    MT_MATCH_TOLERANT | MT_MATCH_NUMBERED, &b);
    assert_int_equal(a.rows.n, b.rows.n);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < n[s]; i++)
            assert_int_equal(side[s].keys[i].row, plain[s].keys[i].row);
    mt_matches_free(&a);
    mt_matches_free(&b);
    mt_strtab_free(&texts);
}

/* Which groups share a row does not depend on which run is BASE. */
static void mirrored(void **state)
{
    const struct match *m = *state;
    struct side there[2], back[2];
    struct mt_matches a, b;
    size_t n0 = keys_of(m->base, &there[0]), n1 = keys_of(m->new, &there[1]);
    keys_of(m->base, &back[0]);
    keys_of(m->new, &back[1]);
    mt_match_groups(there[0].keys, n0, there[1].keys, n1, &m->by, 1, MT_MATCH_TOLERANT, &a);
    mt_match_groups(back[1].keys, n1, back[0].keys, n0, &m->by, 1, MT_MATCH_TOLERANT, &b);
    assert_int_equal(a.rows.n, b.rows.n);
    for (size_t i = 0; i < n0 + n1; i++)
        for (size_t k = 0; k < n0 + n1; k++) {
            const size_t x = i < n0 ? i : i - n0, y = k < n0 ? k : k - n0;
            const bool side_x = i >= n0, side_y = k >= n0;
            assert_int_equal(there[side_x].keys[x].row == there[side_y].keys[y].row,
                             back[side_x].keys[x].row == back[side_y].keys[y].row);
        }
    mt_matches_free(&a);
    mt_matches_free(&b);
}

static void counts(void **state)
{
    (void)state;
    const enum mt_group_key by = MT_BY_PATH;
    static const char *const base[SIDE_MAX] = {"a", "x.py(1): f", "p > q", "gone"};
    static const char *const new[SIDE_MAX] = {"a", "x.py(2): f", "r > q"};
    struct side side[2];
    const size_t n[2] = {keys_of(base, &side[0]), keys_of(new, &side[1])};
    struct mt_matches a;
    mt_match_groups(side[0].keys, n[0], side[1].keys, n[1], &by, 1, MT_MATCH_TOLERANT, &a);
    for (int m = 0; m < MT_MATCH_N; m++)
        assert_int_equal(a.match_n[m], 1);
    mt_matches_free(&a);
}

int main(void)
{
    static const struct {
        const char *name;
    } once[] = {{"one row of each kind"}};
    static struct row_tests tests;
    ROWS_ADD(&tests, form, forms);
    ROWS_ADD(&tests, matched, matches);
    ROWS_ADD(&tests, mirrored, matches);
    ROWS_ADD(&tests, numbered, matches);
    ROWS_ADD(&tests, counts, once);
    return ROWS_RUN(&tests, "align");
}
