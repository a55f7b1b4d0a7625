# embed.awk - turns queries/*.sql into C: `awk -v mode=h|c -f embed.awk FILE.sql...`
#
# A file is a sequence of blocks:
#
#   -- name: table_by_name
#   -- what it answers, parameters, result columns          (comments right below: the doc)
#   SELECT ...;                                             (the statement: the sql)
#
# mode=h prints enum mt_query with MT_Q_TABLE_BY_NAME and the table's declaration, mode=c the table.
# A statement outside a block, a bad or repeated name and an empty block fail the build.

function fail(file, line, text) {
    print file ":" line ": " text >"/dev/stderr"
    failed = 1
    exit 1
}

# s as a C string literal's inside.
function quoted(s) {
    gsub(/\\/, "&&", s)
    gsub(/"/, "\\\"", s)
    gsub(/\t/, "\\t", s)
    return s
}

# Ends the block that is open: its trailing blank and comment lines are not part of it.
function close_block() {
    if (!in_block)
        return
    if (sql_end == 0)
        fail(file[n], name_line, "block '" name[n] "' holds no statement")
    for (i = 1; i <= sql_end; i++)
        sql[n] = sql[n] "\n        \"" quoted(lines[i]) "\\n\""
    in_block = 0
}

FNR == 1 { close_block() }

/^-- name:/ {
    close_block()
    id = $0
    sub(/^-- name:[ \t]*/, "", id)
    sub(/[ \t\r]+$/, "", id)
    if (id !~ /^[a-z][a-z0-9_]*$/)
        fail(FILENAME, FNR, "bad block name '" id "': want lower case letters, digits, _")
    if (id in first)
        fail(FILENAME, FNR, "block '" id "' is also at " first[id])
    first[id] = FILENAME ":" FNR
    n++
    name[n] = id
    file[n] = FILENAME
    sub(/.*\//, "", file[n])
    name_line = FNR
    in_block = 1
    in_doc = 1
    line_n = sql_end = 0
    next
}

!in_block {
    if ($0 !~ /^[ \t\r]*(--.*)?$/)
        fail(FILENAME, FNR, "statement before the first '-- name: NAME' line")
    next
}

in_doc && /^--/ {
    text = $0
    sub(/^-- ?/, "", text)
    doc[n] = doc[n] "\n        \"" quoted(text) "\\n\""
    next
}

{
    in_doc = 0
    if (line_n == 0 && $0 ~ /^[ \t\r]*$/)
        next
    if (line_n == 0)
        sql_line[n] = FNR
    lines[++line_n] = $0
    if ($0 !~ /^[ \t\r]*(--.*)?$/)
        sql_end = line_n
}

END {
    if (failed)
        exit 1
    close_block()
    print "/* Generated from queries/ by embed.awk. */"
    if (mode == "h")
        print_header()
    else
        print_table()
}

function print_header() {
    print "#ifndef MT_QUERIES_H\n#define MT_QUERIES_H\n\nenum mt_query {"
    for (k = 1; k <= n; k++)
        print "    MT_Q_" toupper(name[k]) ","
    print "    MT_QUERY_N\n};\n"
    print "struct mt_query_text {"
    print "    const char *name; /* \"table_by_name\" */"
    print "    const char *file; /* \"table.sql\" */"
    print "    int line;         /* where sql begins in it */"
    print "    const char *doc;  /* the comment at its head, without the dashes; may be \"\" */"
    print "    const char *sql;"
    print "};\n"
    print "/* Indexed by enum mt_query; a row of NULLs ends it. */"
    print "extern const struct mt_query_text mt_queries[];\n"
    print "#endif"
}

function print_table() {
    print "#include \"gen/queries.h\"\n\nconst struct mt_query_text mt_queries[] = {"
    for (k = 1; k <= n; k++) {
        print "    {\"" name[k] "\", \"" file[k] "\", " sql_line[k] ","
        print "        \"\"" doc[k] ","
        print "        \"\"" sql[k] "},"
    }
    print "    {0},\n};"
}
