#include "formats/pytorch_skipped.h"

/* An object ends all arrays in it, the end of the array of events all objects in it: a bracket that
 * the damage took or added does not count for long. */
static void add_bracket(struct mt_skipped *s, char c)
{
    if (c == '{') {
        s->objects++;
    } else if (c == '[') {
        s->arrays++;
    } else if (c == '}' && s->objects) {
        s->arrays = --s->objects ? s->arrays : 0;
    } else if (c == '}' && s->place == MT_BEHIND_EVENTS) {
        s->place = MT_BEHIND_DOCUMENT;
    } else if (c == ']' && s->arrays) {
        s->arrays--;
    } else if (c == ']') {
        s->place = MT_BEHIND_EVENTS;
        s->objects = 0;
    }
}

static void add_byte(struct mt_skipped *s, char c)
{
    if (s->place == MT_BEHIND_DOCUMENT && (unsigned char)c > ' ')
        s->place = MT_IN_EVENTS; /* it was not the document's end */
    if (c == '\n')
        s->string = s->escape = false; /* no string goes on in the next line */
    else if (s->escape)
        s->escape = false;
    else if (s->string && c == '\\')
        s->escape = true;
    else if (c == '"')
        s->string = !s->string;
    else if (!s->string)
        add_bracket(s, c);
    if ((unsigned char)c > ' ')
        s->last = c;
}

void mt_skipped_add(struct mt_skipped *s, const char *from, const char *end)
{
    for (; from < end; from++)
        add_byte(s, *from);
}

bool mt_skipped_ended(const struct mt_skipped *s)
{
    return s->place == MT_BEHIND_DOCUMENT || (s->place == MT_BEHIND_EVENTS && s->last == ']');
}
