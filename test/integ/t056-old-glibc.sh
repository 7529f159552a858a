#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a glibc before 2.34 (Debian 11's 2.31) the library loads, with and without libdl and libpthread
# in the program, also with all symbols bound at the start, and threads can be made.
. "$(dirname "$0")/lib.sh"
need PLAIN
[ "$(uname -m)" = x86_64 ] || skip "only x86-64's package is fetched"
POOL=http://deb.debian.org/debian
KEEP=$ROOT/build/old-glibc

fetch()
{
	local path
	path=$(curl -fsSL "$POOL/dists/bullseye/main/binary-amd64/Packages.xz" | xz -dc |
		awk '/^Package: libc6$/ {p = 1} p && /^Filename/ {print $2; exit}') && [ -n "$path" ] &&
		curl -fsSL -o "$T/libc6.deb" "$POOL/$path" && dpkg-deb -x "$T/libc6.deb" "$KEEP.part" &&
		mv "$KEEP.part" "$KEEP"
}

[ -d "$KEEP" ] || { rm -rf "$KEEP.part"; fetch 2>"$T/fetch.err" || skip "Debian 11's libc6 cannot be fetched"; }
L=$KEEP/lib/x86_64-linux-gnu
LOADER=$(echo "$L"/ld-2.*.so)
gcc -O1 -fno-pie -no-pie -nostartfiles -o "$T/thread" test/integ/old_thread.c "$L/libpthread.so.0" "$L/libc.so.6" "$LOADER" || exit 1
gcc -O1 -fno-pie -no-pie -o "$T/plain.o" -c -x c - <<<'void exit(int); __attribute__((used)) void _start(void) { exit(5); }' || exit 1
gcc -no-pie -nostartfiles -o "$T/plain" "$T/plain.o" "$L/libc.so.6" "$LOADER" || exit 1

# run WANTED-STATUS WANTED-OUTPUT PRELOAD PROGRAM
run()
{
	local now
	for now in "" 1; do
		env ${now:+LD_BIND_NOW=1} "$LOADER" --preload "$3" --library-path "$L" "$4" >"$T/out" 2>"$T/err"
		is "$1" $? "status of ${4##*/} with $3${now:+, bound at once}"
		is "$2" "$(sort "$T/out" | tr '\n' ' ')" "output of ${4##*/}"
		is "" "$(cat "$T/err")" "stderr of ${4##*/}"
	done
}

run 3 "CUDA is not possible thread " "" "$T/thread"
run 3 "CUDA is not possible thread " "$(preload)" "$T/thread"
run 3 "CUDA is possible thread " "$(preload) $L/libdl.so.2" "$T/thread"
run 5 "" "$(preload)" "$T/plain"
finish
