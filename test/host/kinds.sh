#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that are not like us: static, with more rights, with fewer, of another C library or word
# size, with another allocator.
# shellcheck disable=SC2016 # what is quoted is for other shells
# shellcheck source=test/host/lib.sh
. "$(dirname "$0")/lib.sh"
here=$ROOT/test/host
is_root=$([ "$(id -u)" = 0 ] && echo yes)

built()
{
	local out=$T/$1
	shift
	"$@" -o "$out" >"$T/build.log" 2>&1
}

if built static gcc -O2 -static "$here/tiny.c"; then
	same "a static program" "$T/static"
else
	skip "a static program" "no static C library"
fi
if has busybox; then
	same "busybox" busybox sh -c 'echo a | busybox tr a b; busybox ls / | busybox wc -l >/dev/null; exit 3'
else
	skip busybox "no busybox"
fi
# It has few functions but its own, so every name that we ask for must be there or be weak.
if has musl-gcc && built musl musl-gcc -O2 "$here/tiny.c"; then
	same "a program of musl's" "$T/musl"
else
	skip "a program of musl's" "no musl-gcc"
fi

# ld.so of the other word size cannot load us and says so on stderr, once a program. With $LIB in the
# path each looks into its own folder: if that has a library for its word size, even an empty one, there
# is peace.
if built bits32 gcc -O2 -m32 "$here/tiny.c" -I/usr/include/x86_64-linux-gnu && "$T/bits32" >/dev/null; [ $? = 7 ]; then
	EDIT="/^ERROR: ld.so: object '.*libgprof.so' from LD_PRELOAD cannot be preloaded \(wrong ELF class: ELFCLASS64\): ignored\.$/d" \
		same "a 32-bit program (ld.so says that it ignores us)" "$T/bits32"
	mkdir -p "$T/root/lib/x86_64-linux-gnu" "$T/root/lib64"
	cp "$LIB" "$T/root/lib/x86_64-linux-gnu/"
	cp "$LIB" "$T/root/lib64/"
	mkdir -p "$T/root/lib" "$T/root/lib32"
	if built empty.so gcc -m32 -shared -fPIC -x c /dev/null; then
		cp "$T/empty.so" "$T/root/lib/libgprof.so"
		cp "$T/empty.so" "$T/root/lib32/libgprof.so"
		mkdir -p "$T/root/lib/i386-linux-gnu" && cp "$T/empty.so" "$T/root/lib/i386-linux-gnu/libgprof.so"
	fi
	GUEST="$T/root/"'$LIB/libgprof.so' same 'a 32-bit program, with $LIB in the path' "$T/bits32"
	GUEST="$T/root/"'$LIB/libgprof.so' same 'a 64-bit program, with $LIB in the path' "$HOST/plain" self
	GUEST="$T/root/"'$LIB/libgprof.so' recorded 'recording, with $LIB in the path' "$HOST/cuda" threads 20
else
	for name in "a 32-bit program (ld.so says that it ignores us)" 'a 32-bit program, with $LIB in the path' \
		'a 64-bit program, with $LIB in the path' 'recording, with $LIB in the path'; do
		skip "$name" "gcc -m32 does not work here"
	done
fi

for allocator in jemalloc tcmalloc_minimal; do
	library=$(find /usr/lib -name "lib$allocator.so.*" 2>/dev/null | sort | head -1)
	if [ -z "$library" ]; then
		skip "untouched, linked with $allocator" "no lib$allocator"
		skip "recording, linked with $allocator" "no lib$allocator"
		continue
	fi
	sources=("$here"/{probe,files,processes,threads,ends,signals,loads}.c)
	built "plain-$allocator" gcc -w -std=gnu11 -O1 -D_GNU_SOURCE -I. "${sources[@]}" "$library" -ldl -lpthread
	built "cuda-$allocator" gcc -w -std=gnu11 -O1 -D_GNU_SOURCE -DPROBE_CUDA -I. "${sources[@]}" "$library" \
		"$B/sim/libcudart.so.13" -Wl,-rpath,"$B/sim" -ldl -lpthread
	same "untouched, linked with $allocator" "$T/plain-$allocator" fork_threads 30
	STREAMS=7 recorded "recording, linked with $allocator" "$T/cuda-$allocator" fork_threads 30
	WHO="$library:%" recorded "recording, $allocator preloaded too" "$HOST/cuda" threads 200
done

# More rights: ld.so takes us out of the environment.
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if [ -z "$is_root" ]; then
	for name in "a setuid program" "su to nobody" "setpriv to nobody"; do
		skip "$name" "not root"
	done
	exit 0
fi
cp "$(command -v id)" "$T/setuid"
chmod 4755 "$T/setuid"
if "${as_nobody[@]}" "$T/setuid" | grep -q 'euid=0'; then
	same "a setuid program" "${as_nobody[@]}" "$T/setuid"
else
	skip "a setuid program" "no setuid where temporary files are"
fi
same "su to nobody" su -s /bin/sh nobody -c 'id -u; exec sh -c "exit 3"'
same "setpriv to nobody" "${as_nobody[@]}" sh -c 'id -u; id -g'
