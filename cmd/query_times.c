#include "cmd/query_times.h"

#include "gen/queries.h"
#include "lib/base/human.h"
#include <math.h>
#include <string.h>

/* The runs of the database that count something else. */
struct units {
    MT_VEC(struct unit {
        int64_t id;
        const char *name, *unit; /* of the report */
    })
    v;
    int time_unit, run, run_id; /* columns, -1: none */
};

static enum mt_status load(struct mt_db *db, struct mt_report *r, struct units *u,
                           struct mt_err *err)
{
    struct mt_stmt *s;
    bool row;
    MT_TRY(mt_db_query(db, MT_Q_RUN_UNITS, &s, err));
    for (;;) {
        MT_TRY(mt_stmt_step(s, &row, err));
        if (!row)
            return MT_OK;
        *mt_vec_push(&u->v) =
            (struct unit){mt_stmt_int(s, 0), mt_report_text(r, mt_stmt_text(s, 1)),
                          mt_report_text(r, mt_stmt_text(s, 2))};
    }
}

static enum mt_cell_kind kind_of(const struct mt_row *row, int column)
{
    return column < 0 ? MT_CELL_NULL : row->cells[column].kind;
}

/* What times of the row count; "": nothing that is known. */
static const char *unit_of(const struct units *u, const struct mt_row *row)
{
    bool named = kind_of(row, u->run) == MT_CELL_TEXT;
    bool numbered = kind_of(row, u->run_id) == MT_CELL_INT;
    if (kind_of(row, u->time_unit) == MT_CELL_TEXT)
        return row->cells[u->time_unit].s;
    for (size_t i = 0; i < u->v.n; i++)
        if (named ? strcmp(u->v.v[i].name, row->cells[u->run].s) == 0
                  : numbered && u->v.v[i].id == row->cells[u->run_id].i)
            return u->v.v[i].unit;
    return named || numbered ? "ns" : "";
}

static void name_unit(struct mt_report *r, struct mt_cell *cell, const char *unit)
{
    char text[MT_HUMAN_LONG];
    bool real = cell->kind == MT_CELL_REAL && fabs(cell->r) < 0x1p63;
    if (real || cell->kind == MT_CELL_INT)
        *cell = mt_cell_text(
            mt_report_text(r, mt_human_time(unit, real ? llround(cell->r) : cell->i, text)));
}

enum mt_status mt_query_times(struct mt_db *db, struct mt_report *r, struct mt_err *err)
{
    struct units u = {.time_unit = mt_report_find_column(r, "time_unit"),
                      .run = mt_report_find_column(r, "run"),
                      .run_id = mt_report_find_column(r, "run_id")};
    enum mt_status st = load(db, r, &u, err);
    for (size_t i = 0; i < r->rows.n && st == MT_OK && u.v.n; i++) {
        const char *unit = unit_of(&u, &r->rows.v[i]);
        for (size_t c = 0; c < r->columns.n && strcmp(unit, "ns") != 0; c++)
            if (r->columns.v[c].unit == MT_UNIT_NS)
                name_unit(r, &r->rows.v[i].cells[c], unit);
    }
    mt_vec_free(&u.v);
    return st;
}
