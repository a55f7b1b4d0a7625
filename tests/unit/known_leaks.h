/*
 * known_leaks.h - made-up programs of which it is known beforehand what they leak.
 */
#ifndef TEST_KNOWN_LEAKS_H
#define TEST_KNOWN_LEAKS_H

#include "lib/analysis/leaks.h"
#include "tests/unit/program.h"

enum { KEEP_MAX = 4096 };

/* One program: what it does in a step, and what must be said of the site `site`. */
struct known_leak {
    const char *title;
    int steps;
    void (*step)(struct program *p, int step, int *kept); /* kept: KEEP_MAX blocks, 0 at first */
    const char *site;
    enum mt_verdict verdict; /* MT_VERDICT_N: no row of a leak or candidate */
    int64_t growth_b, growth_steps, since;
};

/* Runs the program, then steps in which nothing happens, which are none; looks at what is found. */
void known_leak_run(const struct known_leak *k, int idle);
/* The same without idle steps: *state is the struct. */
void known_leak_test(void **state);

/* As a test of cmocka. */
static inline struct CMUnitTest known_leak(const struct known_leak *k)
{
    return (struct CMUnitTest){k->title, known_leak_test, NULL, NULL, (void *)(uintptr_t)k};
}

#endif
