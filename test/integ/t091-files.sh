#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Streams are for their owner alone, whatever the umask; no link of somebody else is followed, and
# nothing is written where somebody else decides what becomes of it, or with more rights than the user.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

# While it runs: the directory, the stream and its rings, which are in shared memory or beside it.
look()
{
	local path
	HOLD=$T/hold record "$B/integ/s_loop" 2 5 hold &
	for ((i = 0; i < 6000; i++)); do [ -e "$T/hold" ] && break; sleep 0.05; done
	rings=$(cd "$GPROF_DIR" && ls -- *.part)
	rings=/dev/shm/${rings%.part}.rings
	[ -e "$rings" ] || rings=
	for path in "$GPROF_DIR" "$GPROF_DIR"/* $rings; do
		case $path in
		*.part | *.rings) is 600 "$(stat -c %a "$path")" "mode of $path, umask $1" ;;
		*) is 700 "$(stat -c %a "$path")" "mode of $path, umask $1" ;;
		esac
	done
	is 2 "$(find "$GPROF_DIR" $rings -type f | wc -l)" "files while it runs"
	rm -f "$T/hold"
	wait
	is 1 "$(find "$GPROF_DIR" $rings -type f 2>/dev/null | wc -l)" "files after its end"
	is 600 "$(stat -c %a "$GPROF_DIR"/*.gprof)" "mode of the closed stream, umask $1"
}

for mask in 0 077; do
	rm -rf "$GPROF_DIR"
	umask $mask
	GPROF_DIR=$T/dump/deep look $mask
	rm -rf "$GPROF_DIR"
	look $mask
done
umask 022
# 0777 takes the owner's own rights away too, and the test's files with them.
rm -rf "$GPROF_DIR"
(umask 0777; LD_LIBRARY_PATH=$SIM LD_PRELOAD=$(preload) exec "$B/integ/s_loop" 2 5 >/dev/null 2>&1)
is 700 "$(stat -c %a "$GPROF_DIR")" "mode of the directory, umask 0777"
is 600 "$(stat -c %a "$GPROF_DIR"/*.gprof)" "mode of the stream, umask 0777"

# A link of one's own is taken, as for any other file.
rm -rf "$GPROF_DIR"
mkdir "$T/real" && ln -s "$T/real" "$T/own"
GPROF_DIR=$T/own/dump record "$B/integ/s_loop" 2 5
is 1 "$(find "$T/real/dump" -name '*.gprof' | wc -l)" "streams behind a link of one's own"

[ "$(id -u)" = 0 ] || finish
command -v setpriv >/dev/null || skip "no setpriv: nothing tried as another user"
user=65534
as_user()
{
	setpriv --reuid=$user --regid=$user --clear-groups "$@"
}
chmod 755 "$T"
mkdir "$T/public" "$T/lib" && chmod 1777 "$T/public"
cp "$B/libgprof.so" "$B/integ/s_loop" "$SIM"/*.so* "$T/lib" && chmod 755 "$T"/lib/*
as_user test -x "$T/lib/s_loop" || skip "another user cannot reach $T"

# refused DIR WHAT: the run goes on, and says in one line why nothing is recorded.
refused()
{
	GPROF_DIR=$1 record "$B/integ/s_loop" 2 5
	is 0 $rc "status with $2"
	is 1 "$(grep -c '^gprof.*not recording.*another user owns' "$T/err")" "line for $2"
	is 0 "$(find "$T/public/" "$T/elsewhere" -name '*.gprof*' | wc -l)" "files for $2"
}

mkdir "$T/elsewhere"
as_user ln -s "$T/elsewhere" "$T/public/link"
refused "$T/public/link" "somebody else's link"
refused "$T/public/link/below" "somebody else's link on the way"
as_user mkdir -m 777 "$T/public/trap"
refused "$T/public/trap" "somebody else's directory in a public folder"
(cd "$T/public" && GPROF_DIR=trap record "$ROOT/$B/integ/s_loop" 2 5)
is 0 "$(find "$T/public/trap" -type f | wc -l)" "files in a relative trap"
# A directory that its owner has lent, not in a public folder.
mkdir "$T/lent" && chown $user "$T/lent"
GPROF_DIR=$T/lent record "$B/integ/s_loop" 2 5
is 1 "$(find "$T/lent" -name '*.gprof' -user root | wc -l)" "streams in a lent directory"

# A program with more rights than its user: no directory, no file, no line, no log.
if [[ $B != *san-* ]] && ! findmnt -no OPTIONS -T "$T" 2>/dev/null | grep -q nosuid; then
	gcc -o "$T/lib/secure" -I. -D_GNU_SOURCE test/integ/s_loop.c -Wl,--no-as-needed \
		"$T/lib/libgprof.so" "$T/lib/libcudart.so.13" -Wl,-rpath,"$T/lib" -ldl -lpthread 2>"$T/cc.err" ||
		{ cat "$T/cc.err"; failed=1; }
	mkdir -m 777 "$T/open"
	for mode in 755 4755; do
		chmod $mode "$T/lib/secure"
		as_user env GPROF_DIR="$T/open/dump-$mode" GPROF_LOG=debug GPROF_LOG_FILE="$T/open/log-$mode" \
			"$T/lib/secure" 2 5 >"$T/out" 2>"$T/err"
		is 0 $? "status with mode $mode"
	done
	is 1 "$(find "$T/open/dump-755" -name '*.gprof' | wc -l)" "streams without setuid"
	[ ! -e "$T/open/dump-4755" ] || { echo "a setuid program left a directory"; failed=1; }
	[ ! -e "$T/open/log-4755" ] || { echo "a setuid program left a log"; failed=1; }
	is "on stderr" "$(cat "$T/err")" "stderr of a setuid program"
fi
finish
