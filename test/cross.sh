#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The cross build for aarch64: `prepare` gets what Debian has for arm64 into build/aarch64-root (no
# foreign architecture is added to the system), `build` builds the library and the unit tests into
# build/aarch64, to be run by qemu-aarch64 -L /usr/aarch64-linux-gnu.
set -eu
cd "$(dirname "$0")/.."
root=$PWD/build/aarch64-root
packages="libzstd-dev check libsubunit-dev"

prepare()
{
	local apt
	command -v aarch64-linux-gnu-gcc >/dev/null || { echo "no aarch64-linux-gnu-gcc"; return 1; }
	command -v qemu-aarch64 >/dev/null || { echo "no qemu-aarch64"; return 1; }
	[ ! -e "$root/done" ] || return 0
	command -v apt-get >/dev/null || { echo "no apt-get to fetch libzstd and check for arm64"; return 1; }
	rm -rf "$root"
	mkdir -p "$root/state/lists/partial" "$root/cache/archives/partial" "$root/debs"
	: >"$root/status"
	apt="-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State=$root/state"
	apt="$apt -o Dir::State::status=$root/status -o Dir::Cache=$root/cache -o APT::Sandbox::User=$(id -un)"
	# shellcheck disable=SC2086
	apt-get $apt update -q >"$root/log" 2>&1 &&
		(cd "$root/debs" && apt-get $apt download -q $packages >>"$root/log" 2>&1) ||
		{ echo "Debian's arm64 packages are not to be had: $(tail -1 "$root/log")"; return 1; }
	for deb in "$root"/debs/*.deb; do
		dpkg-deb -x "$deb" "$root"
	done
	rm -rf "$root/state" "$root/cache"
	touch "$root/done"
}

build()
{
	local lib=$root/usr/lib/aarch64-linux-gnu
	# Static, so that nothing but the C library must be found under emulation.
	CPPFLAGS="-I$root/usr/include -I$root/usr/include/aarch64-linux-gnu" ${MAKE:-make} --no-print-directory -j2 \
		CC=aarch64-linux-gnu-gcc B=build/aarch64 ZSTD_A="$lib/libzstd.a" \
		CHECK_LIBS="$lib/libcheck.a $lib/libsubunit.a -lm -lrt" \
		build/aarch64/libgprof.so unit build/aarch64/torch/fake_host build/aarch64/torch/fake_linked
}

case ${1:-} in
prepare | build) "$1" ;;
*) echo "usage: test/cross.sh prepare|build" >&2; exit 2 ;;
esac
