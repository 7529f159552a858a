#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where a program has used up the keys of thread-local data that need no memory, nothing is allocated
# in its calls; and its threads' room in the rings is given back, though their ends are not seen.
. "$(dirname "$0")/lib.sh"
need REPORT JQ
export GPROF_CPU_HZ=0 # CPU samples are events, too
[[ $B != *san-* ]] || skip "sanitizers have allocators of their own"
CC=${CC:-gcc}
src=$ROOT/test/calls
"$CC" -O1 -fPIC -shared -DID=12 -DQUIET -fvisibility=hidden -o "$T/libruntime.so" "$src/runtime.c" || exit 1

for keys in 0 40; do
	rm -rf "$GPROF_DIR"
	"$CC" -O1 -fPIC -shared -DKEYS -DNR_KEYS=$keys -o "$T/libkeys.so" "$src/threads.c" || exit 1
	"$CC" -O1 -o "$T/threads" "$src/threads.c" -Wl,--no-as-needed "$T/libkeys.so" "$T/libruntime.so" \
		-Wl,-rpath,"$T" -lpthread || exit 1
	# With 4 MB for rings there is room for 256 threads at a time.
	GPROF_BUFFER_MB=8 LD_PRELOAD=$(preload) "$T/threads" 3000 >"$T/out" 2>"$T/err"
	is 0 $? "exit status with $keys keys"
	is 0 "$(cat "$T/out")" "allocations in calls with $keys keys"
	summary api,losses
	is 3001 "$(query '[.api.rows[].calls, .losses.rows[].count] | add')" "calls with $keys keys"
done
finish
