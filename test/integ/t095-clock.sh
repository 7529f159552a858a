#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which clock gprof reads: the kernel's, whatever another library makes of it, and the counter of the CPUs only where
# the kernel trusts that.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PLAIN
# Its calls are to be seen in time.
export GPROF_CALLS=all

# clock_name: of the one stream.
clock_name()
{
	"$REPORT" info "$GPROF_DIR" 2>/dev/null | sed -n 's/^ *clock.name *//p'
}

cat >"$T/calls.c" <<'END'
#include <sys/prctl.h>
#include <unistd.h>
int cudaGetDevice(int *device);
int main(int argc, char **argv)
{
	int device;

	(void)argv;
	if (argc > 1) {
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	}
	for (int i = 0; i < 100; i++) {
		cudaGetDevice(&device);
	}
	usleep(60000);
	return cudaGetDevice(&device);
}
END
gcc -O1 -o "$T/calls" "$T/calls.c" "$SIM/libcudart.so.13" || exit 1

# A clock that stands still hangs nobody, and the times of the recording are those of the kernel's clock. (It hangs the
# simulated CUPTI and NVML, so these are left out.)
gcc -shared -fPIC -o "$T/frozen.so" test/calls/frozen.c || exit 1
for order in "%:$T/frozen.so" "$T/frozen.so:%"; do
	rm -rf "$GPROF_DIR"
	GPROF_CUPTI=0 GPROF_SAMPLE_MS=0 LD_LIBRARY_PATH=$SIM timeout -k 5 120 env LD_PRELOAD="${order//%/$(preload)}" "$T/calls" >"$T/out" 2>"$T/err"
	is 0 $? "status under $order"
	summary api,losses
	is "101 0" "$(query '"\(.api.rows[] | select(.name == "cudaGetDevice").calls) \([.losses.rows[].count] | add // 0)"')" \
		"calls and losses under $order"
	"$REPORT" info "$GPROF_DIR" >"$T/out" 2>&1
	ok test "$(sed -n 's/^  duration  *0\.\([0-9]*\) s.*/\1/p' "$T/out")" -ge 060000
	is 1 "$(grep -c "^  began  *$(date -u +%Y)-" "$T/out")" "the year under $order"
	ok test "$(sed -n 's/^  profiler CPU  *\([0-9]*\) ms.*/\1/p' "$T/out")" -lt 1000000
done

# On a machine whose CPUs have counters that differ, the kernel has another source, and so has gprof.
source=/sys/devices/system/clocksource/clocksource0/current_clocksource
if [ "$(uname -m)" = x86_64 ] && unshare -m true 2>/dev/null; then
	for name in tsc hpet; do
		echo $name >"$T/$name"
		rm -rf "$GPROF_DIR"
		LD_LIBRARY_PATH=$SIM unshare -m sh -c "mount --bind '$T/$name' $source && LD_PRELOAD='$(preload)' exec '$T/calls'" >"$T/out" 2>"$T/err"
		is 0 $? "status where the kernel's source is $name"
		[ $name != tsc ] || [ "$(clock_name)" != monotonic ] || continue # without an invariant counter
		is $([ $name = tsc ] && echo tsc || echo monotonic) "$(clock_name)" "the clock where the kernel's source is $name"
	done
fi

# A program may forbid its threads to read the counter.
if [ "$(uname -m)" = x86_64 ]; then
	rm -rf "$GPROF_DIR"
	record "$T/calls" forbid
	is 0 $rc "status without the counter"
	is monotonic "$(clock_name)" "the clock without the counter"
	summary api,notices
	is 101 "$(query '.api.rows[] | select(.name == "cudaGetDevice").calls')" "calls without the counter"
	is 1 "$(query '[.notices.rows[] | select(.text | contains("PR_SET_TSC"))] | length')" "notices of it"
fi
finish
