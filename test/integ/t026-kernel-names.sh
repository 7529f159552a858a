#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Without CUPTI the names of kernels come from their registration: none is missing that is launched, by
# its host address or by its handle, and one whose module is unmapped meanwhile does no harm. Kernels of
# modules that took each other's place keep apart.
. "$(dirname "$0")/lib.sh"
need REPORT JQ
CC=${CC:-gcc}
src=$ROOT/test/calls
sanitize=() # ThreadSanitizer's library cannot be loaded into a program without it
[[ $B != *san-thread ]] || sanitize=(-fsanitize=thread)
"$CC" -O1 -fPIC -shared -DID=12 -DQUIET -fvisibility=hidden -o "$T/libruntime.so" "$src/runtime.c" || exit 1
"$CC" -O1 -D_GNU_SOURCE "${sanitize[@]}" -o "$T/names" "$src/names.c" "$T/libruntime.so" -Wl,-rpath,"$T" -lpthread -ldl || exit 1

for _ in 1 2 3 4 5; do
	rm -rf "$GPROF_DIR"
	GPROF_CUPTI=0 LD_PRELOAD=$(preload) "$T/names" 20000 >"$T/out" 2>"$T/err"
	is 0 $? "exit status"
	read -r nr gone <"$T/out"
	written=$("$REPORT" info "$GPROF_DIR" | awk '$1 == "function" {print $3}')
	written=${written//,/}
	if [ "${written:-0}" -lt "$nr" ] || [ "$written" -gt $((nr + gone)) ]; then
		is "$nr to $((nr + gone))" "$written" "names in the stream"
	fi
	"$REPORT" check "$GPROF_DIR" >"$T/check" 2>&1 || is 0 $? "check: $(cat "$T/check")"
done

rm -rf "$GPROF_DIR"
GPROF_CUPTI=0 LD_PRELOAD=$(preload) "$T/names" handles >"$T/out" 2>"$T/err"
is 0 $? "exit status"
summary kernel,notices
is 1000 "$(query '[.kernel.rows[].calls] | add')" "launches by handles"
is 1 "$(query '[.notices.rows[] | select(.cause == "kernel names")] | length')" "notices of missing names"

# More kernels than gprof keeps names of: the others are told, and their launches are there.
rm -rf "$GPROF_DIR"
GPROF_CUPTI=0 LD_PRELOAD=$(preload) "$T/names" 70000 >"$T/out" 2>"$T/err"
is 0 $? "exit status"
read -r nr gone <"$T/out"
summary kernel,notices,losses
is $((nr + gone)) "$(query '[.kernel.rows[].calls, .losses.rows[].count] | add')" "launches of many kernels"
is 1 "$(query '[.notices.rows[] | select(.cause == "kernel names")] | length')" "notices of too many kernels"
ok test "$(query '[.kernel.rows[] | select(.name == "kernel_1")] | length')" = 1

rm -rf "$GPROF_DIR"
GPROF_CUPTI=0 LD_PRELOAD=$(preload) "$T/names" long >"$T/out" 2>"$T/err"
summary kernel
is 2999 "$(query '.kernel.rows[0].name | length')" "letters of a long name"
is true "$(query '.kernel.rows[0].name | test("^(abcdefghijklmnopqrstuvwxyz)+abcdefghi$")')" "a long name"

rm -rf "$GPROF_DIR"
GPROF_CUPTI=0 LD_PRELOAD=$(preload) "$T/names" again >"$T/out" 2>"$T/err"
is 0 $? "exit status"
summary kernel
# A name that went before the recorder could read it is unknown; a busy machine may lose all of them.
for kernel in first:10 second:30 third:20; do
	have=$(query "[.kernel.rows[] | select(.name == \"kernel_${kernel%:*}\").calls] | add // 0")
	[ "$have" = 0 ] || is "${kernel#*:}" "$have" "launches of kernel_${kernel%:*}"
done
is 60 "$(query '[.kernel.rows[].calls] | add')" "launches"
is "" "$(query '[.kernel.rows[].name | select(test("^(kernel_(first|second|third)|\\(kernel at 0x[0-9a-f]+\\))$") | not)] | join(" ")')" "other names"
finish
