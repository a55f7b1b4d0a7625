/*
 * image.c - the empty database as bytes: `image >gen/image.c`. Built and run at build time.
 *
 * SQLite takes 3 ms to make the tables and views, most of a small import. Nearly all of the file
 * are zeros, which are left out.
 */
#include "lib/db/db_parts.h"
#include <stdio.h>
#include <string.h>

enum { GAP = 16 }; /* zeros that are worth an extent */

static int failed(sqlite3 *sql)
{
    fprintf(stderr, "image: %s\n", sqlite3_errmsg(sql));
    return 1;
}

/* Where the next bytes begin that are not zero, and where a gap follows them. */
static sqlite3_int64 next_extent(const unsigned char *v, sqlite3_int64 n, sqlite3_int64 *at)
{
    sqlite3_int64 end;
    while (*at < n && !v[*at])
        ++*at;
    for (sqlite3_int64 i = end = *at; i < n && i - end < GAP; i++)
        if (v[i])
            end = i + 1;
    return end;
}

static void print(const unsigned char *v, sqlite3_int64 n)
{
    printf("#include \"lib/db/db_image.h\"\n\nconst uint32_t mt_db_image_size = %lld;\n\n"
           "const uint8_t mt_db_image_bytes[] = {",
           (long long)n);
    for (sqlite3_int64 at = 0, end, k = 0; (end = next_extent(v, n, &at)) > at; at = end)
        for (; at < end; at++)
            printf("%s%u,", k++ % 32 ? "" : "\n", v[at]);
    printf("\n};\n\nconst struct mt_db_extent mt_db_image_extents[] = {\n");
    for (sqlite3_int64 at = 0, end; (end = next_extent(v, n, &at)) > at; at = end)
        printf("    {%lld, %lld},\n", (long long)at, (long long)(end - at));
    puts("    {0, 0},\n};");
}

int main(void)
{
    sqlite3 *sql;
    sqlite3_int64 n = 0;
    char version[100];
    snprintf(version, sizeof version, "PRAGMA user_version=%d; PRAGMA application_id=%d",
             MT_SCHEMA_VERSION, MT_APPLICATION_ID);
    if (sqlite3_open(":memory:", &sql) != SQLITE_OK ||
        sqlite3_exec(sql, MT_DB_PRAGMAS, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(sql, mt_queries[MT_Q_SCHEMA].sql, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(sql, version, NULL, NULL, NULL) != SQLITE_OK)
        return failed(sql);
    unsigned char *image = sqlite3_serialize(sql, "main", &n, 0);
    if (!image)
        return failed(sql);
    print(image, n);
    sqlite3_free(image);
    sqlite3_close(sql);
    return fflush(stdout) || ferror(stdout);
}
