#include "cmd/capture.h"

#include "cmd/opts.h"
#include <string.h>

/* Copies the values of options to kept (save), or back. */
static void move_options(const struct mt_opt *opts, struct mt_buf *kept, bool save)
{
    size_t at = 0;
    for (const struct mt_opt *opt = opts; opt && opt->name; opt++) {
        size_t n = mt_opt_size(opt);
        if (save)
            mt_buf_add(kept, opt->value, n);
        else
            memcpy(opt->value, kept->s + at, n);
        at += n;
    }
}

enum { WORDS_MOST = 24 };

/* The words of the line, those of its arguments behind "--". `text` holds the former. */
static int words_of(char *text, const struct mt_args *args, char *words[WORDS_MOST])
{
    int n = 0;
    char *rest = NULL;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[n++] = word;
    words[n++] = "--";
    for (size_t i = 0; i < args->n && n < WORDS_MOST; i++)
        words[n++] = (char *)args->v[i];
    return n;
}

enum mt_status mt_capture(const char *line, const struct mt_args *args, const struct mt_taker *to,
                          int *code, struct mt_err *err)
{
    char *text = mt_strdup(line), *words[WORDS_MOST];
    int n = words_of(text, args, words);
    const struct mt_cmd *cmd = mt_cmd_find(words[0], err);
    const struct mt_common common = mt_common;
    struct mt_args parsed = {0};
    struct mt_buf kept = {0};
    if (!cmd) {
        free(text);
        return err->code;
    }
    move_options(cmd->opts, &kept, true);
    mt_common.format = "markdown"; /* for people, of any width */
    mt_common.output = NULL;
    enum mt_status st = mt_opts_parse(cmd, mt_common_opts, n, words, &parsed, err);
    mt_show_to(to);
    if (st == MT_OK)
        st = cmd->run(&parsed, code, err);
    mt_show_to(NULL);
    mt_common = common;
    move_options(cmd->opts, &kept, false);
    free(parsed.v);
    free(text);
    mt_buf_free(&kept);
    return st;
}
