#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each call reaches the copy of its library that it would have reached without us: several runtimes,
# drivers, CUPTIs and NCCLs in one process, opened, closed and opened again, called from plugins, from
# code of no module, from another namespace, while a constructor waits. The programs of test/calls
# print which copy has answered; the output must be the same. With CC and EMULATOR, and B for what is
# built by it, for another machine.
. "$(dirname "$0")/lib.sh"
[[ $B != *san-thread ]] || skip "ThreadSanitizer's frames hide the caller, by which the copy is chosen"
CC=${CC:-gcc}
src=$ROOT/test/calls
mkdir -p "$T/route/one" "$T/route/two"
cd "$T/route" || exit 1

# build OUTPUT ARGUMENTS...
build()
{
	local output=$1
	shift
	# shellcheck disable=SC2016 # for the loader
	"$CC" -g -O1 -fPIC -shared -fvisibility=hidden -Wl,-rpath,'$ORIGIN:$ORIGIN/..' -o "$output" "$@" || exit 1
}

# runtime OUTPUT ID SONAME [VERSION]
runtime()
{
	[ -z "${4:-}" ] || echo "$4 { global: cu*; __cu*; nccl*; local: *; };" >"$1.map"
	build "$1" -DID="$2" "$src/runtime.c" -Wl,-soname,"$3" ${4:+"-Wl,--version-script=$1.map"}
}

runtime libcudart.so.12 12 libcudart.so.12 libcudart.so.12
runtime libcudart.so.11.0 11 libcudart.so.11.0 libcudart.so.11.0
runtime libcudart-other.so.12 13 libcudart-other.so.12 libcudart.so.12
runtime one/libcudart.so.12 21 libcudart.so.12 libcudart.so.12
runtime two/libcudart.so.12 22 libcudart.so.12 libcudart.so.12
runtime libcopy-a.so 1 libcopy-a.so
runtime libcopy-b.so 2 libcopy-b.so

build caller-11.so -DREGISTERS "$src/caller.c" libcudart.so.11.0
build caller-other12.so -DREGISTERS "$src/caller.c" libcudart-other.so.12
build one/caller.so -DREGISTERS "$src/caller.c" one/libcudart.so.12
build two/caller.so -DREGISTERS "$src/caller.c" two/libcudart.so.12
build libcopy-large.so -DIS_LARGE -DID=3 "$src/runtime.c" -Wl,-soname,libcopy-large.so
build one/ender.so -DCALLS_AT_END "$src/caller.c" libcopy-a.so
build two/ender.so -DCALLS_AT_END "$src/caller.c" libcopy-large.so
build caller-a.so "$src/caller.c" libcopy-a.so
build caller-again.so "$src/caller.c" libcopy-a.so
build caller-b.so -DREGISTERS "$src/caller.c" libcopy-b.so
build caller-free.so "$src/caller.c"
build caller-free2.so "$src/caller.c"
build group.so -x c /dev/null -x none -Wl,--no-as-needed caller-free.so libcopy-b.so
build one/libsame.so "$src/caller.c" libcopy-a.so -Wl,-soname,libsame.so
build two/libsame.so "$src/caller.c" libcopy-b.so -Wl,-soname,libsame.so
build one/needs-same.so -x c /dev/null -x none -Wl,--no-as-needed one/libsame.so
build libquiet.so -DQUIET -DID=4 "$src/runtime.c" -Wl,-soname,libquiet.so
build quiet-a.so "$src/caller.c" libquiet.so
echo 'static int get(int *id) { *id = 5; return 0; } static void *choose(void) { return (void *)get; }
__attribute__((visibility("default"), ifunc("choose"))) int cudaGetDevice(int *id);' >indirect.c
build libindirect.so indirect.c -Wl,-soname,libindirect.so
echo 'int cudaGetDevice(int *id); __attribute__((visibility("default"))) int caller_runtime(void) { int id = 0; return cudaGetDevice(&id) ? -1 : id; }' >caller-indirect.c
build caller-indirect.so caller-indirect.c libindirect.so
build empty.so -x c /dev/null -x none -nostdlib -Wl,-z,max-page-size=4096 -Wl,-z,common-page-size=4096
# copies FOLDER NUMBER LIBRARY: for the loader each is another one
copies()
{
	mkdir "$1" && seq -f "$1/%.0f.so" 0 $(($2 - 1)) | xargs -n 500 sh -c 'lib=$0; tee "$@" <"$lib" >/dev/null' "$3" || exit 1
}
copies empty 4200 empty.so
copies needs 400 caller-a.so
copies uses 300 caller-free.so
echo 'extern void (*route_wait)(void); __attribute__((constructor)) static void wait(void) { route_wait(); }' >waiter.c
build waiter.so waiter.c
sed -i s/constructor/destructor/ waiter.c
build end-waiter.so waiter.c
build leaver-new.so "$src/leaver.c"
old=
[[ $("$CC" -dumpmachine) != x86_64* ]] || old=-DOLD # elsewhere glibc has but one
build leaver-old.so ${old:+"$old"} "$src/leaver.c"
echo 'void caller_print(const char *who); __attribute__((constructor)) static void begin(void) { caller_print("constructor"); }' >early.c
# It begins before all other libraries, but for AddressSanitizer's, whose memory what it calls uses.
first=()
[[ $B != *san-address ]] || first=(-Wl,--no-as-needed "$(gcc -print-file-name=libasan.so)")
build early.so early.c "$src/caller.c" libcopy-b.so "${first[@]}"
# shellcheck disable=SC2016 # for the loader
link=(-g -O1 -rdynamic -Wno-missing-prototypes "-Wl,-rpath,\$ORIGIN" -ldl -lpthread)
"$CC" -D_GNU_SOURCE -I"$ROOT" -o none "$src/routes.c" "${link[@]}" || exit 1
"$CC" -D_GNU_SOURCE -I"$ROOT" -DNEEDS_ONE -o one12 "$src/routes.c" -Wl,--no-as-needed libcudart.so.12 "${link[@]}" || exit 1

echo 'int main(void) { return 0; }' >main.c
"$CC" -o needs-a main.c -Wl,--no-as-needed libcopy-a.so "${link[@]}" || exit 1

# same PROGRAM [SCENARIO]: it does the same with us as without. also: what else is preloaded, behind
# what a sanitizer needs.
also=
runtime=$(preload)
runtime=${runtime%"$ROOT/$B/libgprof.so"}
same()
{
	local name=${2:-$1} plain_rc
	# The emulator maps memory of its own for the program and ends with SIGSEGV where it gets none.
	[[ ! ${EMULATOR:-} || $name != no_maps ]] || return 0
	rm -rf "$GPROF_DIR"
	timeout 300 ${EMULATOR:-env} ${EMULATOR:+-E} "LD_PRELOAD=${also:+$runtime$also}" "./$1" ${2:+"$2"} >"$T/plain.out" 2>"$T/plain.err"
	plain_rc=$?
	timeout 300 ${EMULATOR:-env} ${EMULATOR:+-E} "LD_PRELOAD=$(preload)${also:+:$also}" "./$1" ${2:+"$2"} >"$T/out" 2>"$T/err"
	is "$plain_rc" $? "exit status of $name"
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output of $name"
	is "$(grep -v '^gprof\[' "$T/plain.err")" "$(grep -v '^gprof\[' "$T/err")" "errors of $name"
	[ -s "$T/plain.out" ] || is "some" "none" "output of $name"
}

for program in none one12; do
	scenarios=$(${EMULATOR:-} "./$program")
	[ -n "$scenarios" ] || is "some" "none" "scenarios of $program"
	for scenario in $scenarios; do
		# AddressSanitizer stands in for dlopen, too, and refuses that; it needs memory of its own.
		[[ $B == *san-* && $scenario =~ ^(deep_extension|no_.*|many_without_memory)$ ]] && continue
		same "$program" "$scenario"
	done
done

# In a constructor that runs before ours the runtime that its own library needs is not the first.
also=$PWD/early.so
same needs-a

# A second copy of gprof is not what a call reaches. Only what was opened as global cannot be seen behind it.
cp "$ROOT/$B/libgprof.so" "$T/libgprof.so"
also=$T/libgprof.so
for scenario in copies in_group closed_and_another used_alone indirect promoted same_names no_maps; do
	[[ $B == *san-* && $scenario == no_maps ]] || same none "$scenario"
done
finish
