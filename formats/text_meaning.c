/* What pairs mean, by their names. */
#include "formats/text_pair.h"

#include "formats/text_doubt.h"
#include "lib/base/mem.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

static const int64_t micro = 1000 * 1000;

static const char *const most[] = {"max",        "peak",       "vmhwm",   "hwm",
                                   "high-water", "high water", "highest", NULL};

static bool has(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strstr(name, *words))
            return true;
    return false;
}

bool mt_text_is_one(const char *s, size_t n, const char *const *words)
{
    while (*words && (strlen(*words) != n || memcmp(*words, s, n) != 0))
        words++;
    return *words;
}

/* Whether the word for an rss at p is part of a word that means something else. In "ru_maxrss" and
 * "processRss" it means that. */
static bool is_in_other(const char *s, const char *p, size_t n, const char *end)
{
    static const char *const others[] = {"hrss",         "rssi",        "president", "presidents",
                                         "presidential", "residential", "residents"};
    static const char feed[] = " feed";
    const char *to = p + n;
    if ((size_t)(end - to) >= sizeof feed - 1 && strncasecmp(to, feed, sizeof feed - 1) == 0)
        return true;
    while (p > s && isalpha((unsigned char)p[-1]))
        p--;
    while (to < end && isalpha((unsigned char)*to))
        to++;
    for (size_t i = 0; i < MT_ARRAY_LEN(others); i++)
        if (strlen(others[i]) == (size_t)(to - p) &&
            strncasecmp(others[i], p, (size_t)(to - p)) == 0)
            return true;
    return false;
}

const char *mt_text_rss(const char *s, size_t n)
{
    static const char *const words[] = {"rss", "resident", "vmhwm"};
    const char *end = s + n;
    for (size_t i = 0; i < MT_ARRAY_LEN(words); i++) {
        const size_t k = strlen(words[i]);
        for (const char *p = s; (size_t)(end - p) >= k; p++)
            if ((*p | ' ') == *words[i] && strncasecmp(p, words[i], k) == 0 &&
                !is_in_other(s, p, k, end))
                return p;
    }
    return NULL;
}

bool mt_text_says_rss(const char *name)
{
    return mt_text_rss(name, strlen(name)) != NULL;
}

static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), k = strlen(end);
    return n >= k && strcmp(name + n - k, end) == 0;
}

/* Whether a word of the name, which ends where letters do, says what the rss behind it or before it
 * is: "rss_delta", "change in rss"; not "rss after change", "limit approaching rss". */
static bool is_of(const char *name, const char *at, size_t n, const char *of)
{
    static const char *const links[] = {" in ", " of ", " max", " peak"};
    static const char *const whens[] = {" after ", " before ", " when ", " once "};
    const char *behind = at + n;
    if ((at > name && isalpha((unsigned char)at[-1])) || isalpha((unsigned char)*behind))
        return false;
    for (size_t i = 0; i < MT_ARRAY_LEN(whens) && at > of; i++)
        if (memmem(of, (size_t)(at - of), whens[i], strlen(whens[i])))
            return false;
    if (at > of)
        return true;
    for (size_t i = 0; i < MT_ARRAY_LEN(links); i++)
        if (strncmp(behind, links[i], strlen(links[i])) == 0)
            return true;
    return strcspn(behind, " ])") + 1 >= (size_t)(of - behind); /* in one word, or beside it */
}

/* Where a word stands in the name, as a word; NULL: nowhere. */
static const char *find_word(const char *name, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = name; (at = strstr(at, word)); at += n)
        if ((at == name || !isalpha((unsigned char)at[-1])) && !isalpha((unsigned char)at[n]))
            return at;
    return NULL;
}

/* "Δrss", "rss Δ", "d_rss". */
static bool is_signed_change(const char *name)
{
    static const char *const signs[] = {"Δrss", "Δ rss", "Δ_rss", "rss Δ",
                                        "δrss", "δ rss", "δ_rss", "rss δ"};
    for (size_t i = 0; i < MT_ARRAY_LEN(signs); i++)
        if (strstr(name, signs[i]))
            return true;
    return find_word(name, "d_rss") || find_word(name, "drss");
}

/* "rss dropped by", not "rss used by". */
static bool is_changed_by(const char *of)
{
    return ends_in(of, " by") && !ends_in(of, "used by") && !ends_in(of, "held by");
}

/* A name of how much more or less there is, or may be, or is on the average or expected: no level.
 * Behind "from" and "to" levels are: "rss grew to". */
static bool is_no_level(const char *name)
{
    static const char *const words[] = {
        "delta",   "diff",   "difference", "growth",    "increase",  "increased", "grew",
        "limit",   "cap",    "change",     "increment", "gain",      "gained",    "freed",
        "allowed", "min",    "budget",     "threshold", "target",    "expected",  "avg",
        "mean",    "quota",  "headroom",   "estimated", "predicted", "projected", "rlimit",
        "extra",   "median", "additional", "inc"};
    static const char *const behind[] = {"decrease", "decreased", "reduction", "reduced",
                                         "released", "reclaimed", "saved",     "leaked",
                                         "estimate", "overhead",  "available", "requested"};
    const char *of = mt_text_rss(name, strlen(name));
    of = of ? of : strstr(name, "memory usage");
    if (!of || ends_in(name, " from") || ends_in(name, " to"))
        return false;
    for (size_t i = 0; i < MT_ARRAY_LEN(words); i++) {
        const size_t n = strlen(words[i]);
        for (const char *at = name; (at = strstr(at, words[i])); at += n)
            if (is_of(name, at, n, of))
                return true;
    }
    for (size_t i = 0; i < MT_ARRAY_LEN(behind); i++) {
        const char *at = find_word(of, behind[i]);
        if (at && is_of(name, at, strlen(behind[i]), of))
            return true;
    }
    return is_changed_by(of) || is_signed_change(name);
}

/* Whether the name has the memory usage of the process: not that of a device, of a part of what it
 * has, or of the machine. */
static bool is_usage(const char *name)
{
    static const char *const of[] = {"npu",  "xpu",   "hpu",       "tpu",     "mps",   "cache",
                                     "kv",   "model", "optimizer", "swap",    "disk",  "virtual",
                                     "free", "total", "available", "machine", "node",  "host",
                                     "vm",   "heap",  "shared",    "pinned",  "tensor"};
    const char *at = strstr(name, "memory usage");
    for (size_t i = 0; at && i < MT_ARRAY_LEN(of); i++) {
        const size_t n = strlen(of[i]) + 1, before = (size_t)(at - name);
        if (before >= n && !isalpha((unsigned char)at[-1]) && memcmp(at - n, of[i], n - 1) == 0 &&
            (before == n || !isalpha((unsigned char)at[-1 - (ptrdiff_t)n])))
            return false;
    }
    return at;
}

static bool has_word(const char *name, const char *word)
{
    return find_word(name, word) != NULL;
}

/* Whether the name says whose memory it is. "Memory usage" may be that of a data frame, a query, a
 * GPU or a control group. */
static bool is_own(const char *name)
{
    static const char *const own[] = {"process", "python", "program", "cpu"};
    bool found = mt_text_says_rss(name) || !strstr(name, "memory usage");
    for (size_t i = 0; i < MT_ARRAY_LEN(own) && !found; i++)
        found = has_word(name, own[i]);
    return found;
}

/* Whether the name is that of a peak, and does not say of what, if perhaps when: "peak memory usage
 * during training". */
static bool is_any_peak(const char *name)
{
    static const char usage[] = "memory usage";
    static const char *const whens[] = {"so", "during", "after", "over", "until"};
    const char *behind = strstr(name, usage);
    if (!behind || !has(name, most))
        return false;
    behind += sizeof usage - 1;
    for (size_t i = 0; i < MT_ARRAY_LEN(whens); i++)
        if (*behind == ' ' && find_word(behind + 1, whens[i]) == behind + 1)
            return true;
    return !*behind || strcmp(behind, " is") == 0 || strcmp(behind, " was") == 0;
}

static bool names_device(const char *name)
{
    static const char *const devices[] = {"gpu", "cuda", "npu", "xpu", "hpu",
                                          "tpu", "vram", "hbm", "xla", "rocm"};
    for (size_t i = 0; i < MT_ARRAY_LEN(devices); i++)
        if (has_word(name, devices[i]))
            return true;
    return false;
}

/* Whether the rss is that of others than the process, or of several. */
static bool is_of_others(const char *name)
{
    static const char *const of[] = {"child",   "children",  "subprocess", "subprocesses", "ranks",
                                     "workers", "processes", "traced",     "tracemalloc"};
    for (size_t i = 0; i < MT_ARRAY_LEN(of); i++)
        if (has_word(name, of[i]))
            return true;
    return false;
}

/* Whether the name is that of a part of the rss as the kernel calls them: "RssAnon", "file-rss". */
static bool is_part(const char *name)
{
    static const char *const parts[] = {"anon", "file", "shmem"};
    const char *at = strstr(name, "rss");
    for (size_t i = 0; at && i < MT_ARRAY_LEN(parts); i++) {
        const size_t n = strlen(parts[i]);
        const char *behind = at + 3 + strspn(at + 3, "-_");
        if (strncmp(behind, parts[i], n) == 0 && !isalpha((unsigned char)behind[n]))
            return true;
        if (at > name + n && memchr("-_", at[-1], 2) && memcmp(at - 1 - n, parts[i], n) == 0)
            return true;
    }
    return false;
}

/* "[GPU 0] memory usage: 5 GB": that of the device, if it is not said whose. */
static bool is_of_device(const struct mt_text_pair *p)
{
    static const char *const own[] = {"rss",     "resident", "vmhwm", "cpu",
                                      "process", "host",     "ram",   NULL};
    return p->device && !has(p->name, own);
}

static const char *const of_devices[] = {"torch",   "cuda",   "gpu",  "device",
                                         "average", "system", "vram", NULL};

/* Takes the last word of the name before *end. */
static bool is_last(const char *name, const char **end, const char *const *words)
{
    const char *at = *end, *from;
    while (at > name && !isalpha((unsigned char)at[-1]) && at[-1] != ' ')
        at--;
    for (from = at; from > name && from[-1] != ' ';)
        from--;
    while (from < at && strchr("[(<'\"", *from))
        from++;
    for (; *words; words++)
        if (strlen(*words) == (size_t)(at - from) && memcmp(*words, from, strlen(*words)) == 0) {
            while (from > name && from[-1] != ' ')
                from--;
            *end = from > name ? from - 1 : name;
            return true;
        }
    return false;
}

/* Whether the words before a device say when it was so: "after moving to the GPU". */
static bool is_when(const char *name, const char *end)
{
    static const char *const links[] = {"the", "this", "a", NULL};
    static const char *const whens[] = {"to",        "on",       "with",    "without", "import",
                                        "importing", "imported", "loading", "using",   "after",
                                        "before",    "into",     "from",    NULL};
    while (is_last(name, &end, of_devices) || is_last(name, &end, links))
        continue;
    return is_last(name, &end, whens);
}

/* Whether a device is said before the rss that ends the name; not where "import torch", "moved to
 * the GPU" or "after cuda init" says when it was so. */
static bool is_behind_device(const char *name, const char *end)
{
    static const char *const between[] = {"peak", "max",   "maximum", "current", "memory",
                                          "mem",  "usage", "cpu",     "ram",     NULL};
    static const char *const process[] = {"process", NULL}, *const torch[] = {"torch", NULL};
    bool own = false, one;
    while ((one = is_last(name, &end, process)) || is_last(name, &end, between))
        own |= one;
    if (own && is_last(name, &end, torch))
        return false;
    return is_last(name, &end, of_devices) && !is_when(name, end);
}

/* Whether the device is torch, as what a program uses: "torch process memory usage". */
static bool is_of_program(const char *device, const char *usage)
{
    static const char *const own[] = {"process", "python", "program"};
    bool found = false;
    for (size_t i = 0; i < MT_ARRAY_LEN(own) && strncmp(device, "torch", 5) == 0; i++) {
        const char *at = find_word(device, own[i]);
        found |= at && at < usage;
    }
    return found;
}

/* "GPU process memory usage", not "torch process memory usage", nor "after import torch: process
 * memory usage". */
static bool is_usage_of_device(const char *name, const char *usage)
{
    for (size_t i = 0; of_devices[i]; i++) {
        for (const char *at = strstr(name, of_devices[i]); at && at < usage;
             at = strstr(at + 1, of_devices[i])) {
            const char *end = at;
            while (end > name && end[-1] != ' ')
                end--;
            if (!is_of_program(at, usage) && !is_when(name, end > name ? end - 1 : name))
                return true;
        }
    }
    return false;
}

/* Whether words behind the rss say that it is a device's; not "rss after moving to gpu". */
static bool is_before_device(const char *behind)
{
    static const char *const whens[] = {"after", "before", "when", "once", "with", "without"};
    for (size_t i = 0; of_devices[i]; i++) {
        const char *device = strstr(behind, of_devices[i]);
        bool when = false;
        for (size_t k = 0; k < MT_ARRAY_LEN(whens) && device && !when; k++) {
            const char *at = find_word(behind, whens[k]);
            when = at && at < device;
        }
        if (device && !when)
            return true;
    }
    return false;
}

/* Whether the name, of an rss or a memory usage, is that of a device's. */
static bool is_devices(const char *name)
{
    const char *at = mt_text_rss(name, strlen(name)), *end;
    const char *usage = at ? NULL : strstr(name, "memory usage");
    if (!at && !usage)
        return has(name, of_devices);
    if (usage)
        return is_usage_of_device(name, usage) || is_before_device(usage);
    for (end = at; *end && *end != ' ';)
        end++;
    while (at > name && at[-1] != ' ')
        at--;
    for (size_t i = 0; of_devices[i]; i++)
        if (memmem(at, (size_t)(end - at), of_devices[i], strlen(of_devices[i])))
            return true;
    return is_before_device(end) || (at > name && is_behind_device(name, at - 1));
}

static enum mt_pair_meaning meaning_of(const struct mt_text_pair *p)
{
    static const char *const others[] = {"mem",  "alloc", "reserv", "heap", "cuda", "gpu",
                                         "swap", "uss",   "pss",    "vms",  NULL};
    const bool resident = (mt_text_says_rss(p->name) || is_usage(p->name)) && !is_devices(p->name);
    const bool process = resident && (is_own(p->name) || is_any_peak(p->name)) &&
                         !is_no_level(p->name) && !is_of_others(p->name) && !is_part(p->name) &&
                         !is_of_device(p);
    if (!p->unit && !p->odd && mt_text_step_word(p->name) && p->value % micro == 0)
        return MT_PAIR_STEP;
    if (strstr(p->name, "average"))
        return MT_PAIR_NOTHING;
    if (!p->unit)
        return process ? MT_PAIR_UNREAD : MT_PAIR_NOTHING;
    if (process)
        return has(p->name, most) ? MT_PAIR_PEAK : MT_PAIR_LEVEL;
    return resident || mt_text_says_rss(p->name) || has(p->name, others) ? MT_PAIR_OTHER
                                                                         : MT_PAIR_NOTHING;
}

/* tracemalloc's figures, as its documentation has them printed, are what Python's allocator has:
 * "Current memory usage is 5 MB; Peak was 7 MB", of 1000 * 1000 bytes each. */
static bool take_traced(struct mt_text_pair *p, struct mt_text_pair *before)
{
    static const char current[] = "current memory usage", is[] = "current memory usage is",
                      was[] = "peak was";
    const char *name = before ? strstr(before->name, current) : NULL;
    if (!name || !p->unit || before->meaning < MT_PAIR_LEVEL || !has(p->name, most) ||
        mt_text_says_rss(p->name))
        return false;
    if (strcmp(name, is) == 0 && strcmp(p->name, was) == 0 && p->unit == before->unit &&
        p->unit == 1 << 20) {
        p->unit = before->unit = micro;
        p->unclear = before->unclear = false;
    }
    memcpy(p->name, "peak memory usage", sizeof "peak memory usage");
    p->meaning = before->meaning = MT_PAIR_OTHER;
    return true;
}

/* "RSS before training: 5 MB, after training: 7 MB", "RSS was 5 MB, now 7 MB" */
static bool is_after(const char *name, const char *before)
{
    static const char after[] = "after", word[] = "before";
    const char *at = find_word(before, word);
    if (strcmp(name, "now") == 0 || strcmp(name, "is now") == 0)
        return ends_in(before, " was");
    return at && strncmp(name, after, sizeof after - 1) == 0 &&
           strcmp(name + sizeof after - 1, at + sizeof word - 1) == 0;
}

/* Whether a name, behind an rss, says that it is its peak: "RSS: 5 MB (peak 7 MB)". */
static bool is_its_peak(const char *name)
{
    static const char *const peaks[] = {"peak", "peak was", "peak is", "peak so far", "hwm"};
    name += strspn(name, "([/ ");
    for (size_t i = 0; i < MT_ARRAY_LEN(peaks); i++)
        if (strcmp(peaks[i], name) == 0)
            return true;
    return false;
}

/* Whether the pair behind `before` in its line may be the same rss at another time, or its peak. */
static bool is_another(const struct mt_text_pair *p, const struct mt_text_pair *before)
{
    static const char *const averages[] = {"mean", "avg", "average", "min", NULL};
    const char *name = before ? before->name : "";
    enum mt_text_behind behind = has(name, averages) ? MT_BEHIND_AVERAGE : MT_BEHIND_CHANGE;
    if (!before || !p->unit || p->meaning != MT_PAIR_NOTHING)
        return false;
    if (before->meaning == MT_PAIR_LEVEL || before->meaning == MT_PAIR_PEAK)
        behind = MT_BEHIND_LEVEL;
    else if (!mt_text_says_rss(name) || is_devices(name) || is_of_others(name) || is_part(name) ||
             (behind == MT_BEHIND_CHANGE && !is_no_level(name)))
        return false;
    return mt_text_is_another(p->name, behind);
}

void mt_text_pair_mean(struct mt_text_pair *p, struct mt_text_pair *before)
{
    const bool behind = before && before->meaning == MT_PAIR_LEVEL && p->unit;
    p->device |= names_device(p->name) || (before && before->device);
    p->meaning = meaning_of(p);
    if (take_traced(p, before))
        return;
    if (before && p->unit && strcmp(p->name, "to") == 0 && ends_in(before->name, " by") &&
        is_no_level(before->name)) { /* "rss grew by 2 MB to 7 MB" */
        memcpy(p->name, "rss", sizeof "rss");
        p->meaning = MT_PAIR_LEVEL;
        return;
    }
    if (behind &&
        (strcmp(p->name, "->") == 0 || strcmp(p->name, "-->") == 0 || strcmp(p->name, "→") == 0 ||
         strcmp(p->name, "to") == 0 || is_after(p->name, before->name))) {
        memcpy(p->name, before->name, sizeof p->name);
        p->meaning = MT_PAIR_LEVEL;
    } else if (behind && is_its_peak(p->name)) {
        p->meaning = MT_PAIR_PEAK;
    } else if ((mt_text_is_of_several(p->name) && !is_devices(p->name)) || is_another(p, before)) {
        p->meaning = MT_PAIR_UNREAD;
        p->lost = true;
    }
}

bool mt_text_pair_is_own(const struct mt_text_pair *p)
{
    return (p->meaning == MT_PAIR_LEVEL || p->meaning == MT_PAIR_PEAK) && is_own(p->name);
}
