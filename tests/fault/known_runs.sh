#!/bin/sh
# Recordings whose peaks, leaks and differences are known: what memtool must say of them, to the byte.
set -u
DATA=${DATA:-$(dirname "$SAMPLES")/tests/recordings}/torch/2.13.0
fails=0
for run in cnn_b16 cnn_b32 no_checkpoint seed_checkpoint noleak_steps leak_steps cache_steps del_in_loop; do
    "$MEMTOOL" import "$DATA/$run/trace.json.gz" --db t.db --name $run >/dev/null || fails=$((fails + 1))
done

is() { # WHAT WANTED GOT
    [ "$2" = "$3" ] || { printf 'FAIL %s: wanted\n%s\ngot\n%s\n' "$1" "$2" "$3"; fails=$((fails + 1)); }
}

csv() { # COMMAND...: its rows
    "$MEMTOOL" "$@" --db t.db --format csv --limit 0 | tail -n +2
}

diffed() { # BASE NEW COLUMNS
    "$MEMTOOL" diff "$1" "$2" --db t.db --format csv --limit 0 --section total,peak,leak --columns "$3" | tail -n +2
}

peaks() { # BASE NEW: both peaks, their change, and what the rows of the change add up to
    diffed "$1" "$2" section,base_at_peak_b,new_at_peak_b,at_peak_delta_b |
        awk -F, '$1 == "total" { whole = $2 " " $3 " " $4 } $1 == "peak" { sum += $4 } END { print whole, sum }'
}

is 'peaks of batch 16 and 32' '21743232 42912128 21168896 21168896' "$(peaks cnn_b16 cnn_b32)"
is 'peaks with and without checkpointing' '7193992 5641352 -1552640 -1552640' "$(peaks no_checkpoint seed_checkpoint)"
is 'the price of checkpointing' '8,16' "$("$MEMTOOL" diff no_checkpoint seed_checkpoint --db t.db --section op \
    --format csv --limit 0 --columns name,base_calls_n,new_calls_n | sed -n 's/^aten::conv2d,//p')"

is 'the leak' '640,1,0,leak,aten::clone
4,1,0,leak,aten::cross_entropy_loss' "$(csv leaks leak_steps --columns per_step_b,per_step_n,since_step,verdict,site | grep ,leak,)"
is 'no leak' '' "$(csv leaks noleak_steps | grep -E ',(leak|candidate),')"
alive() { # RUN: bytes alive at the end, by verdict
    csv leaks "$1" --columns verdict,at_end_b | awk -F, '{ s[$1] += $2; all += $2 } END {
        print all, "leak", s["leak"] + 0, "state", s["state"] + 0, "last step", s["last step"] + 0, "cache", s["cache"] + 0 }'
}
is 'alive at the end, with the leak' '884384 leak 6440 state 453712 last step 424232 cache 0' "$(alive leak_steps)"
is 'alive at the end, without' '877948 leak 0 state 453712 last step 424236 cache 0' "$(alive noleak_steps)"
is 'a cache is none' '512,1,leak,aten::sum in remember' \
    "$(csv leaks cache_steps --columns per_step_b,per_step_n,verdict,site | grep ,leak,)"
is 'without steps' 'candidate' "$(csv leaks del_in_loop --columns verdict | sort -u)"
is 'the leak is what differs' 'leak,640,aten::clone
leak,4,aten::cross_entropy_loss' "$(diffed noleak_steps leak_steps section,per_step_delta_b,site | grep ^leak,)"
"$MEMTOOL" diff noleak_steps leak_steps --db t.db --exit-code >/dev/null
is 'exit code of a regression' 1 $?
"$MEMTOOL" leaks leak_steps --db t.db --fail >/dev/null
is 'exit code of a leak' 1 $?

# A line that keeps what another op returns in every step: each of five ops leaves 512 B in every fifth.
LINES=$(dirname "$SAMPLES")/tests/recordings/lines
for run in turns turns_kept_two; do
    "$MEMTOOL" import "$LINES/$run.json.zst" --db t.db --name $run >/dev/null || fails=$((fails + 1))
done
sums() { # BY: verdicts, bytes a step and blocks of them
    csv leaks turns --by "$1" --columns verdict,per_step_b,at_end_n |
        awk -F, '$1 == "leak" || $1 == "candidate" { v = $1; b += $2; n += $3; k++ } END { print v, k, b, n }'
}
is 'a line whose ops take turns' 'leak 1 512 12' "$(sums line)"
is 'the same by its ops' 'leak 5 512 12' "$(sums site,top)"
"$MEMTOOL" check turns --db t.db --max-growth-per-step 511 >/dev/null
is 'exit code of a limit below its growth' 1 $?
"$MEMTOOL" check turns --db t.db --max-growth-per-step 512 >/dev/null
is 'exit code of its growth as a limit' 0 $?
is 'ops that take turns in a full list' '' "$(csv leaks turns_kept_two | grep -E ',(leak|candidate),')"
is 'the leak of one and not of the other' 5 \
    "$(diffed turns_kept_two turns section,per_step_delta_b,site | grep -c ^leak,)"

# The decomposition of a peak by top op (43,373,256 B): the heaviest, and the sum. A recording of half a
# megabyte, which is not in the repository.
if [ -d "$DATA/transformer" ]; then
    "$MEMTOOL" import "$DATA/transformer/trace.json.gz" --db t.db --name transformer >/dev/null || fails=$((fails + 1))
    is 'the peak of the transformer' '43373256 10485760 8388608' "$(csv peak transformer --by top --columns at_peak_b |
        awk '{ s += $1; if (NR <= 2) first = first " " $1 } END { print s first }')"
fi
echo "$fails wrong"
[ $fails = 0 ]
