/*
 * xml.h - an XML input as a stream of elements, taken apart by libexpat. Nothing is kept of it but
 * the text of the innermost element.
 */
#ifndef MT_XML_H
#define MT_XML_H

#include "lib/base/mem.h"
#include "lib/input/stream.h"

struct mt_xml {
    struct mt_stream *in;
    /* An element begins, ends; text is what stood in it behind the last element in it, at most 64
     * KiB. Any status but MT_OK, with err filled, ends the reading. */
    enum mt_status (*begin)(void *closure, const char *name, struct mt_err *err);
    enum mt_status (*end)(void *closure, const char *name, const char *text, struct mt_err *err);
    void *closure;
    void (*progress)(void *closure); /* called now and then, may be NULL */
    void *progress_closure;
    uint64_t offset; /* byte of the input that is being read, for errors and notes */
    bool cut;        /* the input ended before its XML did */
};

/*
 * Reads all of it. Errors: those of the functions; MT_EIO; MT_EINPUT: no XML, elements in each
 * other more than 64 deep, or a document type (a few bytes of which can stand for a whole disk),
 * at err->offset.
 */
enum mt_status mt_xml_read(struct mt_xml *x, struct mt_err *err);

#endif
