#!/bin/sh
# A compressed file of a few bytes that stands for very much: it is refused before it takes gigabytes,
# unless the user allows more; what a recording of that size needs is read.
set -u
# shellcheck source=tests/complain.sh
. "$(dirname "$0")/../complain.sh"
command -v zstd >/dev/null 2>&1 || { echo "skip: zstd is not installed"; exit 0; }

nodes() { # MEGABYTES: of a profile of V8, each of three bytes
    printf '{"head":{"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},'
    printf '"selfSize":0,"id":1,"children":['
    yes '{},' | head -n $(($1 * 1000000 / 3)) | tr -d '\n'
    printf '{}]},"samples":[]}'
}

nodes 240 | zstd -q -o large.heapprofile.zst
[ "$(wc -c <large.heapprofile.zst)" -lt 100000 ] || complain "it is no small file"
"$MEMTOOL" import large.heapprofile.zst --db t.db >out 2>err
[ $? = 2 ] || complain "it is imported: $(cat out)"
grep -q 'needs more than 1.0.* GiB of memory, more than a file of its size should' err || complain "$(cat err)"
grep -q -- '--max-memory SIZE' err || complain "no word of what to do: $(cat err)"
[ ! -e t.db ] || complain "a database is left"
nodes 12 | zstd -q -o small.heapprofile.zst
"$MEMTOOL" import small.heapprofile.zst --db t.db >out 2>err || complain "a smaller one is refused: $(cat err)"
"$MEMTOOL" import small.heapprofile.zst --db u.db --max-memory 8MiB >out 2>err && complain "--max-memory is not kept"
grep -q 'needs more than 8 MiB of memory (' err || complain "$(cat err)"
# Text of which nothing is kept takes no memory, but time: how long it may be is bounded, too; not of a pipe.
blank() { # LINES, behind two that have figures
    printf 'step 1: RSS: 5 MB\nstep 2: RSS: 8 MB\n'
    yes '' | head -n "$1"
}
blank 300000000 | zstd -q -o blank.log.zst
[ "$(wc -c <blank.log.zst)" -lt 100000 ] || complain "blank.log.zst is no small file"
"$MEMTOOL" import blank.log.zst --db u.db >out 2>err
[ $? = 2 ] || complain "it is imported: $(cat out)"
grep -q 'decompresses to more than 2.. MiB, more than a file of its size should' err || complain "$(cat err)"
grep -q 'memtool import -' err || complain "no word of what to do: $(cat err)"
blank 1000000 | zstd -q -o blank.log.zst -f
"$MEMTOOL" import blank.log.zst --db u.db >out 2>err || complain "fewer lines are refused: $(cat err)"
# A name of half a megabyte that thousands of paths have is in each report once for each: it is cut.
awk 'BEGIN { for (i = 0; i < 9; i++) print "main;g" i " 20"; for (i = 0; i < 19; i++) n = n "long"; while (length(n) < 500000) n = n n
    for (i = 0; i < 300; i++) print "main;f" i ";" n " 10" }' | zstd -q -o names.folded.zst
"$MEMTOOL" import names.folded.zst --values at-end --name names --db t.db >out 2>err || complain "$(cat err)"
grep -q '1 name of more than 8192 bytes was cut' out err || complain "no word of it: $(cat out err)"
"$MEMTOOL" flame names --db t.db -o names.svg 2>err || complain "$(cat err)"
[ "$(wc -c <names.svg)" -lt 10000000 ] || complain "the picture is $(wc -c <names.svg) bytes"
# A program that does the same for a minute has such a log, too, of which all is kept: its events may be any number.
loop() { # EVENTS
    printf 'v 10400 3\nX ./loop\nI 1000 1\ns 4 loop\ns 4 work\ni 10 1 2\nt 1 0\na 8 1\nc 0\n'
    yes '+ 0
- 0' | head -n "$1"
    printf 'c 1\nR 1\n# strings: 2\n# ips: 1\n'
}
loop 80000000 | zstd -q -o loop.zst
[ "$(wc -c <loop.zst)" -lt 200000 ] || complain "loop.zst is no small file"
"$MEMTOOL" import loop.zst --db v.db >out 2>err || complain "a log of events is refused: $(cat err)"
grep -q '40,000,000 allocations, 40,000,000 frees' out || complain "not all events are in it: $(cat out)"
traced() { # PAIRS of lines
    echo '= Start'
    yes '@ ./loop:(main+0x1d)[0x401146] + 0x4052a0 0x64
@ ./loop:(main+0x2d)[0x401156] - 0x4052a0' | head -n "$((2 * $1))"
    echo '= End'
}
traced 4000000 | zstd -q -o loop.mtrace.zst
"$MEMTOOL" import loop.mtrace.zst --db w.db >out 2>err || complain "a log of mtrace is refused: $(cat err)"
grep -q '4,000,000 allocations, 4,000,000 frees' out || complain "not all events of mtrace are in it: $(cat out)"
smaps() { # TEXTS
    yes '5632e63d6000-5632e63d7000 r-xp 00000000 fe:00 26013                      /usr/bin/python3
Size:                  4 kB
Rss:                   4 kB
7ffc0e210000-7ffc0e231000 rw-p 00000000 00:00 0                          [stack]
Size:                132 kB
Rss:                  20 kB' | head -n "$((6 * $1))"
}
smaps 1300000 | zstd -q -o smaps.zst
"$MEMTOOL" import smaps.zst --db x.db >out 2>err || complain "a log of smaps is refused: $(cat err)"
grep -q '1,300,000 samples' out || complain "not all texts of smaps are in it: $(cat out)"
# Nor do lines that are few and long, stacks that come in a few bytes each, names of megabytes, or levels of a process,
# of which reports keep more than the file that is stored.
refused() { # NAME WHAT: what is in the file NAME
    zstd -q -3 --long=27 -f --rm "$1"
    [ "$(wc -c <"$1.zst")" -lt 200000 ] || complain "$1.zst is no small file"
    # shellcheck disable=SC3045 # dash and bash have it
    (ulimit -v "$room" && exec "$MEMTOOL" import "$1.zst" --db x.db --no-symbols) >out 2>err
    [ $? = 2 ] || complain "$1 is imported: $(cat out)"
    grep -q "$2, more than a file of its size should" err || complain "$1: $(cat err)"
}
room=2500000 # KB, beside what sanitizers reserve
grep -q __asan_init "$MEMTOOL" && room=unlimited
modules() { # raw lines of a few megabytes each
    printf 'v 10400 2\nx /bin/true\nX true\nI 1000 1000\n'
    awk 'BEGIN { for (i = 0; i < 20; i++) p = p " 0 1"; for (i = 0; i < 12; i++) p = p p
                 for (i = 0; i < 700; i++) print "m a" i " 0" p }'
    printf 't 1 0\n+ 10 1 1000\nc 1\nR 1\n'
}
deep() { # FIRST LAST: stacks that have nothing in common but functions
    awk -v first="$1" -v last="$2" 'BEGIN { print first; p = "a;b"; for (i = 0; i < 10; i++) p = p ";" p
                 for (i = 0; i < 10000; i++) print "r" i ";" p last }'
}
chain() { # one event
    printf '{"costs":[{"description":"Memory","unit":"bytes"}],"events":[{"callchain":['
    yes 0,1, | head -n 30000000 | tr -d '\n'
    printf '0],"cost":[1]}],"functions":[{"name":"a","module":"m"},{"name":"b","module":"m"}]}\n'
}
names() { # few and long, as they are recorded
    printf '{"schemaVersion": 1, "profile_memory": 1, "traceEvents": [\n'
    awk 'BEGIN { x = "x"; for (i = 0; i < 22; i++) x = x x
                 for (i = 0; i < 60; i++) print "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" i x "\",\"pid\":1,\"tid\":1,\"ts\":" i ",\"dur\":1}," }'
    printf '{}]}\n'
}
levels() { printf 'CMDLINE python x.py\n'; yes 'MEM 1 1
MEM 2 1' | head -n 32000000; }
modules >modules.txt
refused modules.txt 'needs more than 1.0.* GiB of memory'
deep 'a;b 1' ' 1' >stacks
refused stacks 'has more than .* call paths'
deep 'stack,at_end_b' ',1' >sums
refused sums 'has more than .* call paths'
deep 'time,bytes,stack' '' | sed 's/^r/1,1,r/' >series
refused series 'has more than .* call paths'
chain >chain.txt
refused chain.txt 'has more than .* call paths'
names >names.txt
refused names.txt 'has more than .* MiB of names'
levels >levels.txt
refused levels.txt 'needs more than 1.0.* GiB of memory'
# A call path of half a million functions, of whose lines each had what is drawn before it.
printf '{"costs":[{"description":"Memory","unit":"bytes"}],"events":[{"callchain":[' >path.json
yes 0,1, | head -n 250000 | tr -d '\n' >>path.json
printf '0],"cost":[1]}],"functions":[{"name":"a","module":"m"},{"name":"b","module":"m"}]}\n' >>path.json
"$MEMTOOL" import path.json --db y.db >out 2>err || complain "a deep path is refused: $(cat err)"
room=700000
grep -q __asan_init "$MEMTOOL" && room=unlimited
for how in '--format csv' '--depth 0 --limit 0'; do
    # shellcheck disable=SC2086,SC3045
    (ulimit -v $room && exec "$MEMTOOL" tree @latest --db y.db $how) >out 2>err || complain "tree $how: $(cat err)"
    [ "$(wc -l <out)" -gt 500000 ] || complain "tree $how: only $(wc -l <out) lines"
done
# Call paths of hundreds of functions each, whose texts have a kilobyte: each is made as its row is written.
paths() { # 1,500 chains of 200 functions
    printf '{"head":{"callFrame":{"functionName":"(root)"},"selfSize":0,"id":1,"children":['
    awk 'BEGIN { node = "{\"callFrame\":{\"functionName\":\"%s\"},\"selfSize\":1,\"id\":1,\"children\":["
                 for (i = 0; i < 200; i++) { chain = chain sprintf(node, "function_number_" i % 7); end = end "]}" }
                 for (i = 0; i < 1500; i++) printf "%s" node "%s]}%s", i ? "," : "", "root" i, chain, end }'
    printf ']},"samples":[]}'
}
paths | zstd -q -o paths.heapprofile.zst
"$MEMTOOL" import paths.heapprofile.zst --db z.db >out 2>err || complain "paths are refused: $(cat err)"
# shellcheck disable=SC3045
(ulimit -v $room && exec "$MEMTOOL" table @latest --db z.db --by path --format csv) 2>err | wc -l >out
[ "$(cat out)" = 301501 ] || complain "table --by path: $(cat out) lines; $(cat err)"
complained "18 files"
