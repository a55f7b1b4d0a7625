#include "cmd/complete.h"

#include "cmd/common.h"
#include "cmd/glossary.h"
#include "cmd/opts.h"
#include "cmd/view.h"
#include "gen/queries.h"
#include "lib/base/human.h"
#include "lib/model/label_text.h"
#include "lib/run/group_keys.h"
#include <stdlib.h>
#include <string.h>

/* What can stand somewhere. */
enum what {
    FILES = 1,
    RUNS = 2,
    GROUPS = 4,
    DEVICES = 8,
    COMMANDS = 16,
    FORMATS = 32,
    SEVERAL = 64, /* with commas between them */
};

/* By the placeholder of an option or of an argument; the first row that fits holds. */
static const struct place {
    const char *command, *option; /* NULL: any */
    const char *arg;
    unsigned what;
    const char *words; /* NULL: none */
} places[] = {
    {"runs", NULL, "RUN", RUNS, NULL},
    {NULL, "group", "NAME", GROUPS, NULL},
    {NULL, "set-group", "NAME", GROUPS, NULL},
    {NULL, "from", "TIME", 0, "@start"},
    {NULL, "to", "TIME", 0, "@end"},
    {NULL, NULL, "TIME", 0, "@start @end @peak"},
    {NULL, NULL, "RUN", RUNS | FILES, NULL},
    {NULL, NULL, "BASE", RUNS | FILES, NULL},
    {NULL, NULL, "RUN|FILE", RUNS | FILES, NULL},
    {NULL, NULL, "FILE", FILES, NULL},
    {NULL, NULL, "FILE|FOLDER|-", FILES, NULL},
    {NULL, NULL, "RUN|GROUP", RUNS | GROUPS | FILES, NULL},
    {NULL, NULL, "SQL|FILE.sql|-", FILES, NULL},
    {NULL, NULL, "COMMAND", COMMANDS, NULL},
    {NULL, NULL, "SHELL", 0, "bash zsh fish"},
    {NULL, NULL, "D", DEVICES, NULL},
    {NULL, NULL, "F", FORMATS, NULL},
    {NULL, NULL, "KEYS", SEVERAL, NULL},
    {NULL, NULL, "LIST", SEVERAL, NULL},
};

/* A command line up to its last word. */
struct line {
    const struct mt_cmd *cmd; /* NULL: none yet */
    bool unknown;             /* there is no such command */
    bool ended;               /* "--" was there, or a command to run */
    const struct mt_opt *opt; /* the last word is its value */
    size_t arg_n;             /* words that are no options, behind the command */
    MT_VEC(const struct mt_opt *) given;
};

static void add(struct mt_candidates *out, const char *before, const char *text, size_t n,
                const char *meaning)
{
    *mt_vec_push(&out->v) = (struct mt_candidate){
        .text = mt_asprintf("%s%.*s", before, (int)n, text), .meaning = meaning};
}

/* What the command's help says of that word; "": nothing. */
static const char *meaning_of(const struct mt_cmd *cmd, const char *word, size_t n)
{
    for (const struct mt_glossary *words = cmd->words; words && words->title; words++)
        for (const struct mt_glossary_entry *w = words->all; w->word; w++)
            if (strlen(w->word) == n && memcmp(w->word, word, n) == 0)
                return w->meaning;
    return "";
}

/* The words of a text, which has blanks or commas between them. */
static void add_words(struct mt_candidates *out, const struct mt_cmd *cmd, const char *before,
                      const char *words)
{
    for (const char *p = words + strspn(words, ", "); *p; p += strspn(p, ", ")) {
        size_t n = strcspn(p, ", ");
        add(out, before, p, n, meaning_of(cmd, p, n));
        p += n;
    }
}

static bool is_harmless(const char *name)
{
    struct mt_buf shown = {0};
    mt_escape_terminal(&shown, name);
    bool same = *name && *name != '-' && strcmp(shown.s, name) == 0;
    mt_buf_free(&shown);
    return same;
}

/* What names are added as. */
struct names {
    struct mt_candidates *out;
    const char *before, *meaning;
};

static void add_name(const struct names *as, const char *name)
{
    if (is_harmless(name))
        add(as->out, as->before, name, strlen(name), as->meaning);
}

/* The keys of a text of labels, each once. */
static void add_keys(const struct names *as, const char *labels)
{
    struct mt_buf key = {0}, value = {0};
    while (mt_label_next(&labels, &key, &value)) {
        bool known = strchr(key.s, ',') != NULL; /* which separates keys of --by */
        size_t before = strlen(as->before);
        for (size_t i = 0; i < as->out->v.n && !known; i++)
            known = strcmp(as->out->v.v[i].text + before, key.s) == 0;
        if (!known)
            add_name(as, key.s);
    }
    mt_buf_free(&key);
    mt_buf_free(&value);
}

/* The first column of a statement's rows, added so. */
static void add_rows(const struct names *as, int query,
                     void (*add_row)(const struct names *, const char *))
{
    struct mt_err err = MT_ERR_INIT;
    struct mt_db *db = NULL;
    struct mt_stmt *s;
    bool row = false;
    char *path = NULL; /* a database of an older memtool stays so: nobody has asked for anything */
    if (mt_db_path(mt_common.db, &path, &err) == MT_OK &&
        mt_db_open(path, MT_DB_READ, &db, NULL, &err) == MT_OK &&
        mt_db_query(db, query, &s, &err) == MT_OK)
        while (mt_stmt_step(s, &row, &err) == MT_OK && row)
            add_row(as, mt_stmt_text(s, 0));
    mt_db_close(db);
    free(path);
}

static void add_names(struct mt_candidates *out, const char *before, int query, const char *meaning)
{
    add_rows(&(struct names){out, before, meaning}, query, add_name);
}

static void add_commands(struct mt_candidates *out)
{
    for (size_t i = 0; mt_commands[i]; i++)
        add(out, "", mt_commands[i]->name, strlen(mt_commands[i]->name), mt_commands[i]->summary);
}

/* Names that stand for runs are many: they are shown to those who begin one. */
static void add_runs(struct mt_candidates *out, const char *before, const char *typed)
{
    static const char group[] = "baseline:";
    if (*typed == '@') {
        add_words(out, &mt_cmd_runs, before, "@latest @latest~1");
    } else if (strncmp(typed, group, sizeof group - 1) == 0) {
        char *longer = mt_asprintf("%s%s", before, group);
        add_names(out, longer, MT_Q_COMPLETION_GROUPS, "the latest run of the group");
        free(longer);
    } else
        add_names(out, before, MT_Q_COMPLETION_RUNS, "run");
}

static void add_place(struct mt_candidates *out, const struct mt_cmd *cmd, const char *before,
                      const char *typed, const struct place *place)
{
    unsigned what = place->what;
    if (what & RUNS)
        add_runs(out, before, typed);
    if (what & GROUPS)
        add_names(out, before, MT_Q_COMPLETION_GROUPS, "group");
    if (what & DEVICES)
        add_names(out, before, MT_Q_COMPLETION_DEVICES, "device");
    if (what & COMMANDS)
        add_commands(out);
    if (what & FORMATS)
        add_words(out, cmd, before, mt_formats_of(cmd));
    if (place->words)
        add_words(out, cmd, before, place->words);
    out->files |= (what & FILES) != 0;
}

static const struct place *place_of(const struct mt_cmd *cmd, const char *option, const char *arg,
                                    size_t n)
{
    static const struct place nowhere = {0};
    for (const struct place *p = places; p < places + MT_ARRAY_LEN(places); p++)
        if ((!p->command || strcmp(p->command, cmd->name) == 0) &&
            (!p->option || (option && strcmp(p->option, option) == 0)) && strlen(p->arg) == n &&
            memcmp(p->arg, arg, n) == 0)
            return p;
    return &nowhere;
}

static void add_values(struct mt_candidates *out, const struct mt_cmd *cmd,
                       const struct mt_opt *opt, const char *before)
{
    for (const struct mt_values *v = cmd->values; v && v->option; v++)
        if (strcmp(v->option, opt->name) == 0) {
            struct mt_buf words = {0};
            mt_buf_adds(&words, v->words ? v->words : "");
            if (v->add)
                v->add(&words);
            add_words(out, cmd, before, words.s);
            mt_buf_free(&words);
        }
    for (const struct mt_glossary *words = cmd->words; words && words->title; words++)
        for (const struct mt_glossary_entry *w = words->all; w->word; w++)
            if (words->option && strcmp(words->option, opt->name) == 0)
                add(out, before, w->word, strlen(w->word), w->meaning);
}

/* Keys of labels are shown to those who begin one. */
static void add_labels(struct mt_candidates *out, const char *before)
{
    char *longer = mt_asprintf("%s%s", before, MT_LABEL_KEY);
    add_rows(&(struct names){out, longer, "a label of some run"}, MT_Q_COMPLETION_LABELS, add_keys);
    free(longer);
}

/* The value of an option. before: what stands in front of it in the same word. */
static void complete_value(const struct mt_cmd *cmd, const struct mt_opt *opt, const char *before,
                           const char *typed, struct mt_candidates *out)
{
    const struct place *place = place_of(cmd, opt->name, opt->arg, strlen(opt->arg));
    const char *comma = place->what & SEVERAL ? strrchr(typed, ',') : NULL;
    const char *last = comma ? comma + 1 : typed;
    bool of_label = strncmp(last, MT_LABEL_KEY, strlen(MT_LABEL_KEY)) == 0;
    char *whole = mt_asprintf("%s%.*s", before, (int)(last - typed), typed);
    if (of_label && strcmp(opt->name, "by") == 0 && *meaning_of(cmd, "label", 5))
        add_labels(out, whole);
    else
        add_values(out, cmd, opt, whole);
    add_place(out, cmd, whole, typed, place);
    out->open = place->what & SEVERAL && out->v.n;
    free(whole);
}

static const struct mt_opt *option_at(const struct mt_cmd *cmd, size_t i)
{
    for (const struct mt_opt *o = cmd ? cmd->opts : NULL; o && o->name; o++)
        if (i-- == 0)
            return o;
    for (const struct mt_opt *o = mt_common_opts; o->name; o++)
        if ((!cmd || mt_cmd_takes(cmd, o->name)) && i-- == 0)
            return o;
    return NULL;
}

/* The option of a long name, or the only one that begins so. */
static const struct mt_opt *long_option(const struct mt_cmd *cmd, const char *name, size_t n)
{
    const struct mt_opt *found = NULL, *o;
    size_t found_n = 0;
    for (size_t i = 0; (o = option_at(cmd, i)); i++) {
        if (strncmp(o->name, name, n) != 0)
            continue;
        if (strlen(o->name) == n)
            return o;
        found = o;
        found_n++;
    }
    return found_n == 1 ? found : NULL;
}

static const struct mt_opt *short_option(const struct mt_cmd *cmd, char letter)
{
    const struct mt_opt *o = NULL;
    for (size_t i = 0; (o = option_at(cmd, i)) && o->letter != letter;)
        i++;
    return o;
}

static bool takes_value(const struct mt_opt *opt)
{
    return opt->kind != MT_OPT_FLAG && opt->kind != MT_OPT_OPTIONAL;
}

static void set_db(const struct mt_opt *opt, const char *value)
{
    const char *home = getenv("HOME");
    if (opt->value != &mt_common.db)
        return;
    bool at_home = strncmp(value, "~/", 2) == 0 && home;
    mt_common.db = at_home ? mt_asprintf("%s%s", home, value + 1) : value;
}

static void pass_option(struct line *l, const char *word)
{
    const char *equals = strchr(word, '=');
    const struct mt_opt *opt = NULL;
    if (word[1] == '-') {
        opt =
            long_option(l->cmd, word + 2, equals ? (size_t)(equals - word - 2) : strlen(word + 2));
        if (opt && equals)
            set_db(opt, equals + 1);
        else if (opt && takes_value(opt))
            l->opt = opt;
    } else
        for (const char *c = word + 1; *c && (opt = short_option(l->cmd, *c)); c++)
            if (takes_value(opt)) {
                if (c[1])
                    set_db(opt, c + 1);
                else
                    l->opt = opt;
                break;
            }
    if (opt)
        *mt_vec_push(&l->given) = opt;
}

static void pass_word(struct line *l, const char *word)
{
    if (l->opt) {
        set_db(l->opt, word);
        l->opt = NULL;
    } else if (!l->ended && strcmp(word, "--") == 0) {
        l->ended = true;
    } else if (!l->ended && word[0] == '-' && word[1]) {
        pass_option(l, word);
    } else if (l->cmd) {
        l->arg_n++;
        l->ended |= l->cmd->runs_command;
    } else {
        struct mt_err none = MT_ERR_INIT;
        l->cmd = mt_cmd_find(word, &none);
        l->unknown |= !l->cmd;
    }
}

static bool is_given(const struct line *l, const struct mt_opt *opt)
{
    for (size_t i = 0; i < l->given.n; i++)
        if (l->given.v[i] == opt && opt->kind != MT_OPT_LIST)
            return true;
    return false;
}

static void complete_option(const struct line *l, struct mt_candidates *out)
{
    const struct mt_opt *o;
    for (size_t i = 0; (o = option_at(l->cmd, i)); i++)
        if (!is_given(l, o)) {
            bool format = strcmp(o->name, "format") == 0 && l->cmd;
            add(out, "--", o->name, strlen(o->name), format ? mt_formats_of(l->cmd) : o->help);
        }
}

/* An argument of the command, by the placeholders of its usage. */
static void complete_argument(const struct line *l, const char *typed, struct mt_candidates *out)
{
    if (l->arg_n >= l->cmd->args_max)
        return;
    for (const char *p = l->cmd->usage; *p; p += strspn(p, " []")) {
        size_t n = strcspn(p, " []"), name_n = n;
        while (name_n && p[name_n - 1] == '.') /* "RUN..." */
            name_n--;
        const struct place *place = place_of(l->cmd, NULL, p, name_n);
        p += n;
        if (!place->arg)
            continue;
        add_place(out, l->cmd, "", typed, place);
        return;
    }
}

void mt_complete(const char *const *words, size_t n, struct mt_candidates *out)
{
    struct line l = {0};
    const char *typed = n ? words[n - 1] : "", *equals = strchr(typed, '=');
    static const struct mt_cmd none = {.name = ""};
    *out = (struct mt_candidates){0};
    for (size_t i = 1; i + 1 < n && !l.unknown; i++)
        pass_word(&l, words[i]);
    const struct mt_cmd *cmd = l.cmd ? l.cmd : &none;
    if (l.unknown) {
    } else if (l.opt) {
        complete_value(cmd, l.opt, "", typed, out);
    } else if (!l.ended && strncmp(typed, "--", 2) == 0 && equals) {
        const struct mt_opt *opt = long_option(l.cmd, typed + 2, (size_t)(equals - typed - 2));
        char *before = mt_strndup(typed, (size_t)(equals + 1 - typed));
        if (opt && opt->kind != MT_OPT_FLAG)
            complete_value(cmd, opt, before, equals + 1, out);
        free(before);
    } else if (!l.ended && typed[0] == '-') {
        complete_option(&l, out);
    } else if (!l.cmd) {
        add_commands(out);
    } else {
        complete_argument(&l, typed, out);
    }
    mt_vec_free(&l.given);
}

void mt_candidates_free(struct mt_candidates *c)
{
    for (size_t i = 0; i < c->v.n; i++)
        free(c->v.v[i].text);
    mt_vec_free(&c->v);
}
