#include "cmd/cmd.h"
#include "cmd/common.h"
#include <locale.h>
#include <signal.h>

int main(int argc, char **argv)
{
    struct mt_err err = MT_ERR_INIT;
    int code = 0;
    setlocale(LC_CTYPE, "");
    /* A write that cannot be done is an error with a message, not a silent end. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (mt_dispatch(argc, argv, &code, &err) == MT_OK)
        return code;
    mt_print_error(&err);
    return err.code == MT_EINTERRUPT ? 130 : 2;
}
