#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The cross build for aarch64: `prepare` gets what Debian has for arm64 into build/aarch64-root (no
# foreign architecture is added to the system), `build` builds the library and the unit tests into
# build/aarch64, to be run by qemu-aarch64 -L /usr/aarch64-linux-gnu. `make wheel ARCH=aarch64` uses
# `wheel`, which needs no qemu.
set -eu
cd "$(dirname "$0")/.."
root=$PWD/build/aarch64-root
lib=$root/usr/lib/aarch64-linux-gnu
packages="libzstd-dev check libsubunit-dev zlib1g-dev libsqlite3-dev libprotobuf-c-dev libiberty-dev"

# One at a time.
mkdir -p build
exec 9>build/aarch64.lock
flock 9

prepare()
{
	command -v qemu-aarch64 >/dev/null || { echo "no qemu-aarch64"; return 1; }
	fetch
}

# The packages, and a list of them for dpkg-query.
fetch()
{
	local apt deb
	command -v aarch64-linux-gnu-gcc >/dev/null ||
		{ echo "no aarch64-linux-gnu-gcc (Debian: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross)"; return 1; }
	[ "$(cat "$root/done" 2>/dev/null)" != "$packages" ] || return 0
	command -v apt-get >/dev/null || { echo "no apt-get to fetch libzstd and others for arm64"; return 1; }
	rm -rf "$root"
	mkdir -p "$root/state/lists/partial" "$root/cache/archives/partial" "$root/debs"
	: >"$root/status"
	apt="-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State=$root/state"
	apt="$apt -o Dir::State::status=$root/status -o Dir::Cache=$root/cache -o APT::Sandbox::User=$(id -un)"
	# shellcheck disable=SC2086
	apt-get $apt update -q >"$root/log" 2>&1 &&
		(cd "$root/debs" && apt-get $apt download -q $packages >>"$root/log" 2>&1) ||
		{ echo "Debian's arm64 packages are not to be had: $(tail -1 "$root/log")"; return 1; }
	mkdir -p "$root/var/lib/dpkg"
	for deb in "$root"/debs/*.deb; do
		dpkg-deb -x "$deb" "$root"
		{ dpkg-deb -f "$deb"; printf 'Status: install ok installed\n\n'; } >>"$root/var/lib/dpkg/status"
	done
	rm -rf "$root/state" "$root/cache"
	echo "$packages" >"$root/done"
}

# What both builds take from there.
cross_make()
{
	CPPFLAGS="-I$root/usr/include -I$root/usr/include/aarch64-linux-gnu" LDFLAGS="-L$lib" ${MAKE:-make} --no-print-directory \
		CC=aarch64-linux-gnu-gcc B=build/aarch64 ZSTD_A="$lib/libzstd.a" "$@"
}

build()
{
	# Static, so that nothing but the C library must be found under emulation.
	cross_make -j2 CHECK_LIBS="$lib/libcheck.a $lib/libsubunit.a -lm -lrt" \
		build/aarch64/libgprof.so build/aarch64/libgprof-os.so unit build/aarch64/torch/fake_host build/aarch64/torch/fake_linked \
		build/aarch64/torch/libc10_cuda.so
}

wheel()
{
	fetch && TEXTS=build CROSS_ROOT=$root cross_make wheel
}

case ${1:-} in
prepare | build | wheel) "$1" ;;
*) echo "usage: test/cross.sh prepare|build|wheel" >&2; exit 2 ;;
esac
