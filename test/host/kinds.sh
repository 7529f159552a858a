#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that are not like us: static, with more rights, with fewer, of another C library or word
# size, with another allocator.
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
if has musl-gcc && built musl musl-gcc -O2 "$here/tiny.c"; then
	same "a program of musl's" "$T/musl"
	# It knows no functions but musl's, so every name that we ask for must be there or be weak.
	same "a musl shell-like parent of glibc children" env "$T/musl" a b
else
	skip "a program of musl's" "no musl-gcc"
	skip "a musl shell-like parent of glibc children" "no musl-gcc"
fi

# ld.so of the other word size cannot load us and says so on stderr, once a program. $LIB in the
# path is the way out: each ld.so puts its own folder there, and where the other has no libgprof.so
# it says nothing more than that.
if built bits32 gcc -O2 -m32 "$here/tiny.c" -I/usr/include/x86_64-linux-gnu && "$T/bits32" >/dev/null; [ $? = 7 ]; then
	EDIT="/^ERROR: ld.so: object '.*libgprof.so' from LD_PRELOAD cannot be preloaded \(wrong ELF class: ELFCLASS64\): ignored\.$/d" \
		same "a 32-bit program (ld.so says that it ignores us)" "$T/bits32"
	mkdir -p "$T/root/lib/x86_64-linux-gnu" "$T/root/lib64"
	cp "$LIB" "$T/root/lib/x86_64-linux-gnu/"
	cp "$LIB" "$T/root/lib64/"
	# shellcheck disable=SC2016
	EDIT="/^ERROR: ld.so: object '.*' from LD_PRELOAD cannot be preloaded \(cannot open shared object file\): ignored\.$/d" \
		WHO="$T/root/"'$LIB/libgprof.so' same 'a 32-bit program, with $LIB in the path' "$T/bits32"
	# shellcheck disable=SC2016
	WHO="$T/root/"'$LIB/libgprof.so' same 'a 64-bit program, with $LIB in the path' "$HOST/plain" self
else
	for name in "a 32-bit program (ld.so says that it ignores us)" 'a 32-bit program, with $LIB in the path' \
		'a 64-bit program, with $LIB in the path'; do
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

# More rights: ld.so takes us out of the environment, or loads us from a trusted folder; then we do
# nothing at all.
if [ -n "$is_root" ]; then
	cp "$HOST/cuda" "$T/setuid"
	chmod 755 "$T"
	chown nobody "$T/setuid"
	chmod 4755 "$T/setuid"
	cp -r "$B/sim" "$T/../sim.$$" 2>/dev/null
	mkdir -p "$T/lib" && cp -r "$B/sim" "$T/sim"
	chmod -R a+rX "$T/sim"
	LD_LIBRARY_PATH=$T/sim same "a setuid program" setpriv --reuid=65534 --clear-groups true
	chown root "$T/setuid"
	chmod 4755 "$T/setuid"
	same "su to nobody" su -s /bin/sh nobody -c 'id -u; echo $((6 * 7))'
	same "setpriv to nobody" setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'id -u; id -g'
else
	for name in "a setuid program" "su to nobody" "setpriv to nobody"; do
		skip "$name" "not root"
	done
fi
