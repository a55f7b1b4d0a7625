#include "lib/render/palette.h"

/* The seven of Okabe and Ito, the yellow darker; each further one is as far as can be from all
 * before it and from the greys. Distances in OKLab, in hundredths, of which 2 can be seen: 12 at
 * least among the first fourteen, 7 among all; 3.7 for eyes that lack one kind of cones. */
static const char *const colors[MT_PALETTE_N] = {
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#e3d33a", "#970e75",
    "#7d4b05", "#2ae78e", "#6234b5", "#9964e5", "#036946", "#93b876", "#bd1f3d", "#935199",
    "#dfa5b0", "#ff7ad2", "#7290fa", "#7f873b", "#a65a65", "#f57e4d", "#ceb6fc", "#b09722",
    "#707abc", "#f75b6b", "#3c53cd", "#c25191", "#aa845e", "#c25ccc", "#49528f", "#96d35f",
    "#86d9b0", "#7f536e", "#2eb88f", "#b797c1", "#7260cb", "#b37fd2", "#50744f", "#d396e6"};

void mt_palette_css(struct mt_buf *out, size_t n)
{
    for (size_t i = 0; i < n && i < MT_PALETTE_N; i++)
        mt_buf_addf(out, ".b%zu{fill:%s}", i, colors[i]);
    mt_buf_adds(out,
                "\n.rest{fill:#8c959f}.older{fill:#d0d7de}\n"
                "@media(prefers-color-scheme:dark){.rest{fill:#9198a1}.older{fill:#3d444d}}\n");
}
