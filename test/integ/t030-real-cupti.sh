#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The real libraries of several CUDA versions, without a driver: test/unit/cupti_real_*.c for each.
. "$(dirname "$0")/lib.sh"

[ -x "$B/test/unit/cupti_real_library" ] || skip "cupti_real_library is not built"
[ "$(uname -m)" = x86_64 ] || skip "the pinned libraries are for x86-64"
ldconfig -p | grep -q 'libcuda\.so\.1 ' && skip "there is a driver here"
wheels=build/cupti
n=0
# Each of these would be a leak of the library's.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0

# try LIBRARY LAYOUT LABEL: a mute one has no records to try.
try()
{
	run_program library "$@"
	[ "$2" = mute ] || run_program records "$@"
}

# run_program PROGRAM LIBRARY LAYOUT LABEL
run_program()
{
	GPROF_CUPTI_PATH=$2 CUPTI_LAYOUT=$3 CK_TAP_LOG_FILE_NAME=- CK_VERBOSITY=silent \
		timeout 200 "$B/test/unit/cupti_real_$1" >"$T/log" 2>&1
	grep -q '^\(not \)\?ok' "$T/log" || { cat "$T/log"; echo "not ok $((++n)) - $4"; failed=1; }
	grep -q '^not ok' "$T/log" && failed=1
	sed -nE "s/^((not )?ok [0-9]+) - [^:]*:[^:]*:([^:]*):(.*)/\1 - $4 \3:\4/p" "$T/log"
}

# fetch PACKAGE VERSION: the path of its library; false if it cannot be had.
fetch()
{
	local dir lib
	dir=$(fetch_wheel $wheels "$1" "$2") || return
	lib=$(find "$dir" -name 'libcupti.so.*' | head -1)
	[ -n "$lib" ] && echo "$lib"
}

while read -r package version layout; do
	case $package in '#'* | '') continue ;; esac
	if lib=$(fetch "$package" "$version"); then
		try "$lib" "$layout" "CUPTI $version"
	else
		echo "ok $((++n)) - CUPTI $version # SKIP not to be had from PyPI: $(tail -1 "$T/pip" | cut -c1-80)"
	fi
done <test/cupti-versions.txt

toolkit=$(ls /usr/local/cuda/lib64/libcupti.so.1[0-9] /usr/local/cuda/lib/libcupti.so.1[0-9] \
	/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.1[0-9] 2>/dev/null | head -1)
if [ -z "$toolkit" ]; then
	echo "ok $((++n)) - CUPTI of the toolkit # SKIP no toolkit in /usr/local/cuda"
else
	case $(readlink -f /usr/local/cuda) in
	*-11.8) layout=11.8 ;;
	*-12.4) layout=12.4 ;;
	*-13.0) layout=13.0 ;;
	*) layout= ;;
	esac
	if [ -n "$layout" ]; then
		try "$(readlink -f "$(dirname "$toolkit")")/$(basename "$toolkit")" $layout "CUPTI of the toolkit"
	else
		echo "ok $((++n)) - CUPTI of the toolkit # SKIP its layout is not in the table"
	fi
fi
exit $failed
