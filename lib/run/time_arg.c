#include "lib/run/time_arg.h"

#include "gen/queries.h"
#include "lib/base/human.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum mt_status mt_steps_load(struct mt_db *db, const struct mt_run *run, struct mt_steps *out,
                             struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_LOAD_STEPS, &s, err));
    mt_stmt_bind(s, "i", run->id);
    out->dur_ns = run->dur_ns;
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        *mt_vec_push(&out->all) =
            (struct mt_step){mt_stmt_int(s, 0), mt_stmt_int(s, 1), mt_stmt_int(s, 2)};
    }
}

enum mt_status mt_steps_load_marks(struct mt_db *db, const struct mt_run *run, struct mt_steps *out,
                                   struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_LOAD_MARKS, &s, err));
    mt_stmt_bind(s, "i", run->id);
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        *mt_vec_push(&out->marks) =
            (struct mt_said){mt_strdup(mt_stmt_text(s, 1)), mt_stmt_int(s, 0)};
    }
}

void mt_steps_free(struct mt_steps *s)
{
    for (size_t i = 0; i < s->marks.n; i++)
        free(s->marks.v[i].text);
    mt_vec_free(&s->marks);
    mt_vec_free(&s->all);
}

int64_t mt_steps_index_at(const struct mt_steps *s, int64_t t_ns)
{
    return mt_step_begun(s->all.v, s->all.n, t_ns);
}

int64_t mt_steps_until(const struct mt_steps *s, size_t index)
{
    bool last = index + 1 == s->all.n && s->all.v[index].end_ns >= s->dur_ns;
    return last ? INT64_MAX : s->all.v[index].end_ns;
}

int64_t mt_steps_under_way(const struct mt_steps *s, int64_t t_ns)
{
    int64_t i = mt_steps_index_at(s, t_ns);
    return i >= 0 && t_ns < mt_steps_until(s, (size_t)i) ? i : -1;
}

int64_t mt_steps_number_at(const struct mt_steps *s, int64_t t_ns)
{
    int64_t i = mt_steps_under_way(s, t_ns);
    return i < 0 ? INT64_MIN : s->all.v[i].number;
}

enum mt_status mt_step_range_parse(const char *text, struct mt_step_range *out, struct mt_err *err)
{
    char *end;
    out->from = out->to = strtoll(text, &end, 10);
    if (end != text && strncmp(end, "..", 2) == 0) {
        const char *to = end + 2;
        out->to = *to ? strtoll(to, &end, 10) : INT64_MAX;
        end = *to ? end : (char *)to;
    }
    if (end != text && *end == '\0' && out->from <= out->to)
        return MT_OK;
    MT_FAIL(err, MT_EUSAGE, "--step '%s' is neither a step nor a range", text);
    mt_err_hint(err, "Write --step 3 or --step 2..5.");
    return MT_EUSAGE;
}

static enum mt_status no_steps(const struct mt_run *run, const struct mt_steps *steps,
                               struct mt_err *err)
{
    if (steps->all.n) {
        MT_FAIL(err, MT_EUSAGE, "run '%s' has no such step", run->name);
        mt_err_hint(err, "Its steps go from %lld to %lld.", (long long)steps->all.v[0].number,
                    (long long)steps->all.v[steps->all.n - 1].number);
        return MT_EUSAGE;
    }
    MT_FAIL(err, MT_EUSAGE, "run '%s' has no steps", run->name);
    mt_err_cannot_tell(err);
    mt_err_hint(err, "%s", mt_run_how_to_mark(run));
    return MT_EUSAGE;
}

enum mt_status mt_steps_window(const struct mt_steps *steps, const struct mt_step_range *range,
                               const struct mt_run *run, struct mt_window *out, struct mt_err *err)
{
    bool any = false;
    for (size_t i = 0; i < steps->all.n; i++) {
        const struct mt_step *s = &steps->all.v[i];
        if (s->number < range->from || s->number > range->to)
            continue;
        int64_t until = mt_steps_until(steps, i);
        out->from_ns = any && out->from_ns < s->start_ns ? out->from_ns : s->start_ns;
        out->to_ns = any && out->to_ns > until ? out->to_ns : until;
        any = true;
    }
    return any ? MT_OK : no_steps(run, steps, err);
}

static enum mt_status parse_step_moment(const char *text, const struct mt_run *run,
                                        const struct mt_steps *steps, struct mt_time_arg *out,
                                        bool *known, struct mt_err *err)
{
    char *end;
    struct mt_window w;
    text += strspn(text, " =");
    long long number = strtoll(text, &end, 10);
    *known = end != text && (*end == '\0' || strcmp(end, ":start") == 0 ||
                             strcmp(end, ":end") == 0 || strcmp(end, ":peak") == 0);
    if (!*known)
        return MT_OK;
    MT_TRY(mt_steps_window(steps, &(struct mt_step_range){number, number}, run, &w, err));
    bool peak = strcmp(end, ":peak") == 0, start = strcmp(end, ":start") == 0;
    *out = (struct mt_time_arg){peak ? MT_AT_PEAK : MT_AT_TIME, start ? w.from_ns : w.to_ns,
                                w.from_ns, !peak};
    return MT_OK;
}

static enum mt_status find_mark(const char *text, const struct mt_run *run,
                                const struct mt_steps *steps, struct mt_time_arg *out,
                                struct mt_err *err)
{
    text += strspn(text, " =");
    for (size_t i = 0; i < steps->marks.n; i++)
        if (strcmp(steps->marks.v[i].text, text) == 0) {
            *out = (struct mt_time_arg){.kind = MT_AT_TIME, .t_ns = steps->marks.v[i].t_ns};
            return MT_OK;
        }
    if (!steps->marks.n) {
        MT_FAIL(err, MT_EUSAGE, "run '%s' has no marks", run->name);
        mt_err_cannot_tell(err);
        mt_err_hint(err, "A program that `memtool record` runs makes one by writing "
                         "\"memtool:mark TEXT\" to the descriptor MEMTOOL_FD.");
        return MT_EUSAGE;
    }
    MT_FAIL(err, MT_EUSAGE, "run '%s' has no mark '%s'", run->name, text);
    mt_err_hint(err, "It has %zu, the first '%s', the last '%s'.", steps->marks.n,
                steps->marks.v[0].text, steps->marks.v[steps->marks.n - 1].text);
    return MT_EUSAGE;
}

/* As people read it, and exactly where that is rounded. */
static const char *time_of_end(const struct mt_run *run, char out[2 * MT_HUMAN_LONG])
{
    const char *unit = *run->time_unit ? run->time_unit : "ns";
    char human[MT_HUMAN_LONG];
    int64_t read_ns = -1;
    mt_human_time(unit, run->dur_ns, human);
    bool exact = mt_parse_time(run->time_unit, human, &read_ns) && read_ns == run->dur_ns;
    if (exact || strcmp(unit, "ns") != 0)
        snprintf(out, 2 * MT_HUMAN_LONG, "%s", human);
    else
        snprintf(out, 2 * MT_HUMAN_LONG, "%s (%lldns)", human, (long long)run->dur_ns);
    return out;
}

/* Steps may end after the last record; what the user wrote may not. Nor is anything known of what
 * was before the start. */
static enum mt_status check_within(const char *text, const struct mt_run *run,
                                   const struct mt_time_arg *moment, struct mt_err *err)
{
    char end[2 * MT_HUMAN_LONG];
    if (text[0] == '@' || (moment->t_ns >= 0 && moment->t_ns <= run->dur_ns))
        return MT_OK;
    if (moment->t_ns < 0) {
        MT_FAIL(err, MT_EUSAGE, "'%s' is before the start of run '%s'", text, run->name);
        mt_err_hint(err, "It starts at 0, which is @start.");
        return MT_EUSAGE;
    }
    MT_FAIL(err, MT_EUSAGE, "'%s' is after the end of run '%s'", text, run->name);
    mt_err_hint(err, "It ends at %s, which is @end.", time_of_end(run, end));
    return MT_EUSAGE;
}

static enum mt_status not_a_time(const char *text, const struct mt_run *run, struct mt_err *err)
{
    char end[MT_HUMAN_LONG];
    if (*run->time_unit && strcmp(run->time_unit, "ns") != 0) {
        MT_FAIL(err, MT_EUSAGE, "run '%s' counts %s, not time: '%s' is no number of them",
                run->name, run->time_unit, text);
        mt_err_hint(err, "Write a number from 0 to %s, @start, @end or @peak.",
                    mt_human_time(NULL, run->dur_ns, end));
        return MT_EUSAGE;
    }
    MT_FAIL(err, MT_EUSAGE, "invalid time '%s'", text);
    mt_err_hint(err,
                "Write 12ms or 1.5s after the start, @start, @end, @peak, '@step 3' (its end), "
                "'@step 3:start', '@step 3:peak' or '@mark TEXT'.");
    return MT_EUSAGE;
}

enum mt_status mt_time_arg_parse(const char *text, const struct mt_run *run,
                                 const struct mt_steps *steps, struct mt_time_arg *out,
                                 struct mt_err *err)
{
    static const struct {
        const char *name;
        struct mt_time_arg moment;
    } named[] = {{"@start", {MT_AT_TIME, INT64_MIN, 0, false}},
                 {"@end", {MT_AT_TIME, INT64_MAX, 0, false}},
                 {"@peak", {MT_AT_PEAK, INT64_MAX, INT64_MIN, false}}};
    bool known = false;
    for (size_t i = 0; i < MT_ARRAY_LEN(named); i++)
        if (strcmp(text, named[i].name) == 0) {
            *out = named[i].moment;
            return MT_OK;
        }
    if (strncmp(text, "@step", 5) == 0)
        MT_TRY(parse_step_moment(text + 5, run, steps, out, &known, err));
    else if (strncmp(text, "@mark", 5) == 0)
        return find_mark(text + 5, run, steps, out, err);
    else {
        *out = (struct mt_time_arg){.kind = MT_AT_TIME};
        known = mt_parse_time(run->time_unit, text, &out->t_ns);
    }
    if (known)
        return out->kind == MT_AT_TIME ? check_within(text, run, out, err) : MT_OK;
    return not_a_time(text, run, err);
}

enum mt_status mt_window_parse(const char *from, const char *to, const char *step,
                               const struct mt_run *run, const struct mt_steps *steps,
                               struct mt_window *out, struct mt_err *err)
{
    struct mt_time_arg a = {.t_ns = INT64_MIN}, b = {.t_ns = INT64_MAX};
    *out = (struct mt_window){INT64_MIN, INT64_MAX};
    if (step && (from || to)) {
        MT_FAIL(err, MT_EUSAGE, "--step and --from/--to both define a window");
        mt_err_hint(err, "Give one of them.");
        return MT_EUSAGE;
    }
    if (step) {
        struct mt_step_range range;
        MT_TRY(mt_step_range_parse(step, &range, err));
        return mt_steps_window(steps, &range, run, out, err);
    }
    if (from)
        MT_TRY(mt_time_arg_parse(from, run, steps, &a, err));
    if (to)
        MT_TRY(mt_time_arg_parse(to, run, steps, &b, err));
    if (a.kind == MT_AT_PEAK || b.kind == MT_AT_PEAK) {
        MT_FAIL(err, MT_EUSAGE, "a window cannot begin or end at a peak");
        mt_err_hint(err, "`memtool peak` shows its time; use that.");
        return MT_EUSAGE;
    }
    if (a.t_ns <= b.t_ns) {
        *out = (struct mt_window){a.t_ns, !b.before && b.t_ns >= run->dur_ns ? INT64_MAX : b.t_ns};
        return MT_OK;
    }
    MT_FAIL(err, MT_EUSAGE, "the window ends (%s) before it begins (%s)", to, from);
    return MT_EUSAGE;
}
