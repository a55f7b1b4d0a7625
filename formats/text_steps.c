#include "formats/text_steps.h"

void mt_text_steps_free(struct mt_text_steps *s)
{
    mt_vec_free(&s->tracks);
}

/* What an owner says of steps. Until there are two the one that is named may be everybody. */
static struct mt_text_track *track_of(struct mt_text_steps *s, uint32_t owner)
{
    const uint32_t at = owner == MT_TEXT_UNCLEAR || owner < 2 ? 0 : owner;
    while (s->tracks.n <= at)
        *mt_vec_push(&s->tracks) = (struct mt_text_track){0};
    return &s->tracks.v[at];
}

bool mt_text_steps_count(struct mt_text_steps *s, struct mt_recording *rec, int word)
{
    if (word > s->word) {
        rec->steps.n = 0;
        s->word = word;
    }
    return word == s->word;
}

/* The number of the step that an owner says: the next free one where its own is not larger than the
 * one before. */
static int64_t number_of(struct mt_text_steps *s, struct mt_recording *rec,
                         const struct mt_text_said *said)
{
    struct mt_text_track *t = track_of(s, said->owner);
    const bool older = t->word == s->word;
    if (older && said->number == t->raw)
        return t->number; /* more lines of it */
    const bool back = older && said->number <= t->number;
    if (back)
        mt_rec_note(rec, MT_NOTE_STEPS_NUMBER, said->offset, 0);
    *t = (struct mt_text_track){s->word, said->number, back ? t->number + 1 : said->number};
    return t->number;
}

void mt_text_steps_begin(struct mt_text_steps *s, struct mt_recording *rec,
                         const struct mt_text_said *said)
{
    struct mt_step *last = rec->steps.n ? &rec->steps.v[rec->steps.n - 1] : NULL;
    if (last && s->line == said->line)
        return;
    const int64_t number = number_of(s, rec, said);
    if (last && number <= last->number)
        return; /* others began it */
    if (last)
        last->end_ns = said->now;
    *mt_vec_push(&rec->steps) = (struct mt_step){number, said->now, said->now};
    s->line = said->line;
}

/* The last step that has that number or a smaller one; SIZE_MAX: none. */
static size_t step_at(const struct mt_recording *rec, int64_t number)
{
    size_t low = 0, high = rec->steps.n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (rec->steps.v[mid].number <= number)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? low - 1 : SIZE_MAX;
}

int64_t mt_text_steps_time(struct mt_text_steps *s, const struct mt_recording *rec, uint32_t owner,
                           int64_t now)
{
    const struct mt_text_track *t = track_of(s, owner);
    const size_t step = t->word && t->word == s->word ? step_at(rec, t->number) : SIZE_MAX;
    if (step == SIZE_MAX || step + 1 >= rec->steps.n)
        return now;
    return rec->steps.v[step + 1].start_ns - 1;
}
