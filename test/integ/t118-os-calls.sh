#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libgprof-os.so: calls of the C library. Counts and bytes are exactly those of the program, and strace sees the same;
# what the calls return is as without gprof; files, sockets, locks and sleeps that are slow are named.
. "$(dirname "$0")/lib.sh"
need REPORT JQ
[[ $B != *san-* ]] || skip "a sanitizer stands in for the same functions"
program=$ROOT/$B/integ/s_os
os=$ROOT/$B/libgprof-os.so
mkdir -p "$T/files" && cd "$T/files" || exit 1

# run [VARIABLE=VALUE...]: the program with both libraries, in a clean folder.
run()
{
	rm -rf "$GPROF_DIR" "$T/files"/*
	env "$@" LD_PRELOAD="$(preload):$os" "$program" "$T/counts" >"$T/out" 2>"$T/err"
	rc=$?
	is 0 "$rc" "exit status of s_os $*"
	is "" "$(diff "$T/plain.out" "$T/out")" "what the calls return, $*"
}

plain "$program" "$T/plain.counts"
is 0 "$plain_rc" "exit status without gprof"

# same_counts WHAT: the program's own counts are those of view os-runtime.
same_counts()
{
	summary os-runtime
	is "" "$(diff <(awk '$3 > 0 {print $2, $3, $4}' "$T/counts" | sort) \
		<(query '.os_runtime.rows[] | "\(.name) \(.calls) \(.bytes)"' |
			grep -E "^($(awk '{print $2}' "$T/counts" | paste -sd'|')) " | sort))" "counts, $1"
}

run
same_counts "1 us"
is 0 "$(query '[.os_runtime.rows[] | select(.total_ns > 0 and .min_ns < 1000 and (.name | startswith("exec") | not))] | length')" "calls below 1 us with a time"
ok test "$(query '.os_runtime.rows[] | select(.name == "pthread_mutex_lock").short')" -gt 5000
# Each call as an event, and each call only counted.
run GPROF_OS_MIN_NS=0
same_counts "all events"
is 0 "$(query '[.os_runtime.rows[].short] | add')" "counted calls where all are events"
# Peers by their addresses, of both ends. A call that takes less than 1 us has no name by default.
summary io
is 2 "$(query '[.io.rows[] | select(.kind == "receive" and (.name | test("^127.0.0.1:[0-9]+$")))] | length')" "a peer"
# Names have no secrets.
is "no/such?password=***" "$("$REPORT" sql --format csv "SELECT path FROM os_call" "$GPROF_DIR" 2>/dev/null | tr -d '"' | grep -F 'no/such?')" "a secret in a name"
run GPROF_OS_MIN_NS=1000000000
same_counts "all counted"
is 0 "$(query '[.os_runtime.rows[] | select(.name | test("^exec|^vfork") | not) | .calls - .short] | add')" "events where all are counted"

# An exec has its row before, as it does not return; one that fails, afterwards, unless it fails only after a search.
run GPROF_OS_MIN_NS=0
is "execv,0,/bin/true execv,14, execv,2,/no/such execvp,0,no-such-program execvp,2,no-such-program" "$("$REPORT" sql --format csv "SELECT name, result, path FROM os_call WHERE name LIKE 'exec%' ORDER BY 1, 2" "$GPROF_DIR" 2>/dev/null |
	tr -d '"\r' | tail -n +2 | sort | paste -sd' ')" "execs"

# ---- what was slow ----

run
summary os-runtime,io,locks,losses
is "[]" "$(query '.losses.rows | tojson')" "losses"
# 20 reads of a pipe whose other end pauses for 5 ms before each write.
fifo='.io.rows[] | select(.name == "'$T/files/slow.fifo'" and .kind == "read")'
is "20 10240" "$(query "$fifo | \"\(.calls) \(.bytes)\"")" "reads of the slow pipe"
ok test "$(query "$fifo.median_ns")" -ge 4000000
is "$T/files/slow.fifo" "$(query '[.io.rows[] | select(.kind == "read" and .bytes > 10000)] | min_by(.rate).name')" "the slowest file"
is 1 "$(query "$fifo.threads")" "threads that read it"
# 4 threads hold a lock for 2 ms, 5 times each.
lock='[.locks.rows[] | select(.name == "pthread_mutex_lock")] | max_by(.total_ns)'
# The first one may get it 5 times in a row, and the main thread takes it later.
ok test "$(query "$lock.threads")" -ge 3
ok test "$(query "$lock.total_ns")" -ge 30000000
is hold "$(query "$lock.site")" "the function that waits for it"
ok grep -qE '^s_os \([0-9]+\)$' <<<"$(query "$lock.holder")"
ok test "$(query "$lock.holders")" -ge 1
# One thread writes for 20 ms what another wants to read; it signals and posts what that waits for.
for name in pthread_rwlock_rdlock pthread_cond_wait sem_wait; do
	ok grep -qE '^s_os \([0-9]+\)$' <<<"$(query '[.locks.rows[] | select(.name == "'$name'")] | max_by(.total_ns).holder')"
done
is "1 call of " "$(query '.locks.rows[] | select(.name == "sem_timedwait") | "\(.calls) call of \(.holder)"')" "who posts for a wait that times out"
is "use_fifo" "$("$REPORT" sql --format csv "SELECT DISTINCT stack FROM os_call WHERE name = 'read' AND dur_ns > 2000000 AND bytes = 512" "$GPROF_DIR" 2>/dev/null | tr -d '"\r' | tail -n +2 | sed 's/ <- .*//' | sort -u)" "the function that reads the slow pipe"
is "use_fifo" "$(query "$fifo.caller")" "the same in view io"
ok test "$(query '.os_runtime.rows[] | select(.name == "nanosleep").min_ns')" -ge 2000000
# Errors are counted: ENOENT, EBADF, EINTR, ETIMEDOUT.
is 1 "$(query '.os_runtime.rows[] | select(.name == "pthread_cond_timedwait").failed')" "timeouts"
is 1 "$(query '.os_runtime.rows[] | select(.name == "poll").failed')" "interrupted calls"
is "$(query '[.os_runtime.rows[] | select(.failed > 0)] | length > 2')" true "functions with errors"

# ---- the other ways to have it ----

# Nothing of libc is replaced without the library, and it is silent without the recorder.
rm -rf "$GPROF_DIR"
LD_PRELOAD=$(preload) "$program" >"$T/out" 2>"$T/err"
summary os-runtime
is 0 "$(query '.os_runtime.rows | length')" "calls without libgprof-os.so"
rm -rf "$GPROF_DIR" "$T/files"/*
LD_PRELOAD=$os "$program" >"$T/out" 2>"$T/err"
is "" "$(diff "$T/plain.out" "$T/out")" "what the calls return without the recorder"
is "" "$(cat "$T/err")" "messages without the recorder"
# Nor is anything recorded by a libgprof.so of another build, whose calls may mean something else.
cat >"$T/other.c" <<-END
	#include <stdlib.h>
	#include "preload/os/os.h"
	static const _Atomic uint32_t mode = 1;
	static uint64_t begin_call(void) { abort(); }
	static void end_call(const struct os_call *call) { (void)call, abort(); }
	static uint32_t forget(int first, int last) { (void)first, (void)last, abort(); }
	static void post(const volatile void *object) { (void)object, abort(); }
	static uint64_t posts(const volatile void *object) { (void)object, abort(); }
	static uint32_t poster(const volatile void *object, uint64_t before) { (void)object, (void)before, abort(); }
	extern const struct os_recorder gprof_os_recorder;
	const struct os_recorder gprof_os_recorder = {OS_RECORDER_SIZES - SIZE, OS_NR - CALLS, &mode, begin_call, end_call, end_call, forget, post, posts, poster};
END
for other in "-DSIZE=1 -DCALLS=0" "-DSIZE=0 -DCALLS=1"; do
	# shellcheck disable=SC2086 # two options
	"${CC:-gcc}" $other -I"$ROOT" -shared -fPIC -o "$T/other.so" "$T/other.c" || mismatch "no other recorder"
	rm -rf "$T/files"/*
	LD_PRELOAD=$T/other.so:$os "$program" >"$T/out" 2>"$T/err"
	is 0 $? "exit status with $other"
	is "" "$(diff "$T/plain.out" "$T/out")" "what the calls return with $other"
done
# In the other order of libraries.
rm -rf "$GPROF_DIR" "$T/files"/*
LD_PRELOAD=$os:$(preload) "$program" "$T/counts" >"$T/out" 2>"$T/err"
same_counts "the other order"
# gprof-record finds it, adds it once, and refuses where it is missing.
rm -rf "$GPROF_DIR" "$T/files"/*
"$ROOT/$B/gprof-record" --os --no-report "$program" "$T/counts" >"$T/out" 2>"$T/err"
is 0 "$?" "exit status of gprof-record --os"
same_counts "gprof-record --os"
is 1 "$(LD_PRELOAD=$os "$ROOT/$B/gprof-record" --os --print-env 2>/dev/null | grep -o 'libgprof-os.so' | wc -l)" "times that it is preloaded"
cp "$ROOT/$B/libgprof.so" "$T/libgprof.so"
"$ROOT/$B/gprof-record" --os --no-report --library "$T/libgprof.so" /bin/true >"$T/out" 2>"$T/err"
is 125 "$?" "exit status where the library is missing"
ok grep -q 'needs libgprof-os.so beside libgprof.so' "$T/err"

# A Python program that uses no GPU is recorded, and so is its forked child, under the names of their own files.
if command -v python3 >/dev/null; then
	rm -rf "$GPROF_DIR"
	cat >"$T/read.py" <<-END
		import os, sys, time
		child = os.fork()
		if not child:
		    with open("$T/files/child.txt", "wb") as file:
		        file.write(bytes(1000000))
		        file.flush()
		        os.fsync(file.fileno())
		    sys.exit(0)
		os.mkdir("$T/files/set")
		for i in range(5):
		    with open("$T/files/set/%d.v1.jpg" % i, "wb") as file:
		        file.write(bytes(300000))
		print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
		for i in range(10):
		    time.sleep(0.05) # a stack may be due some ms after one that took long
	END
	"$ROOT/$B/gprof-record" --os --no-report --python stacks python3 "$T/read.py" >"$T/out" 2>"$T/err"
	is 0 "$(cat "$T/out")" "output of Python"
	line="read.py($(grep -n time.sleep "$T/read.py" | cut -d: -f1)): <module>"
	is "$line" "$("$REPORT" sql --format csv "SELECT DISTINCT python_stack FROM os_call WHERE name LIKE '%sleep' AND python_stack != ''" "$GPROF_DIR" 2>/dev/null | tr -d '"\r' | tail -n +2 | sed 's|.*/||')" "the line of Python that sleeps"
	summary os-runtime
	is "$line" "$(query '.os_runtime.rows[] | select(.kind == "sleep").caller' | sed 's|.*/||')" "the same in view os-runtime"
	summary os-runtime,io
	is "1000000" "$(query '.io.rows[] | select(.name == "'$T/files/child.txt'" and .kind == "write").bytes')" "bytes that Python's child wrote"
	is 1 "$(query '.io.rows[] | select(.name == "'$T/files/child.txt'" and .kind == "sync").calls')" "fsync of Python's child"
	ok test "$(query '[.os_runtime.rows[] | select(.kind == "sleep").max_ns] | max')" -ge 9000000
	is "5 1500000" "$(query '.io.rows[] | select(.name == "'$T/files/set/*.jpg'") | "\(.files) \(.bytes)"')" "files of a folder are one row"
	summary io --detail
	is "300000 300000 300000 300000 300000" "$(query '[.io.rows[] | select(.name | test("/set/[0-4].v1.jpg$")).bytes | tostring] | join(" ")')" "--detail has each"
fi

# ---- another witness ----

# Those functions that are one system call each, which nothing else in the program makes.
if command -v strace >/dev/null && strace -f -o /dev/null true 2>/dev/null; then
	rm -rf "$GPROF_DIR" "$T/files"/*
	env -u GPROF_DIR strace -f -c -o "$T/strace" "$program" "$T/counts" >"$T/out" 2>/dev/null
	for pair in vfork:vfork fsync:fsync fdatasync:fdatasync pwrite64:pwrite writev:writev readv:readv accept:accept connect:connect; do
		is "$(awk -v name="${pair#*:}" '$2 == name {print $3}' "$T/counts")" \
			"$(awk -v name="${pair%:*}" '$NF == name {print $4}' "$T/strace")" "calls of ${pair%:*} by strace"
	done
else
	echo "# strace cannot run here: no second witness"
fi
finish
