#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# NVIDIA's own NVTX, from several versions of CUDA: the headers, as NCCL, XLA and others use them, and
# the older libnvToolsExt.so.1. Each call arrives once, also where a process has both.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PYTHON PLAIN
[ "$(uname -m)" = x86_64 ] || skip "the pinned libraries are for x86-64"
n=0

# try WHAT TIMES COMMAND...: runs it, and looks for that many of each range.
try()
{
	local what=$1 times=$2 bad=$failed extended=
	shift 2
	failed=0
	rm -rf "$GPROF_DIR"
	record "$@"
	is "0 done" "$rc $(tail -1 "$T/out")" "status and output"
	is "$((2 * times))" "$(grep -c 'domain 1 string 1' "$T/out")" "handles of domains and strings"
	is "$((2 * times))" "$(grep -c '^push 0, push 1, pop 1, pop 0$' "$T/out")" "levels"
	if [ -n "$payload" ]; then
		extended="
$((times)) extended:(payload)
$((times)) extended:numbers"
	fi
	summary nvtx,losses
	is "$((3 * times)) inner
$((3 * times)) numbers
$((3 * times)) outer
$((2 * times)) NCCL:ncclAllReduce
$((2 * times)) TSL:TSL:Thunk:#hlo_op=fusion#
$((times)) across$extended
$((times)) wide λ" "$(query '.nvtx.rows[] | select(.style != "Mark") | "\(.calls) \(.name)"' | LC_ALL=C sort -k1,1nr -k2)" "ranges"
	is "$((5 * times))" "$(query '[.nvtx.rows[] | select(.style == "Mark").calls] | add')" "marks"
	is null "$(query '.nvtx.note')" "ranges without an end"
	is 0 "$(query '.losses.rows | length')" "losses"
	"$REPORT" timeline -o "$T/trace.json" "$GPROF_DIR" 2>"$T/report.err"
	# Numbers of each type, and nothing of what lies behind an address.
	is "-6 -5 0.25 0.5 4000000000 " "$(jq '[.traceEvents[].args.payload | select(. != null)] | unique | .[]' \
		"$T/trace.json" | tr '\n' ' ')" "payloads"
	is "$times" "$(jq '[.traceEvents[] | select(.name == "thread_name" and (.args.name | contains("named by NVTX")))] | length' \
		"$T/trace.json")" "names of threads"
	if [ $failed = 0 ]; then
		echo "ok $((++n)) - $what"
		failed=$bad
	else
		echo "not ok $((++n)) - $what"
	fi
}

# compile OUTPUT OPTIONS...
compile()
{
	gcc -w -o "$1" -I"$include" ${payload:+-DEXTENDED} test/integ/nvtx_headers.c "${@:2}" -ldl -lpthread
}

while read -r package version; do
	case $package in '#'* | '') continue ;; esac
	if ! dir=$(fetch_wheel build/nvtx "$package" "$version"); then
		echo "ok $((++n)) - NVTX $version # SKIP not to be had from PyPI: $(tail -1 "$T/pip" | cut -c1-80)"
		continue
	fi
	include=$(dirname "$(dirname "$(find "$dir" -path '*/nvtx3/nvToolsExt.h')")")
	payload=$(find "$dir" -name nvToolsExtPayload.h)
	old=$(find "$dir" -name libnvToolsExt.so.1)
	ok compile "$T/new"
	ok compile "$T/library.so" -DLIBRARY -shared -fPIC
	try "NVTX $version in a program" 1 "$T/new"
	try "NVTX $version in a program and a library" 2 "$T/new" "$T/library.so"
	if [ -n "$old" ]; then
		ok compile "$T/old" -DOLD "$old" -Wl,-rpath,"$(dirname "$old")"
		try "libnvToolsExt $version" 1 "$T/old"
		try "libnvToolsExt $version beside NVTX 3" 2 "$T/old" "$T/library.so"
	fi
done <test/nvtx-versions.txt
finish
