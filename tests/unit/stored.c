#include "tests/unit/stored.h"

#include "lib/store/store.h"
#include <stdio.h>
#include <unistd.h>

#define OK(call) assert_int_equal((call), MT_OK)

void stored_open(struct stored *s, const char *text)
{
    const struct mt_store_opts opts = {.name = "stored", .source = "test", .hash = "test"};
    struct mt_err err = MT_ERR_INIT;
    struct mt_store_result result;
    const char *tmp = getenv("TMPDIR");
    bool none;
    int others;
    OK(built(&s->rec, text, &err));
    s->rec.format = "test";
    snprintf(s->path, sizeof s->path, "%s/stored-%d.db", tmp ? tmp : "/tmp", (int)getpid());
    unlink(s->path);
    OK(mt_db_open(s->path, MT_DB_WRITE, &s->db, NULL, &err));
    OK(mt_store(s->db, &s->rec, &opts, &result, &err));
    OK(mt_run_find(s->db, "stored", &s->run, &err));
    OK(mt_run_device(s->db, &s->run, NULL, &s->device, &none, &others, &err));
    assert_false(none);
}

void stored_close(struct stored *s)
{
    mt_db_close(s->db);
    mt_rec_free(&s->rec);
    unlink(s->path);
}
