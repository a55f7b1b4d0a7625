#include "lib/input/source.h"

#include "lib/base/human.h"
#include "lib/base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES (256u << 10)

static enum mt_status open_failed(const struct mt_source *src, int code, struct mt_err *err)
{
    enum mt_status st = MT_FAIL(err, MT_EIO, "cannot open the %s: %s", src->noun, strerror(code));
    mt_source_name_error(src, err);
    if (code == ENOENT)
        mt_err_hint(err, "Check the name; \"-\" is standard input. Nothing was imported.");
    else if (code == EISDIR)
        mt_err_hint(err, "Name a file in that folder. Nothing was imported.");
    else if (code == EACCES)
        mt_err_hint(err, "Check who may read the file. Nothing was imported.");
    else
        mt_err_hint(err, "Nothing was imported.");
    return st;
}

/* Part of open: what kind of thing fd is. Returns 0 or an errno. */
static int look_at(struct mt_source *src)
{
    struct stat sb;
    if (fstat(src->fd, &sb) < 0)
        return errno;
    if (S_ISDIR(sb.st_mode))
        return EISDIR;
    if (S_ISREG(sb.st_mode)) {
        /* Standard input may be redirected from the middle of a file. */
        off_t at = lseek(src->fd, 0, SEEK_CUR);
        if (at >= 0 && at < sb.st_size)
            src->total = (uint64_t)(sb.st_size - at);
        posix_fadvise(src->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    return 0;
}

enum mt_status mt_source_open(struct mt_source *src, const char *path, struct mt_err *err)
{
    bool is_stdin = !strcmp(path, "-");
    *src = (struct mt_source){.wake_fd = -1};
    src->noun = is_stdin ? "input" : "file";
    src->name = mt_strdup(is_stdin ? "standard input" : path);
    src->owns_fd = !is_stdin;
    src->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int code = src->fd < 0 ? errno : look_at(src);
    if (!code && (src->wake_fd = eventfd(0, EFD_CLOEXEC)) < 0)
        code = errno;
    if (code) {
        open_failed(src, code, err);
        mt_source_close(src);
        return err->code;
    }
    src->buf = mt_realloc(NULL, PIECE_BYTES);
    src->next = src->buf;
    return MT_OK;
}

void mt_source_open_memory(struct mt_source *src, const void *bytes, size_t n)
{
    *src = (struct mt_source){.fd = -1, .wake_fd = -1, .noun = "input"};
    src->rest = n ? bytes : (const uint8_t *)"";
    src->rest_n = n;
    src->next = src->rest;
    src->total = n;
}

void mt_source_close(struct mt_source *src)
{
    if (src->owns_fd && src->fd >= 0)
        close(src->fd);
    if (src->wake_fd >= 0)
        close(src->wake_fd);
    free(src->buf);
    free(src->name);
    src->buf = NULL;
    src->name = NULL;
    src->fd = src->wake_fd = -1;
}

void mt_source_stop(struct mt_source *src)
{
    atomic_store(&src->stopped, true);
    if (src->wake_fd >= 0) {
        uint64_t one = 1;
        ssize_t ignored = write(src->wake_fd, &one, sizeof one);
        (void)ignored;
    }
}

/* One read, waited for in a way that mt_source_stop can end: a pipe may stay silent for ever. */
static enum mt_status read_fd(struct mt_source *src, uint8_t *out, size_t cap, size_t *got,
                              struct mt_err *err)
{
    for (;;) {
        struct pollfd fds[] = {{.fd = src->fd, .events = POLLIN},
                               {.fd = src->wake_fd, .events = POLLIN}};
        ssize_t r = poll(fds, MT_ARRAY_LEN(fds), -1);
        if (atomic_load(&src->stopped))
            return MT_EINTERRUPT;
        if (r >= 0)
            r = read(src->fd, out, cap);
        if (r >= 0) {
            *got = (size_t)r;
            atomic_fetch_add_explicit(&src->done, (uint64_t)r, memory_order_relaxed);
            return MT_OK;
        }
        if (errno != EINTR && errno != EAGAIN)
            break;
    }
    char at[MT_HUMAN_MAX];
    enum mt_status st = MT_FAIL(err, MT_EIO, "cannot read the %s at byte %s: %s", src->noun,
                                mt_human_count((int64_t)mt_source_done(src), at), strerror(errno));
    mt_source_name_error(src, err);
    mt_err_hint(err, "Nothing was imported.");
    return st;
}

/* Puts the next piece of memory at hand; it stands right behind the bytes already there. */
static enum mt_status more_memory(struct mt_source *src)
{
    if (atomic_load(&src->stopped))
        return MT_EINTERRUPT;
    size_t k = src->rest_n < PIECE_BYTES ? src->rest_n : PIECE_BYTES;
    src->n += k;
    src->rest += k;
    src->rest_n -= k;
    atomic_fetch_add_explicit(&src->done, k, memory_order_relaxed);
    return MT_OK;
}

enum mt_status mt_source_fill(struct mt_source *src, size_t min, struct mt_err *err)
{
    while (src->n < min) {
        size_t before = src->n, got = 0;
        if (src->fd < 0) {
            MT_TRY(more_memory(src));
        } else {
            if (src->next != src->buf)
                memmove(src->buf, src->next, src->n);
            src->next = src->buf;
            MT_TRY(read_fd(src, src->buf + src->n, PIECE_BYTES - src->n, &got, err));
            src->n += got;
        }
        if (src->n == before)
            break;
    }
    return MT_OK;
}

enum mt_status mt_source_read(struct mt_source *src, uint8_t *out, size_t cap, size_t *got,
                              struct mt_err *err)
{
    if (src->n == 0 && src->fd >= 0)
        return read_fd(src, out, cap, got, err);
    MT_TRY(mt_source_fill(src, 1, err));
    *got = src->n < cap ? src->n : cap;
    memcpy(out, src->next, *got);
    mt_source_take(src, *got);
    return MT_OK;
}

void mt_source_name_error(const struct mt_source *src, struct mt_err *err)
{
    if (src->name)
        mt_err_input(err, src->name);
}
