#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Frameworks and libraries of PyPI, unmodified, on the simulator: they print and return what they do
# without us, and what can be seen of them is recorded. Each has a virtual environment of its own in
# build/framework; they are large, so only those are made that are named. Prints TAP.
#
#     test/framework/run.sh [NAME...]        names of versions.txt; default: those that are there
# shellcheck disable=SC2317 # functions that are called by name
. "$(dirname "$0")/../integ/lib.sh"
need SIM REPORT JQ
base=$ROOT/build/framework
n=0
any=0

make_venv()
{
	local packages
	packages=$(sed -n "s/^$1 //p" test/framework/versions.txt)
	[ -n "$packages" ] && python3 -m venv "$base/$1" &&
		# shellcheck disable=SC2086 # several packages
		"$base/$1/bin/pip" install -q --disable-pip-version-check $packages && return
	rm -rf "${base:?}/$1"
	echo "$1 cannot be installed" >&2
	return 1
}

# run NAME [PROGRAM]: the program without us and with us. It has its module's name, hence -I.
run()
{
	local program=test/framework/${2:-$1}.py
	rm -rf "$GPROF_DIR"
	plain timeout 200 "$base/$1/bin/python" -I "$program"
	record timeout 200 "$base/$1/bin/python" -I "$program"
	is "$plain_rc $(cat "$T/plain.out")" "$rc $(cat "$T/out")" "status and output"
}

# unseen NAME: these have nothing of what we look at, and so no stream.
unseen()
{
	run "$1"
	is 0 "$(find "$GPROF_DIR" -type f 2>/dev/null | wc -l)" "streams"
	is 0 "$(grep -c gprof "$T/err")" "words of ours"
}

try_jax() { unseen jax; }
try_tensorflow() { unseen tensorflow; }
try_mindspore() { unseen mindspore; }

try_cupy()
{
	run cupy
	summary nvtx
	is "6 marked
6 pushed
6 ranged" "$(query '.nvtx.rows[] | "\(.calls) \(.name)"' | sort)" "ranges"
}

# nccl NAME NOTICES: its functions are looked up by their addresses, so that no hook sees the calls.
nccl()
{
	run "$1" nccl
	summary nvtx,communication,notices
	is "1 NCCL:ncclCommInitAll" "$(query '.nvtx.rows[] | "\(.calls) \(.name)" | select(contains("Init"))')" "ranges"
	is "AllReduce 1 40
Broadcast 1 40
Send and Recv 2 80" "$(query '.communication.rows[] | "\(.name) \(.calls) \(.bytes)"' | sort)" "operations"
	is "$2" "$(query '.notices.rows[] | select(.cause == "NCCL'"'"'s ranges").cause' | wc -l)" "notices"
}

# The older one names no communicators.
try_nccl() { nccl nccl 1; }
try_nccl_old() { nccl nccl_old 2; }

# launched: every "launched N NAME" that the program prints has its kernels; kernels and launches are as many.
launched()
{
	local nr name want=0
	summary kernel,api,losses,notices
	while read -r _ nr name; do
		is "$nr" "$(query "[.kernel.rows[] | select(.name | test(\"\\\\b$name\\\\b\")).calls] | add")" "kernels called $name"
		want=$((want + nr))
	done < <(grep '^launched' "$T/out")
	is "$want $want" "$(query '"\([.kernel.rows[].calls] | add) \([.api.rows[] | select(.name | contains("Launch")).calls] | add)"')" \
		"kernels and launches"
	is "0 0" "$(query '"\(.losses.rows | length) \(.notices.rows | length)"')" "losses and notices"
}

# timed NAME PROGRAM NR KERNEL: CUDA events around NR launches measure no less than the kernels take; on a busy
# machine, more.
timed()
{
	rm -rf "$GPROF_DIR"
	record timeout 200 "$base/$1/bin/python" -I "test/framework/$2.py" timed
	summary kernel
	is true "$(query "[.kernel.rows[] | select(.name | test(\"\\\\b$4\\\\b\")).min_ns * $3][0] <=
		$(sed -n 's/^events \([0-9]*\) ns/\1/p' "$T/out") + $3")" "time by events"
}

try_numba()
{
	run numba
	launched
	timed numba numba 20 plain
	run numba cuda_core
	launched
	timed numba cuda_core 1 scale
}

# ranges NAME: how many ranges of operators of that name.
ranges()
{
	query "[.user_ranges.rows[] | select(.source == \"NVTX\" and (.name | startswith(\"$1, \"))).calls] | add"
}

try_torch()
{
	local name
	run torch
	summary user-ranges,operator --detail
	for name in aten::mm aten::sum MmBackward0; do
		is "$(query "[.operator.rows[] | select(.name == \"$name\").calls] | add")" "$(ranges $name)" \
			"ranges and operators called $name"
	done
	is 3 "$(query '[.user_ranges.rows[] | select(.name == "user").calls] | add')" "ranges of the user"
	# Each range lies in the operator that it is of.
	is 0 "$(query '[.user_ranges.rows[] | select(.source == "NVTX" and .name != "user") |
		select(.operator as $operator | .name | startswith($operator + ",") | not)] | length')" "ranges elsewhere"
	is true "$(query '[.user_ranges.rows[].operator] | contains(["aten::mm"])')" "operators of ranges"

	"$REPORT" timeline -o "$T/trace.json" "$GPROF_DIR" 2>"$T/report.err"
	is 9 "$(jq '[.traceEvents[] | select(.ph == "X")] as $all | [$all[] |
		select(.cat == "user_annotation" and (.name | startswith("aten::mm, "))) as $range | $all[] |
		select(.cat == "cpu_op" and .name == "aten::mm" and .tid == $range.tid and .ts <= $range.ts and
			.ts + .dur >= $range.ts)] | length' "$T/trace.json")" "ranges that begin in operators, on the timeline"

	# NVTX is what there is without the observer.
	rm -rf "$GPROF_DIR"
	GPROF_TORCH=off record "$base/torch/bin/python" -I test/framework/torch.py
	summary user-ranges,operator
	is 0 "$(query '.operator.rows | length')" "operators where they are off"
	is 9 "$(ranges aten::mm)" "ranges where operators are off"
}

for name in "$@"; do
	[ -x "$base/$name/bin/python" ] || make_venv "$name" || exit 1
done
for name in $(grep -o '^[a-z_]*' test/framework/versions.txt); do
	case " $* " in *" $name "* | '  ') ;; *) continue ;; esac
	if [ ! -x "$base/$name/bin/python" ]; then
		echo "ok $((++n)) - $name # SKIP not in build/framework; test/framework/run.sh $name puts it there"
		continue
	fi
	failed=0
	"try_$name"
	if [ $failed = 0 ]; then
		echo "ok $((++n)) - $name"
	else
		echo "not ok $((++n)) - $name"
		any=1
	fi
done
failed=$any
finish
