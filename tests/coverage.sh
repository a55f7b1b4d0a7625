#!/bin/sh
# How many lines of each room the tests run: `sh tests/coverage.sh BUILD [KIND...]`, of a build with
# --coverage (`make coverage`). A test that fails is named and changes nothing else.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
shift
find "$build" -name '*.gcda' -exec rm -f {} +
sh tests/run.sh "$build" "$@" | grep -v '^ok'
for folder in cmd lib formats; do
    find "$build/$folder" -name '*.gcda' | sort
done | xargs -r -n 1 gcov -n 2>/dev/null | awk -v q="'" '
    /^File / {
        split($0, part, q)
        room = part[2] ~ /^(cmd|lib|formats)\/.*\.c$/ && !(part[2] in seen) ? part[2] : ""
        seen[part[2]] = 1
        sub("/[^/]*$", "", room)
    }
    /^Lines executed:/ && room != "" {
        sub("Lines executed:", "")
        split($0, figure, "% of ")
        lines[room] += figure[2]
        run[room] += figure[1] * figure[2] / 100
        room = ""
    }
    END {
        printf "%-14s %7s %7s\n", "room", "lines", "run"
        for (room in lines) {
            printf "%-14s %7d %6.1f%%\n", room, lines[room], 100 * run[room] / lines[room] | "sort"
            all += lines[room]
            all_run += run[room]
        }
        close("sort")
        if (!all)
            exit 1
        printf "%-14s %7d %6.1f%%\n", "all", all, 100 * all_run / all
    }'
