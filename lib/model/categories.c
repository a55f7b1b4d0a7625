#include "lib/model/categories.h"

const char *const mt_category_names[MT_CATEGORY_N] = {
    "[unknown]",       "parameter",  "optimizer state",         "input",
    "temporary",       "activation", "activation (recomputed)", "gradient",
    "autograd detail", "[unknown]",  "[before trace]"};

const uint8_t mt_category_of_rule[MT_CATEGORY_RULE_N] = {
    [MT_CATEGORY_NO_RULE] = MT_CATEGORY_NONE,
    [MT_CATEGORY_R1] = MT_CATEGORY_TEMPORARY,
    [MT_CATEGORY_R2] = MT_CATEGORY_OPTIMIZER_STATE,
    [MT_CATEGORY_R3] = MT_CATEGORY_TEMPORARY,
    [MT_CATEGORY_R4] = MT_CATEGORY_RECOMPUTED,
    [MT_CATEGORY_R5] = MT_CATEGORY_GRADIENT,
    [MT_CATEGORY_R5B] = MT_CATEGORY_GRADIENT,
    [MT_CATEGORY_R6] = MT_CATEGORY_AUTOGRAD_DETAIL,
    [MT_CATEGORY_R7] = MT_CATEGORY_PARAMETER,
    [MT_CATEGORY_R8] = MT_CATEGORY_PARAMETER,
    [MT_CATEGORY_R9] = MT_CATEGORY_INPUT,
    [MT_CATEGORY_R10] = MT_CATEGORY_ACTIVATION,
    [MT_CATEGORY_R10_GRAPH] = MT_CATEGORY_ACTIVATION,
    [MT_CATEGORY_R10_PROGRAM] = MT_CATEGORY_ACTIVATION,
    [MT_CATEGORY_R11] = MT_CATEGORY_UNKNOWN,
    [MT_CATEGORY_R12] = MT_CATEGORY_UNKNOWN,
    [MT_CATEGORY_R10_NO_GRAPH] = MT_CATEGORY_ACTIVATION};
