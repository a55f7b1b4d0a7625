#include "cmd/import_ahead.h"

#include "lib/base/thread.h"
#include "lib/build/build.h"
#include <stdlib.h>

enum state { TO_READ, READING, READ, TAKEN };

struct mt_ahead {
    char *const *paths, *const *keys;
    size_t n, at;              /* files; the one that is taken next */
    struct mt_import_opts how; /* of a file among several: its share of memory */
    struct mt_import_opts alone;
    struct slot {
        enum state state;
        struct mt_ahead_file *file; /* NULL: not read */
    } * slots;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a state, at, or what follows */
    bool paused, ended;     /* nothing is begun for a while, or any more */
    pthread_t *threads;
    int thread_n, window;
};

/* With all that is to be built: whoever stores it has nothing else to do. */
static struct mt_ahead_file *read_file(const struct mt_ahead *a, size_t i, const char *key,
                                       const struct mt_import_opts *how)
{
    struct mt_ahead_file *f = mt_alloc(sizeof *f);
    *f = (struct mt_ahead_file){.err = MT_ERR_INIT};
    f->same = key && mt_import_is_same(a->paths[i], how, key);
    if (f->same)
        mt_rec_init(&f->rec);
    else if (mt_import_read(a->paths[i], how, &f->rec, f->hash, &f->err) == MT_OK)
        mt_build_memory(&f->rec);
    return f;
}

static void free_file(struct slot *s)
{
    if (s->file)
        mt_rec_free(&s->file->rec);
    free(s->file);
    s->file = NULL;
}

/* The first file in reach that nobody reads; n: none. */
static size_t next_to_read(const struct mt_ahead *a)
{
    size_t end = a->at + (size_t)a->window < a->n ? a->at + (size_t)a->window : a->n;
    for (size_t i = a->at; !a->paused && i < end; i++)
        if (a->slots[i].state == TO_READ)
            return i;
    return a->n;
}

static void *read_files(void *context)
{
    struct mt_ahead *a = context;
    pthread_mutex_lock(&a->lock);
    while (!a->ended) {
        size_t i = next_to_read(a);
        if (i == a->n) {
            pthread_cond_wait(&a->changed, &a->lock);
            continue;
        }
        a->slots[i].state = READING;
        pthread_mutex_unlock(&a->lock);
        struct mt_ahead_file *file = read_file(a, i, a->keys[i], &a->how);
        pthread_mutex_lock(&a->lock);
        a->slots[i] = (struct slot){READ, file};
        pthread_cond_broadcast(&a->changed);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

struct mt_ahead *mt_ahead_start(char *const *paths, char *const *keys, size_t n,
                                const struct mt_import_opts *how, int job_n)
{
    struct mt_ahead *a = mt_alloc(sizeof *a);
    *a = (struct mt_ahead){.paths = paths,
                           .keys = keys,
                           .n = n,
                           .how = *how,
                           .alone = *how,
                           .slots = mt_alloc((n + 1) * sizeof *a->slots),
                           .threads = mt_alloc((size_t)job_n * sizeof *a->threads),
                           .window = job_n + 1};
    a->how.share_n = a->window;
    a->how.quiet = a->alone.quiet = true;
    for (size_t i = 0; i < n; i++)
        a->slots[i] = (struct slot){TO_READ, NULL};
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    for (int i = 0; i < job_n; i++)
        a->thread_n += mt_thread_start(&a->threads[a->thread_n], read_files, a) == 0;
    return a;
}

/* The lock is held. With the memory of all: what others have read is given up, to be read later. */
static void read_alone(struct mt_ahead *a, size_t i)
{
    a->paused = true;
    for (size_t k = i; k < a->n && k < a->at + (size_t)a->window; k++) {
        while (a->slots[k].state == READING)
            pthread_cond_wait(&a->changed, &a->lock);
        free_file(&a->slots[k]);
        a->slots[k].state = TO_READ;
    }
    a->slots[i] = (struct slot){TAKEN, read_file(a, i, NULL, &a->alone)};
}

struct mt_ahead_file *mt_ahead_next(struct mt_ahead *a)
{
    const size_t i = a->at;
    pthread_mutex_lock(&a->lock);
    if (i)
        free_file(&a->slots[i - 1]);
    a->paused = false;
    pthread_cond_broadcast(&a->changed);
    while (a->thread_n && a->slots[i].state != READ)
        pthread_cond_wait(&a->changed, &a->lock);
    if (!a->thread_n || a->slots[i].file->err.code == MT_ELIMIT)
        read_alone(a, i);
    a->slots[i].state = TAKEN;
    a->at++;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    return a->slots[i].file;
}

struct mt_ahead_file *mt_ahead_again(struct mt_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    read_alone(a, a->at - 1);
    pthread_mutex_unlock(&a->lock);
    return a->slots[a->at - 1].file;
}

void mt_ahead_stop(struct mt_ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->ended = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    for (int i = 0; i < a->thread_n; i++)
        pthread_join(a->threads[i], NULL);
    for (size_t i = 0; i < a->n; i++)
        free_file(&a->slots[i]);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a->threads);
    free(a->slots);
    free(a);
}
