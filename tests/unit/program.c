#include "tests/unit/program.h"

#include "lib/build/build.h"
#include "lib/store/store.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OK(call) assert_int_equal((call), MT_OK)

enum { STEP_NS = 1000000 };

static uint32_t label(struct program *p, const char *name, enum mt_frame_kind kind)
{
    return mt_rec_label(&p->rec, mt_strtab_add(&p->rec.strings, name, strlen(name)), kind);
}

void program_thread(struct program *p, int64_t tid)
{
    p->thread = mt_rec_thread(&p->rec, 1, MT_NONE, tid, MT_NONE);
}

void program_start(struct program *p)
{
    *p = (struct program){.step = -1};
    mt_rec_init(&p->rec);
    p->rec.format = "test";
    mt_rec_device(&p->rec, 0, -1);
    program_thread(p, 1);
}

static struct mt_op *add_op(struct program *p, const char *name, enum mt_frame_kind kind,
                            int64_t start_ns, int64_t end_ns)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_op *op;
    OK(mt_rec_op(&p->rec, p->thread, &op, &err));
    op->start_ns = start_ns;
    op->end_ns = end_ns;
    op->label = label(p, name, kind);
    op->order = (uint32_t)p->rec.event_n++;
    return op;
}

void program_step_at(struct program *p, int64_t start_ns, int64_t end_ns)
{
    char name[40];
    uint32_t thread = p->thread;
    snprintf(name, sizeof name, "ProfilerStep#%lld", (long long)++p->step);
    program_thread(p, 1);
    add_op(p, name, MT_FRAME_ANNOTATION, start_ns, end_ns);
    p->thread = thread;
}

void program_step(struct program *p)
{
    p->t_ns = (p->step + 1) * STEP_NS;
    program_step_at(p, p->t_ns, p->t_ns + STEP_NS - 1);
}

void program_op(struct program *p, const char *op, int64_t ns)
{
    add_op(p, op, MT_FRAME_OP, p->t_ns, p->t_ns + ns);
}

void program_scope(struct program *p, const char *name, int64_t ns)
{
    add_op(p, name, MT_FRAME_ANNOTATION, p->t_ns, p->t_ns + ns);
}

static void add_record(struct program *p, int64_t bytes, uint64_t addr)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_record *r;
    OK(mt_rec_record(&p->rec, &r, &err));
    r->t_ns = p->t_ns;
    r->bytes = bytes;
    r->addr = addr;
    r->has_addr = true;
    r->thread = p->thread;
    r->device = (uint16_t)p->on;
    r->order = (uint32_t)p->rec.event_n++;
}

void program_on(struct program *p, int type, int index)
{
    p->on = mt_rec_device(&p->rec, type, index);
}

int program_alloc(struct program *p, const char *op, int64_t bytes)
{
    uint64_t addr = p->reused ? p->reused : (p->blocks.n + 1) << 32;
    p->reused = 0;
    if (op)
        add_op(p, op, MT_FRAME_OP, p->t_ns + 1, p->t_ns + 3);
    p->t_ns += 2;
    add_record(p, bytes, addr);
    p->t_ns += 2;
    *mt_vec_push(&p->blocks) = (struct program_block){bytes, addr};
    return (int)p->blocks.n - 1;
}

void program_free(struct program *p, int block)
{
    p->t_ns++;
    add_record(p, -p->blocks.v[block].bytes, p->blocks.v[block].addr);
}

void program_lose(struct program *p, int block)
{
    p->reused = p->blocks.v[block].addr;
}

void program_older(struct program *p, int64_t bytes, bool freed)
{
    if (!freed) {
        p->rec.devices.v[p->on].start_b += bytes;
        *mt_vec_push(&p->rec.older) = (struct mt_older){bytes, MT_NONE, (uint16_t)p->on};
        return;
    }
    p->t_ns++;
    add_record(p, -bytes, UINT64_C(1) << 63 | (uint64_t)p->older_n++ << 32); /* its own address */
}

void program_finish(struct program *p)
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_store_result stored;
    const struct mt_store_opts opts = {.name = "program", .source = "test", .hash = "test"};
    const char *tmp = getenv("TMPDIR");
    static int program_n;
    bool none;
    int others;
    OK(mt_build(&p->rec, NULL, &err));
    snprintf(p->path, sizeof p->path, "%s/program-%d-%d.db", tmp ? tmp : "/tmp", (int)getpid(),
             program_n++);
    unlink(p->path);
    OK(mt_db_open(p->path, MT_DB_WRITE, &p->db, NULL, &err));
    OK(mt_store(p->db, &p->rec, &opts, &stored, &err));
    OK(mt_run_find(p->db, "program", &p->run, &err));
    OK(mt_run_device(p->db, &p->run, "cpu", &p->device, &none, &others, &err));
    OK(mt_allocations_open(p->db, &p->run, &p->lives, &err));
}

void program_end(struct program *p)
{
    mt_allocations_close(&p->lives);
    mt_db_close(p->db);
    mt_vec_free(&p->blocks);
    mt_rec_free(&p->rec);
    unlink(p->path);
}
