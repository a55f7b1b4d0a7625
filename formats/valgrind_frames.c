#include "formats/valgrind_frames.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Cuts ":123" off the end of text; -1: there is none, or no such line. */
static int64_t cut_number(char *text)
{
    size_t n = strlen(text), at = n;
    while (at && isdigit((unsigned char)text[at - 1]))
        at--;
    if (at == n || n - at > 9 || !at || text[at - 1] != ':')
        return -1;
    text[at - 1] = '\0';
    return strtol(text + at, NULL, 10);
}

/* "file:line" or "file:line:column" in brackets. */
static bool take_line(char *place, struct mt_native_frame *f)
{
    int64_t line = cut_number(place), before;
    if (line < 0)
        return false;
    if ((before = cut_number(place)) >= 0)
        line = before;
    if (strcmp(place, "???") != 0) {
        f->file = place;
        f->line = line;
    }
    return true;
}

/* The last " (" of text that begins what it ends with; NULL: it has none. */
static char *find_place(char *text)
{
    size_t n = strlen(text);
    char *place = NULL;
    if (!n || text[n - 1] != ')')
        return NULL;
    for (char *at = text; (at = strstr(at, " (")); at += 2)
        if (!place || strncmp(place, " (in ", 5) != 0) /* an object's path may have brackets */
            place = at;
    return place;
}

/* "0x1091D1: " at the start of the text; returns what follows. */
static char *take_address(char *text, uint64_t *address)
{
    *address = 0;
    if (strncmp(text, "0x", 2) != 0)
        return text;
    char *end;
    uint64_t v = strtoull(text + 2, &end, 16);
    if (end == text + 2 || strncmp(end, ": ", 2) != 0)
        return text;
    *address = v;
    return end + 2;
}

struct mt_native_frame mt_valgrind_frame(char *text, uint64_t *address)
{
    struct mt_native_frame f = {
        .name = text = take_address(text, address), .object = "", .file = ""};
    char *place = find_place(text);
    if (!place)
        return f;
    size_t n = strlen(place);
    place[n - 1] = '\0';
    if (strncmp(place, " (in ", 5) == 0)
        f.object = strcmp(place + 5, "???") == 0 ? "" : place + 5;
    else if (!take_line(place + 2, &f)) {
        place[n - 1] = ')'; /* parameters */
        return f;
    }
    *place = '\0';
    return f;
}

size_t mt_valgrind_calls(const struct mt_native_step *stack, const uint64_t *addresses, size_t n)
{
    size_t calls = 0, first = 0; /* of the frames of one address, which comes again in recursion */
    for (size_t i = 0; i < n; i++)
        if (!i || !addresses[i] || addresses[i] != addresses[first] ||
            stack[i].frame == stack[first].frame) {
            first = i;
            calls++;
        }
    return calls;
}
