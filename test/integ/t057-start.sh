#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the start of a process that does nothing costs, measured without a clock: page faults more than with an
# empty library, and addresses that the loader has to write.
. "$(dirname "$0")/lib.sh"
need PLAIN

gcc -O2 -o "$T/starts" test/integ/starts.c && gcc -shared -o "$T/empty.so" -x c /dev/null &&
	echo 'int main(void) { return 0; }' | gcc -O2 -o "$T/nothing" -x c - || exit 1
empty=$("$T/starts" "$T/empty.so" "$T/nothing")
ours=$("$T/starts" "$ROOT/$B/libgprof.so" "$T/nothing")
echo "page faults: $empty with an empty library, $ours with gprof"
ok test "$ours" -gt 0
ok test $((ours - empty)) -le 8
relative=$(readelf -rW "$B/libgprof.so" | grep -c '_RELATIVE')
echo "relocations: $relative"
ok test "$relative" -le 650
finish
