#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The library exports exactly the hooks and the entry points, unversioned but for dlopen; needs nothing but libc;
# and asks for no glibc newer than the oldest that CUDA supports.
set -u
cd "$(dirname "$0")/.." || exit 1
lib=${B:-build}/libgprof.so
bad=0
other= # some hooks are for x86-64 alone
readelf -h "$lib" | grep -q 'X86-64' || other=-U__x86_64__

listed=$({ printf '#define HOOK(api,need,ret,name,params,args,facts) @name\n#define HOOK_MANUAL(api,need,ret,name,params,args) @name\n#define END(ret,name,params) @name\n#define CUPTI_HOOK(name,params) @name\n#define NCCL_HOOK(name,params,args,facts) @name\n#define CXX(symbol) @symbol\n#define LOADER(ret,name,params) @name\n#define READS(ret,name,params) @name\n#include "preload/hook/hooks.def"\n' |
		gcc -E -P -I. ${other:+"$other"} -x c - | grep -o '@ *[A-Za-z0-9_]*' | tr -d '@ '
	echo InitializeInjection; echo InitializeInjectionNvtx2; echo InitializeInjectionNvtxExtension; echo gprof_step; echo gprof_start; echo gprof_stop; echo gprof_stream; echo gprof_range_push; echo gprof_range_pop; echo gprof_os_recorder; printf "ncclProfiler_v%d\n" 1 2 3 4 5 6; } | sort -u)
exported=$(nm -D --extern-only --defined-only "$lib" | awk '$2 != "A" {print $3}' | sed 's/^dlopen@GLIBC_2.*/dlopen/' | grep -vE '^(_init|_fini|__asan|__ubsan|__tsan|__lsan|__sanitizer)' | sort -u)

if ! diff <(echo "$listed") <(echo "$exported"); then
	echo "hooks.def (<) and the library's exports (>) differ"
	bad=1
fi
if [ "$(readelf -W --dyn-syms "$lib" | grep -c ' dlopen@GLIBC_2[0-9.]*$')" != 2 ]; then
	echo "dlopen must have glibc's two versions alone, both hidden (hooks_dl.c)"
	bad=1
fi
if echo "$exported" | grep '@'; then
	echo "exports must not be versioned: such a name stands in for no other version"
	bad=1
fi

needed=$(readelf -dW "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for name in $needed; do
	case $name in
	libc.so.6 | libdl.so.2 | ld-linux*) ;;
	libasan* | libubsan* | libtsan* | libm.so.6 | libgcc_s.so.1 | libpthread.so.0) [[ $lib == *san-* ]] || {
		echo "$lib needs $name"
		bad=1
	} ;;
	*) echo "$lib needs $name"; bad=1 ;;
	esac
done

# 2.17 is RHEL 7, the oldest host of CUDA 11 and 12, and aarch64's first.
if [[ $lib != *san-* ]]; then
	newest=$(nm -D --undefined-only "$lib" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
	if [ "$(printf 'GLIBC_2.17\n%s\n' "$newest" | sort -V | tail -1)" != GLIBC_2.17 ]; then
		echo "$lib needs $newest:"
		nm -D --undefined-only "$lib" | grep "@$newest"
		bad=1
	fi
	# Weak, and resolved by the loader where there: nothing else may be left open.
	if nm -D --undefined-only "$lib" | grep -v '@GLIBC_' | grep -vE ' w '; then
		echo "these names come from nowhere"
		bad=1
	fi
fi
# A hook must jump to its slow half: a call would make that take the hook for the program. On other
# machines one that gets a large structure calls it, and has a frame that is asked (t022). Sanitizers put
# frames around everything.
if [[ $lib != *san-* ]]; then
	objdump=objdump
	[ -z "$other" ] || objdump=aarch64-linux-gnu-objdump
	code=$("$objdump" -d --no-show-raw-insn "$lib" | grep -E '<hook_record_[^>]*>$|<hook_record_[^>]*>:$')
	nr_halves=$(grep -cE '>:$' <<<"$code")
	nr_jumps=$(grep -cE $'\t(jmp|b)[ \t]' <<<"$code")
	may_call='^$'
	[ -z "$other" ] || may_call='3D|IpcOpen|Mipmapped'
	if [ "$nr_halves" -lt 500 ] || [ "$nr_jumps" -lt $((nr_halves - 20)) ] ||
		grep -E $'\t(call|callq|bl)[ \t]' <<<"$code" | grep -vE "$may_call"; then
		echo "$nr_jumps hooks jump to $nr_halves slow halves; none may call its own"
		bad=1
	fi
fi

# The second library: its list without the name that is no function, the mark that it is there, and a version where glibc's versions differ.
os=${B:-build}/libgprof-os.so
listed=$({ printf '#define OS_CALL(name,kind) @name\n#include "collector/format/os_calls.def"\n' | gcc -E -P -I. -x c - | tr -d '@ ' | grep . | grep -vxE "python_gil|f?exec.*"
	echo gprof_os_code; } | sort -u)
exported=$(nm -D --extern-only --defined-only "$os" | awk '$2 != "A" {print $3}' | grep -vE '^(_init|_fini|__asan|__ubsan|__tsan|__lsan|__sanitizer)' | sort -u)
if ! diff <(echo "$listed") <(sed 's/@@.*//' <<<"$exported"); then
	echo "os_calls.def (<) and the exports of libgprof-os.so (>) differ"
	bad=1
fi
versioned=
[ -n "$other" ] || versioned=$'posix_spawn@@GLIBC_2.15\nposix_spawnp@@GLIBC_2.15\npthread_cond_broadcast@@GLIBC_2.3.2\npthread_cond_signal@@GLIBC_2.3.2\npthread_cond_timedwait@@GLIBC_2.3.2\npthread_cond_wait@@GLIBC_2.3.2'
if [ "$(grep '@' <<<"$exported")" != "$versioned" ]; then
	echo "libgprof-os.so must have these versions alone:"
	echo "$versioned"
	bad=1
fi
if [[ $lib != *san-* ]]; then
	nm -D --undefined-only "$os" | grep -v '@GLIBC_' | grep -vE ' w gprof_os_recorder$' && { echo "libgprof-os.so needs more than libc"; bad=1; }
	newest=$(nm -D --undefined-only "$os" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
	[ "$(printf 'GLIBC_2.17\n%s\n' "$newest" | sort -V | tail -1)" = GLIBC_2.17 ] || { echo "libgprof-os.so needs $newest"; bad=1; }
fi
exit $bad
