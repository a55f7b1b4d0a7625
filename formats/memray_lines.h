/*
 * memray_lines.h - lines of CPython's code objects, from their line tables.
 */
#ifndef MT_MEMRAY_LINES_H
#define MT_MEMRAY_LINES_H

#include <stddef.h>
#include <stdint.h>

/*
 * The line at an instruction of a code object, as memray counts them: f_lasti in bytes, of Python
 * 3.10 in instructions. python: PY_VERSION_HEX of who ran it. table: co_lnotab (to 3.9), or
 * co_linetable. 0: none, or the table is damaged.
 */
int64_t mt_memray_line(uint32_t python, const char *table, size_t n, int64_t first_line,
                       int64_t instruction);

#endif
