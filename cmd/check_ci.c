/* What memtool check found, for the programs that run it: GitHub annotations, JUnit. */
#include "cmd/check.h"
#include "cmd/source_path.h"
#include "lib/base/human.h"
#include "lib/model/process.h"
#include "lib/model/python_files.h"
#include <stdlib.h>
#include <string.h>

/* ---- GitHub's workflow commands ---- */

enum { SHOWN_PER_LEVEL = 10 }; /* GitHub shows that many errors and warnings of a step */

/* In the text of a command '%' and line ends are escaped; in its properties also ':' and ','. */
static void add_github(struct mt_buf *out, const char *s, bool property)
{
    for (; *s; s++)
        if (strchr(property ? "%\r\n:," : "%\r\n", *s))
            mt_buf_addf(out, "%%%02X", (unsigned char)*s);
        else
            mt_buf_addc(out, *s);
}

/* Where in the source the site is that explains most of a failure: GitHub shows it there. Whether
 * it is known. */
static bool add_place(const struct mt_checked *c, struct mt_buf *out)
{
    struct mt_python_function f;
    for (size_t i = 0; i < c->explain_n; i++) {
        const char *site = c->explain[i].line ? c->explain[i].line : c->explain[i].op;
        if (!mt_python_site_parse(site, &f) || mt_python_owner(f.file, f.file_n) != MT_CODE_USER)
            continue;
        char *path = mt_source_path(f.file, f.file_n);
        mt_buf_adds(out, "file=");
        add_github(out, path, true);
        mt_buf_addf(out, ",line=%lld,", (long long)f.line);
        free(path);
        return true;
    }
    return false;
}

static void add_annotation(const struct mt_findings *f, const struct mt_checked *c,
                           struct mt_buf *out)
{
    struct mt_buf title = {0}, text = {0}, more = {0}, safe = {0};
    mt_buf_addf(&title, "memtool: %s %s", c->rule->kind->name, c->rule->limit);
    mt_finding_text(f, c, &text);
    mt_escape_short(&safe, text.s);
    mt_finding_explained(c, &more);
    if (more.n) {
        mt_buf_addc(&safe, '\n');
        mt_escape_short(&safe, more.s);
    }
    mt_buf_clear(&more);
    mt_finding_look(f, c, &more);
    if (more.n) {
        mt_buf_adds(&safe, "\nsee: ");
        mt_escape_short(&safe, more.s);
    }
    mt_buf_addf(out, "::%s ", c->verdict == MT_CHECK_FAIL ? "error" : "warning");
    const char *format = f->new->figures.v.v[c->look_index].format;
    if (add_place(c, out) && strcmp(format, "pytorch-trace") == 0)
        mt_buf_adds(&safe, "\n(a trace knows the line of the function's def only)");
    mt_buf_adds(out, "title=");
    add_github(out, title.s, true);
    mt_buf_adds(out, "::");
    add_github(out, safe.s, false);
    mt_buf_addc(out, '\n');
    mt_buf_free(&title);
    mt_buf_free(&text);
    mt_buf_free(&more);
    mt_buf_free(&safe);
}

static void annotate(const struct mt_findings *f, enum mt_check_verdict verdict, struct mt_buf *out)
{
    int64_t shown = 0, all = f->n_of[verdict];
    int64_t most = all > SHOWN_PER_LEVEL ? SHOWN_PER_LEVEL - 1 : all; /* one place for the rest */
    for (size_t i = 0; i < f->v.n && shown < most; i++)
        if (f->v.v[i].verdict == verdict) {
            add_annotation(f, &f->v.v[i], out);
            shown++;
        }
    if (shown < all)
        mt_buf_addf(out, "::%s title=memtool::%lld more rules %s\n",
                    verdict == MT_CHECK_FAIL ? "error" : "warning", (long long)(all - shown),
                    verdict == MT_CHECK_FAIL ? "failed" : "are inconclusive");
}

void mt_check_github(const struct mt_findings *f, struct mt_buf *out)
{
    annotate(f, MT_CHECK_FAIL, out);
    annotate(f, MT_CHECK_INCONCLUSIVE, out);
    mt_findings_sum(f, out);
    mt_buf_addc(out, '\n');
}

/* ---- JUnit ---- */

static void add_attribute(struct mt_buf *out, const char *name, const char *value)
{
    mt_buf_addf(out, " %s=\"", name);
    mt_escape_xml(out, value);
    mt_buf_addc(out, '"');
}

/* For people: ops as they read them. */
static void add_words(struct mt_buf *out, const char *text)
{
    struct mt_buf words = {0};
    mt_escape_short(&words, text);
    mt_escape_xml(out, words.s);
    mt_buf_free(&words);
}

/* A rule of several limits has a finding for each, under one name. */
static bool is_shared(const struct mt_findings *f, const struct mt_rule *rule)
{
    bool shared = false;
    for (size_t i = 0; i < f->v.n; i++) {
        const struct mt_rule *other = f->v.v[i].rule;
        shared |= other != rule && other->name && strcmp(other->name, rule->name) == 0;
    }
    return shared;
}

/* What tells a test case from the others. */
static void add_title(const struct mt_findings *f, const struct mt_checked *c, struct mt_buf *out)
{
    struct mt_buf subject = {0};
    const char *name = c->rule->name;
    const bool shared = name && is_shared(f, c->rule);
    mt_finding_subject(c, &subject);
    if (!c->of_no_run && (f->each || (f->new->runs.n > 1 && mt_process_is_child(c->device))))
        mt_buf_addf(out, "%s: ", f->new->runs.v[c->new_index].name);
    if (name)
        mt_buf_addf(out, "%s%s", name, shared ? ": " : "");
    if (!name || shared)
        mt_buf_addf(out, "%s %s%s%s", c->rule->kind->name, c->rule->limit, subject.n ? ", " : "",
                    subject.s);
    mt_buf_free(&subject);
}

static void add_testcase(const struct mt_findings *f, const struct mt_checked *c,
                         struct mt_buf *out)
{
    struct mt_buf title = {0}, name = {0}, finding = {0}, more = {0};
    const struct mt_rule *rule = c->rule;
    add_title(f, c, &title);
    mt_buf_addf(&name, "memtool%s%s", c->device[0] ? "." : "", c->device);
    mt_finding_text(f, c, &finding);
    mt_buf_adds(out, "    <testcase");
    add_attribute(out, "classname", name.s);
    add_attribute(out, "name", title.s);
    if (c->verdict == MT_CHECK_PASS)
        mt_buf_adds(out, "/>\n");
    else {
        mt_buf_addf(out, ">\n      <%s", c->verdict == MT_CHECK_FAIL ? "failure" : "skipped");
        if (c->verdict == MT_CHECK_FAIL)
            add_attribute(out, "type", rule->kind->name);
        mt_buf_adds(out, " message=\"");
        add_words(out, finding.s);
        mt_buf_addc(out, '"');
        if (c->verdict == MT_CHECK_FAIL) {
            mt_buf_addc(out, '>');
            mt_finding_explained(c, &more);
            if (more.n)
                add_words(out, more.s);
            mt_buf_clear(&more);
            mt_finding_look(f, c, &more);
            mt_buf_adds(out, "\nsee: ");
            mt_escape_xml(out, more.s);
            mt_buf_adds(out, "</failure>\n    </testcase>\n");
        } else
            mt_buf_adds(out, "/>\n    </testcase>\n");
    }
    mt_buf_free(&title);
    mt_buf_free(&name);
    mt_buf_free(&finding);
    mt_buf_free(&more);
}

static void add_counts(const struct mt_findings *f, struct mt_buf *out)
{
    mt_buf_addf(out, " tests=\"%zu\" failures=\"%lld\" errors=\"0\" skipped=\"%lld\">\n", f->v.n,
                (long long)f->n_of[MT_CHECK_FAIL], (long long)f->n_of[MT_CHECK_INCONCLUSIVE]);
}

void mt_check_junit(const struct mt_findings *f, struct mt_buf *out)
{
    mt_buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"memtool\"");
    add_counts(f, out);
    mt_buf_adds(out, "  <testsuite");
    add_attribute(out, "name", f->new->figures.v.v[0].run);
    add_counts(f, out);
    for (size_t i = 0; i < f->v.n; i++)
        add_testcase(f, &f->v.v[i], out);
    mt_buf_adds(out, "  </testsuite>\n</testsuites>\n");
}
