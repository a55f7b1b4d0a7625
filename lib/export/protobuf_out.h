/*
 * protobuf_out.h - messages of protocol buffers, field by field.
 * Source: protobuf.dev/programming-guides/encoding.
 */
#ifndef MT_PROTOBUF_OUT_H
#define MT_PROTOBUF_OUT_H

#include "lib/base/mem.h"

/* Appends a number: of its lowest 7 bits first; a negative one takes ten bytes. */
void mt_proto_put_number(struct mt_buf *to, int64_t v);
/* Appends a field that is a number; 0 is what is not there. */
void mt_proto_put_int(struct mt_buf *to, int field, int64_t v);
/* The same, but 0 is a value. */
void mt_proto_put_value(struct mt_buf *to, int field, int64_t v);
/* Appends a field that is n bytes: a text, a message, packed numbers. */
void mt_proto_put_bytes(struct mt_buf *to, int field, const char *s, size_t n);

#endif
