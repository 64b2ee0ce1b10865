#!/usr/bin/env bash
# A loop of a kernel: its instructions, and what llvm-mca says of them.
#
#   profiles/loop.sh OPERATION --kernel NAME [other options of `nimlanes run`]
#
# Lists the loops that hold samples on stderr. Of those that hold most of theirs outside of smaller loops (marked *), it takes
# the one with the most; START=ADDRESS takes another of the list. Needs perf, objdump, llvm-mca, and target/release/nimlanes as
# `cargo build --release` makes it. MCA names another llvm-mca, MCPU another microarchitecture; the default, znver4, needs
# llvm-mca 16 or newer.
set -euo pipefail
cd "$(dirname "$0")/.."
program=target/release/nimlanes mca=${MCA:-llvm-mca} cpu=${MCPU:-znver4} start=${START:-}
version=$("$mca" --version | sed -n 's/.*LLVM version \([0-9]*\).*/\1/p')
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

perf record --quiet -o "$folder/samples" -e cpu-clock -F 1500 "$program" run "$@" --json > "$folder/run.json"
field() { sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$folder/run.json"; }

# One line for each loop: share of the samples, instructions, first address, address past the last, and a mark if no loop in it
# holds a third of its samples. A loop is what a jump backwards spans within a function; jumps to the same place make one.
perf annotate -i "$folder/samples" --stdio --no-source 2> /dev/null | awk '
    function leave(head, i, mark) {                 # a function
        for (head in last) {
            sum[head] = 0
            for (i = head + 0; i <= last[head]; i++) sum[head] += percent[i] / 100 * samples
        }
        for (head in last) {
            head += 0
            mark = "*"
            for (i in last) if (i + 0 > head && last[i] <= last[head] && sum[i] > sum[head] / 3) mark = ""
            loops[++count] = last[head] - head + 1 " " address[head] " " address[last[head] + 1] " " mark
            held[count] = sum[head]
        }
        total += samples
        split("", at); split("", last); n = 0
    }
    /^ *Percent/ { leave(); sub(/.*\(/, ""); samples = $1 }
    $1 ~ /^[0-9.]+$/ && $2 == ":" && $3 ~ /^[0-9a-f]+:$/ {
        sub(/:$/, "", $3)
        n++; percent[n] = $1; address[n] = $3; at[$3] = n
        if ($4 ~ /^j/ && $5 in at) last[at[$5]] = n
    }
    END {
        leave()
        for (i = 1; i <= count; i++) print int(100 * held[i] / total + 0.5), loops[i]
    }' | sort -rn | awk '$1 > 0' > "$folder/loops"
awk 'BEGIN { print "share  instructions  START" } { printf "%3d %%  %12d  %s %s\n", $1, $2, $3, $5 }' "$folder/loops" >&2
chosen=$(awk -v start="$start" 'start == "" ? $5 == "*" : $3 == start { print; exit }' "$folder/loops")
[ -n "$chosen" ] || { echo "${0##*/}: no such loop" >&2; exit 1; }
read -r share count first past _ <<< "$chosen"

# As an assembler takes it: no addresses, and one label for every jump.
objdump -d --no-show-raw-insn --no-addresses --start-address="0x$first" --stop-address="0x$past" "$program" \
    | sed -n 's/^\t//p' | sed 's/ *[#<].*//; s/^\(j[a-z]*\|call\) *$/\1 .L/' | (echo .L:; cat) > "$folder/loop.s"

echo "$(field operation) $(field kernel) at $(field size): a loop of $count instructions that holds $share % of the samples."
echo "llvm-mca $version -mcpu=$cpu: loads hit L1, and branches out of the loop are not taken."
echo
"$mca" -mcpu="$cpu" -iterations=100 -bottleneck-analysis -resource-pressure=false "$folder/loop.s" | sed 's/ *$//'
