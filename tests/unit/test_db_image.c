/* A new database begins as it stands in the program: what SQLite makes of the schema, to the byte
 * of each statement. Where that cannot be written SQLite makes it. */
#include "lib/db/db.h"
#include "lib/db/db_image.h"
#include "tests/unit/rows.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OK(call) assert_int_equal((call), MT_OK)

struct folder {
    char path[32], database[64];
};

static void folder_make(struct folder *f)
{
    snprintf(f->path, sizeof f->path, "/tmp/memtool-image-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    snprintf(f->database, sizeof f->database, "%s/x.db", f->path);
}

static void folder_remove(struct folder *f)
{
    unlink(f->database);
    assert_int_equal(rmdir(f->path), 0); /* nothing else was left in it */
}

static void touch(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY, 0644);
    assert_true(fd >= 0);
    close(fd);
}

/* All that tells databases apart, line by line. */
static void describe(struct mt_db *db, struct mt_buf *out)
{
    static const char *const sql[] = {
        "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master ORDER BY rowid",
        "SELECT * FROM pragma_page_size, pragma_page_count, pragma_auto_vacuum, pragma_encoding",
        "SELECT * FROM pragma_user_version, pragma_application_id, pragma_integrity_check"};
    struct mt_err err = MT_ERR_INIT;
    struct mt_stmt *s;
    bool row;
    for (size_t i = 0; i < MT_ARRAY_LEN(sql); i++) {
        OK(mt_db_prepare(db, sql[i], &s, &err));
        while (mt_stmt_step(s, &row, &err) == MT_OK && row)
            for (int c = 0; c < mt_stmt_column_n(s); c++)
                mt_buf_addf(out, "%s\n", mt_stmt_text(s, c) ? mt_stmt_text(s, c) : "NULL");
        OK(err.code);
        mt_stmt_free(s);
    }
}

static void open_described(const struct folder *f, struct mt_buf *out)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_db *db;
    bool created;
    OK(mt_db_open(f->database, MT_DB_WRITE, &db, &created, &err));
    assert_true(created);
    describe(db, out);
    mt_db_close(db);
}

static void is_what_sqlite_makes(void **state)
{
    struct mt_buf written = {0}, made = {0};
    struct folder f;
    (void)state;
    folder_make(&f);
    open_described(&f, &written);
    folder_remove(&f);
    folder_make(&f);
    touch(f.database);
    open_described(&f, &made);
    folder_remove(&f);
    assert_true(made.n > 20000);
    assert_string_equal(written.s, made.s);
    mt_buf_free(&written);
    mt_buf_free(&made);
}

static void is_written_once(void **state)
{
    struct folder f;
    struct stat info;
    (void)state;
    folder_make(&f);
    mode_t mask = umask(027);
    assert_true(mt_db_image_create(f.database));
    umask(mask);
    assert_false(mt_db_image_create(f.database));
    assert_int_equal(stat(f.database, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(info.st_size, mt_db_image_size);
    folder_remove(&f);
}

/* SQLite would play it into the new file. */
static void a_journal_is_left(void **state)
{
    static const char *const endings[] = {"-journal", "-wal"};
    struct folder f;
    char left[80];
    (void)state;
    for (size_t i = 0; i < MT_ARRAY_LEN(endings); i++) {
        folder_make(&f);
        snprintf(left, sizeof left, "%s%s", f.database, endings[i]);
        touch(left);
        assert_false(mt_db_image_create(f.database));
        unlink(left);
        folder_remove(&f);
    }
}

static void no_folder(void **state)
{
    (void)state;
    assert_false(mt_db_image_create("/nowhere/at/all/x.db"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_what_sqlite_makes), cmocka_unit_test(is_written_once),
        cmocka_unit_test(a_journal_is_left), cmocka_unit_test(no_folder)};
    return cmocka_run_group_tests_name("new databases", tests, NULL, NULL);
}
