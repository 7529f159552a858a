#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Without CUPTI the names of kernels come from their registration: none is missing that is launched, by
# its host address or by its handle, also if its module is unmapped meanwhile. Kernels of modules that
# replace each other at one address stay distinct.
. "$(dirname "$0")/lib.sh"
need REPORT JQ
export GPROF_CPU_HZ=0 # CPU samples are events, too, and a busy machine may lose some
CC=${CC:-gcc}
src=$ROOT/test/calls
"$CC" -O1 -fPIC -shared -DID=12 -DQUIET -fvisibility=hidden -o "$T/libruntime.so" "$src/runtime.c" || exit 1
"$CC" -O1 -D_GNU_SOURCE "${sanitize[@]}" -o "$T/names" "$src/names.c" "$T/libruntime.so" -Wl,-rpath,"$T" -lpthread -ldl || exit 1

# Its threads meet by chance; ThreadSanitizer needs no chance.
nr_times=5
[[ $B != *san-thread ]] || nr_times=1
for ((i = 0; i < nr_times; i++)); do
	rm -rf "$GPROF_DIR"
	GPROF_CUPTI=0 LD_PRELOAD=$(preload) "$T/names" 20000 >"$T/out" 2>"$T/err"
	is 0 $? "exit status"
	read -r nr gone <"$T/out"
	written=$("$REPORT" info "$GPROF_DIR" | awk '$1 == "function" {print $3}')
	is $((nr + gone)) "${written//,/}" "names in the stream"
	"$REPORT" check "$GPROF_DIR" >"$T/check" 2>&1 || is 0 $? "check: $(cat "$T/check")"
done

rm -rf "$GPROF_DIR"
GPROF_CUPTI=0 LD_PRELOAD=$(preload) "$T/names" handles >"$T/out" 2>"$T/err"
is 0 $? "exit status"
summary kernel,notices
is 1000 "$(query '[.kernel.rows[].calls] | add')" "launches by handles"
is 1 "$(query '[.notices.rows[] | select(.cause == "kernel names")] | length')" "notices of missing names"

# More kernels than gprof keeps names of: a notice reports it, and all launches are recorded. That takes
# ThreadSanitizer a minute, and has no other threads than above.
if [[ $B != *san-thread ]]; then
	rm -rf "$GPROF_DIR"
	GPROF_CUPTI=0 LD_PRELOAD=$(preload) "$T/names" 70000 >"$T/out" 2>"$T/err"
	is 0 $? "exit status"
	read -r nr gone <"$T/out"
	summary kernel,notices,losses
	is $((nr + gone)) "$(query '[.kernel.rows[].calls, .losses.rows[].count] | add')" "launches of many kernels"
	is 1 "$(query '[.notices.rows[] | select(.cause == "kernel names")] | length')" "notices of too many kernels"
	ok test "$(query '[.kernel.rows[] | select(.name == "kernel_1")] | length')" = 1
fi

rm -rf "$GPROF_DIR"
GPROF_CUPTI=0 LD_PRELOAD=$(preload) "$T/names" long 2999 >"$T/out" 2>"$T/err"
summary kernel
is 2999 "$(query '.kernel.rows[0].name | length')" "letters of a long name"
is true "$(query '.kernel.rows[0].name | test("^(abcdefghijklmnopqrstuvwxyz)+abcdefghi$")')" "a long name"

rm -rf "$GPROF_DIR"
GPROF_CUPTI=0 LD_PRELOAD=$(preload) "$T/names" long 9000 >"$T/out" 2>"$T/err"
is 0 $? "exit status"
summary kernel,losses
is 4096 "$(query '.kernel.rows[0].name | length')" "letters of a longer name"
is "1 text cut to 4096 bytes (the event is kept)" "$(query '.losses.rows[] | "\(.count) \(.cause)"')" "losses of it"

rm -rf "$GPROF_DIR"
GPROF_CUPTI=0 LD_PRELOAD=$(preload) "$T/names" again >"$T/out" 2>"$T/err"
is 0 $? "exit status"
summary kernel
for kernel in first:10 second:30 third:20; do
	is "${kernel#*:}" "$(query "[.kernel.rows[] | select(.name == \"kernel_${kernel%:*}\").calls] | add // 0")" "launches of kernel_${kernel%:*}"
done
is 60 "$(query '[.kernel.rows[].calls] | add')" "launches"

# Modules of the program leave at its end, before the recorder has read their last names.
rm -rf "$GPROF_DIR"
GPROF_CUPTI=0 LD_PRELOAD=$(preload) "$T/names" exit >"$T/out" 2>"$T/err"
is 0 $? "exit status"
summary kernel
is "kernel_0 1, kernel_1 1" "$(query '[.kernel.rows[] | "\(.name) \(.calls)"] | sort | join(", ")')" "kernels before the end"
finish
