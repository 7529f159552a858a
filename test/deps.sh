#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that a purpose needs and that are missing, and says which.
#
#     test/deps.sh PURPOSE...        PURPOSE: build, demo, test, bench, fuzz
#
# Nothing is done where all are there. Without apt-get, or without the right to use it, the missing
# packages are named, and the exit status is 1 if building is impossible without them.
set -u

build="gcc make libzstd-dev"
demo="python3"
test="check libsubunit-dev pkg-config python3 python3-pip python3-venv jq gojq zlib1g-dev uthash-dev libiberty-dev libjsmn-dev libprotobuf-c-dev protobuf-c-compiler libsqlite3-dev protobuf-compiler git file curl xz-utils"
test="$test clang-format shellcheck gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
# a directory that stops answering, on /dev/fuse
test="$test bindfs fuse3"
# programs that are not like ours: musl, static, 32 bits, other allocators; and what looks at them
test="$test musl-tools busybox-static libjemalloc2 libtcmalloc-minimal4 strace"
# counts instructions
test="$test valgrind"
# PyTorch 1.13, unmodified programs of test/torch
test="$test python3-torch"
# a newer Python, which has a loader of its own
test="$test patchelf"
# the Python module, also in a notebook
test="$test python3-pandas python3-nbclient python3-ipykernel"
# the server of `serve`
test="$test libmicrohttpd-dev"
# packages
test="$test python3-wheel dpkg-dev lintian bubblewrap python3-seccomp debootstrap"
# a file system that copies on write
test="$test btrfs-progs"
# shells that complete
test="$test zsh fish"
# gprof-report-mpi
test="$test libopenmpi-dev openmpi-bin"
# batch jobs
test="$test munge slurmctld slurmd slurm-client"
# what opens the page of test/page, and the timelines
test="$test chromium-headless-shell chromium firefox-esr fonts-dejavu-core"
[ "$(uname -m)" != x86_64 ] || test="$test gcc-12-multilib"
bench="python3 valgrind strace"
fuzz="clang libclang-rt-14-dev"

wanted=
for purpose in "$@"; do
	case $purpose in
	build) wanted="$wanted $build zlib1g-dev uthash-dev libiberty-dev libjsmn-dev libprotobuf-c-dev protobuf-c-compiler libjs-chart.js libsqlite3-dev libmicrohttpd-dev" ;;
	demo) wanted="$wanted $demo" ;;
	test | check) wanted="$wanted $test" ;;
	bench) wanted="$wanted $bench" ;;
	fuzz) wanted="$wanted $fuzz" ;;
	*) echo "deps.sh: no such purpose: $purpose" >&2; exit 2 ;;
	esac
done

missing=
for package in $wanted; do
	case " $missing " in *" $package "*) continue ;; esac
	if ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed'; then
		missing="$missing $package"
	fi
done
if [ -z "$missing" ]; then
	exit 0
fi

can_build()
{
	command -v gcc >/dev/null && printf '#include <zstd.h>\n' | gcc -E -x c - >/dev/null 2>&1
}

give_up()
{
	echo "gprof: missing packages:$missing" >&2
	echo "gprof: $1; install them by hand (Debian: apt-get install$missing)" >&2
	can_build
	exit
}

as_root=
if [ "$(id -u)" != 0 ]; then
	as_root="sudo -n"
	command -v sudo >/dev/null && sudo -n true 2>/dev/null || give_up "not root, and sudo asks"
fi
command -v apt-get >/dev/null || give_up "there is no apt-get"

echo "gprof: installing missing Debian packages:$missing"
log=$(mktemp)
# shellcheck disable=SC2086
if ! { $as_root apt-get update -q && $as_root env DEBIAN_FRONTEND=noninteractive \
	apt-get install -y -q --no-install-recommends $missing; } >"$log" 2>&1; then
	tail -5 "$log" >&2
	rm -f "$log"
	give_up "apt-get failed"
fi
rm -f "$log"
