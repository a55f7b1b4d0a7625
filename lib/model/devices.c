#include "lib/model/devices.h"

#include "lib/base/mem.h"
#include <stdio.h>
#include <string.h>

bool mt_device_is(const char *own, const char *asked, bool whole)
{
    size_t n = asked ? strlen(asked) : 0;
    return !asked || (strncmp(own, asked, n) == 0 && own[n] == (whole ? '\0' : ':'));
}

void mt_device_name(int type, int index, char out[32])
{
    static const char *const names[] = {[0] = "cpu",
                                        [1] = "cuda",
                                        [2] = "mkldnn",
                                        [5] = "ideep",
                                        [6] = "hip",
                                        [9] = "xla",
                                        [12] = "xpu",
                                        [13] = "mps",
                                        [14] = "meta",
                                        [15] = "hpu",
                                        [19] = "mtia",
                                        [20] = "privateuse1",
                                        [MT_DEVICE_HOST] = "host",
                                        [MT_DEVICE_NPU] = "npu",
                                        [MT_DEVICE_MLU] = "mlu",
                                        [MT_DEVICE_MUSA] = "musa",
                                        [MT_DEVICE_HEAP] = "heap",
                                        [MT_DEVICE_PROCESS] = "process",
                                        [MT_DEVICE_UNNAMED] = "device"};
    const char *name = type >= 0 && type < (int)MT_ARRAY_LEN(names) ? names[type] : NULL;
    char number[16];
    if (!name) {
        snprintf(number, sizeof number, "type%d", type);
        name = number;
    }
    if (index < 0 || type == 0)
        snprintf(out, 32, "%s", name);
    else
        snprintf(out, 32, "%s:%d", name, index);
}
