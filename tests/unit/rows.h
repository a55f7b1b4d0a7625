/*
 * rows.h - table-driven cmocka tests: one named test per row. Every row struct starts with
 * `const char *name`; the test function gets the row as *state.
 */
#ifndef MT_TEST_ROWS_H
#define MT_TEST_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct row_tests {
    struct CMUnitTest v[256];
    size_t n;
};

static inline void rows_add(struct row_tests *t, CMUnitTestFunction run, const void *rows, size_t n,
                            size_t row_bytes)
{
    for (size_t i = 0; i < n; i++) {
        const char *row = (const char *)rows + i * row_bytes;
        if (t->n == sizeof t->v / sizeof t->v[0])
            abort();
        t->v[t->n++] = (struct CMUnitTest){.name = *(const char *const *)(const void *)row,
                                           .test_func = run,
                                           .initial_state = (void *)(uintptr_t)row};
    }
}

#define ROWS_ADD(t, run, rows)                                                                     \
    rows_add((t), (run), (rows), sizeof(rows) / sizeof((rows)[0]), sizeof((rows)[0]))
#define ROWS_RUN(t, group) _cmocka_run_group_tests((group), (t)->v, (t)->n, NULL, NULL)

#endif
