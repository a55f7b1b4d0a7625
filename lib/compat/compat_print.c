#include "lib/base/human.h"
#include "lib/base/utf8.h"
#include "lib/compat/compat_torch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const mt_torch_sort_keys[] = {
    "self_cpu_memory_usage",
    "cpu_memory_usage",
    "self_device_memory_usage",
    "device_memory_usage",
    "self_cpu_time_total",
    "cpu_time_total",
    "cpu_time",
    "count",
    "key",
    NULL,
};

static const char *const aliases[][2] = {
    {"self_cpu_memory", "self_cpu_memory_usage"},
    {"self_cpu_mem", "self_cpu_memory_usage"},
    {"cpu_memory", "cpu_memory_usage"},
    {"cpu_mem", "cpu_memory_usage"},
    {"self_device_memory", "self_device_memory_usage"},
    {"self_device_mem", "self_device_memory_usage"},
    {"device_memory", "device_memory_usage"},
    {"device_mem", "device_memory_usage"},
    {"self_cpu_time_total_us", "self_cpu_time_total"},
    {"self_cpu_time", "self_cpu_time_total"},
    {"self_cpu", "self_cpu_time_total"},
    {"cpu_time_total_us", "cpu_time_total"},
    {"cpu_total", "cpu_time_total"},
    {"cpu_time_avg", "cpu_time"},
    {"calls", "count"},
    {"name", "key"},
};

/* PyTorch replaces these names in a sort key by "device". */
static void name_device(const char *key, char *out, size_t size)
{
    static const char *const devices[] = {"cuda", "xpu", "privateuse1"};
    for (size_t i = 0; i < MT_ARRAY_LEN(devices); i++) {
        const char *at = strstr(key, devices[i]);
        if (at) {
            snprintf(out, size, "%.*sdevice%s", (int)(at - key), key, at + strlen(devices[i]));
            return;
        }
    }
    snprintf(out, size, "%s", key);
}

const char *mt_torch_sort_key(const char *key)
{
    char wanted[64];
    if (strlen(key) > 40)
        return NULL;
    name_device(key, wanted, sizeof wanted);
    for (size_t i = 0; i < MT_ARRAY_LEN(aliases); i++) {
        if (strcmp(wanted, aliases[i][0]) == 0)
            snprintf(wanted, sizeof wanted, "%s", aliases[i][1]);
    }
    for (size_t i = 0; mt_torch_sort_keys[i]; i++) {
        if (strcmp(wanted, mt_torch_sort_keys[i]) == 0)
            return mt_torch_sort_keys[i];
    }
    return NULL;
}

static double time_avg(const struct mt_torch_row *r)
{
    return r->count ? r->cpu_time_total_us / (double)r->count : 0.0;
}

/* What a row is sorted by; all but one of the figures are 0 throughout. */
struct sortable {
    int64_t whole;
    double fraction;
    const char *text;
    size_t place;
};

static struct sortable sortable(const struct mt_torch_row *r, const char *key, size_t place)
{
    struct sortable s = {.text = "", .place = place};
    if (strcmp(key, "self_cpu_memory_usage") == 0)
        s.whole = r->self_cpu_memory_usage;
    else if (strcmp(key, "cpu_memory_usage") == 0)
        s.whole = r->cpu_memory_usage;
    else if (strcmp(key, "self_device_memory_usage") == 0)
        s.whole = r->self_device_memory_usage;
    else if (strcmp(key, "device_memory_usage") == 0)
        s.whole = r->device_memory_usage;
    else if (strcmp(key, "count") == 0)
        s.whole = r->count;
    else if (strcmp(key, "self_cpu_time_total") == 0)
        s.fraction = r->self_cpu_time_total_us;
    else if (strcmp(key, "cpu_time_total") == 0)
        s.fraction = r->cpu_time_total_us;
    else if (strcmp(key, "cpu_time") == 0)
        s.fraction = time_avg(r);
    else if (strcmp(key, "key") == 0)
        s.text = r->name;
    return s;
}

static int greater_first(const void *pa, const void *pb)
{
    const struct sortable *a = pa, *b = pb;
    if (a->whole != b->whole)
        return a->whole > b->whole ? -1 : 1;
    if (a->fraction != b->fraction)
        return a->fraction > b->fraction ? -1 : 1;
    int by_text = strcmp(b->text, a->text);
    if (by_text)
        return by_text;
    return a->place < b->place ? -1 : 1;
}

void mt_torch_sort(struct mt_torch_table *t, const char *key)
{
    size_t n = t->rows.n;
    struct sortable *by = mt_alloc(n * sizeof *by);
    struct mt_torch_row *sorted = mt_alloc(n * sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        by[i] = sortable(&t->rows.v[i], key, i);
    qsort(by, n, sizeof *by, greater_first);
    for (size_t i = 0; i < n; i++)
        sorted[i] = t->rows.v[by[i].place];
    if (n)
        memcpy(t->rows.v, sorted, n * sizeof *sorted);
    free(by);
    free(sorted);
}

enum { COLUMN_WIDTH = 12, NAME_WIDTH_MAX = 55, SHAPES_WIDTH_MAX = 80, CELL_MAX = 64 };

/* Bytes of the character at s, at least 1: Python counts characters, whatever their width. */
static size_t char_bytes(const char *s)
{
    uint32_t cp;
    int n = mt_utf8_next(s, &cp);
    return n > 0 ? (size_t)n : 1;
}

static size_t length(const char *s)
{
    size_t n = 0;
    for (; *s; s += char_bytes(s))
        n++;
    return n;
}

static size_t bytes_of_chars(const char *s, size_t chars)
{
    const char *p = s;
    for (; *p && chars; chars--)
        p += char_bytes(p);
    return (size_t)(p - s);
}

static void add_cell(struct mt_buf *out, const char *text, size_t width)
{
    for (size_t n = length(text); n < width; n++)
        mt_buf_addc(out, ' ');
    mt_buf_adds(out, text);
    mt_buf_adds(out, "  ");
}

static void format_us(double us, char out[CELL_MAX])
{
    if (us >= 1000.0 * 1000.0)
        snprintf(out, CELL_MAX, "%.3fs", us / (1000.0 * 1000.0));
    else if (us >= 1000.0)
        snprintf(out, CELL_MAX, "%.3fms", us / 1000.0);
    else
        snprintf(out, CELL_MAX, "%.3fus", us);
}

static void add_time(struct mt_buf *out, double us)
{
    char cell[CELL_MAX];
    format_us(us, cell);
    add_cell(out, cell, COLUMN_WIDTH);
}

static void add_share(struct mt_buf *out, double us, double total_us)
{
    char cell[CELL_MAX] = "NaN";
    if (total_us != 0)
        snprintf(cell, sizeof cell, "%.2f%%", us * 100.0 / total_us);
    add_cell(out, cell, COLUMN_WIDTH);
}

static void add_bytes(struct mt_buf *out, int64_t bytes, bool old_units)
{
    static const char *const units[2][3] = {{"KB", "MB", "GB"}, {"Kb", "Mb", "Gb"}};
    uint64_t size = bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes;
    char cell[CELL_MAX];
    if (size < 1024) {
        snprintf(cell, sizeof cell, "%" PRId64 " %s", bytes, old_units ? "b" : "B");
    } else {
        int unit = size >= 1 << 30 ? 2 : size >= 1 << 20 ? 1 : 0;
        snprintf(cell, sizeof cell, "%.2f %s", (double)bytes / (double)(INT64_C(1024) << unit * 10),
                 units[old_units][unit]);
    }
    add_cell(out, cell, COLUMN_WIDTH);
}

/* What is shown and how wide. */
struct layout {
    size_t name_width, shapes_width;
    bool memory, device_memory, shapes;
    bool old_units;
    const char *device;
    double self_total_us;
};

static struct layout lay_out(const struct mt_torch_table *t, const struct mt_torch_rule *rule,
                             const struct mt_torch_text *how)
{
    struct layout l = {.memory = how->profile_memory, .old_units = rule->old_units};
    struct mt_buf name = {0};
    l.device = how->device;
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct mt_torch_row *r = &t->rows.v[i];
        mt_buf_clear(&name);
        mt_escape_terminal(&name, r->name);
        size_t width = length(name.s) + 4;
        l.name_width = width > l.name_width ? width : l.name_width;
        l.self_total_us += r->self_cpu_time_total_us;
        l.device_memory |= l.memory && how->device && r->self_device_memory_usage > 0;
        if (how->by_shape && r->input_shapes) {
            l.shapes |= strcmp(r->input_shapes, "[]") != 0;
            width = length(r->input_shapes) + 4;
            l.shapes_width = width > l.shapes_width ? width : l.shapes_width;
        }
    }
    l.name_width = l.name_width < NAME_WIDTH_MAX ? l.name_width : NAME_WIDTH_MAX;
    l.shapes_width = l.shapes_width < SHAPES_WIDTH_MAX ? l.shapes_width : SHAPES_WIDTH_MAX;
    mt_buf_free(&name);
    return l;
}

static void add_rule_line(struct mt_buf *out, const struct layout *l)
{
    size_t columns = 6 + (l->memory ? 2 : 0) + (l->device_memory ? 2 : 0);
    for (size_t i = 0; i <= columns + l->shapes; i++) {
        size_t width = i == 0 ? l->name_width : i > columns ? l->shapes_width : COLUMN_WIDTH;
        for (; width; width--)
            mt_buf_addc(out, '-');
        mt_buf_adds(out, "  ");
    }
    mt_buf_addc(out, '\n');
}

static void add_header(struct mt_buf *out, const struct layout *l)
{
    static const char *const times[] = {"Self CPU %", "Self CPU", "CPU total %", "CPU total",
                                        "CPU time avg"};
    char cell[CELL_MAX];
    add_cell(out, "Name", l->name_width);
    for (size_t i = 0; i < MT_ARRAY_LEN(times); i++)
        add_cell(out, times[i], COLUMN_WIDTH);
    if (l->memory) {
        add_cell(out, "CPU Mem", COLUMN_WIDTH);
        add_cell(out, "Self CPU Mem", COLUMN_WIDTH);
    }
    if (l->device_memory) {
        snprintf(cell, sizeof cell, "%s Mem", l->device);
        add_cell(out, cell, COLUMN_WIDTH);
        snprintf(cell, sizeof cell, "Self %s Mem", l->device);
        add_cell(out, cell, COLUMN_WIDTH);
    }
    add_cell(out, "# of Calls", COLUMN_WIDTH);
    if (l->shapes)
        add_cell(out, "Input Shapes", l->shapes_width);
    mt_buf_addc(out, '\n');
}

static void add_name(struct mt_buf *out, const char *name, size_t width)
{
    struct mt_buf shown = {0};
    mt_escape_terminal(&shown, name);
    if (length(shown.s) >= NAME_WIDTH_MAX - 3) {
        size_t keep = bytes_of_chars(shown.s, NAME_WIDTH_MAX - 3);
        shown.n = keep;
        mt_buf_adds(&shown, "...");
    }
    add_cell(out, shown.s, width);
    mt_buf_free(&shown);
}

static void add_shapes(struct mt_buf *out, const char *shapes, size_t width)
{
    struct mt_buf shown = {0};
    mt_escape_terminal(&shown, shapes ? shapes : "");
    shown.s[bytes_of_chars(shown.s, width)] = '\0';
    add_cell(out, shown.s, width);
    mt_buf_free(&shown);
}

static void add_row(struct mt_buf *out, const struct layout *l, const struct mt_torch_row *r)
{
    char cell[CELL_MAX];
    add_name(out, r->name, l->name_width);
    add_share(out, r->self_cpu_time_total_us, l->self_total_us);
    add_time(out, r->self_cpu_time_total_us);
    add_share(out, r->cpu_time_total_us, l->self_total_us);
    add_time(out, r->cpu_time_total_us);
    add_time(out, time_avg(r));
    if (l->memory) {
        add_bytes(out, r->cpu_memory_usage, l->old_units);
        add_bytes(out, r->self_cpu_memory_usage, l->old_units);
    }
    if (l->device_memory) {
        add_bytes(out, r->device_memory_usage, l->old_units);
        add_bytes(out, r->self_device_memory_usage, l->old_units);
    }
    snprintf(cell, sizeof cell, "%" PRId64, r->count);
    add_cell(out, cell, COLUMN_WIDTH);
    if (l->shapes)
        add_shapes(out, r->input_shapes, l->shapes_width);
    mt_buf_addc(out, '\n');
}

void mt_torch_print(const struct mt_torch_table *t, const struct mt_torch_rule *rule,
                    const struct mt_torch_text *how, struct mt_buf *out)
{
    mt_buf_adds(out, "");
    if (t->rows.n == 0)
        return;
    struct layout l = lay_out(t, rule, how);
    add_rule_line(out, &l);
    add_header(out, &l);
    add_rule_line(out, &l);
    for (size_t i = 0; i < t->rows.n; i++) {
        if (how->row_limit >= 0 && i >= (uint64_t)how->row_limit)
            break;
        add_row(out, &l, &t->rows.v[i]);
    }
    add_rule_line(out, &l);
    char total[CELL_MAX];
    format_us(l.self_total_us, total);
    mt_buf_addf(out, "Self CPU time total: %s\n", total);
}
