#include "lib/run/job_folder.h"

#include "lib/run/job.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool has_number_behind(const char *name, size_t n, const char *const *words, size_t word_n)
{
    char *text = mt_strndup(name, n);
    bool found = false;
    for (size_t i = 0; i < word_n && !found; i++)
        found = mt_number_behind(text, words[i]) != MT_UNKNOWN;
    free(text);
    return found;
}

bool mt_folder_counts_steps(const char *name, size_t n)
{
    static const char *const words[] = {"iteration", "iter", "step",       "steps", "epoch",
                                        "ep",        "ba",   "checkpoint", "ckpt",  "batch"};
    return has_number_behind(name, n, words, MT_ARRAY_LEN(words));
}

/* "10.0.3.17" */
static bool is_address(const char *name, size_t n)
{
    size_t part_n = 0;
    for (size_t i = 0; i < n; part_n++) {
        int value = 0;
        const size_t from = i;
        for (; i < n && isdigit((unsigned char)name[i]) && value < 256; i++)
            value = value * 10 + (name[i] - '0');
        if (i == from || value > 255 || (i < n && (name[i] != '.' || ++i == n)))
            return false;
    }
    return part_n == 4;
}

bool mt_folder_is_of_time(const char *name, size_t n)
{
    static const char *const repeats[] = {"run",     "attempt", "restart", "try", "retry",
                                          "version", "trial",   "dump",    "part"};
    size_t letter_n = 0;
    for (size_t i = 0; i < n; i++)
        letter_n += isalpha((unsigned char)name[i]) && name[i] != 'T' && name[i] != 'Z';
    return (!letter_n && !is_address(name, n)) || mt_folder_counts_steps(name, n) ||
           has_number_behind(name, n, repeats, MT_ARRAY_LEN(repeats));
}

/* Whether letters are a word for a machine, or end in one: "node", "computenode". */
static bool names_machine(const char *letters, size_t n)
{
    static const char *const words[] = {"host", "node", "worker", "machine", "server", "compute",
                                        "gpu",  "dgx",  "hgx",    "pod",     "rack",   "trainer"};
    bool found = n == 2 && strncasecmp(letters, "ip", n) == 0;
    for (size_t i = 0; i < MT_ARRAY_LEN(words) && !found; i++) {
        const size_t len = strlen(words[i]);
        found = n >= len && strncasecmp(letters + n - len, words[i], len) == 0;
    }
    return found;
}

bool mt_folder_is_host(const char *name, size_t n)
{
    bool found = is_address(name, n);
    for (size_t i = 0, end; i < n && !found; i = end + 1) {
        for (end = i; end < n && isalpha((unsigned char)name[end]);)
            end++;
        found = end > i && names_machine(name + i, end - i);
    }
    return found;
}

void mt_folder_add(char *to, size_t room, const char *name, size_t n)
{
    const size_t had = strlen(to);
    if (had + n + 2 <= room)
        snprintf(to + had, room - had, "%s%.*s", had ? "/" : "", (int)n, name);
}

void mt_folder_hosts(const char *path, char *out, size_t room)
{
    *out = '\0';
    for (const char *p = path, *slash; (slash = strchr(p, '/')) != NULL; p = slash + 1)
        if (mt_folder_is_host(p, (size_t)(slash - p)))
            mt_folder_add(out, room, p, (size_t)(slash - p));
}
