/*
 * rust_names.h - names of Rust's functions as linkers see them: what symbols cannot have is escaped
 * there, and tools that know C++ alone leave it so.
 */
#ifndef MT_RUST_NAMES_H
#define MT_RUST_NAMES_H

#include "lib/base/mem.h"
#include <stdbool.h>

/* Appends "_$LT$app..Cache$LT$K$GT$$u20$as$u20$app..Grow$GT$::grow" as
 * "<app::Cache<K> as app::Grow>::grow". False: nothing in the name is escaped; nothing is appended.
 */
bool mt_rust_unescaped(struct mt_buf *out, const char *name);

#endif
