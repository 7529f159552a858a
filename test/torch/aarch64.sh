#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What plays PyTorch, built for aarch64 and run under emulation: callbacks hand their result over in
# another way there. Takes what test/cross.sh built.
set -u
cd "$(dirname "$0")/../.." || exit 1
B=build/aarch64
T=$(mktemp -d "${TMPDIR:-/tmp}/gprof-torch-XXXXXX")
trap 'rm -rf "$T"' EXIT

# played COMMAND...: three operators of its own are recorded, and nothing refused.
played()
{
	rm -rf "$T/dump"
	qemu-aarch64 -L /usr/aarch64-linux-gnu -E GPROF_DIR="$T/dump" -E GPROF_QUIET=1 -E GPROF_CPU_HZ=0 \
		-E LD_PRELOAD="$PWD/$B/libgprof.so" -E LD_LIBRARY_PATH="$PWD/$B/torch/GOOD" "$@" || return 1
	build/torch/ops "$T/dump"/*.gprof >"$T/ops"
	python3 test/count.py "$T/ops" fake::op=3 && ! grep '"kind": "notice"' "$T/ops"
}

${MAKE:-make} -s --no-print-directory build/torch/ops || exit 1
played "$B/torch/fake_host" 3 "$PWD/$B/torch/GOOD/libtorch_cpu.so" &&
	played "$B/torch/fake_linked" ops &&
	played "$B/torch/fake_host" 3 "$PWD/$B/torch/GOOD/libtorch_cpu.so" "$PWD/$B/torch/libc10_cuda.so" >"$T/out" &&
	[ "$(grep -c '^stopped 1$' "$T/out")" = 4 ] &&
	python3 test/count.py "$T/ops" pytorch.wait_counter.entire_forward_compile=1 pytorch.wait_counter.compile_inductor=2
