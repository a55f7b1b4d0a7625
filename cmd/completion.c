#include "cmd/common.h"
#include "cmd/complete.h"
#include "cmd/opts.h"
#include <stdlib.h>
#include <string.h>

/*
 * The scripts know nothing: they ask `memtool completion SHELL -- WORD...` what the last word could
 * be. The answer's first line says "files", "open" (struct mt_candidates) or "-"; behind it comes a
 * line per candidate, for zsh and fish with a TAB and what it means. bash gets what it has to
 * insert: as far as the word is typed, as it was typed; quoted from there on.
 */
static const char bash_script[] =
    "# memtool completion for bash; written by `memtool completion bash`\n"
    "_memtool() {\n"
    "    local IFS=$' \\t\\n' rest=${COMP_LINE:0:COMP_POINT} word i full='' answer='' line\n"
    "    local words=() program=${COMP_WORDS[0]}\n"
    "    [[ $program == */* && -x $program ]] || program=memtool\n"
    "    # bash parts words at \":\" and \"=\"; those without a blank between them belong "
    "together.\n"
    "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if ((i == 0)) || [[ $rest == [[:space:]]* ]]; then\n"
    "            rest=${rest#\"${rest%%[![:space:]]*}\"}\n"
    "            words+=('')\n"
    "        fi\n"
    "        ((i < COMP_CWORD)) || word=$rest\n"
    "        words[${#words[@]} - 1]+=$word\n"
    "        rest=${rest#\"$word\"}\n"
    "    done\n"
    "    full=${words[${#words[@]} - 1]}\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        if [[ -z $answer ]]; then\n"
    "            answer=$line\n"
    "        else\n"
    "            COMPREPLY+=(\"${line#\"${full%\"$2\"}\"}\")\n"
    "        fi\n"
    "    done < <(\"$program\" completion bash -- \"${words[@]}\" 2>/dev/null)\n"
    "    case $answer in\n"
    "    *open*) compopt -o nospace 2>/dev/null ;;\n"
    "    *files*) ((${#COMPREPLY[@]})) || compopt -o default 2>/dev/null ;;\n"
    "    esac\n"
    "}\n"
    "complete -F _memtool memtool\n";

static const char zsh_script[] =
    "#compdef memtool\n"
    "# memtool completion for zsh; written by `memtool completion zsh`\n"
    "_memtool() {\n"
    "    emulate -L zsh\n"
    "    local program=${(Q)words[1]} line answer\n"
    "    local -i width=0\n"
    "    local -a lines names shown end\n"
    "    [[ $program == */* && -x $program ]] || program=memtool\n"
    "    lines=(\"${(@f)$(\"$program\" completion zsh -- \"${(@Q)words[1,CURRENT-1]}\" "
    "\"${(Q)PREFIX}\" 2>/dev/null)}\")\n"
    "    answer=$lines[1]\n"
    "    shift lines\n"
    "    for line in \"${lines[@]}\"; do\n"
    "        names+=(\"${line%%$'\\t'*}\")\n"
    "        ((${#names[-1]} <= width)) || width=${#names[-1]}\n"
    "    done\n"
    "    for line in \"${lines[@]}\"; do\n"
    "        shown+=(\"${(r:width:)${line%%$'\\t'*}}  ${line#*$'\\t'}\")\n"
    "    done\n"
    "    [[ $answer != *open* ]] || end=(-S '')\n"
    "    compadd -l -V memtool -d shown \"${end[@]}\" -a names\n"
    "    local -i status_of_names=$?\n"
    "    if [[ $answer == *files* ]]; then\n"
    "        [[ $PREFIX != --*=* ]] || compset -P '--*='\n"
    "        _files && return\n"
    "    fi\n"
    "    return $status_of_names\n"
    "}\n"
    "if [[ $funcstack[1] == _memtool ]]; then _memtool \"$@\"; else compdef _memtool memtool; fi\n";

static const char fish_script[] =
    "# memtool completion for fish; written by `memtool completion fish`\n"
    "function __memtool_complete\n"
    "    set -l typed (commandline -ct)\n"
    "    set -l words (commandline -opc)\n"
    "    set -l program $words[1]\n"
    "    string match -q '*/*' -- \"$program\"; and test -x \"$program\"; or set program memtool\n"
    "    set -l lines ($program completion fish -- $words (string trim -lc '\"\\'' -- \"$typed\") "
    "2>/dev/null)\n"
    "    set -q lines[2]; and printf '%s\\n' $lines[2..-1]\n"
    "    if string match -q '*files*' -- $lines[1]\n"
    "        set -l before (string match -r -- '^--[^=]*=' \"$typed\")\n"
    "        set -l name (string replace -r -- '^--[^=]*=' '' \"$typed\")\n"
    "        printf '%s\\n' \"$before\"(__fish_complete_path $name)\n"
    "    end\n"
    "end\n"
    "complete -c memtool -f -a '(__memtool_complete)'\n";

/* What bash makes of a word as typed, of which a quote may still be open. Returns that quote or 0.
 */
static char unquote(const char *typed, struct mt_buf *word)
{
    char quote = 0;
    mt_buf_adds(word, "");
    for (const char *c = typed; *c; c++) {
        if (quote ? *c == quote : *c == '\'' || *c == '"')
            quote = quote ? 0 : *c;
        else if (*c == '\\' && c[1] && (!quote || (quote == '"' && strchr("\"\\$`", c[1]))))
            mt_buf_addc(word, *++c);
        else
            mt_buf_addc(word, *c);
    }
    return quote;
}

/* Adds text so that bash reads it as it is, inside such a quote. */
static void add_quoted(struct mt_buf *out, const char *text, char quote)
{
    for (const char *c = text; *c; c++) {
        bool plain = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
                     (*c >= 'A' && *c <= 'Z') || strchr("_./:@%+,=-", *c) || (*c & 0x80);
        if (plain || (quote == '\'' && *c != '\'') || (quote == '"' && !strchr("\"\\$`!", *c)))
            mt_buf_addc(out, *c);
        else if (quote)
            mt_buf_addf(out, "%c\\%c%c", quote, *c, quote);
        else
            mt_buf_addf(out, "\\%c", *c);
    }
}

static void answer_bash(const struct mt_args *args, struct mt_buf *out)
{
    struct mt_candidates found;
    size_t n = args->n - 1;
    struct mt_buf *words = mt_alloc(n * sizeof *words);
    const char **plain = mt_alloc(n * sizeof *plain), *typed = args->v[n];
    char quote = 0;
    for (size_t i = 0; i < n; i++) {
        quote = unquote(args->v[i + 1], &words[i]);
        plain[i] = words[i].s;
    }
    mt_complete(plain, n, &found);
    mt_buf_addf(out, "%s\n", found.open ? "open" : found.files ? "files" : "-");
    for (size_t i = 0; i < found.v.n; i++) {
        const char *text = found.v.v[i].text;
        if (strncmp(text, plain[n - 1], words[n - 1].n) != 0)
            continue;
        mt_buf_adds(out, typed);
        size_t before = out->n;
        add_quoted(out, text + words[n - 1].n, quote);
        if (quote && out->n > before && out->s[out->n - 1] == quote)
            mt_buf_addc(out, quote); /* bash takes the one that opens again for the end */
        mt_buf_addc(out, '\n');
    }
    mt_candidates_free(&found);
    for (size_t i = 0; i < n; i++)
        mt_buf_free(&words[i]);
    free(words);
    free(plain);
}

static void answer(const struct mt_args *args, struct mt_buf *out)
{
    struct mt_candidates found;
    mt_complete(args->v + 1, args->n - 1, &found);
    mt_buf_addf(out, "%s\n", found.open ? "open" : found.files ? "files" : "-");
    for (size_t i = 0; i < found.v.n; i++)
        mt_buf_addf(out, "%s\t%s\n", found.v.v[i].text, found.v.v[i].meaning);
    mt_candidates_free(&found);
}

static enum mt_status run(const struct mt_args *args, int *exit_code, struct mt_err *err)
{
    (void)exit_code;
    static const struct {
        const char *name, *script;
        void (*answer)(const struct mt_args *args, struct mt_buf *out);
    } shells[] = {{"bash", bash_script, answer_bash},
                  {"zsh", zsh_script, answer},
                  {"fish", fish_script, answer}};
    for (size_t i = 0; i < MT_ARRAY_LEN(shells); i++)
        if (strcmp(args->v[0], shells[i].name) == 0) {
            struct mt_buf text = {0};
            if (args->n == 1)
                mt_buf_adds(&text, shells[i].script);
            else
                shells[i].answer(args, &text);
            enum mt_status st = mt_show_text(text.s, err);
            mt_buf_free(&text);
            return st;
        }
    MT_FAIL(err, MT_EUSAGE, "no completion for the shell '%s'", args->v[0]);
    mt_err_hint(err, "Shells: bash, zsh, fish.");
    return MT_EUSAGE;
}

static const struct mt_opt opts[] = {{0}};

const struct mt_cmd mt_cmd_completion = {
    .name = "completion",
    .summary = "write shell completion for bash, zsh or fish",
    .usage = "SHELL [-- WORD ...]",
    .examples = "  memtool completion bash > ~/.local/share/bash-completion/completions/memtool\n",
    .opts = opts,
    .without = "format bytes",
    .args_min = 1,
    .args_max = 10000,
    .run = run,
};
