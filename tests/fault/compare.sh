#!/bin/sh
# tests/compare_reports.py sees a figure, a row, a column and an exit code that changed, and nothing else.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
command -v python3 >/dev/null 2>&1 || { echo 'needs python3'; exit 77; }
compare=$SAMPLES/../tests/compare_reports.py

# Writes a program that is memtool but for what AWK-PROGRAM does to its reports.
changed() { # NAME AWK-PROGRAM
    cat >"$1" <<END
#!/bin/sh
case \$1 in import | query) exec '$MEMTOOL' "\$@" ;; esac
'$MEMTOOL' "\$@" >out.\$\$
status=\$?
awk '$2' out.\$\$ && rm out.\$\$
exit \$status
END
    chmod +x "$1"
}
differs() { # NAME WHAT: the comparison says so
    python3 -B "$compare" "$MEMTOOL" "./$1" "$SAMPLES/nested" >log 2>&1
    [ $? = 1 ] || complain "$1: exit code: $(tail -n 1 log)"
    grep -qF -e "$2" log || complain "$1: not said: $2"
}

changed same '{ print }'
python3 -B "$compare" "$MEMTOOL" ./same "$SAMPLES/nested" >log 2>&1 || complain "memtool and itself: $(cat log)"
# shellcheck disable=SC2016 # a program of awk
changed more '{ print $0 (NR == 1 ? ",more_n" : ",1") }'
python3 -B "$compare" "$MEMTOOL" ./more "$SAMPLES/nested" >log 2>&1 || complain "a column more: $(cat log)"
changed figure '{ sub(/4000000/, "4000001"); print }'
differs figure "'4000000', now '4000001'"
changed row 'NR != 2'
differs row 'rows, now'
changed column 'NR == 1 { sub(/_b/, "_x") } { print }'
differs column 'without the columns'
changed code '{ print } END { exit }'
echo 'exit 3' >>code
sed -i '/^exit .status/d' code
differs code 'exit code 0, now 3'
python3 -B "$compare" "$MEMTOOL" ./same "$SAMPLES/../queries" >/dev/null 2>&1
[ $? = 2 ] || complain 'nothing imported passes'
complained ''
