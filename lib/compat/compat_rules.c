#include "lib/compat/compat_torch.h"

#include <stdlib.h>
#include <string.h>

enum rule_index { TO_2_3, AT_2_4, TO_2_7, TO_2_10, AT_2_11, TO_2_13, TO_2_15, RULE_N };

static const struct mt_torch_rule rules[RULE_N] = {
    [TO_2_3] = {.version = "1.13-2.3",
                .first = "1.13",
                .last = "2.3",
                .whole_us = true,
                .old_units = true},
    [AT_2_4] = {.version = "2.4",
                .first = "2.4",
                .last = "2.4",
                .edges_in_double = true,
                .old_units = true},
    [TO_2_7] = {.version = "2.5-2.7",
                .first = "2.5",
                .last = "2.7",
                .edges_in_double = true,
                .split_annotations = true,
                .old_units = true},
    [TO_2_10] = {.version = "2.8-2.10",
                 .first = "2.8",
                 .last = "2.10",
                 .edges_in_double = true,
                 .split_annotations = true,
                 .xpu_is_device = true},
    [AT_2_11] = {.version = "2.11",
                 .first = "2.11",
                 .last = "2.11",
                 .split_annotations = true,
                 .xpu_is_device = true},
    [TO_2_13] = {.version = "2.12-2.13",
                 .first = "2.12",
                 .last = "2.13",
                 .python_rows = true,
                 .python_tree = true,
                 .split_annotations = true,
                 .xpu_is_device = true},
    [TO_2_15] = {.version = "2.14-2.15",
                 .first = "2.14",
                 .last = "2.15",
                 .python_tree = true,
                 .split_annotations = true,
                 .xpu_is_device = true},
};

/* "2.6", "2.6.0", "2.6.0+cu124" as 2 * 1000 + 6; -1 if it is no version. */
static int release(const char *text)
{
    char *end;
    if (*text < '0' || *text > '9')
        return -1;
    unsigned long major = strtoul(text, &end, 10);
    if (*end != '.' || end[1] < '0' || end[1] > '9')
        return -1;
    unsigned long minor = strtoul(end + 1, &end, 10);
    if (major > 999 || minor > 999 || !(*end == '\0' || *end == '.' || *end == '+'))
        return -1;
    return (int)(major * 1000 + minor);
}

const struct mt_torch_rule *mt_torch_rule_by_version(const char *version)
{
    int asked = release(version);
    for (size_t i = 0; i < RULE_N; i++) {
        if (strcmp(version, rules[i].version) == 0 ||
            (asked >= release(rules[i].first) && asked <= release(rules[i].last)))
            return &rules[i];
    }
    return NULL;
}

const struct mt_torch_rule *mt_torch_rule_guess(const struct mt_torch_marks *marks)
{
    if (marks->whole_us)
        return &rules[TO_2_3];
    if (marks->has_host_name || marks->metadata_first)
        return &rules[marks->has_python && !marks->python_call_from ? TO_2_13 : TO_2_15];
    if (marks->base_before_events || marks->finished_in_memory)
        return &rules[marks->trace_id_first ? AT_2_11 : TO_2_10];
    return &rules[marks->has_base_time ? TO_2_7 : AT_2_4];
}

/* Whether an annotation and something else have one name: two rows from 2.5 on, one before. */
static bool names_are_split(const struct mt_torch_table *t)
{
    struct mt_strtab names;
    bool split = false;
    mt_strtab_init(&names);
    for (size_t i = 0; i < t->rows.n; i++)
        if (t->rows.v[i].is_user_annotation)
            mt_strtab_add(&names, t->rows.v[i].name, strlen(t->rows.v[i].name));
    uint32_t annotation_n = names.n;
    for (size_t i = 0; i < t->rows.n && !split; i++)
        if (!t->rows.v[i].is_user_annotation)
            split =
                mt_strtab_add(&names, t->rows.v[i].name, strlen(t->rows.v[i].name)) < annotation_n;
    mt_strtab_free(&names);
    return split;
}

const char *mt_torch_guess_versions(const struct mt_torch_marks *marks,
                                    const struct mt_torch_table *table)
{
    const struct mt_torch_rule *rule = mt_torch_rule_guess(marks);
    if (rule == &rules[TO_2_15] && !marks->has_python)
        return "2.12-2.15";
    if (rule == &rules[TO_2_7] && !names_are_split(table))
        return "2.4-2.7";
    return rule->version;
}
