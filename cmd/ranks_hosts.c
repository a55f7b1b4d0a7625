/* memtool ranks: folders of hosts, on each of which ranks are counted anew. */
#include "cmd/ranks.h"
#include "lib/run/job_folder.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_LOCAL = 64 }; /* ranks of a host */

/* Only these may be of a host: where nothing but the file says which rank it is. */
static bool is_candidate(const struct mt_rank *rank)
{
    return rank->place.rank != MT_UNKNOWN && !rank->place.told && !rank->process;
}

/* The length of the folders that all runs of known rank are in. */
static size_t common_folder(const struct mt_ranks *r)
{
    const char *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < r->all.n; i++) {
        if (r->all.v[i].place.rank == MT_UNKNOWN || r->all.v[i].process)
            continue;
        const char *source = r->all.v[i].source;
        n = first ? n : strlen(source);
        first = first ? first : source;
        for (size_t k = 0; k < n; k++)
            if (source[k] != first[k])
                n = k;
    }
    while (n && first[n - 1] != '/')
        n--;
    return n;
}

/* Whether any folder of the path is called as a machine. */
static bool has_host(const char *path)
{
    bool found = false;
    for (const char *slash; !found && (slash = strchr(path, '/')) != NULL; path = slash + 1)
        found = mt_folder_is_host(path, (size_t)(slash - path));
    return found;
}

/* Of the folders behind those in common those that are hosts; where none is, all but what tells
 * dumps of one process apart. */
static void host_of(const struct mt_rank *rank, size_t skip, char *out, size_t room)
{
    const char *const folders = rank->source + skip;
    *out = '\0';
    if (has_host(folders)) {
        mt_folder_hosts(folders, out, room);
        return;
    }
    for (const char *p = folders, *slash; (slash = strchr(p, '/')) != NULL; p = slash + 1) {
        const size_t len = (size_t)(slash - p);
        char *part = mt_strndup(p, len);
        if (!mt_folder_is_of_time(p, len) && mt_number_behind(part, "rank") != rank->place.rank)
            mt_folder_add(out, room, p, len);
        free(part);
    }
}

static bool alike_but_for_numbers(const char *a, const char *b)
{
    char *x = mt_without_numbers(a), *y = mt_without_numbers(b);
    const bool alike = strcmp(x, y) == 0;
    free(x);
    free(y);
    return alike;
}

/* Runs that may be of hosts, and of which recorder. */
struct local {
    struct mt_rank *rank;
    int64_t local;
    bool named; /* the host is called as one */
    char host[sizeof((struct mt_rank *)NULL)->host];
};

static int by_rank_and_host(const void *a, const void *b)
{
    const struct local *x = a, *y = b;
    const int64_t p = x->rank->place.rank, q = y->rank->place.rank;
    return p != q ? (p < q ? -1 : 1) : strcmp(x->host, y->host);
}

/* Whether half of the ranks at least, of which there are so many, are there on several hosts. In
 * order of rank and host. */
static bool count_anew(const struct local *v, size_t n, size_t least_n)
{
    size_t ranks_n = 0, shared_n = 0;
    for (size_t i = 0, end; i < n; i = end) {
        bool shared = false;
        for (end = i + 1; end < n && v[end].rank->place.rank == v[i].rank->place.rank; end++)
            shared |= strcmp(v[end].host, v[i].host) != 0;
        ranks_n++;
        shared_n += shared;
    }
    return shared_n && shared_n * 2 >= ranks_n && ranks_n >= least_n;
}

static bool are_hosts(const struct local *v, size_t n)
{
    bool named = true, alike = true;
    for (size_t i = 0; i < n; i++) {
        if (v[i].rank->place.rank >= MOST_LOCAL)
            return false;
        named &= v[i].named;
        alike &= *v[i].host && alike_but_for_numbers(v[i].host, v[0].host);
    }
    return (named && count_anew(v, n, 1)) || (alike && count_anew(v, n, 2));
}

/* Of the runs of one recorder. */
static void judge(struct mt_ranks *r, struct local *v, size_t n)
{
    if (n < 2)
        return;
    qsort(v, n, sizeof *v, by_rank_and_host);
    if (!are_hosts(v, n))
        return;
    for (size_t i = 0; i < n; i++) {
        struct mt_rank *rank = v[i].rank;
        memcpy(rank->host, v[i].host, sizeof rank->host);
        rank->local_rank = rank->place.rank;
        rank->place.rank = MT_UNKNOWN;
    }
    r->on_hosts = true;
}

static int by_host(const void *a, const void *b)
{
    const struct local *x = a, *y = b;
    const int order = strcmp(x->host, y->host);
    return order ? order : x->local < y->local ? -1 : x->local > y->local;
}

/* node2/rank1.pickle is of rank 9 where node2/rank1.json says so. */
static void take_told(struct mt_ranks *r, size_t skip, struct local *v)
{
    struct local key;
    size_t n = 0;
    for (size_t i = 0; i < r->all.n; i++) {
        struct mt_rank *rank = &r->all.v[i];
        const int64_t local = mt_number_behind(rank->source, "rank");
        if (!rank->place.told || rank->process || local == MT_UNKNOWN ||
            !has_host(rank->source + skip))
            continue;
        v[n] = (struct local){.rank = rank, .local = local};
        host_of(rank, skip, v[n++].host, sizeof v->host);
    }
    if (!n)
        return;
    qsort(v, n, sizeof *v, by_host);
    for (size_t i = 0; i < r->all.n; i++) {
        struct mt_rank *rank = &r->all.v[i];
        if (!is_candidate(rank) || !has_host(rank->source + skip))
            continue;
        key.local = rank->place.rank;
        host_of(rank, skip, key.host, sizeof key.host);
        const struct local *told = bsearch(&key, v, n, sizeof *v, by_host);
        if (!told)
            continue;
        rank->place.rank = told->rank->place.rank;
        rank->place.told = true;
    }
}

void mt_ranks_find_hosts(struct mt_ranks *r)
{
    const size_t skip = common_folder(r);
    struct local *v = mt_alloc((r->all.n + 1) * sizeof *v);
    take_told(r, skip, v);
    for (size_t i = 0; i < r->all.n; i++) {
        const char *format = r->all.v[i].format;
        bool before = false;
        size_t n = 0;
        for (size_t k = 0; k < i && !before; k++)
            before = strcmp(r->all.v[k].format, format) == 0;
        for (size_t k = i; k < r->all.n && !before; k++) {
            struct mt_rank *rank = &r->all.v[k];
            if (strcmp(rank->format, format) != 0 || !is_candidate(rank))
                continue;
            v[n].rank = rank;
            v[n].named = has_host(rank->source + skip);
            host_of(rank, skip, v[n++].host, sizeof v->host);
        }
        judge(r, v, n);
    }
    free(v);
}

bool mt_rank_is_same(const struct mt_rank *a, const struct mt_rank *b)
{
    return mt_rank_is_known(a) && a->place.rank == b->place.rank &&
           a->local_rank == b->local_rank && strcmp(a->host, b->host) == 0;
}

bool mt_rank_is_known(const struct mt_rank *rank)
{
    return rank->place.rank != MT_UNKNOWN || *rank->host;
}

void mt_ranks_note_hosts(const struct mt_ranks *r, struct mt_report *notes)
{
    const struct mt_rank *first = NULL, *other = NULL;
    for (size_t i = 0; i < r->all.n && !other; i++) {
        const struct mt_rank *rank = &r->all.v[i];
        first = first || !*rank->host ? first : rank;
        other = first && *rank->host && strcmp(rank->host, first->host) != 0 ? rank : NULL;
    }
    if (other)
        mt_report_note(
            notes,
            "%s and %s have the same ranks and are taken for hosts that each count their own: "
            "which rank of the job a run is of is not known. memtool runs --rename "
            "rank12 RUN tells it; if they are jobs, import each with a group of its own.",
            first->host, other->host);
}
