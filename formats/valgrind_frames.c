#include "formats/valgrind_frames.h"

#include <ctype.h>
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

struct mt_native_frame mt_valgrind_frame(char *text)
{
    struct mt_native_frame f = {.name = text, .object = "", .file = ""};
    if (strncmp(text, "0x", 2) == 0) {
        char *colon = strstr(text, ": ");
        if (colon && colon == text + 2 + strspn(text + 2, "0123456789abcdefABCDEF"))
            f.name = text = colon + 2;
    }
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
