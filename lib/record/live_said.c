#include "lib/record/live_said.h"

#include "gen/queries.h"

#include <stdlib.h>

enum { MOST = 100 * 1000, SHOWN = 60 };

void mt_live_said_free(struct mt_live_said *said)
{
    for (size_t i = 0; i < said->marks.n; i++)
        free(said->marks.v[i].text);
    mt_vec_free(&said->marks);
    mt_vec_free(&said->steps);
}

static void end_step(struct mt_live_said *said, int64_t t)
{
    if (said->under_way)
        said->steps.v[said->steps.n - 1].end_ns = t;
    said->under_way = false;
}

/* The number under way said again is no other step: several processes say it. One that does not
 * rise is the next one, so that each means one step. */
static void begin_step(struct mt_live_said *said, int64_t number, int64_t t,
                       struct mt_recording *rec)
{
    int64_t last = said->steps.n ? said->steps.v[said->steps.n - 1].number : -1;
    if (said->under_way && number == last)
        return;
    if (number <= last && last < INT64_MAX) {
        mt_rec_note(rec, MT_NOTE_STEPS_NUMBER, -1, 0);
        number = last + 1;
    }
    end_step(said, t);
    *mt_vec_push(&said->steps) = (struct mt_step){number, t, t};
    said->under_way = true;
    said->step_n++;
}

/* line: whatever it is; NULL: not to be shown. */
static void leave_out(struct mt_recording *rec, const char *why, const char *line)
{
    char shown[SHOWN + 1] = "";
    size_t n = 0;
    for (; line && line[n] && n < SHOWN; n++)
        shown[n] = line[n] < ' ' || line[n] > '~' ? '?' : line[n];
    if (!rec->notes[MT_NOTE_SAID].count)
        mt_rec_note_detail(rec, MT_NOTE_SAID, "%s%s%s%s", why, n ? ", such as \"" : "", shown,
                           n ? "\"" : "");
    mt_rec_note(rec, MT_NOTE_SAID, -1, 0);
}

bool mt_live_said_take(struct mt_live_said *said, const struct mt_seen *seen,
                       struct mt_recording *rec)
{
    bool none = !said->step_n;
    if (seen->kind == MT_SEEN_STEP_END)
        end_step(said, seen->t_ns);
    else if (seen->kind == MT_SEEN_DAMAGED)
        leave_out(rec, "neither a step nor a mark", seen->text);
    else if ((seen->kind == MT_SEEN_STEP ? said->step_n : said->mark_n) == MOST)
        leave_out(rec, "there are too many", NULL);
    else if (seen->kind == MT_SEEN_STEP)
        begin_step(said, seen->value, seen->t_ns, rec);
    else {
        struct mt_seen *mark = mt_vec_push(&said->marks);
        *mark = *seen;
        mark->text = mt_strdup(seen->text);
        said->mark_n++;
    }
    return none && said->step_n;
}

static enum mt_status write_steps(struct mt_live_said *said, struct mt_db *db, int64_t run,
                                  struct mt_err *err)
{
    struct mt_stmt *s;
    int64_t first = said->step_n - (int64_t)said->steps.n;
    if (!said->known && said->steps.n) {
        said->known = true;
        MT_TRY(mt_db_query(db, MT_Q_LIVE_STEP_MARKER, &s, err));
        mt_stmt_bind(s, "is", run, "memtool:step");
        MT_TRY(mt_stmt_run(s, err));
    }
    for (size_t i = 0; i < said->steps.n; i++) {
        const struct mt_step *p = &said->steps.v[i];
        MT_TRY(mt_db_query(db, MT_Q_LIVE_STEP, &s, err));
        mt_stmt_bind(s, "iiiii", run, first + (int64_t)i, p->number, p->start_ns, p->end_ns);
        MT_TRY(mt_stmt_run(s, err));
    }
    if (said->steps.n) { /* the last one may go on, and says what number is next */
        said->steps.v[0] = said->steps.v[said->steps.n - 1];
        said->steps.n = 1;
    }
    return MT_OK;
}

enum mt_status mt_live_said_write(struct mt_live_said *said, struct mt_db *db, int64_t run,
                                  int64_t device, int64_t t_ns, struct mt_err *err)
{
    struct mt_stmt *s;
    if (said->under_way)
        said->steps.v[said->steps.n - 1].end_ns = t_ns;
    MT_TRY(write_steps(said, db, run, err));
    int64_t first = said->mark_n - (int64_t)said->marks.n;
    for (size_t i = 0; i < said->marks.n; i++) {
        const struct mt_seen *m = &said->marks.v[i];
        MT_TRY(mt_db_query(db, MT_Q_EVENT_ADD, &s, err));
        mt_stmt_bind(s, "iiiiIsiis", run, first + (int64_t)i, device, m->t_ns, INT64_MIN, "mark",
                     (int64_t)0, (int64_t)0, m->text);
        MT_TRY(mt_stmt_run(s, err));
    }
    for (size_t i = 0; i < said->marks.n; i++)
        free(said->marks.v[i].text);
    said->marks.n = 0;
    return MT_OK;
}
