#include "formats/text_owners.h"

#include "formats/text_pattern.h"
#include "formats/text_signs.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What a number behind these words tells apart. Some mean other things, too, unless the line is put
 * together as lines of several processes are. */
static const struct {
    const char *word;
    bool bracketed;  /* "[gpu0]", but not "gpu 0" */
    bool punctuated; /* "process 0:", but not "process 3 files" */
    bool told_of;    /* one process may tell of many, of each once: "client 20: done; rss 700 MB" */
    bool doer;       /* what follows may be what became of it: "worker 3 done, rss 700 MB" */
} words[] = {{.word = "rank"},
             {.word = "local_rank"},
             {.word = "global_rank"},
             {.word = "node_rank"},
             {.word = "dp_rank"},
             {.word = "tp_rank"},
             {.word = "pp_rank"},
             {.word = "ep_rank"},
             {.word = "cp_rank"},
             {.word = "pid", .doer = true},
             {.word = "worker", .doer = true},
             {.word = "actor", .doer = true},
             {.word = "replica", .doer = true},
             {.word = "node", .punctuated = true, .told_of = true},
             {.word = "client", .punctuated = true, .told_of = true},
             {.word = "server", .punctuated = true, .told_of = true},
             {.word = "process", .punctuated = true},
             {.word = "proc", .punctuated = true},
             {.word = "gpu", .bracketed = true},
             {.word = "cuda", .bracketed = true},
             {.word = "trainer", .bracketed = true},
             {.word = "default", .bracketed = true}, /* torchrun's --tee */
             {.word = "world_rank"},
             {.word = "slurm_procid"},
             {.word = "process_id"},
             {.word = "lokyprocess"},
             {.word = "spawnprocess"}, /* Python's, in records of logging */
             {.word = "forkprocess"},
             {.word = "forkserverprocess"},
             {.word = "forkpoolworker"},
             {.word = "spawnpoolworker"},
             {.word = "r", .bracketed = true},
             {.word = "dp", .bracketed = true},
             {.word = "tp", .bracketed = true},
             {.word = "pp", .bracketed = true},
             {.word = "ep", .bracketed = true},
             {.word = "cp", .bracketed = true}};

void mt_text_owners_init(struct mt_text_owners *o)
{
    *o = (struct mt_text_owners){0};
    mt_strtab_init(&o->names);
    mt_strtab_add(&o->names, "", 0);
    mt_strtab_init(&o->told_names);
    mt_strtab_add(&o->told_names, "", 0);
}

void mt_text_owners_free(struct mt_text_owners *o)
{
    mt_strtab_free(&o->names);
    mt_strtab_free(&o->told_names);
    mt_vec_free(&o->mentions);
}

/* Several processes wrote the log: what may tell them apart does; else what most lines have. */
static void tell_apart(struct mt_text_owners *o)
{
    int most = -1;
    bool any = false;
    for (int i = 0; i < MT_TAG_N; i++) {
        const struct mt_text_tag_lines *k = &o->front.kinds[i];
        if (o->tags[i] == MT_TAG_DOUBT)
            o->tags[i] = mt_text_tags_apart(&o->front, (enum mt_text_tag_kind)i);
        any |= o->tags[i] != MT_TAG_NONE;
        if (k->line_n > o->front.line_n / 2 && k->different_n <= MT_TEXT_OWNERS &&
            (most < 0 || k->line_n > o->front.kinds[most].line_n))
            most = i;
    }
    if (!any && most >= 0)
        o->tags[most] = mt_text_tags_apart(&o->front, (enum mt_text_tag_kind)most);
}

static void learn(struct mt_text_owners *o, const char *head, size_t n, bool said)
{
    o->front = (struct mt_text_tags){.said = said};
    o->learnt_n = mt_text_tags_add_all(&o->front, head, n);
    for (int i = 0; i < MT_TAG_N; i++)
        o->tags[i] = mt_text_tags_judge(&o->front, (enum mt_text_tag_kind)i);
}

void mt_text_owners_learn(struct mt_text_owners *o, struct mt_stream *in,
                          struct mt_text_owners_known known)
{
    enum { HEAD = 1 << 20 };
    struct mt_err later = MT_ERR_INIT; /* damage is an error where lines are read */
    const char *head;
    size_t n = 0;
    o->one = known.one;
    o->several = known.several;
    for (size_t least = 1; n < HEAD && !o->one; least = 2 * n + 1) {
        if (mt_stream_peek(in, least, &head, &n, &later) != MT_OK)
            break;
        learn(o, head, n, known.said);
        if (n < least)
            break;
    }
    if (o->several)
        tell_apart(o);
    for (int i = 0; i < MT_TAG_N && n >= HEAD && !o->several; i++) {
        const struct mt_text_tag_lines *k = &o->front.kinds[i];
        o->watched |= o->tags[i] == MT_TAG_NONE && k->line_n > o->front.line_n / 2 &&
                      k->different_n < MT_ARRAY_LEN(k->different);
    }
}

void mt_text_owners_watch(struct mt_text_owners *o, const char *line, size_t n, uint64_t at)
{
    if (o->watched && at >= o->learnt_n)
        mt_text_tags_add(&o->front, line, n);
}

const char *mt_text_owners_doubt(const struct mt_text_owners *o)
{
    if (mt_text_kernel_doubt(&o->kernel))
        return "numbers in lines before those of /proc, which may be PIDs";
    for (int i = 0; i < MT_TAG_N; i++)
        if (o->tags[i] == MT_TAG_DOUBT)
            return "numbers in front, which may count something";
    for (int i = 0; i < MT_TAG_N && o->watched; i++)
        if (!o->unlearnt[i] && o->tags[i] == MT_TAG_NONE &&
            mt_text_tags_judge(&o->front, (enum mt_text_tag_kind)i) != MT_TAG_NONE)
            return "numbers in front, which the first MiB does not have as others have them";
    return NULL;
}

void mt_text_owners_unlearn(struct mt_text_owners *o, const char *line, size_t n, size_t at)
{
    uint64_t number;
    for (int i = 0; i < MT_TAG_N; i++) {
        const char *end = mt_text_tag(line, n, (enum mt_text_tag_kind)i, &number);
        const char *from = end;
        while (end && i == MT_TAG_HEADER && from > line &&
               from[-1] != ' ') /* a date is in front of it */
            from--;
        if (end && at < (size_t)(end - line) &&
            (i != MT_TAG_HEADER || at >= (size_t)(from - line))) {
            o->tags[i] = MT_TAG_NONE;
            o->unlearnt[i] = true;
        }
    }
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether the number that ends at p is a size: "worker: 512 MB". */
static bool is_size(const char *p, const char *end)
{
    size_t n = 0;
    p += mt_is_one_of(p, end, " ");
    while (p + n < end && isalpha((unsigned char)p[n]))
        n++;
    return n > 1 && mt_text_unit(p, n);
}

/* How far around a number is looked for what says more of it: a line may be of megabytes, and of
 * such numbers. */
enum { AROUND = 1024 };

/* Whether s stands in a bracket that is open: "[2026-11-28 10:00:00 TP0]". */
static bool is_inside(const char *line, const char *s)
{
    line = s - line > AROUND ? s - AROUND : line;
    while (s > line && !strchr("[](){}<>", s[-1]))
        s--;
    return s > line && strchr("[(<", s[-1]);
}

/* Whether the rank at s is that of a LoRA: "rank=8 alpha=16". */
static bool is_of_lora(const char *line, const char *s, const char *end, uint64_t number)
{
    static const char *const signs[] = {"lora", "adapter", "alpha", "low-rank"};
    line = s - line > AROUND ? s - AROUND : line;
    end = end - s > AROUND ? s + AROUND : end;
    if (number < 4 || (number & (number - 1)))
        return false;
    for (const char *p = line; p < end; p++)
        for (size_t i = 0; i < MT_ARRAY_LEN(signs); i++)
            if ((size_t)(end - p) >= strlen(signs[i]) &&
                strncasecmp(p, signs[i], strlen(signs[i])) == 0)
                return true;
    return false;
}

/* Whether the word at s, n bytes, with a number until p, stands as it must there. */
static bool fits(size_t which, const char *line, const char *s, const char *p, const char *end,
                 uint64_t number)
{
    const bool opened = s > line && (strchr("[(<", s[-1]) || (s[-1] == ' ' && is_inside(line, s)));
    if (words[which].bracketed)
        return opened && mt_is_one_of(p, end, "])>");
    if (words[which].punctuated && !mt_is_one_of(p, end, "])>:,|/") && p < end)
        return (size_t)(end - p) > 4 && strncasecmp(p, " rss", 4) == 0;
    return opened || strcmp(words[which].word, "rank") != 0 || !is_of_lora(line, s, end, number);
}

/* Whether the line goes on with what became of a worker, "worker 3 done": it, or who tells of it,
 * may have written that. */
static bool is_told(const char *p, const char *end)
{
    static const char *const told[] = {
        "done",         "finished", "completed", "complete", "connected", "disconnected",
        "joined",       "left",     "ready",     "started",  "stopped",   "exited",
        "died",         "failed",   "restarted", "returned", "idle",      "terminated",
        "acknowledged", "replied",  "reported",  "crashed",  "lost",      "registered"};
    static const char *const helpers[] = {"is ", "has ", "was "};
    size_t n = 0;
    if (!mt_is_one_of(p, end, " "))
        return false;
    p++;
    for (size_t i = 0; i < MT_ARRAY_LEN(helpers); i++) {
        const size_t k = strlen(helpers[i]);
        if ((size_t)(end - p) > k && strncasecmp(p, helpers[i], k) == 0)
            p += k;
    }
    while (p + n < end && isalpha((unsigned char)p[n]))
        n++;
    for (size_t i = 0; i < MT_ARRAY_LEN(told); i++)
        if (strlen(told[i]) == n && strncasecmp(told[i], p, n) == 0)
            return true;
    return false;
}

/* Whether "-" stands behind the word at s, n bytes, as in names of Python's processes,
 * "SpawnProcess-1" and "Process-1", or of others in brackets, "[Worker-1]", not "[ep-1]". */
static bool is_dashed(const char *line, const char *s, size_t n, const char *end)
{
    return mt_is_one_of(s + n, end, "-") && (n > sizeof "process" || memcmp(s, "Process", n) == 0 ||
                                             (n > 2 && s > line && strchr("[(<", s[-1])));
}

/* "MainProcess", which Python calls the one that begins the others. */
static const char *take_main(const char *s, size_t n, const char *end, struct mt_text_mention *out)
{
    static const char name[] = "MainProcess";
    if (n != sizeof name - 1 || memcmp(s, name, n) != 0 || (s + n < end && is_word(s[n])))
        return NULL;
    snprintf(out->word, sizeof out->word, "main");
    out->named = true;
    return s + n;
}

/* The word at s, n bytes, and a number behind it; its end, or NULL: it mentions nobody. */
static const char *take_mention(struct mt_text_owners *o, const char *line, const char *s, size_t n,
                                const char *end, struct mt_text_mention *out)
{
    enum { DIGITS = 10 };
    const char *p = s + n;
    size_t which = 0, digits = 0;
    while (n && s[n - 1] == '_') /* rank_0 */
        n--;
    while (which < MT_ARRAY_LEN(words) &&
           (*words[which].word != (*s | ' ') || strlen(words[which].word) != n ||
            strncasecmp(words[which].word, s, n) != 0))
        which++;
    if (which == MT_ARRAY_LEN(words))
        return take_main(s, n, end, out);
    for (int i = 0; i < 4 && mt_is_one_of(p, end, " :=#\"'"); i++)
        p++;
    const bool dashed = p == s + n && is_dashed(line, s, n, end);
    p += dashed;
    out->number = 0;
    while (p < end && isdigit((unsigned char)*p) && digits < DIGITS) {
        out->number = out->number * 10 + (uint64_t)(*p++ - '0');
        digits++;
    }
    if (!digits || (p < end && (is_word(*p) || strchr("%", *p))) ||
        (end - p > 1 && mt_is_one_of(p, end, ".,") && isdigit((unsigned char)p[1])) ||
        is_size(p, end) || (!dashed && !fits(which, line, s, p, end, out->number)))
        return NULL;
    if (words[which].doer && !o->several && is_told(p, end)) {
        snprintf(out->word, sizeof out->word, "%s%" PRIu64, words[which].word, out->number);
        const uint32_t known = mt_strtab_find(&o->told_names, out->word, strlen(out->word));
        if (known != MT_STRTAB_NONE)
            o->told = known;
        else if (o->told_names.n <= MT_TEXT_OWNERS)
            o->told = mt_strtab_add(&o->told_names, out->word, strlen(out->word));
        return NULL;
    }
    snprintf(out->word, sizeof out->word, "%s", words[which].word);
    if (mt_is_one_of(p, end, "/")) /* rank 0/4 */
        for (p++; p < end && isdigit((unsigned char)*p);)
            p++;
    return p;
}

/* Whether one of the last words before s says that who is there was begun, or ended, by another. */
static bool is_begun(const char *line, const char *s)
{
    enum { WORDS = 3 };
    static const char *const begun[] = {"spawned", "started", "launched", "forked",
                                        "created", "killed",  "reaped"};
    for (int i = 0; i < WORDS; i++) {
        while (s > line && mt_is_one_of(s - 1, s, " ([:"))
            s--;
        const char *end = s;
        while (s > line && isalpha((unsigned char)s[-1]))
            s--;
        for (size_t k = 0; k < MT_ARRAY_LEN(begun); k++)
            if (strlen(begun[k]) == (size_t)(end - s) &&
                strncasecmp(s, begun[k], (size_t)(end - s)) == 0)
                return true;
    }
    return false;
}

/* The name of a pod in front of the line, or of a container where these are known to be such. */
static const char *take_name(const struct mt_text_owners *o, const char *line, const char *end,
                             struct mt_text_mention *out)
{
    const size_t most = sizeof out->word - 1; /* pods differ at their ends */
    size_t n;
    const char *name, *behind = mt_text_tag_name(line, (size_t)(end - line), &name, &n);
    if (!behind || (name == line && o->tags[MT_TAG_BAR] != MT_TAG_NAMES))
        return NULL;
    name += n > most ? n - most : 0;
    snprintf(out->word, sizeof out->word, "%.*s", (int)(n > most ? most : n), name);
    out->named = true;
    out->number = 0;
    return behind;
}

/* A number in front of the line, where it is known to say whose that is. */
static const char *take_tag(const struct mt_text_owners *o, const char *line, const char *end,
                            struct mt_text_mention *out)
{
    const char *behind = mt_text_tag_mpirun(line, (size_t)(end - line), &out->number);
    if (behind)
        snprintf(out->word, sizeof out->word, "rank");
    else
        behind = take_name(o, line, end, out);
    if (!behind &&
        ((behind = mt_text_tag_syslog(line, (size_t)(end - line), &out->number)) != NULL ||
         (behind = mt_text_tag_proc(line, (size_t)(end - line), &out->number)) != NULL))
        snprintf(out->word, sizeof out->word, "pid");
    for (int i = 0; i < MT_TAG_N && !behind; i++) {
        if (o->tags[i] != MT_TAG_RANKS && o->tags[i] != MT_TAG_PIDS)
            continue;
        behind = mt_text_tag(line, (size_t)(end - line), (enum mt_text_tag_kind)i, &out->number);
        snprintf(out->word, sizeof out->word, "%s", o->tags[i] == MT_TAG_PIDS ? "pid" : "rank");
    }
    return behind;
}

/* Which mentions are of one word. */
static void join_mentions(struct mt_text_owners *o)
{
    for (size_t i = 0; i < o->mentions.n; i++) {
        struct mt_text_mention *m = &o->mentions.v[i];
        m->first = m->at;
        m->next = SIZE_MAX;
        m->several = false;
        for (size_t k = i; k-- > 0;) {
            struct mt_text_mention *before = &o->mentions.v[k];
            if (strcmp(before->word, m->word) != 0)
                continue;
            before->next = before->next == SIZE_MAX ? m->at : before->next;
            before->several |= before->number != m->number;
            m->several |= before->number != m->number;
            m->first = before->first;
        }
    }
}

void mt_text_owners_take(struct mt_text_owners *o, char *line, size_t n)
{
    char *end = line + n;
    o->mentions.n = 0;
    o->told = 0;
    if (mt_text_kernel_take(&o->kernel, line, n)) {
        *mt_vec_push(&o->mentions) =
            (struct mt_text_mention){.word = "pid", .number = o->kernel.number, .next = SIZE_MAX};
        return;
    }
    for (char *s = line; s < end && o->mentions.n < MT_TEXT_MENTIONS;) {
        struct mt_text_mention m = {.named = false};
        size_t letters = 0;
        while (s + letters < end && (isalpha((unsigned char)s[letters]) || s[letters] == '_'))
            letters++;
        const char *behind = s == line ? take_tag(o, line, end, &m) : NULL;
        if (!behind && letters && (s == line || !is_word(s[-1])))
            behind = take_mention(o, line, s, letters, end, &m);
        if (!behind) {
            s += letters + !letters;
            continue;
        }
        char *from = s, *to = s + (behind - s);
        while (from > line && mt_is_one_of(from - 1, end, "[(<"))
            from--;
        while (mt_is_one_of(to, end, "])>:"))
            to++;
        m.at = (size_t)(from - line);
        m.begun = is_begun(line, from);
        *mt_vec_push(&o->mentions) = m;
        o->pids |= strcmp(m.word, "pid") == 0;
        memset(from, ' ', (size_t)(to - from));
        s = to;
    }
    join_mentions(o);
}

static uint32_t owner_of(struct mt_text_owners *o, const struct mt_buf *name)
{
    uint32_t known = name->n ? mt_strtab_find(&o->names, name->s, name->n) : MT_TEXT_NOBODY;
    if (known != MT_STRTAB_NONE)
        return known;
    return o->names.n > MT_TEXT_OWNERS ? MT_TEXT_UNCLEAR
                                       : mt_strtab_add(&o->names, name->s, name->n);
}

static void add_name(struct mt_buf *name, const struct mt_text_mention *m)
{
    mt_buf_addf(name, "%s%s", name->n ? "." : "", m->word);
    if (!m->named)
        mt_buf_addf(name, "%" PRIu64, m->number);
}

uint32_t mt_text_owners_at(struct mt_text_owners *o, size_t at)
{
    struct mt_buf name = {0};
    bool unclear = o->mentions.n == MT_TEXT_MENTIONS;
    if (o->one)
        return MT_TEXT_NOBODY;
    for (size_t i = 0; i < o->mentions.n && !unclear; i++) {
        const struct mt_text_mention *m = &o->mentions.v[i];
        unclear = m->several && m->first > at;
        if (m->several ? m->at < at && m->next >= at
                       : m->at == m->first && !(m->begun && m->at > at))
            add_name(&name, m);
    }
    const uint32_t owner = unclear ? MT_TEXT_UNCLEAR : owner_of(o, &name);
    mt_buf_free(&name);
    return owner;
}

uint32_t mt_text_owners_line(struct mt_text_owners *o)
{
    for (size_t i = 0; i < o->mentions.n; i++)
        if (o->mentions.v[i].several)
            return MT_TEXT_NOBODY;
    return mt_text_owners_at(o, 0);
}

uint32_t mt_text_owners_told(const struct mt_text_owners *o, uint32_t told)
{
    const char *name = mt_strtab_get(&o->told_names, told);
    const uint32_t owner = mt_strtab_find(&o->names, name, strlen(name));
    return owner == MT_STRTAB_NONE ? MT_TEXT_NOBODY : owner;
}

bool mt_text_owners_told_of(const struct mt_text_owners *o, uint32_t owner)
{
    const char *name = mt_strtab_get(&o->names, owner);
    const size_t n = strcspn(name, "0123456789");
    for (size_t i = 0; i < MT_ARRAY_LEN(words); i++)
        if (strlen(words[i].word) == n && memcmp(words[i].word, name, n) == 0)
            return words[i].told_of;
    return false;
}

bool mt_text_owners_by_device(const struct mt_text_owners *o)
{
    for (size_t i = 0; i < o->mentions.n; i++)
        if (strcmp(o->mentions.v[i].word, "gpu") == 0 || strcmp(o->mentions.v[i].word, "cuda") == 0)
            return true;
    return false;
}

bool mt_text_owners_is_kernel(const struct mt_text_owners *o, uint32_t owner)
{
    char name[32];
    snprintf(name, sizeof name, "pid%" PRIu64, o->kernel.first);
    return o->kernel.first && !o->kernel.several && !o->pids &&
           strcmp(mt_strtab_get(&o->names, owner), name) == 0;
}
