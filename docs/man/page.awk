# page.awk - one manual page: `memtool help --man NAME | awk -f page.awk memtool-NAME.mdoc -`
#
# The .mdoc file is what a person writes: `.Dd DATE` on its first line, then sections. DESCRIPTION
# comes where memtool says (its options follow), the sections behind it at the end.

FNR == NR && FNR == 1 { date = $0; next }
FNR == NR && /^\.Sh / { behind = $2 != "DESCRIPTION" }
FNR == NR { if (behind) last = last $0 "\n"; else first = first $0 "\n"; next }
FNR == 1 { print date }
/^\.\\" DESCRIPTION$/ { printf "%s", first; next }
{ print }
END { printf "%s", last }
