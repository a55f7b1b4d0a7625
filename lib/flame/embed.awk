# embed.awk - turns styles and scripts into C: `awk -v mode=h|c -f embed.awk FILE...`; NAME.css becomes
# the text mt_asset_NAME_css.

function quoted(s) {
    gsub(/\\/, "&&", s)
    gsub(/"/, "\\\"", s)
    gsub(/\t/, "\\t", s)
    return s
}

function close_file() {
    if (open && mode == "c")
        print ";"
    open = 0
}

BEGIN {
    print "/* Generated from styles and scripts by lib/flame/embed.awk. */"
    print mode == "h" ? "#ifndef MT_ASSETS_H\n#define MT_ASSETS_H\n" : "#include \"gen/assets.h\"\n"
}

FNR == 1 {
    close_file()
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\./, "_", name)
    print (mode == "h" ? "extern const char mt_asset_" name "[];" : "const char mt_asset_" name "[] =")
    open = 1
}

mode == "c" { print "    \"" quoted($0) "\\n\"" }

END {
    close_file()
    if (mode == "h")
        print "\n#endif"
}
