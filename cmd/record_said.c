#include "cmd/record_parts.h"
#include "lib/base/human.h"
#include "lib/base/json_out.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* Also with its version, as python3.12; shuf and node_exporter are no interpreters. */
static bool is_interpreter(const char *program)
{
    static const char *const all[] = {"python", "sh", "bash", "perl", "ruby", "node", "nodejs"};
    for (size_t i = 0; i < MT_ARRAY_LEN(all); i++) {
        size_t n = strlen(all[i]);
        if (strncmp(program, all[i], n) == 0 && (!program[n] || isdigit((unsigned char)program[n])))
            return true;
    }
    return false;
}

/* The script of an interpreter says more than the interpreter. */
const char *mt_record_program(const struct mt_args *args)
{
    const char *slash = strrchr(args->v[0], '/'), *own = slash ? slash + 1 : args->v[0];
    return args->n > 1 && args->v[1][0] != '-' && is_interpreter(own) ? args->v[1] : own;
}

char *mt_record_command(const struct mt_args *args)
{
    struct mt_buf out = {0};
    for (size_t i = 0; i < args->n; i++) {
        if (i)
            mt_buf_addc(&out, ' ');
        mt_shell_word(&out, args->v[i]);
    }
    return out.s;
}

const char *mt_record_exit_text(int status, char out[64])
{
    if (WIFSIGNALED(status))
        snprintf(out, 64, "killed by %s%s", "SIG", sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(out, 64, "exit %d", WEXITSTATUS(status));
    return out;
}

/* Whether what was seen of the peak is about all of it. */
static bool knows_parts(const struct mt_watch *w)
{
    return w->at_peak.rss >= w->peak_b - w->peak_b / 100;
}

static void add_part(struct mt_buf *out, int64_t bytes, const char *what, bool *any)
{
    char text[MT_HUMAN_MAX];
    if (bytes > 0)
        mt_buf_addf(out, "%s%s %s", *any ? ", " : ": ", mt_human_bytes(bytes, text), what);
    *any |= bytes > 0;
}

/* What is not in the recording, or not of all processes, and why. */
static void say_missing(const struct mt_recorder *r)
{
    const struct mt_watch *w = &r->watch;
    char processes[MT_HUMAN_LONG];
    struct mt_buf safe = {0};
    if (r->uncounted.n)
        fprintf(stderr, "memtool: what malloc has was not recorded, or not all of it: %s\n",
                r->uncounted.s);
    if (r->untraced.n) {
        mt_escape_terminal(&safe, r->untraced.s);
        fprintf(stderr, "memtool: what PyTorch allocated was not recorded, or not all of it: %s\n",
                safe.s);
        mt_buf_free(&safe);
    }
    if (w->together.unread)
        fprintf(stderr, "memtool: pss and private were not recorded, or not of all: the system "
                        "does not let this user read them of another user's process\n");
    if (w->group_left_n)
        fprintf(stderr, "memtool: %s ran in another control group: cgroup is without them\n",
                mt_human_plural(w->group_left_n, "process", processes));
}

/* What was seen, or what the system counted of a command or child that ended between two samples;
 * where the latter may be ours, it is that at most. */
static void add_peak(const struct mt_recorder *r, struct mt_buf *out)
{
    const struct mt_watch *w = &r->watch;
    char most[MT_HUMAN_MAX], seen[MT_HUMAN_MAX], at[MT_HUMAN_MAX];
    bool counted = w->unseen_b && !r->target;
    if (counted)
        mt_buf_addf(out, "; peak rss %s%s", mt_human_bytes(w->unseen_b, most),
                    w->unseen_of_command ? " at most" : ", of it or of a child");
    if (!w->peak_b)
        return;
    mt_human_bytes(w->peak_b, seen);
    mt_human_ns(w->peak_ns, at);
    if (counted)
        mt_buf_addf(out, "; %s seen at %s", seen, at);
    else
        mt_buf_addf(out, "; peak rss %s%s at %s", w->unseen_b ? "at least " : "", seen, at);
}

void mt_record_summarise(const struct mt_recorder *r, const char *how, int64_t dur_ns)
{
    const struct mt_watch *w = &r->watch;
    char a[MT_HUMAN_MAX], b[MT_HUMAN_MAX], processes[MT_HUMAN_LONG];
    struct mt_buf out = {0}, run = {0}, safe = {0};
    bool any = false;
    mt_buf_addf(&out, "memtool: %s, %s", mt_human_ns(dur_ns, a), how);
    add_peak(r, &out);
    if (knows_parts(w)) {
        add_part(&out, w->at_peak.anon, "anonymous", &any);
        add_part(&out, w->at_peak.file, "of files", &any);
        add_part(&out, w->at_peak.shmem, "shared", &any);
    }
    if (w->peak_of)
        mt_buf_adds(&out, ", of a child");
    if (mt_watch_processes(w) > 1)
        mt_buf_addf(&out, "; %s processes", mt_human_count(mt_watch_processes(w), a));
    const struct mt_watched_all *all = &w->together;
    if (all->any)
        mt_buf_addf(&out, ", together %s or more, %s at most", mt_human_bytes(all->least_b, a),
                    mt_human_bytes(all->most_b, b));
    if (!r->target && w->all.n)
        mt_buf_addf(&out, "; %s left running",
                    mt_human_plural((int64_t)w->all.n, "process", processes));
    fprintf(stderr, "%s\n", out.s);
    if (r->cause[0])
        fprintf(stderr, "memtool: %s\n", r->cause);
    say_missing(r);
    if (*r->name) {
        mt_shell_word(&run, r->name);
        mt_escape_terminal(&safe, run.s);
        fprintf(stderr, "memtool: `memtool timeline %s` shows it\n", safe.s);
    }
    mt_buf_free(&safe);
    mt_buf_free(&run);
    mt_buf_free(&out);
}
