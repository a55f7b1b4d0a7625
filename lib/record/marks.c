#include "lib/record/marks.h"

#include "lib/base/utf8.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    FIRST_FD = 7,       /* shells understand one digit, and scripts take 3 and 9 themselves */
    AT_ONCE = 1 << 14,  /* bytes read at a time */
    LINE_MAX = 4096,    /* of a longer line the rest is another one */
    PER_CALL = 1 << 20, /* and before something else is done */
    FORGET = 1 << 20    /* bytes that are given back at a time */
};
static const char step_word[] = "memtool:step ", mark_word[] = "memtool:mark ";

/* ---- a line ---- */

static bool begins(const char *line, size_t n, const char *word)
{
    return n >= strlen(word) && memcmp(line, word, strlen(word)) == 0;
}

static bool is_number(const char *s, size_t n, int64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9' || *out > (INT64_MAX - 9) / 10)
            return false;
        *out = *out * 10 + (s[i] - '0');
    }
    return n > 0;
}

/* As much of a text as fits, in whole characters; 0: it is none. */
static size_t text_len(const char *s, size_t n)
{
    char text[LINE_MAX + 8] = {0};
    uint32_t cp;
    size_t len = 0, fits = 0;
    memcpy(text, s, n);
    while (len < n) {
        int more = mt_utf8_next(text + len, &cp);
        if (more <= 0 || !text[len])
            return 0;
        len += (size_t)more;
        fits = len <= MT_MARK_TEXT_MAX ? len : fits;
    }
    return fits;
}

struct mt_mark mt_mark_of(const char *line, size_t n)
{
    while (n && (line[n - 1] == '\r' || line[n - 1] == ' ' || line[n - 1] == '\t'))
        n--;
    struct mt_mark m = {.kind = n ? MT_MARK_DAMAGED : MT_MARK_NOTHING, .text = line, .n = n};
    size_t skip = sizeof step_word - 1; /* both have as many letters */
    if (begins(line, n, step_word)) {
        if (n - skip == 3 && memcmp(line + skip, "end", 3) == 0)
            m.kind = MT_MARK_STEP_END;
        else if (is_number(line + skip, n - skip, &m.number))
            m.kind = MT_MARK_STEP;
    } else if (begins(line, n, mark_word) && n <= LINE_MAX) {
        size_t len = text_len(line + skip, n - skip);
        if (len)
            m = (struct mt_mark){.kind = MT_MARK_TEXT, .text = line + skip, .n = len};
    }
    return m;
}

/* ---- the file ---- */

/* It is opened a second time by its name: the system tells of what is written to that. */
void mt_marks_open(struct mt_marks *m)
{
    char path[40];
    *m = (struct mt_marks){.fd = -1, .wake_fd = -1};
    int made = memfd_create("memtool-marks", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made < 0)
        return;
    fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK); /* nobody opens it to begin anew */
    snprintf(path, sizeof path, "/proc/self/fd/%d", made);
    m->fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
    close(made);
    if (m->fd < 0)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", m->fd);
    m->wake_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (m->wake_fd >= 0 && inotify_add_watch(m->wake_fd, path, IN_MODIFY) < 0) {
        close(m->wake_fd);
        m->wake_fd = -1;
    }
}

void mt_marks_close(struct mt_marks *m)
{
    if (m->fd >= 0)
        close(m->fd);
    if (m->wake_fd >= 0)
        close(m->wake_fd);
    mt_buf_free(&m->line);
    *m = (struct mt_marks){.fd = -1, .wake_fd = -1};
}

int mt_marks_give(const struct mt_marks *m)
{
    return m->fd < 0 ? -1 : fcntl(m->fd, F_DUPFD, FIRST_FD);
}

static void end_line(struct mt_marks *m, mt_mark_fn *use, void *closure)
{
    struct mt_mark mark = m->line.n ? mt_mark_of(m->line.s, m->line.n) : (struct mt_mark){0};
    if (mark.kind != MT_MARK_NOTHING)
        use(closure, &mark);
    mt_buf_clear(&m->line);
}

static void take(struct mt_marks *m, const char *text, size_t n, mt_mark_fn *use, void *closure)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n' || m->line.n == LINE_MAX)
            end_line(m, use, closure);
        if (text[i] != '\n')
            mt_buf_addc(&m->line, text[i]);
    }
}

void mt_marks_read(struct mt_marks *m, bool ended, mt_mark_fn *use, void *closure)
{
    char text[AT_ONCE];
    ssize_t n;
    int64_t until = ended ? INT64_MAX : m->at + PER_CALL;
    while (m->wake_fd >= 0 && read(m->wake_fd, text, sizeof text) > 0)
        continue;
    while (m->fd >= 0 && m->at < until && (n = pread(m->fd, text, sizeof text, m->at)) > 0) {
        take(m, text, (size_t)n, use, closure);
        m->at += n;
    }
    if (m->at - m->kept_from >= FORGET &&
        fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, m->kept_from,
                  m->at - m->kept_from) == 0)
        m->kept_from = m->at;
    if (ended)
        end_line(m, use, closure);
}
