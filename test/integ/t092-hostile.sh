#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A stream is data: nothing named in it is opened, run or written, and no text of it does harm to a
# terminal, a spreadsheet, a browser or a parser.
. "$(dirname "$0")/lib.sh"
need REPORT JQ PYTHON
[ -x "$B/gen_stream" ] || skip "gen_stream is not built (make tests)"

mkdir "$T/dump" "$T/trap"
"$B/gen_stream" "$T/dump/hostile.gprof" hostile "$T/trap"
mv "$T/dump/hostile.gprof" "$T/dump/hostile.gprof.part"
# Whoever opens that to read would wait for ever, or be seen by strace.
mkfifo "$T/trap/hostile.rings"

# Control characters but the newline, and the ones that reorder text.
harmful()
{
	LC_ALL=C grep -caP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]' "$1"
}

nr_runs=0
# try NAME OPTIONS...: output in $T/NAME
try()
{
	local name=$1 status
	shift
	timeout 20 "$REPORT" "$@" "$T/dump" >"$T/$name" 2>"$T/$name.err"
	status=$?
	is 3 $status "status of $name"
	is 0 "$(harmful "$T/$name")" "harmful lines of $name"
	is 0 "$(harmful "$T/$name.err")" "harmful lines on stderr of $name"
	nr_runs=$((nr_runs + 1))
}

views=device,kernel,memcpy,memset,api,sync,nvtx,steps,windows,threads,overhead,losses,notices
for format in text csv json markdown; do
	try "$format" summary --view $views --format $format --top 0 --wide
done
try mangled summary --mangled --view kernel,api
try nvprof summary --style nvprof
try nvprof.csv summary --style nvprof --format csv
try nsys summary --style nsys
try nsys.csv summary --style nsys --format csv
try info info
try check check
try timeline timeline -o -
is 12 $nr_runs "runs"

ok jq -e . "$T/json" >/dev/null
ok jq -e . "$T/timeline" >/dev/null
is 0 "$(grep -c '<script\|</script' "$T/markdown")" "tags in Markdown"
python3 - "$T/csv" "$T/nsys.csv" "$T/nvprof.csv" <<'END' || failed=1
import csv, sys
bad = cells = 0
for path in sys.argv[1:]:
    for row in csv.reader(open(path, newline="", encoding="utf-8")):
        for cell in row:
            number = cell.replace("-", "", 1).replace(".", "", 1).isdigit()
            cells += 1
            if cell.startswith("==4242== "):
                continue  # nvprof's own lines
            if cell[:1] in ("=", "+", "-", "@", "\t", "\r") and not number and cell != "-":
                print(f"a formula in {path}: {cell!r}")
                bad = 1
sys.exit(bad or cells < 100)
END

is "dump/hostile.gprof.part trap/hostile.rings" "$(cd "$T" && find dump trap ! -type d | sort | xargs)" "files"
[ ! -e /tmp/gprof-hostile ] || { echo "a text was run"; failed=1; }
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null && [[ $B != *san-* ]]; then
	for command in summary info check; do
		strace -f -o "$T/strace" -e trace=%file,%process,%network "$REPORT" $command "$T/dump" >/dev/null 2>&1
		is 0 "$(grep -cE 'passwd|trap/hostile|gprof-hostile' "$T/strace")" "names of the stream used by $command"
		is 1 "$(grep -c 'execve(' "$T/strace")" "programs started by $command"
		is 0 "$(grep -cE 'O_WRONLY|O_RDWR|O_CREAT|unlink|rename|mkdir|socket|connect' "$T/strace")" "writes by $command"
	done
else
	echo "no strace: what is opened was not looked at"
fi
finish
