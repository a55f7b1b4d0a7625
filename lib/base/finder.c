#include "lib/base/finder.h"

#include "lib/base/mem.h"
#include "lib/base/utf8.h"
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* How much more all expressions may take. How much that is, is looked at when so many characters
 * came that they could take LOOK_B at worst, and ever later, up to LATEST_B, where they do not. */
enum { MOST_B = 32 << 20, LOOK_B = 16 << 20, LATEST_B = 256 << 20 };

static _Thread_local size_t perhaps_b, before_b, last_b, look_b = LOOK_B;
static _Thread_local unsigned forgotten_n;

static size_t allocated_b(void)
{
    struct mallinfo2 all = mallinfo2();
    return all.uordblks + all.hblkhd;
}

/* Frees what the C library found out, by compiling it anew. */
static void forget(struct mt_finder *f)
{
    regex_t again;
    f->made_at = forgotten_n;
    if (regcomp(&again, f->text, REG_EXTENDED | REG_NOSUB) != 0)
        return;
    regfree(&f->re);
    f->re = again;
}

static void look_at_memory(void)
{
    size_t now_b = allocated_b();
    bool grew = now_b > last_b && now_b - last_b > perhaps_b / 16;
    look_b = grew ? LOOK_B : look_b < LATEST_B ? look_b * 2 : LATEST_B;
    perhaps_b = 0;
    last_b = now_b;
    if (!before_b || now_b < before_b) {
        before_b = now_b;
    } else if (now_b - before_b > MOST_B) {
        forgotten_n++;
        before_b = 0;
    }
}

/* Without a repetition a match ends soon, and the C library is faster. What begins with ^ is looked
 * for at the beginning only; behind ".*" the library would take it for that of any line. */
static bool worth_whole(const char *text, const struct mt_pattern_shape *shape)
{
    return *text != '^' && !shape->lone_bracket && strpbrk(text, "*+{");
}

enum mt_status mt_finder_make(struct mt_finder *f, const char *what, const char *text,
                              struct mt_err *err)
{
    *f = (struct mt_finder){.made_at = forgotten_n};
    MT_TRY(mt_pattern(&f->re, what, text, err));
    const struct mt_pattern_shape shape = mt_pattern_shape(text);
    f->state_b = 4096 + 16 * (size_t)shape.chars;
    f->whole = worth_whole(text, &shape);
    f->text = f->whole ? mt_asprintf("^.*(%s)", text) : mt_strdup(text);
    if (f->whole)
        forget(f);
    if (!before_b)
        before_b = last_b = allocated_b();
    return MT_OK;
}

void mt_finder_free(struct mt_finder *f)
{
    regfree(&f->re);
    free(f->text);
}

/* A text that is no UTF-8 has bytes that '.' does not match. */
static bool finds_in_damaged(struct mt_finder *f, const char *text)
{
    struct mt_buf mended = {0};
    mt_utf8_mend(&mended, text);
    bool found = regexec(&f->re, mended.s, 0, NULL, 0) == 0;
    mt_buf_free(&mended);
    return found;
}

bool mt_finder_finds(struct mt_finder *f, const char *text)
{
    perhaps_b += strlen(text) * f->state_b;
    if (perhaps_b > look_b)
        look_at_memory();
    if (f->made_at != forgotten_n)
        forget(f);
    if (regexec(&f->re, text, 0, NULL, 0) == 0)
        return true;
    bool damaged = f->whole && mbstowcs(NULL, text, 0) == SIZE_MAX;
    return damaged && finds_in_damaged(f, text);
}
