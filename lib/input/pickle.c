/* The pickle machine: the loop over its opcodes, and what is said of damage. */
#include "lib/input/pickle_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOOK_AHEAD = 32, /* longer than any opcode with its fixed argument */
    STRING_MAX = MT_STREAM_MAX_PEEK - LOOK_AHEAD,
};

struct window {
    const uint8_t *base, *p, *end; /* p is at an opcode */
};

/* Has at least `min` bytes in the window from w->p on, or all there are. */
static enum mt_status refill(struct mt_pickle *p, struct window *w, size_t min, struct mt_err *err)
{
    const char *at;
    size_t n;
    mt_stream_consume(p->in, (size_t)(w->p - w->base));
    w->base = w->p;
    enum mt_status st = mt_stream_peek(p->in, min, &at, &n, err);
    if (st == MT_EINPUT && n) /* what is damaged may lie behind the pickle */
        *err = (struct mt_err)MT_ERR_INIT;
    else
        MT_TRY(st);
    w->base = w->p = (const uint8_t *)at;
    w->end = w->p + n;
    if (p->hooks.pause)
        MT_TRY(p->hooks.pause(p->hooks.closure, err));
    if (mt_pickle_bytes(p) <= p->max_bytes && p->stack.n < MT_PICKLE_ITEMS_MAX &&
        p->strings.n < MT_PICKLE_ITEMS_MAX)
        return MT_OK;
    err->offset = (int64_t)mt_stream_offset(p->in);
    MT_FAIL(err, MT_ELIMIT, "the values of this pickle need more than %llu MiB of memory",
            (unsigned long long)(p->max_bytes >> 20));
    mt_err_hint(err, "Nothing was imported. Allow more with --max-memory SIZE.");
    return MT_ELIMIT;
}

static enum mt_status fail(struct mt_pickle *p, const struct window *w, struct mt_err *err)
{
    const char *name = mt_pickle_opcodes[*w->p].name;
    err->offset = (int64_t)mt_stream_offset(p->in) + (w->p - w->base);
    MT_FAIL(err, p->limit ? MT_ELIMIT : MT_EINPUT, "%s: opcode %s: %s",
            p->limit ? "this pickle goes beyond a limit" : "damaged pickle", name ? name : "?",
            p->why);
    mt_err_hint(err, "Nothing was imported.");
    return err->code;
}

static enum mt_status cut_off(struct mt_pickle *p, const struct window *w, struct mt_err *err)
{
    err->offset = (int64_t)mt_stream_offset(p->in) + (w->end - w->base);
    MT_FAIL(err, MT_EINPUT, "ends inside the pickle: the file was cut off");
    mt_err_hint(err, "Nothing was imported. Part of a pickle cannot be used.");
    return MT_EINPUT;
}

/* An opcode of classes, calls, bytes or text numbers, or no opcode at all. */
static enum mt_status refuse(struct mt_pickle *p, const struct window *w, struct mt_err *err)
{
    const char *name = mt_pickle_opcodes[*w->p].name;
    err->offset = (int64_t)mt_stream_offset(p->in) + (w->p - w->base);
    if (!name) {
        MT_FAIL(err, MT_EINPUT, "damaged pickle: byte 0x%02x is not an opcode", *w->p);
        mt_err_hint(err, "Nothing was imported.");
        return MT_EINPUT;
    }
    const char *text = (const char *)w->p + 1;
    size_t n = (size_t)(w->end - w->p) - 1;
    const char *line = memchr(text, '\n', n < 200 ? n : 200);
    const char *end = line ? memchr(line + 1, '\n', n - (size_t)(line + 1 - text)) : NULL;
    if (*w->p == 'c' && end && end - line < 200)
        MT_FAIL(err, MT_EINPUT,
                "this pickle asks for more than data: opcode GLOBAL names %.*s.%.*s",
                (int)(line - text), text, (int)(end - line - 1), line + 1);
    else
        MT_FAIL(err, MT_EINPUT, "this pickle asks for more than plain data: opcode %s is refused",
                name);
    mt_err_hint(err, "Nothing was imported, and nothing in the file was run. Memory snapshots hold "
                     "numbers, strings, lists and dicts only.");
    return MT_EINPUT;
}

/* Opcodes with a length and that many bytes behind it. */
static enum mt_status run_sized(struct mt_pickle *p, struct window *w,
                                const struct mt_pickle_opcode *o, struct mt_err *err)
{
    uint64_t n = mt_pickle_number_at(w->p + 1, o->prefix);
    size_t head = 1u + o->prefix;
    if ((size_t)(w->end - w->p) < head)
        return cut_off(p, w, err);
    if (n > STRING_MAX) {
        p->why = "a value is longer than 16 MiB";
        p->limit = true;
        return fail(p, w, err);
    }
    if ((size_t)(w->end - w->p) < head + n) {
        MT_TRY(refill(p, w, head + n, err));
        if ((size_t)(w->end - w->p) < head + n)
            return cut_off(p, w, err);
    }
    o->run(p, w->p + head, n);
    if (p->why)
        return fail(p, w, err);
    w->p += head + n;
    return MT_OK;
}

static enum mt_status run_opcode(struct mt_pickle *p, struct window *w, struct mt_err *err)
{
    const struct mt_pickle_opcode *o = &mt_pickle_opcodes[*w->p];
    if (w->p >= w->end)
        return cut_off(p, w, err);
    if (!o->run || (o->of_objects && !p->hooks.classes))
        return refuse(p, w, err);
    if (o->prefix)
        return run_sized(p, w, o, err);
    if (w->end - w->p <= o->arg)
        return cut_off(p, w, err);
    o->run(p, w->p + 1, o->arg);
    if (p->why)
        return fail(p, w, err);
    w->p += 1 + o->arg;
    return MT_OK;
}

/* Three quarters of a snapshot are references to frames: these two opcodes run here. */
static void run_gets(struct mt_pickle *p, struct window *w)
{
    while (w->end - w->p >= LOOK_AHEAD) {
        uint32_t i;
        memcpy(&i, w->p + 1, sizeof i);
        if (*w->p == 'j' && mt_pickle_get(p, i))
            w->p += 5;
        else if (*w->p == 'h' && mt_pickle_get(p, i & 0xff))
            w->p += 2;
        else
            return;
    }
}

enum mt_status mt_pickle_run(struct mt_pickle *p, mt_pvalue *root, struct mt_err *err)
{
    struct window w = {0};
    MT_TRY(refill(p, &w, LOOK_AHEAD, err));
    while (!p->stopped) {
        if (w.end - w.p < LOOK_AHEAD)
            MT_TRY(refill(p, &w, LOOK_AHEAD, err));
        run_gets(p, &w);
        if (p->why)
            return fail(p, &w, err);
        MT_TRY(run_opcode(p, &w, err));
    }
    mt_stream_consume(p->in, (size_t)(w.p - w.base));
    *root = p->stack.v[0];
    return MT_OK;
}

struct mt_pickle *mt_pickle_new(struct mt_stream *in, const struct mt_pickle_hooks *hooks,
                                uint64_t max_bytes)
{
    struct mt_pickle *p = mt_alloc(sizeof *p);
    *p = (struct mt_pickle){.in = in, .max_bytes = max_bytes ? max_bytes : MT_PICKLE_BYTES_MAX};
    if (hooks)
        p->hooks = *hooks;
    mt_strtab_init(&p->strings);
    mt_strtab_init(&p->tuples);
    mt_pickle_push(p, 0); /* so that the stack has an address also when it is empty */
    p->stack.n = 0;
    return p;
}

void mt_pickle_free(struct mt_pickle *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->boxes.n; i++)
        free(p->boxes.v[i].v);
    mt_strtab_free(&p->strings);
    mt_strtab_free(&p->tuples);
    mt_vec_free(&p->stack);
    mt_vec_free(&p->memo);
    mt_vec_free(&p->marks);
    mt_vec_free(&p->boxes);
    mt_vec_free(&p->free_boxes);
    mt_vec_free(&p->wides);
    mt_vec_free(&p->reals);
    mt_vec_free(&p->tuple_box);
    free(p);
}

struct mt_strtab *mt_pickle_strings(struct mt_pickle *p)
{
    return &p->strings;
}
