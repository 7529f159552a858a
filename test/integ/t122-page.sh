#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The page of `html` without a browser: its data are those of summary, nothing in them can end the
# script that holds them, and it asks for nothing outside. test/page opens it in Chromium.
. "$(dirname "$0")/lib.sh"
need REPORT REPORT_ALONE JQ
[ -x "$B/gen_stream" ] || skip "gen_stream is not built (make tests)"

events=20000
[[ $B != *san-* ]] || events=4000 # it takes ten times as long

# page FILE OPTIONS...: writes $T/page.html; its data are in $T/data.json
page()
{
	local file=$1
	shift
	"$REPORT" html -o "$T/page.html" "$@" "$file" 2>"$T/err"
	page_rc=$?
	sed -n '/<script type="application\/json" id="data">/,/^<\/script>/p' "$T/page.html" >"$T/lines"
	sed 's/^<script type="application\/json" id="data">//; /^<\/script>$/d' "$T/lines" >"$T/data.json"
}

# same FILE [FILTER]: the page's tables are those of summary, whole.
same()
{
	"$REPORT" summary --all --format json "$1" 2>/dev/null | jq -S "${2:-.}" >"$T/want"
	jq -S "del(.page) | ${2:-.}" "$T/data.json" >"$T/have"
	ok cmp -s "$T/want" "$T/have"
}

"$B/gen_stream" "$T/ops.gprof" ops
"$B/gen_stream" "$T/training.gprof" $events
page "$T/ops.gprof" --top 0
is 0 $page_rc "status"
same "$T/ops.gprof"
page "$T/training.gprof" --top 0
same "$T/training.gprof"
page test/page/hostile.json --top 0
is 0 $page_rc "status of a trace"
same test/page/hostile.json
is 0 "$(grep -c '<' "$T/data.json")" "lines of data with a <"
ok grep -q 'u003c/script>' "$T/data.json"

# The page shows kernels by the names that text has for them, and has their whole names.
add='void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)'
jq -n --arg add "$add" '{traceEvents: [[$add, "copy_it"][] | {ph: "X", cat: "kernel", name: ., pid: 0, tid: 7,
	ts: (if . == $add then 10 else 20 end), dur: 5, args: {device: 0, stream: 7, correlation: 1}}]}' >"$T/named.json"
page "$T/named.json"
is "elementwise<add>" "$("$REPORT" summary --view kernel "$T/named.json" 2>"$T/err" | grep -oE 'elementwise[^ ]*')" "a kernel in text"
is '["elementwise<add>",0]' "$(jq -c .page.tables.kernel.short_names "$T/data.json")" "short names of kernels"
is "$add" "$(jq -r '.kernel.rows[0].name' "$T/data.json")" "a kernel's whole name"

# The page counts rows that it leaves out; tables over time have all.
page "$T/training.gprof" --top 2
is 2 "$(jq '.kernel.rows | length' "$T/data.json")" "kernels of --top 2"
is "$("$REPORT" summary --format json --view kernel "$T/training.gprof" | jq '.kernel.rows | length - 2')" \
	"$(jq .kernel.rows_left_out "$T/data.json")" "kernels left out"
same "$T/training.gprof" .steps
"$B/gen_stream" "$T/model.gprof" model 20000
page "$T/model.gprof" --top 2
same "$T/model.gprof" .memory_curve
page "$T/ops.gprof" --top 0 --steps 1
is 4 "$(jq '[.kernel.rows[].calls] | add' "$T/data.json")" "kernels of step 1"
is "$(jq .selection.rows[0].list "$T/data.json")" '"1"' "what was chosen"

# Nothing is asked of a network, and only scripts of the page run.
ok grep -q "default-src 'none'" "$T/page.html"
is "" "$(sed 's/<script/\n<script/g' "$T/page.html" | grep '^<script' | grep -vE '^<script (nonce="[0-9a-f]{32}"|type="application/json" id="(data|flame)"|type="text/plain" id="timeline(-b)?")>')" "scripts"
is "" "$(grep -oE '<[^>]* (src|href)="?https?:[^>]*' "$T/page.html")" "addresses"
ok test "$(stat -c %s "$T/page.html")" -lt 3000000

# The timeline has every slice, one by one or in sums, and takes no more than it may.
if command -v python3 >/dev/null; then
	for file in ops training model; do
		"$REPORT" timeline -o "$T/$file.json" "$T/$file.gprof" 2>"$T/err"
		"$REPORT" html -o "$T/page.html" "$T/$file.gprof" 2>"$T/err"
		is "" "$(python3 test/page/timeline_data.py "$T/page.html" "$T/$file.json" 2000000 no 2>&1 | grep -v '^[0-9]* slices, ')" "timeline of $file"
	done
	for kb in 60 5; do
		"$REPORT" html --timeline-size ${kb}k -o "$T/page.html" "$T/model.gprof" 2>"$T/err"
		is "" "$(python3 test/page/timeline_data.py "$T/page.html" "$T/model.json" ${kb}000 yes 2>&1 | grep -v '^[0-9]* slices, ')" "timeline of $kb KB"
	done
	"$REPORT" timeline --steps 2 -o "$T/model.json" "$T/model.gprof" 2>"$T/err"
	"$REPORT" html --steps 2 -o "$T/page.html" "$T/model.gprof" 2>"$T/err"
	is "" "$(python3 test/page/timeline_data.py "$T/page.html" "$T/model.json" 2000000 no 2>&1 | grep -v '^[0-9]* slices, ')" "timeline of a step"
	ok test "$(stat -c %s "$T/page.html")" -lt 3000000
fi
"$REPORT" html --timeline-size 0 -o "$T/page.html" "$T/ops.gprof" 2>"$T/err"
is 1 "$(grep -c '<script type="text/plain" id="timeline"></script>' "$T/page.html")" "timelines left out"

# Two paths: what diff says of them.
"$B/gen_stream" "$T/other.gprof" $events 7
"$REPORT" html --top 0 -o "$T/page.html" "$T/training.gprof" "$T/other.gprof" 2>"$T/err"
is 0 $? "status of two"
sed -n '/<script type="application\/json" id="data">/,/^<\/script>/p' "$T/page.html" |
	sed 's/^<script type="application\/json" id="data">//; /^<\/script>$/d' >"$T/data.json"
"$REPORT" diff --format json "$T/training.gprof" "$T/other.gprof" | jq -S . >"$T/want"
jq -S 'del(.page)' "$T/data.json" >"$T/have"
ok cmp -s "$T/want" "$T/have"
is '["A","B"]' "$(jq -c '[.page.facts[].side]' "$T/data.json")" "sides of the facts"
"$REPORT" html -o "$T/page.html" "$T/ops.gprof" "$T/ops.gprof" "$T/ops.gprof" 2>"$T/err"
is 2 $? "status of three"
"$REPORT" html -o "$T/page.html" "$T/ops.gprof" "$T/none.gprof" 2>"$T/err"
is 1 $? "status where B is not there"

# Pictures: well-formed, the same each time, their parts those of the view.
for view in breakdown steps timeline; do
	"$REPORT" html --svg $view -o "$T/$view.svg" "$T/ops.gprof" 2>"$T/err"
	is 0 $? "status of the picture of $view"
	"$REPORT" html --svg $view -o "$T/again.svg" "$T/ops.gprof"
	ok cmp -s "$T/$view.svg" "$T/again.svg"
	ok python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$T/$view.svg"
	is 0 "$(grep -ciE '<script|href|url\(' "$T/$view.svg")" "what could be run or fetched"
	if command -v rsvg-convert >/dev/null; then
		ok rsvg-convert -o "$T/$view.png" "$T/$view.svg"
	fi
done
is "$("$REPORT" summary --view breakdown --format json "$T/ops.gprof" |
	jq '[.breakdown.rows[] | .kernel_ns, .memcpy_ns, .memset_ns, .communication_ns, .runtime_ns, .dataloader_ns, .cpu_exec_ns, .other_ns] | add')" \
	"$(grep -oE ': [0-9]+ ns' "$T/breakdown.svg" | awk '{ sum += $2 } END { print sum }')" "sum of what is drawn"
cat >"$T/markup.json" <<'EOF'
[{"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "<b>&\u0001"}},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 7, "tid": 7, "ts": 0, "dur": 100},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 10, "dur": 20}]
EOF
"$REPORT" html --svg steps -o - "$T/markup.json" >"$T/hostile.svg" 2>"$T/err"
ok grep -qF '&lt;b&gt;&amp;\x01' "$T/hostile.svg"
ok python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$T/hostile.svg"
# The timeline of a step: of the last one, or as was chosen; the slices that the page has of it.
"$REPORT" timeline --steps 1 --tracks api,ops,nvtx,gpu,steps -o "$T/one.json" "$T/ops.gprof"
"$REPORT" html --svg timeline --steps 1 -o "$T/one.svg" "$T/ops.gprof"
ok grep -qF '<title>Timeline of step 1</title>' "$T/one.svg"
is "$(jq '[.traceEvents[] | select(.cat == "kernel") | .name] | length' "$T/one.json")" \
	"$(grep -c 'fill="#0072b2".*<title>' "$T/one.svg")" "kernels of step 1"
"$REPORT" summary --view steps --steps 1 --format json "$T/ops.gprof" >"$T/steps.json"
for phase in Dataloader:dataloader_ns Forward:forward_ns Backward:backward_ns; do
	is "$(jq "[.steps.rows[].${phase#*:} // 0] | max" "$T/steps.json")" \
		"$(grep -oE "<title>${phase%:*}: [0-9]+" "$T/one.svg" | awk '{ sum += $2 } END { print sum + 0 }')" "$phase of step 1"
done
"$REPORT" html --svg timeline -o "$T/hostile.svg" test/page/hostile.json 2>"$T/err"
is 0 $? "status of the timeline of names that are markup"
ok python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$T/hostile.svg"
is 0 "$(grep -ciE '<(script|img|b)[ >]' "$T/hostile.svg")" "markup out of names"
"$REPORT" html --svg kernel -o "$T/x.svg" "$T/ops.gprof" 2>"$T/err"
is 2 $? "status of a view without a picture"
"$REPORT" html --svg steps -o "$T/x.svg" "$T/ops.gprof" "$T/ops.gprof" 2>"$T/err"
is 2 $? "status of a picture of two"
"$B/gen_stream" "$T/none.gprof" worker
"$REPORT" html --svg steps -o "$T/none.svg" "$T/none.gprof" 2>"$T/err"
is 1 $? "status where there is nothing to draw"
ok test ! -e "$T/none.svg"
"$B/gen_stream" "$T/none.gprof" python
"$REPORT" html --svg timeline -o "$T/none.svg" "$T/none.gprof" 2>"$T/err"
is 2 $? "status of a timeline without steps"
ok grep -q 'no step has a known start and end' "$T/err"
echo '{"traceEvents": [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 5, "dur": 0}]}' >"$T/none.json"
"$REPORT" html --svg timeline -o "$T/none.svg" "$T/none.json" 2>"$T/err"
is 2 $? "status of a timeline of a step without length"
ok grep -q 'the selected steps have zero length' "$T/err"

(cd "$T" && "$REPORT" html ops.gprof && "$REPORT" html --svg steps ops.gprof) >"$T/out" 2>"$T/err"
is "0 wrote report.html wrote report.svg" "$? $(paste -sd' ' "$T/out")" "status and names without -o"
ok grep -q "<html" "$T/report.html"
ok grep -q '<svg' "$T/report.svg"
"$REPORT" html -o "$T/none/x.html" "$T/ops.gprof" 2>"$T/err"
is 1 $? "status where it cannot be written"
"$REPORT" html -o "$T/x.html" --steps 77 "$T/ops.gprof" 2>"$T/err"
is 2 $? "status of steps that are not there"
# Several processes make the page of a large dump; it is the same as by one, and so are the warnings.
plain_page()
{
	sed -E "s/nonce(-|=\")[0-9a-f]{32}//g; s/\"written\": \"[^\"]*\"//" "$1"
}
"$B/gen_stream" "$T/large.gprof" model 260000
cp "$T/large.gprof" "$T/damaged.gprof"
printf '\252\125\252' | dd of="$T/damaged.gprof" bs=1 seek=$(($(stat -c %s "$T/large.gprof") / 2)) conv=notrunc 2>"$T/err"
for file in large damaged; do
	for cores in one all; do
		alone=
		[ $cores = all ] || alone="taskset -c $(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')"
		$alone "$REPORT" html --timeline-size 50k -o "$T/page.html" "$T/$file.gprof" 2>"$T/$cores.err"
		echo "status $?" >>"$T/$cores.err"
		plain_page "$T/page.html" >"$T/$cores.html"
	done
	ok cmp -s "$T/one.html" "$T/all.html"
	ok cmp -s "$T/one.err" "$T/all.err"
	mv "$T/all.html" "$T/$file.html"
done
ok grep -q damaged "$T/all.err"
# Without a file for what they write, or if they are killed as they write it, one process does it all.
TMPDIR=$T/none "$REPORT" html --timeline-size 50k -o - "$T/large.gprof" 2>"$T/err" >"$T/page.html"
plain_page "$T/page.html" >"$T/fileless.html"
(ulimit -f 1; exec "$REPORT" html --timeline-size 50k -o - "$T/large.gprof") 2>"$T/err" | cat >"$T/page.html"
plain_page "$T/page.html" >"$T/killed.html"
ok cmp -s "$T/fileless.html" "$T/large.html"
ok cmp -s "$T/killed.html" "$T/large.html"
finish
