#include "lib/export/protobuf_out.h"

enum { VARINT = 0, LENGTH = 2 };

void mt_proto_put_number(struct mt_buf *to, int64_t v)
{
    uint64_t rest = (uint64_t)v;
    for (; rest > 0x7f; rest >>= 7)
        mt_buf_addc(to, (char)(rest | 0x80));
    mt_buf_addc(to, (char)rest);
}

void mt_proto_put_value(struct mt_buf *to, int field, int64_t v)
{
    mt_proto_put_number(to, field << 3 | VARINT);
    mt_proto_put_number(to, v);
}

void mt_proto_put_int(struct mt_buf *to, int field, int64_t v)
{
    if (v)
        mt_proto_put_value(to, field, v);
}

void mt_proto_put_bytes(struct mt_buf *to, int field, const char *s, size_t n)
{
    mt_proto_put_number(to, field << 3 | LENGTH);
    mt_proto_put_number(to, (int64_t)n);
    mt_buf_add(to, s, n);
}
