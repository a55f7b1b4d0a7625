#include "lib/base/utf8.h"

int mt_utf8_next(const char *s, uint32_t *cp)
{
    const unsigned char *u = (const unsigned char *)s;
    if (u[0] < 0x80) {
        *cp = u[0];
        return 1;
    }
    int n = u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
    if (u[0] < 0xc2 || u[0] > 0xf4)
        return 0;
    uint32_t v = u[0] & (0x7fu >> n);
    for (int i = 1; i < n; i++) {
        if ((u[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (u[i] & 0x3f);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (v < least[n] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
        return 0;
    *cp = v;
    return n;
}

bool mt_utf8_acts(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x061c || cp == 0x200e || cp == 0x200f ||
           (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069);
}

static void add_valid(struct mt_buf *to, const char *s, bool acts)
{
    while (*s) {
        uint32_t cp;
        int n = mt_utf8_next(s, &cp);
        if (!n)
            mt_buf_adds(to, "\xef\xbf\xbd");
        else if (!acts && mt_utf8_acts(cp))
            mt_buf_addc(to, ' ');
        else
            mt_buf_add(to, s, (size_t)n);
        s += n ? n : 1;
    }
}

void mt_utf8_clean(struct mt_buf *to, const char *s)
{
    add_valid(to, s, false);
}

void mt_utf8_mend(struct mt_buf *to, const char *s)
{
    add_valid(to, s, true);
}
