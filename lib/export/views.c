#include "lib/export/views.h"

#include "lib/base/mem.h"
#include <string.h>

const struct mt_export_view mt_export_views[] = {{"device", "device"},
                                                 {"step", "number, start_ns"},
                                                 {"node", "id, device"},
                                                 {"node_extra", "device, node_id, figure"},
                                                 {"op", "id"},
                                                 {"alloc", "id"},
                                                 {"holding", "device, time_ns, node_id, size_b"},
                                                 {"size", "device, least_b"},
                                                 {"segment", "id"},
                                                 {"block", "alloc_id"},
                                                 {"event", "position"},
                                                 {"note", "kind"},
                                                 {0}};

const struct mt_export_view *mt_export_view_by_name(const char *name)
{
    name += strncmp(name, "v_", 2) == 0 ? 2 : 0;
    for (const struct mt_export_view *v = mt_export_views; v->name; v++)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

char *mt_export_view_sql(const struct mt_export_view *view)
{
    return mt_asprintf("SELECT * FROM v_%s WHERE run = ?1 ORDER BY %s", view->name, view->order);
}
