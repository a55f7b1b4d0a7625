#include "lib/input/xml.h"

#include <expat.h>

/* A tag or comment that does not end is looked at again with each window: of a long one the parser
 * would make hours. */
enum { WINDOW = 1 << 16, DEPTH_MAX = 64, TEXT_MAX = 1 << 16, QUIET_MAX = 1 << 20 };

struct reading {
    struct mt_xml *x;
    XML_Parser parser;
    struct mt_err *err;
    enum mt_status st;
    struct mt_buf text;
    int depth;
    size_t quiet; /* bytes since something whole was found in them */
};

/* The parser may still say that an element ends whose begin has stopped it. */
static void stop(struct reading *r, enum mt_status st)
{
    r->st = r->st == MT_OK ? st : r->st;
    if (st != MT_OK)
        XML_StopParser(r->parser, XML_FALSE);
}

static void begin(void *closure, const char *name, const char **attributes)
{
    struct reading *r = closure;
    (void)attributes;
    r->quiet = 0;
    mt_buf_clear(&r->text);
    r->x->offset = (uint64_t)XML_GetCurrentByteIndex(r->parser);
    if (++r->depth > DEPTH_MAX)
        stop(r,
             MT_FAIL(r->err, MT_EINPUT, "elements lie in each other more than %d deep", DEPTH_MAX));
    else
        stop(r, r->x->begin(r->x->closure, name, r->err));
}

static void end(void *closure, const char *name)
{
    struct reading *r = closure;
    r->quiet = 0;
    r->depth--;
    if (r->st != MT_OK)
        return;
    r->x->offset = (uint64_t)XML_GetCurrentByteIndex(r->parser);
    stop(r, r->x->end(r->x->closure, name, r->text.s ? r->text.s : "", r->err));
    mt_buf_clear(&r->text);
}

static void text(void *closure, const char *s, int n)
{
    struct reading *r = closure;
    size_t fits = TEXT_MAX - r->text.n;
    r->quiet = 0;
    mt_buf_add(&r->text, s, (size_t)n < fits ? (size_t)n : fits);
}

/* A comment, blanks outside the root, and what else is nothing to us. */
static void rest(void *closure, const char *s, int n)
{
    struct reading *r = closure;
    (void)s, (void)n;
    r->quiet = 0;
}

static void no_doctype(void *closure, const char *name, const char *id, const char *public, int has)
{
    struct reading *r = closure;
    (void)name, (void)id, (void)public, (void)has;
    stop(r, MT_FAIL(r->err, MT_EINPUT, "it declares a document type"));
}

static enum mt_status parse(struct reading *r)
{
    struct mt_xml *x = r->x;
    const char *p;
    size_t n;
    do {
        MT_TRY(mt_stream_peek(x->in, 1, &p, &n, r->err));
        n = n < WINDOW ? n : WINDOW;
        enum XML_Status ok = XML_Parse(r->parser, p, (int)n, n == 0);
        r->quiet += n;
        if (r->st == MT_OK && ok == XML_STATUS_OK && r->quiet > QUIET_MAX)
            r->st =
                MT_FAIL(r->err, MT_EINPUT, "it is no XML: a tag or comment is longer than 1 MiB");
        if (r->st == MT_OK && ok != XML_STATUS_OK) {
            x->cut = n == 0;
            r->st = MT_FAIL(r->err, MT_EINPUT,
                            x->cut ? "ends early: the file was cut off" : "it is no XML: %s",
                            XML_ErrorString(XML_GetErrorCode(r->parser)));
        }
        if (r->st != MT_OK) {
            x->offset = (uint64_t)XML_GetCurrentByteIndex(r->parser);
            return r->st;
        }
        mt_stream_consume(x->in, n);
        if (x->progress)
            x->progress(x->progress_closure);
    } while (n);
    return MT_OK;
}

enum mt_status mt_xml_read(struct mt_xml *x, struct mt_err *err)
{
    struct reading r = {.x = x, .parser = XML_ParserCreate(NULL), .err = err};
    if (!r.parser)
        return MT_FAIL(err, MT_ELIMIT, "no memory to read XML");
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, begin, end);
    XML_SetCharacterDataHandler(r.parser, text);
    XML_SetDefaultHandler(r.parser, rest);
    XML_SetStartDoctypeDeclHandler(r.parser, no_doctype);
    enum mt_status st = parse(&r);
    if (st == MT_EINPUT && err->offset < 0)
        err->offset = (int64_t)x->offset;
    XML_ParserFree(r.parser);
    mt_buf_free(&r.text);
    return st;
}
