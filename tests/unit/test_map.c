/* lib/base/map.c: keys that come and go, against an array of what each should have. */
#include "lib/base/map.h"
#include "lib/base/mem.h"
#include "tests/unit/rows.h"

static const struct kind {
    const char *name;
    bool near;
    uint64_t apart; /* between keys */
    uint64_t first;
} kinds[] = {
    {"numbers", false, 1, 0},
    {"addresses", true, 16, 0x55e0bcb43570},
    {"addresses that are close", true, 1, 0x7ffffffffff1},
    {"addresses that are far apart", true, UINT64_C(1) << 40, 3},
    {"addresses of pages", true, 4096, 0x7f0000001000},
    {"addresses up to the last", true, 128, UINT64_MAX - 128 * 5000},
};

static void come_and_go(void **state)
{
    enum { KEYS = 5000, ROUNDS = 200000 };
    const struct kind *k = *state;
    struct mt_map m = {.near = k->near};
    uint32_t *model = mt_alloc(KEYS * sizeof *model), n = 0;
    unsigned random = 1;
    for (int i = 0; i < KEYS; i++)
        model[i] = MT_MAP_NONE;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        random = random * 1103515245u + 12345u;
        unsigned which = (random >> 8) % KEYS;
        uint64_t key = k->first + which * k->apart;
        assert_int_equal(mt_map_get(&m, key), model[which]);
        n -= model[which] != MT_MAP_NONE;
        if (random >> 28 & 1) {
            struct mt_map_slot was = mt_map_slot_take(&m, key);
            assert_int_equal(was.value, model[which]);
            if (was.value != MT_MAP_NONE)
                assert_int_equal(was.beside, ~was.value);
            model[which] = MT_MAP_NONE;
        } else {
            struct mt_map_slot *slot = mt_map_slot_at(&m, key);
            slot->value = model[which] = i;
            slot->beside = ~i;
            n++;
        }
        assert_int_equal(m.n, n);
    }
    for (unsigned i = 0; i < KEYS; i++)
        assert_int_equal(mt_map_get(&m, k->first + i * k->apart), model[i]);
    mt_map_free(&m);
    free(model);
}

int main(void)
{
    struct row_tests t = {0};
    ROWS_ADD(&t, come_and_go, kinds);
    return ROWS_RUN(&t, "map");
}
