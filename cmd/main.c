#include "cmd/cmd.h"
#include "cmd/common.h"
#include "cmd/signals.h"
#include <locale.h>

int main(int argc, char **argv)
{
    struct mt_err err = MT_ERR_INIT;
    int code = 0;
    setlocale(LC_CTYPE, "");
    mt_signals_begin();
    if (mt_dispatch(argc, argv, &code, &err) == MT_OK)
        return code;
    mt_print_error(&err);
    if (err.cannot_tell && code)
        return code;
    return err.code == MT_EINTERRUPT ? 130 : 2;
}
