#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The simulator against what is known of the real libraries, and its requests by environment. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
${MAKE:-make} --no-print-directory prog sim-tests >/dev/null || exit 1
B=build
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
number=0
failed=0

# ok NAME CONDITION... : the condition is a command
ok()
{
	local name=$1
	shift
	number=$((number + 1))
	if "$@"; then
		echo "ok $number - $name: Passed"
	else
		echo "not ok $number - $name: $*"
		failed=1
	fi
}

skip()
{
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

# client PROGRAM [VARIABLE=VALUE...]: runs it under the CUPTI client; sets the client's keys.
client()
{
	local program=$1 line
	shift
	kernels='' dropped='' zero='' bad='' overlaps='' late='' unsorted='' graphs='' subscribe=''
	line=$(env "$@" CUDA_INJECTION64_PATH="$PWD/$B/test/sim/client.so" LD_LIBRARY_PATH=$B/sim \
		timeout 300 $B/prog/$program 2>&1 >"$work/out" | grep subscribe=)
	for key in $line; do
		printf -v "${key%%=*}" '%s' "${key#*=}"
	done
}

# Record sizes, where a real CUPTI of the version lies around.
for soname in libcupti.so.13 libcupti.so.12 libcupti.so.11.8; do
	real=
	for candidate in "${CUDA_HOME:-/nowhere}/lib64/$soname" "${CUDA_HOME:-/nowhere}/extras/CUPTI/lib64/$soname" \
		/usr/local/cuda/lib64/$soname /usr/local/cuda/extras/CUPTI/lib64/$soname \
		$B/cupti/*/nvidia/*/lib/$soname; do
		[ -f "$candidate" ] && real=$candidate && break
	done
	$B/test/sim/strides $B/sim/$soname >"$work/sim"
	if [ -z "$real" ]; then
		skip "record_sizes_of_$soname" "no real $soname here"
		continue
	fi
	$B/test/sim/strides "$real" >"$work/real"
	# A newer library under the same name may know more and longer records; 13.0 is what we answer for.
	if [ $soname = libcupti.so.13 ] && [ "$(sed -n 's/^10 //p' "$work/real")" != 216 ]; then
		skip "record_sizes_of_$soname" "the one here is newer than 13.0"
		continue
	fi
	ok "record_sizes_of_$soname" cmp -s "$work/sim" "$work/real"
done

for version in 11.8 12.4 13.0; do
	client vector_add SIM_CUPTI=$version
	ok "cupti_${version}_gives_every_kernel" [ "$kernels $copies $sets $bad" = "16 9 8 0" ]
done
client vector_add CLIENT_CUPTI=libcupti.so.11.8
ok "cupti_by_its_name" [ "$kernels $bad" = "16 0" ]
client threads
ok "four_threads_lose_nothing" [ "$kernels $bad $dropped $devices" = "200 0 0 1" ]
ok "driver_calls_share_correlation_ids" [ "$((nested * 4))" = "$callbacks" ]
ok "records_come_out_of_order" [ "$unsorted" -gt 0 ]
client threads SIM_CUPTI_DROP=10
ok "drops_are_counted" [ "$dropped" -gt 20 ]
client threads SIM_CUPTI_ZERO=4
ok "every_fourth_has_no_times" [ "$zero" = 51 ]
client overlap
ok "kernels_of_a_stream_do_not_overlap" [ "$overlaps" = 0 ]
client overlap SIM_OVERLAP=1
ok "kernels_of_a_stream_overlap_on_request" [ "$overlaps" -gt 10 ]
client graphs
ok "graph_nodes_have_records" [ "$kernels $graphs" = "24 0" ]
client graphs CLIENT_GRAPHS=1
ok "whole_graphs_hide_their_nodes" [ "$kernels $graphs" = "0 8" ]
for code in 15 999 35 33; do
	client vector_add SIM_CUPTI_INIT=$code
	ok "cupti_refuses_with_$code" [ "$subscribe" = $code ]
done
client vector_add SIM_CUPTI_TAKEN=1
ok "cupti_is_taken" [ "$subscribe" = 39 ]
client driver_api
ok "direct_driver_calls_are_seen" [ "$kernels $runtime" = "2 0" ]

LD_LIBRARY_PATH=$B/sim SIM_FAIL=cudaMalloc:2:2 $B/prog/vector_add >"$work/out" 2>&1
ok "the_second_malloc_fails" grep -q "out of memory" "$work/out"
LD_LIBRARY_PATH=$B/sim SIM_DEVICES=0 $B/prog/errors >"$work/out" 2>&1
ok "no_device" grep -q "^count *100 " "$work/out"
LD_LIBRARY_PATH=$B/sim SIM_DEVICES=3 $B/prog/collectives >"$work/out" 2>&1
ok "collectives_over_three_devices" [ "$(grep -c 'of 3: gathered' "$work/out")" = 3 ]
LD_LIBRARY_PATH=$B/sim timeout 300 $B/prog/collectives ranks 3 >"$work/out" 2>&1
ok "collectives_over_three_processes" [ "$(grep -c 'of 3: gathered 4723200' "$work/out")" = 3 ]
for name in libcudart.so.13 libcudart.so.12 libcudart.so.11.0 libcupti.so.13 libcupti.so.12 libcupti.so.11.8; do
	ok "${name}_versions_its_symbols" [ "$(nm -D --defined-only $B/sim/$name | grep -c "@@$name")" -gt 30 ]
done
# What the table of versions has where there is no toolkit is part of what a toolkit gives.
if grep -q cuEventRecord $B/test/sim/driver_since.def; then
	ok "versions_without_a_toolkit" [ -z "$(test/sim/driver_since.sh | sort | comm -23 - <(sort $B/test/sim/driver_since.def))" ]
else
	skip "versions_without_a_toolkit" "no toolkit"
fi
missing=
while read -r symbol; do
	test/sim/driver_since.sh | grep -qF "\"$symbol\")" || missing+=" $symbol"
done < <(sed -nE 's/^DRIVER\((.*_v[0-9])\)/\1/p' test/sim/runtime_driver.def)
ok "the_runtime_needs_no_toolkit" [ -z "$missing" ]
exit $failed
