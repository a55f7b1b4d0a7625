#include "cmd/opts.h"

#include "lib/base/human.h"
#include "lib/render/render.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef MT_VEC(const struct mt_opt *) opt_list;

struct parser {
    const struct mt_cmd *cmd;
    opt_list all;     /* the command's own, then the common ones */
    opt_list useless; /* common ones it is without */
    opt_list given;   /* those that have their one value */
    int argc, next;   /* next: first argument not looked at yet */
    char **argv;
    bool help; /* the flag `help` was given */
    struct mt_err *err;
};

static void add_format(struct mt_buf *list, const char *name)
{
    mt_buf_addf(list, "%s%s", list->n ? ", " : "", name);
}

const char *mt_formats_of(const struct mt_cmd *cmd)
{
    static struct mt_buf list;
    if (cmd->formats)
        return cmd->formats;
    mt_buf_clear(&list);
    for (size_t i = 0; i < MT_FORMAT_N; i++)
        if (mt_output_formats[i].write && !mt_output_formats[i].rows_alone)
            add_format(&list, mt_output_formats[i].name);
    if (cmd->more_formats)
        add_format(&list, cmd->more_formats);
    return list.s;
}

bool mt_has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; p && *p; p += strspn(p, ", ")) {
        size_t found = strcspn(p, ", ");
        if (found == n && strncmp(p, word, n) == 0)
            return true;
        p += found;
    }
    return false;
}

bool mt_cmd_takes(const struct mt_cmd *cmd, const char *common)
{
    return !mt_has_word(cmd->without, common);
}

static void collect(struct parser *p, const struct mt_opt *own, const struct mt_opt *common)
{
    for (; own && own->name; own++)
        *mt_vec_push(&p->all) = own;
    for (; common && common->name; common++)
        *mt_vec_push(mt_cmd_takes(p->cmd, common->name) ? &p->all : &p->useless) = common;
}

/* An option that other commands have. */
static enum mt_status refuse_useless(struct parser *p, const struct mt_opt *opt)
{
    MT_FAIL(p->err, MT_EUSAGE, "%s does not take --%s", p->cmd->name, opt->name);
    mt_err_hint(p->err, "Nothing was done. Leave it out.");
    return MT_EUSAGE;
}

static enum mt_status unknown_option(struct parser *p, const char *shown, const char *name)
{
    const char **names = mt_alloc((p->all.n + 1) * sizeof *names);
    for (size_t i = 0; i < p->all.n; i++)
        names[i] = p->all.v[i]->name;
    size_t near[MT_NEAREST_MAX];
    size_t found = mt_nearest_of(name, names, p->all.n, near);
    MT_FAIL(p->err, MT_EUSAGE, "unknown option %s", shown);
    struct mt_buf hint = {0};
    for (size_t i = 0; i < found; i++)
        mt_buf_addf(&hint, "%s--%s", i > 0 ? ", " : "Did you mean ", names[near[i]]);
    if (found)
        mt_err_hint(p->err, "%s? All options: memtool help %s", hint.s, p->cmd->name);
    mt_buf_free(&hint);
    free(names);
    return p->err->code;
}

/* The option of that long name or unique prefix. */
static enum mt_status find_long(struct parser *p, const char *name, const struct mt_opt **found)
{
    size_t length = strlen(name), prefixed = 0;
    struct mt_buf list = {0};
    for (size_t i = 0; i < p->all.n; i++) {
        const struct mt_opt *opt = p->all.v[i];
        bool exact = strcmp(opt->name, name) == 0;
        if (!exact && (length == 0 || strncmp(opt->name, name, length) != 0))
            continue;
        *found = opt;
        mt_buf_addf(&list, "%s--%s", prefixed++ > 0 ? ", " : "", opt->name);
        if (exact) {
            prefixed = 1;
            break;
        }
    }
    if (prefixed > 1)
        MT_FAIL(p->err, MT_EUSAGE, "option --%s is ambiguous: %s", name, list.s);
    mt_buf_free(&list);
    if (prefixed > 0)
        return p->err->code;
    for (size_t i = 0; i < p->useless.n; i++)
        if (strcmp(p->useless.v[i]->name, name) == 0)
            return refuse_useless(p, p->useless.v[i]);
    struct mt_buf shown = {0};
    mt_buf_addf(&shown, "--%s", name);
    unknown_option(p, shown.s, name);
    mt_buf_free(&shown);
    return p->err->code;
}

static enum mt_status set_int(struct parser *p, const struct mt_opt *opt, const char *value)
{
    char *end = NULL;
    errno = 0;
    long long n = strtoll(value, &end, 10);
    if (!isdigit((unsigned char)value[0]) || *end || errno != 0)
        return MT_FAIL(p->err, MT_EUSAGE, "--%s takes a whole number, not \"%s\"", opt->name,
                       value);
    *(int64_t *)opt->value = n;
    return MT_OK;
}

static enum mt_status set_size(struct parser *p, const struct mt_opt *opt, const char *value)
{
    int64_t bytes;
    if (mt_parse_size(value, &bytes) && bytes >= 0) {
        *(int64_t *)opt->value = bytes;
        return MT_OK;
    }
    return MT_FAIL(p->err, MT_EUSAGE, "--%s takes a size like 512, 64KiB or 1.5GiB, not \"%s\"",
                   opt->name, value);
}

/* Mostly a variable of a script that is not set: no database is called "", and no group. */
static enum mt_status refuse_empty(struct parser *p, const struct mt_opt *opt)
{
    MT_FAIL(p->err, MT_EUSAGE, "--%s has an empty %s", opt->name, opt->arg);
    mt_err_hint(p->err,
                "Nothing was done. Is a variable not set? Leave --%s out, or give it a value. "
                "All options: memtool help %s",
                opt->name, p->cmd->name);
    return MT_EUSAGE;
}

/* Of two values one would be dropped unheard, and with it a rule, a device, a group. */
static enum mt_status refuse_repeat(struct parser *p, const struct mt_opt *opt)
{
    if (opt->kind == MT_OPT_FLAG || opt->kind == MT_OPT_LIST)
        return MT_OK;
    for (size_t i = 0; i < p->given.n; i++)
        if (p->given.v[i] == opt) {
            MT_FAIL(p->err, MT_EUSAGE, "--%s is given twice", opt->name);
            mt_err_hint(p->err,
                        "Nothing was done. It takes one value: leave the other out. All options: "
                        "memtool help %s",
                        p->cmd->name);
            return MT_EUSAGE;
        }
    *mt_vec_push(&p->given) = opt;
    return MT_OK;
}

/* Stores a value; NULL for a flag, or an optional value that is left out. */
static enum mt_status set(struct parser *p, const struct mt_opt *opt, const char *value)
{
    bool text = opt->kind == MT_OPT_STRING || opt->kind == MT_OPT_LIST;
    if ((text || opt->kind == MT_OPT_OPTIONAL) && value && !*value)
        return refuse_empty(p, opt);
    MT_TRY(refuse_repeat(p, opt));
    switch (opt->kind) {
    case MT_OPT_FLAG:
        *(bool *)opt->value = true;
        p->help |= strcmp(opt->name, "help") == 0;
        return MT_OK;
    case MT_OPT_INT:
        return set_int(p, opt, value);
    case MT_OPT_SIZE:
        return set_size(p, opt, value);
    case MT_OPT_LIST:
        *mt_vec_push((struct mt_strings *)opt->value) = value;
        return MT_OK;
    case MT_OPT_STRING:
    case MT_OPT_TEXT:
    case MT_OPT_OPTIONAL:
        break;
    }
    *(const char **)opt->value = value ? value : "";
    return MT_OK;
}

static bool takes_value(const struct mt_opt *opt)
{
    return opt->kind != MT_OPT_FLAG && opt->kind != MT_OPT_OPTIONAL;
}

/* Takes the next argument as the value; one that looks like an option was meant as such. */
static enum mt_status set_from_next(struct parser *p, const struct mt_opt *opt)
{
    const char *value = p->next < p->argc ? p->argv[p->next] : NULL;
    if (value && value[0] == '-' && value[1] && !isdigit((unsigned char)value[1])) {
        MT_FAIL(p->err, MT_EUSAGE, "--%s needs a value: --%s %s", opt->name, opt->name, opt->arg);
        mt_err_hint(p->err, "If \"%s\" is the value, write --%s=%s. All options: memtool help %s",
                    value, opt->name, value, p->cmd->name);
        return p->err->code;
    }
    if (!value)
        return MT_FAIL(p->err, MT_EUSAGE, "--%s needs a value: --%s %s", opt->name, opt->name,
                       opt->arg);
    p->next++;
    return set(p, opt, value);
}

static enum mt_status parse_long(struct parser *p, const char *text)
{
    const struct mt_opt *opt = NULL;
    const char *equals = strchr(text, '=');
    char *name = mt_strndup(text, equals ? (size_t)(equals - text) : strlen(text));
    enum mt_status st = find_long(p, name, &opt);
    free(name);
    if (st != MT_OK)
        return st;
    if (equals && opt->kind == MT_OPT_FLAG)
        return MT_FAIL(p->err, MT_EUSAGE, "--%s takes no value", opt->name);
    if (equals)
        return set(p, opt, equals + 1);
    return takes_value(opt) ? set_from_next(p, opt) : set(p, opt, NULL);
}

/* A cluster of letters: flags, then perhaps one option whose value is the rest or what follows. */
static enum mt_status parse_letters(struct parser *p, const char *letters)
{
    for (const char *at = letters; *at; at++) {
        const struct mt_opt *opt = NULL;
        for (size_t i = 0; i < p->all.n && !opt; i++)
            opt = p->all.v[i]->letter == *at ? p->all.v[i] : NULL;
        for (size_t i = 0; i < p->useless.n && !opt; i++)
            if (p->useless.v[i]->letter == *at)
                return refuse_useless(p, p->useless.v[i]);
        if (!opt) {
            const char shown[] = {'-', *at, '\0'};
            return unknown_option(p, at == letters && at[1] ? letters - 1 : shown, at);
        }
        if (takes_value(opt))
            return at[1] ? set(p, opt, at + 1) : set_from_next(p, opt);
        if (opt->kind == MT_OPT_OPTIONAL)
            return set(p, opt, at[1] ? at + 1 : NULL);
        MT_TRY(set(p, opt, NULL));
    }
    return MT_OK;
}

static enum mt_status check_count(struct parser *p, const struct mt_args *args)
{
    const struct mt_cmd *cmd = p->cmd;
    if (p->help)
        return MT_OK;
    if (args->n > cmd->args_max)
        return MT_FAIL(p->err, MT_EUSAGE, "unexpected argument \"%s\": memtool %s%s%s",
                       args->v[cmd->args_max], cmd->name, *cmd->usage ? " " : "", cmd->usage);
    if (args->n < cmd->args_min)
        return MT_FAIL(p->err, MT_EUSAGE, "an argument is missing: memtool %s %s", cmd->name,
                       cmd->usage);
    return MT_OK;
}

static enum mt_status parse_all(struct parser *p, struct mt_args *args)
{
    bool options = true;
    while (p->next < p->argc) {
        const char *text = p->argv[p->next++];
        if (!options || text[0] != '-' || !text[1]) {
            args->v[args->n++] = text;
            options &= !p->cmd->runs_command;
        } else if (strcmp(text, "--") == 0)
            options = false;
        else if (text[1] == '-')
            MT_TRY(parse_long(p, text + 2));
        else
            MT_TRY(parse_letters(p, text + 1));
    }
    return check_count(p, args);
}

enum mt_status mt_opts_parse(const struct mt_cmd *cmd, const struct mt_opt *common, int argc,
                             char **argv, struct mt_args *args, struct mt_err *err)
{
    struct parser p = {.cmd = cmd, .argc = argc, .argv = argv, .next = 1, .err = err};
    collect(&p, cmd->opts, common);
    *args = (struct mt_args){.v = mt_alloc((size_t)(argc + 1) * sizeof *args->v)};
    enum mt_status st = parse_all(&p, args);
    if (st != MT_OK) {
        mt_err_hint(err, "Usage and options: memtool help %s", cmd->name);
        free(args->v);
        *args = (struct mt_args){0};
    }
    mt_vec_free(&p.all);
    mt_vec_free(&p.useless);
    mt_vec_free(&p.given);
    return st;
}

/* Whether the value of options that are spelled so is the next argument. */
static bool value_follows(const struct mt_opt *common, const char *text)
{
    bool words = text[1] == '-';
    size_t n = strlen(text);
    for (const char *at = text + 1; *at && !words; at++)
        for (const struct mt_opt *o = common; o->name; o++)
            if (o->letter == *at && takes_value(o))
                return !at[1];
    for (const struct mt_opt *o = common; o->name && words && n > 2; o++)
        if (strncmp(o->name, text + 2, n - 2) == 0 && takes_value(o))
            return true;
    return false;
}

int mt_opts_leading(const struct mt_opt *common, int argc, char **argv)
{
    int n = 0;
    while (n < argc && argv[n][0] == '-' && argv[n][1])
        n += value_follows(common, argv[n]) ? 2 : 1;
    return n < argc ? n : argc;
}

bool mt_opts_known(const struct mt_opt *common, const char *text, struct mt_err *err)
{
    bool words = text[1] == '-';
    char spelled[64][32] = {"--version"}; /* as it is written */
    const char *names[64] = {spelled[0]};
    size_t n = 1, length = strcspn(text, "=");
    for (const struct mt_opt *o = common; o->name && n < MT_ARRAY_LEN(names); o++) {
        if (words ? strncmp(o->name, text + 2, length - 2) == 0 : o->letter == text[1])
            return true;
        snprintf(spelled[n], sizeof spelled[n], "--%s", o->name);
        names[n] = spelled[n];
        n++;
    }
    char *name = mt_strndup(text, length);
    struct mt_buf near = {0};
    MT_FAIL(err, MT_EUSAGE, "unknown option %s", text);
    if (words)
        mt_did_you_mean(name, names, n, &near);
    mt_err_hint(err, "%s`memtool help` lists the commands, memtool help COMMAND its options.",
                near.n ? near.s : "");
    mt_buf_free(&near);
    free(name);
    return false;
}

static const char *complaint(const struct mt_opt *opts, const struct mt_opt *opt)
{
    bool wants_arg = opt->kind != MT_OPT_FLAG;
    size_t good = strspn(opt->name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    if (good == 0 || opt->name[good] || opt->name[0] == '-')
        return "name is not lower case letters, digits and dashes";
    if (opt->letter && !isalnum((unsigned char)opt->letter))
        return "letter is no letter or digit";
    if (!opt->value)
        return "nowhere to put the value";
    if (!opt->help || !*opt->help)
        return "no help";
    if (strchr(opt->help, '\n'))
        return "help of more than one line";
    if (wants_arg != (opt->arg && *opt->arg))
        return wants_arg ? "no placeholder" : "a placeholder, but takes no value";
    for (; opts < opt; opts++) {
        if (strcmp(opts->name, opt->name) == 0)
            return "name is taken";
        if (opt->letter && opts->letter == opt->letter)
            return "letter is taken";
    }
    return NULL;
}

const char *mt_opts_check(const struct mt_opt *opts)
{
    static char text[128];
    for (const struct mt_opt *opt = opts; opt && opt->name; opt++) {
        const char *what = complaint(opts, opt);
        if (what) {
            snprintf(text, sizeof text, "--%s: %s", opt->name, what);
            return text;
        }
    }
    return NULL;
}

size_t mt_opt_size(const struct mt_opt *opt)
{
    switch (opt->kind) {
    case MT_OPT_FLAG:
        return sizeof(bool);
    case MT_OPT_INT:
    case MT_OPT_SIZE:
        return sizeof(int64_t);
    case MT_OPT_LIST:
        return sizeof(struct mt_strings);
    case MT_OPT_STRING:
    case MT_OPT_TEXT:
    case MT_OPT_OPTIONAL:
        break;
    }
    return sizeof(const char *);
}
