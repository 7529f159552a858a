#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs whose memory is limited: gprof takes a small part of it, or nothing where there is too little.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PLAIN

notice()
{
	query '.notices.rows[] | select(.cause == "less memory").text' | grep -oE '[0-9]+ MB'
}

(ulimit -d 400000; record "$B/integ/s_loop" 5 10; exit $rc)
is 0 $? "status where data are limited"
summary api,notices
is 50 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "launches"
is "24 MB" "$(notice)" "memory for events"

rm -rf "$GPROF_DIR"
(ulimit -d 120000; record "$B/integ/s_loop" 5 10; exit $rc)
is 0 $? "status where data are few"
is 1 "$(grep -c 'not recording: .*memory' "$T/err")" "lines that say so"

# Where the system uses huge pages for everything, and where the program locks all its memory, what gprof maps is not
# at once there.
gcc -O1 -o "$T/resident" test/calls/resident.c "$SIM/libcudart.so.13" && gcc -O1 -shared -fPIC -o "$T/huge.so" test/calls/huge.c || exit 1
if ! grep -q '\[never\]' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null; then
	LD_LIBRARY_PATH=$SIM GPROF_CUPTI=0 LD_PRELOAD=$(preload):$T/huge.so "$T/resident" AnonHugePages >"$T/out" 2>"$T/err"
	is "0 kB" "$(sed 's/^ *//' "$T/out")" "huge pages"
fi
if plain "$T/resident" Locked lock; then
	GPROF_CUPTI=0 record "$T/resident" Locked lock
	more=$(paste "$T/out" "$T/plain.out" | awk '{ print $1 - $3 }')
	echo "$more kB more are locked"
	[[ $B == *san-* ]] || ok test "$more" -lt 8000
fi

# A program that locks all that it will have, and has no right to more than it may lock.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	cat >"$T/lock.c" <<-'END'
		#include <sys/mman.h>
		__attribute__((constructor)) static void lock(void) { mlockall(MCL_FUTURE); }
	END
	"${CC:-gcc}" -shared -fPIC -o "$T/lock.so" "$T/lock.c" || exit 1
	few="setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock"
	ulimit -l 8000
	LD_LIBRARY_PATH=$SIM $few env LD_PRELOAD="$T/lock.so" "$B/integ/s_loop" 5 10 >"$T/plain.out" 2>"$T/plain.err"
	plain_rc=$?
	LD_LIBRARY_PATH=$SIM $few env LD_PRELOAD="$(preload):$T/lock.so" "$B/integ/s_loop" 5 10 >"$T/out" 2>"$T/err"
	is $plain_rc $? "status where little may be locked"
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output where little may be locked"
	is 1 "$(grep -c 'not recording: .*memory' "$T/err")" "lines that say so of locked memory"
fi

# A kernel that promises no more memory than it has: what is mapped is missing elsewhere.
if unshare -m true 2>/dev/null; then
	echo 2 >"$T/two"
	# promised MB: with so much left.
	promised()
	{
		printf 'MemTotal: 9 kB\nCommitLimit: %d kB\nCommitted_AS: 1000 kB\n' $(($1 * 1024 + 1000)) >"$T/meminfo"
		rm -rf "$GPROF_DIR"
		LD_LIBRARY_PATH=$SIM unshare -m sh -c "mount --bind '$T/two' /proc/sys/vm/overcommit_memory && mount --bind '$T/meminfo' /proc/meminfo &&
			LD_PRELOAD='$(preload)' exec '$B/integ/s_loop' 5 10" >"$T/out" 2>"$T/err"
	}
	promised 1000
	is "0 1" "$? $(grep -c 'none lost' "$T/err")" "status, and lines, where there is memory to promise"
	promised 100
	is "0 1" "$? $(grep -c 'not recording: .*memory' "$T/err")" "status, and lines, where there is too little to promise"
fi

# A container of 64 MB, by a cgroup of our own: it kills whoever takes too much.
hierarchy=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
[ -d $hierarchy ] || hierarchy=/sys/fs/cgroup limit=memory.max
cgroup=$hierarchy/gprof-integ-$$
if [ "$(id -u)" = 0 ] && mkdir "$cgroup" 2>/dev/null; then
	trap 'rmdir "$cgroup"; clean_up' EXIT
	gcc -O1 -o "$T/eat" test/calls/eat.c "$SIM/libcudart.so.13" || exit 1
	# contained MB: it takes that much, and then makes calls until they would fill rings of any size.
	contained()
	{
		rm -rf "$GPROF_DIR"
		(echo $BASHPID >"$cgroup/cgroup.procs"; GPROF_CUPTI=0 record "$T/eat" "$1" 3000000; exit $rc)
	}
	if echo 64M 2>/dev/null >"$cgroup/$limit"; then
		contained 20
		is "0 done" "$? $(cat "$T/out")" "status in a container that is half empty"
		summary api,notices
		ok test "$(query '.api.rows[] | select(.name == "cudaGetDevice").calls')" -gt 0
		is "4 MB" "$(notice)" "memory for events in a container"
		contained 50
		is "0 done" "$? $(cat "$T/out")" "status in a container that is nearly full"
		is 1 "$(grep -c 'not recording: .*container' "$T/err")" "lines that say so of a container"
	fi
fi
finish
