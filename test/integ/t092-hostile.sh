#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A stream is data: nothing named in it is opened, run or written, and no text of it does harm to a
# terminal, a spreadsheet, a browser or a parser.
. "$(dirname "$0")/lib.sh"
need REPORT REPORT_ALONE JQ PYTHON
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
	timeout 300 "$REPORT" "$@" "$T/dump" >"$T/$name" 2>"$T/$name.err"
	status=$?
	is 3 $status "status of $name"
	is 0 "$(harmful "$T/$name")" "harmful lines of $name"
	is 0 "$(harmful "$T/$name.err")" "harmful lines on stderr of $name"
	nr_runs=$((nr_runs + 1))
}

# Names of a list in the help: of views, styles, reports.
listed()
{
	"$REPORT" help summary | awk -v list="$1" '$0 ~ "^" list { on = 1; next } !NF { on = 0 } on && /^  [^ ]/ { print $1 }'
}

views=$(listed Views | paste -sd,)
ok test 40 -le "$(listed Views | wc -l)"
for format in text csv json markdown; do
	try "$format" summary --view "$views" --format $format --top 0 --wide
done
try mangled summary --mangled --view kernel,api
csv=("$T/csv")
nr_expected=8
for style in $(listed Styles | grep -vx gprof); do
	for format in text csv; do
		timeout 300 "$REPORT" summary --style "$style" --format $format "$T/dump" >/dev/null 2>"$T/err"
		[ $? -ne 2 ] || continue # it has no such format
		try "$style.$format" summary --style "$style" --format $format
		nr_expected=$((nr_expected + 1))
		[ $format = text ] || csv+=("$T/$style.csv")
	done
done
reports=$(listed Reports | sed 's/\[.*//' | paste -sd,)
for format in text csv json; do
	try "reports.$format" summary --report "$reports" --format $format
done
try traces.csv summary --style nvprof --view gpu-trace,api-trace --format csv
csv+=("$T/reports.csv" "$T/traces.csv")
nr_expected=$((nr_expected + 4))
try info info
try check check
try timeline timeline -o -
is $nr_expected $nr_runs "runs"
ok test 11 -le $nr_runs

ok jq -e . "$T/json" >/dev/null
ok jq -e . "$T/reports.json" >/dev/null
ok jq -e . "$T/timeline" >/dev/null
is 0 "$(grep -c '<script\|</script' "$T/markdown")" "tags in Markdown"
python3 - "${csv[@]}" <<'END' || failed=1
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
