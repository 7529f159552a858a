#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs with one trouble each, by PyTorch on the CPU: the first finding names it, and `whatif` predicts the program
# without it, which runs beside it. Prints TAP.
. "$(dirname "$0")/../integ/lib.sh"
. test/verdict/says.sh
need REPORT JQ PYTHON TORCH PLAIN
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 GPROF_QUIET=1
program=test/verdict/planted_torch.py table=test/verdict/planted_torch.tsv
TRIES=5

# A container that may use half of a CPU, by a cgroup of our own; "" if that cannot be made.
make_container()
{
	container=/sys/fs/cgroup/cpu
	[ -d $container ] || container=/sys/fs/cgroup
	container+=/gprof-verdict-$$
	if [ "$(id -u)" = 0 ] && mkdir "$container" 2>/dev/null; then
		trap 'rmdir "$container"; clean_up' EXIT
		{ echo 50000 >"$container/cpu.cfs_quota_us" || echo "50000 100000" >"$container/cpu.max"; } 2>/dev/null && return
	fi
	container=
}

# Files of which four take 0.8 s at 100 KB/s.
make_disk()
{
	local i
	mkdir "$T/files"
	for ((i = 0; i < 48; i++)); do
		head -c 20000 /dev/zero >"$T/files/$i.bin"
	done
	slow_files 100k
	export PLANTED_FILES=$slow
}

# start NAME OUTPUT [INIT-METHOD]: a process of that program; its own measurements go to OUTPUT.
start()
{
	local python=off sample_ms=0 libraries # what else this machine does is not what is planted
	libraries=$(preload)
	case $1 in
	storm | none) python=gc ;;
	log | convoy | gil | process | storage) libraries+=" $ROOT/$B/libgprof-os.so" ;;
	esac
	case $1 in
	crowded | limited | workers | storage | slow | disk | mapped | decode | decoded | stages | fetched) sample_ms=50 ;;
	esac
	GPROF_SAMPLE_MS=$sample_ms GPROF_PYTHON=$python GPROF_DIR=$T/$1 LD_PRELOAD=$libraries timeout 200 "$TORCH_PYTHON" $program "$1" "${@:3}" >"$2" 2>"$2.err"
}

# plant NAME: makes the recording of that name, by one process or two ranks, of which the one that may be late measures.
plant()
{
	local status=0
	rm -rf "${T:?}/$1" "$T/$1.store" "$T/$1.failed"
	case $1 in
	straggler | even)
		RANK=0 start "$1" "$T/$1.out0" "file://$T/$1.store" &
		RANK=1 start "$1" "$T/$1.out" "file://$T/$1.store" || status=$?
		wait $! && return $status
		;;
	limited) (echo "$BASHPID" >"$container/cgroup.procs" && start "$1" "$T/$1.out") ;;
	*) start "$1" "$T/$1.out" ;;
	esac
}

# of NAME FIELD: 1 the median step, 2 what the trouble takes of it, ns
of()
{
	cut -d ' ' -f "$2" "$T/$1.out"
}

# median QUERY NAME OPTION VALUE: of what `whatif` says of single steps, since some take longer on a busy machine
median()
{
	local step
	for step in 4 5 6 7 8 9 10; do
		"$REPORT" whatif --format json --steps $step "${@:3}" "$T/$2" 2>/dev/null | jq ".what_if.rows[0].$1 // empty"
	done | sort -n | awk '{ ns[NR] = $1 } END { print NR ? ns[int((NR + 1) / 2)] : "null" }'
}

# figure FIELD CAUSE NAME STEPS: of the finding, for these
figure()
{
	"$REPORT" summary --view findings --format json --steps "$4" "$T/$3" 2>/dev/null |
		jq "[.findings.rows[] | select(.cause == \"$2\").$1] | add // 0"
}

# median_figure FIELD CAUSE NAME: of those of single steps
median_figure()
{
	local step
	for step in 4 5 6 7 8 9 10; do
		figure "$@" $step
	done | sort -n | awk '{ ns[NR] = $1 } END { print NR ? ns[int((NR + 1) / 2)] : "null" }'
}

# is_near HAVE WANT WHAT: within 10 %
is_near()
{
	local ratio
	ratio=$(jq -n "$1 / $2" 2>/dev/null)
	echo "# $3: $1 ns, measured $2 ns"
	if [ "$(jq -n "$ratio > 0.9 and $ratio < 1.1" 2>/dev/null)" = true ]; then
		echo "ok 1 - $3: within 10 %"
	else
		echo "not ok 1 - $3: within 10 %: ${ratio:-unknown} of it"
	fi
}

# predicts NAME COUNTERPART OPTION VALUE
predicts()
{
	echo "# $1: a step of $(of "$1" 1) ns"
	is_near "$(median predicted_ns "$1" "${@:3}")" "$(of "$2" 1)" "$1: whatif predicts the step without it"
	is_near "$(median saved_ns "$1" "${@:3}")" "$(of "$1" 2)" "$1: whatif saves what it takes"
}

# waits_for NAME PATTERN: does it say so of the loader's workers?
waits_for()
{
	says "$1" "The loop waits for loader workers, which $2"
}

# waits_at NAME PATTERN: does it say so of the loop, with what its calls of the system cost?
waits_at()
{
	says "$1" "The loop waits at plant[^ ]*\\([0-9]+\\)$2; waiting less there can save at most"
	costs os_calls "$1" "the calls cost"
}

# costs CAUSE NAME WHAT: as much as the finding says, and so much less the program without it, `none`, takes.
costs()
{
	local cost
	cost=$(median_figure reach_ns "$1" "$2")
	is_near "$cost" "$(of "$2" 2)" "$2: what $3"
	is_near "$cost" $(($(of "$2" 1) - $(of none 1))) "$2: what a program without it saves"
}

# Both programs compute in as many workers as they have, so they show nothing where these have to share CPUs with others.
decodes()
{
	if [ "$(of decode 1)" -gt 340000000 ] || [ "$(of decoded 1)" -gt 220000000 ]; then
		echo "ok 1 - decode: workers # SKIP the machine is busy"
		return
	fi
	waits_for decode "run planted_torch.py\\([0-9]+\\)(: compute_for)? ([0-9]+ % of the time|most); 2 workers instead of 1 can save"
	predicts decode decoded --remove loader
}

# What takes most of the workers' time has a saving, which a program without that shows.
saves_stage()
{
	local saved
	if [ "$(of stages 1)" -gt 660000000 ] || [ "$(of fetched 1)" -gt 264000000 ]; then
		echo "ok 1 - stages: workers # SKIP the machine is busy"
		return
	fi
	saved=$("$REPORT" summary --view findings --format json --steps 4-10 "$T/stages" 2>/dev/null |
		jq -r '.findings.rows[] | select(.cause == "loader").places' | sed -n 's/.*without that a step takes up to \([0-9.]*\) ms less.*/\1/p')
	is_near "$(jq -n "${saved:-0} * 1000000")" $(($(of stages 1) - $(of fetched 1))) "stages: what a stage costs"
}

# judge NAME: whatever can be said of that recording
judge()
{
	python3 test/verdict/verdict.py "$REPORT" $table "$T" "$1"
	python3 test/verdict/budgets.py "$REPORT" "$T/$1"
	case $1 in # on a busy machine two ranks may have different outliers, which screens of a job leave out differently
	straggler | even) ;;
	*) python3 test/verdict/same.py "$REPORT" "$T/$1" ;;
	esac
	case $1 in
	loader*) predicts "$1" none --remove loader ;;
	recompile) costs compilation "$1" "compilation costs" ;;
	code) predicts "$1" none --scale op:tokenize=0 ;;
	storm) predicts "$1" none --scale "op:garbage collection.*=0" ;;
	gil) is_near "$(median_figure saved_ns gil "$1")" $(($(of gil 1) - $(of process 1))) "gil: a process saves what the finding says" ;;
	straggler) predicts "$1" even --remove stragglers ;;
	workers) waits_for "$1" "mostly wait at plant[^ ]*\\([0-9]+\\)(: __getitem__)?, in clock_nanosleep; more of them" ;;
	storage | slow) waits_for "$1" "are in read\\(/.*\\.bin\\) ([89][0-9]|100) % of the time; more of them" ;;
	disk) # to open a file takes long, too
		waits_for "$1" "are in read\\(/.*\\.bin\\) ([4-9][0-9]|100) % of the time; more of them"
		predicts "$1" none --remove loader
		;;
	mapped)
		waits_for "$1" "mostly wait at plant[^ ]*\\([0-9]+\\)(: __getitem__)?, in page faults; more of them"
		predicts "$1" none --remove loader
		;;
	log) waits_at "$1" "(: between)?, in clock_nanosleep" ;;
	convoy) waits_at "$1" "(: write_entry)?, for a lock or a thread" ;;
	decode) decodes ;;
	stages) saves_stage ;;
	epochs)
		says "$1" 'Loader workers start 4 times, for which the loop waits; keeping them \(persistent_workers=True\) can save at most'
		is_near "$(figure reach_ns loader_start "$1" 4-10)" $(($(of epochs 1) - $(of kept 1))) "epochs: kept workers save what the finding says"
		;;
	crowded | limited) is_near "$(figure saved_ns cpu_wait "$1" 4-10)" "$(of "$1" 2)" "$1: waits for a CPU" ;;
	esac
}

# beside COUNTERPART NAME...: the lines of their last tries. On a busy machine a program's greatest trouble may be that
# machine; what is wrong fails all the tries.
beside()
{
	local without=$1 left="$*" name times again
	for ((times = 1; times <= TRIES; times++)); do
		# shellcheck disable=SC2086 # several names
		for name in $(printf '%s\n' $left "$without" | sort -u); do
			plant "$name" || touch "$T/$name.failed" &
		done
		wait
		again=
		for name in $left; do
			judge "$name" >"$T/$name.tap" 2>&1
			[ ! -e "$T/$name.failed" ] || echo "not ok 1 - $name: runs: $(tail -c 200 "$T/$name.out.err" | tr '\n' ' ')" >>"$T/$name.tap"
			grep -q "^not ok" "$T/$name.tap" || continue
			again+=" $name"
			echo "# $name: try $times: $(grep -m1 '^not ok' "$T/$name.tap")"
		done
		left=$again
		[ -n "$left" ] || break
	done
	for name in "$@"; do
		cat "$T/$name.tap"
	done
}

make_container
make_disk
{
	beside none loader10 loader60 workers storage slow code recompile gc storm log convoy
	beside process gil
	beside even straggler
	beside bound
	if [ -n "$slow" ]; then
		beside disk
		beside mapped # they read the same files
	else
		echo "ok 1 - disk, mapped # SKIP no file system can be mounted here"
	fi
	beside decoded
	beside decode
	beside fetched stages
	beside kept epochs
	beside crowded
	if [ -n "$container" ]; then
		beside limited
	else
		echo "ok 1 - limited # SKIP no cgroup can be made here"
	fi
} | awk '/^1\.\./ { next } /^(not )?ok [0-9]+ - / { sub(/[0-9]+/, ++number) } { print } /^not ok/ { failed = 1 } END { exit failed }'
