#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whichever way a process ends: its status and output are its own, every call is in the report, and
# the report says how it ended.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

# ends WAY SENTENCE [LAUNCHES [STREAMS [REPORT-STATUS]]]
ends()
{
	local way=$1 sentence=$2 launches=${3:-7} streams=${4:-1} status=${5:-0}
	plain "$B/integ/s_end" "$way"
	for _ in 1 2 3 4 5; do
		rm -rf "$GPROF_DIR"
		record "$B/integ/s_end" "$way"
		was_late || break
	done
	is "$plain_rc" $rc "status of $way"
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output of $way"
	is "$streams" "$(find "$GPROF_DIR" -name '*.gprof' -o -name '*.part' | wc -l)" "streams of $way"
	summary api
	is "$launches" "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "launches of $way"
	is "$status" $report_rc "report's status of $way"
	[ "$status" = $report_rc ] || "$REPORT" --view losses --wide "$GPROF_DIR"
	"$REPORT" info "$GPROF_DIR" >"$T/info" 2>/dev/null
	if ! grep -qE "^  end +$sentence" "$T/info"; then
		echo "$way: not '$sentence':"
		grep -E '^  end ' "$T/info"
		failed=1
	fi
}

ends return 'exited with status 3$'
ends exit 'exited with status 3$'
ends _exit 'ended by _exit with status 3$'
ends _Exit 'ended by _exit with status 3$'
ends quick_exit 'ended by quick_exit with status 3$'
ends term_exit 'exited with status 3$'
ends term__exit 'ended by _exit with status 3$'
ends thread_exit 'exited with status 3$'
ends busy_return 'exited with status 3$'
ends reset 'exited with status 3$'
# Handlers that are older than the first call run after ours, and what they call is recorded.
LATE=exit ends return 'exited with status 3$' 12
is 0 "$(query '[.api.rows[] | select(.name == "cudaMalloc" or .name == "cudaFree").calls] | unique | length - 1')" "memory that a late handler frees"
LATE=exit ends exit 'exited with status 3$' 12
LATE=quick_exit ends quick_exit 'ended by quick_exit with status 3$' 12
ends kill 'was killed \(SIGKILL or OOM\)$' 7 1 3
ends term 'was stopped by SIGTERM$'
ends int 'was stopped by SIGINT$'
ends queue 'was stopped by SIGUSR1$'
ends no_signal 'exited with status 3$' 12
ends clone 'exited with status 3$' 12
[[ $B == *san-thread ]] || ends fork__exit 'exited with status 3$' 12 2
grep -qE '^  end +ended by _exit with status 0$|san-thread' "$T/info" || [[ $B == *san-thread ]] || {
	echo "the child's end is missing"
	failed=1
}

# A program sends itself signals and waits for them: not every one makes gprof write its events.
gcc -O1 -o "$T/signals" test/calls/signals.c "$SIM/libcudart.so.13" || exit 1
if [[ $B != *san-thread ]]; then
	rm -rf "$GPROF_DIR"
	GPROF_FLUSH_MS=60000 record "$T/signals" 5000
	is 0 $rc "status of a program that waits for its own signals"
	ok test "$(stat -c %s "$GPROF_DIR"/*.gprof)" -lt 100000
fi

# What shares the process's memory must not be taken for its end.
ends vfork 'was killed \(SIGKILL or OOM\)$' 12 1 3
ends exec_fail 'was killed \(SIGKILL or OOM\)$' 12 1 3

# A sanitizer turns these signals into exits of its own.
if [[ $B != *san-* ]]; then
	ends segv 'crashed: SIGSEGV$'
	ends abort 'called abort$'
	ends abort_caught 'exited with status 3$' 12
	ends abort_handled 'called abort$' 12
	ends abort_again 'crashed: SIGABRT$' 7 1 3
	ends abort_blocked 'called abort$'
fi

# The program that takes its place records too, in a stream that is named.
for way in execv execve execvp execvpe fexecve execl execlp execle; do
	ends $way 'was replaced by another program \(exec\), which continues in [^/]*\.gprof$' 14 2 3
	is 1 "$(grep -cE '^    [0-9]+ +exec .*exited with status 3$' "$T/info")" "tree of $way"
done

# The first call is older than the constructor: a library's own makes it, and the loader runs that first.
cat >"$T/early.c" <<-'END'
	int cudaGetDevice(int *);
	__attribute__((constructor)) static void begin(void)
	{
		int device;
		cudaGetDevice(&device);
	}
	/* The loader runs it after gprof's own. */
	__attribute__((destructor)) static void end(void)
	{
		int device;
		cudaGetDevice(&device);
	}
END
${CC:-gcc} -shared -fPIC -o "$T/libearly.so" "$T/early.c" "$SIM/libcudart.so.13" &&
	echo 'int main(void) { return 3; }' | ${CC:-gcc} -x c - -x none -Wl,--no-as-needed "$T/libearly.so" -Wl,-rpath,"$T" -Wl,--allow-shlib-undefined -o "$T/early" || exit 1
# (ThreadSanitizer has to be in the program.)
if [[ $B != *san-thread ]]; then
	rm -rf "$GPROF_DIR"
	record "$T/early"
	"$REPORT" info "$GPROF_DIR" >"$T/info" 2>/dev/null
	is 1 "$(grep -cE '^  end +exited with status 3$' "$T/info")" "the end of a process whose first call is in a constructor"
	summary api
	is 2 "$(query '[.api.rows[].calls] | add')" "calls of a library's constructor and destructor"
fi

# outside SIGNAL SENTENCE PROGRAM...: a signal from outside to the PROGRAM's s_end.
outside()
{
	local name=$1 sentence=$2
	shift 2
	rm -rf "$GPROF_DIR" "$T/ready" "$T/pid"
	READY=$T/ready record "$@" &
	for ((i = 0; i < 6000; i++)); do [ -e "$T/ready" ] && break; sleep 0.05; done
	find "$GPROF_DIR" -name '*.part' | sed 's/.*-\([0-9]*\)-[0-9a-f]*.gprof.part/\1/' | xargs kill -"$name"
	wait
	"$REPORT" "$GPROF_DIR" >"$T/summary" 2>/dev/null
	is 3 $? "status after SIG$name from outside"
	is 1 "$(grep -c "^INCOMPLETE: $sentence$" "$T/summary")" "what the summary says after SIG$name from outside, not '$sentence'"
}

# What nobody knows who records; and what a parent knows that waits for it. A shell replaces itself by its last
# program.
outside TERM 'killed by a signal' "$B/integ/s_end" outside
if [[ $B != *san-* ]]; then
	outside TERM 'stopped by SIGTERM' bash -c '"$@"; exit $?' - "$B/integ/s_end" outside
	outside HUP 'stopped by SIGHUP' bash -c '"$@"; exit $?' - "$B/integ/s_end" outside
	outside SEGV 'crashed: SIGSEGV' bash -c '"$@"; exit $?' - "$B/integ/s_end" outside
	outside KILL 'killed (SIGKILL or OOM)' bash -c '"$@"; exit $?' - "$B/integ/s_end" outside
	if command -v python3 >/dev/null; then
		for how in 'os.waitpid(p, 0)' 'os.wait()' 'os.wait3(0)' 'os.wait4(p, 0)' 'os.waitid(os.P_PID, p, os.WEXITED)'; do
			outside TERM 'stopped by SIGTERM' python3 -c "import os, sys
p = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
$how" "$B/integ/s_end" outside
		done
	fi
fi

# Still running: the report says so, and what it read is right.
rm -rf "$GPROF_DIR"
HOLD=$T/hold record "$B/integ/s_loop" 2 5 hold &
for ((i = 0; i < 6000; i++)); do [ -e "$T/hold" ] && break; sleep 0.05; done
"$REPORT" info "$GPROF_DIR" >"$T/info" 2>/dev/null
is 1 "$(grep -cE '^  end +is still running$' "$T/info")" "a process that runs"
# A stream that has its end but not its name: the directory is gone for the process that ends.
rm -f "$T/hold"
wait
stream=$(find "$GPROF_DIR" -name '*.gprof')
mv "$stream" "$stream.part"
"$REPORT" info "$GPROF_DIR" >"$T/info" 2>"$T/report.err"
is 0 $? "status for a stream that could not be renamed"
is 1 "$(grep -cE '^  end +exited with status 0; the file is still named .part' "$T/info")" "its end"
finish
