#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gprof in a container as docs/containers.md sets it up: the image of the Dockerfile, the init container's copy, and a
# program with a read-only root, as another user, without capabilities, /dev/shm and network, under a container engine's
# seccomp profile, and under one that refuses what the strictest do.
. "$(dirname "$0")/lib.sh"
need SIM REPORT PLAIN JQ
/usr/bin/python3 -c 'import wheel, seccomp, pip' 2>/dev/null || skip "no python3-wheel, python3-seccomp or python3-pip"
command -v bwrap >/dev/null || skip "no bwrap"
chmod 755 "$T"
# as_user COMMAND...: not root, where the test is.
as_user()
{
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
	else
		"$@"
	fi
}
as_user bwrap --ro-bind / / --unshare-all test -r "$ROOT/$B/integ/s_loop" 2>/dev/null || skip "no sandbox can be made here, or it cannot read this folder"
unset GPROF_FLUSH_MS
export -n GPROF_DIR
denied="-perf_event_open -ptrace -process_vm_readv -process_vm_writev -io_uring_setup -io_uring_enter -io_uring_register
-userfaultfd -bpf -kcmp -keyctl -add_key -request_key -unshare -setns -mount -umount2 -pidfd_getfd -move_pages -mbind -personality"

# ---- the image: the Dockerfile's RUN, without network, in the folder that becomes /opt ----
is "FROM COPY RUN" "$(sed 's/ .*//' report/package/Dockerfile | paste -sd' ')" "lines of the Dockerfile"
is "" "$(sed -n '/^```dockerfile$/,/^```$/p' docs/containers.md | sed '1d; /^```$/,$d' | diff - report/package/Dockerfile)" "the Dockerfile in the guide"
make_package wheel || exit 1
mkdir "$T/image" "$T/volume" "$T/dump" "$T/tmp"
mv "$T"/*.whl "$T/tmp"
# A root of this system's programs and this folder's.
root=(bwrap --die-with-parent --ro-bind /usr /usr --ro-bind /etc /etc --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64
	--ro-bind "$ROOT/build" "$ROOT/build" --proc /proc --unshare-net --chdir / --setenv PATH /usr/bin:/bin)
# Debian's Python has another layout than the image's.
ok "${root[@]}" --bind "$T/tmp" /tmp --bind "$T/image" /opt --setenv DEB_PYTHON_INSTALL_LAYOUT deb sh -c "$(sed -n 's/^RUN //p' report/package/Dockerfile)" >"$T/pip" 2>&1
# ---- the init container: the copy into a volume ----
copy=$(sed -n 's/^ *command: \[\(cp.*\)\]$/\1/p' docs/containers.md | tr -d ,)
# shellcheck disable=SC2086 # words
ok "${root[@]}" --ro-bind "$T/image" /opt --bind "$T/volume" /gprof --remount-ro / $copy
ok test -e "$T/volume/lib/libgprof.so"
chmod 777 "$T/dump"

# ---- the training container ----
# The manifest's variables, and what gprof-record prints for a manifest in the image.
sed -n '/^ *env:$/,/^ *volumeMounts:$/{s/^ *- name: //p; s/^ *value: "\(.*\)"$/\1/p}' docs/containers.md | paste -d= - - >"$T/env"
is "$(cat "$T/env")" "$("${root[@]}" --ro-bind "$T/volume" /opt/gprof --remount-ro / /opt/gprof/bin/gprof-record --print-env=docker -o /dump)" "variables of the guide's manifest"

# An engine's profile, as Debian packages it.
profile=$ROOT/build/seccomp.json
if [ ! -e "$profile" ]; then
	(cd "$T/tmp" && apt-get download -q -o APT::Sandbox::User="$(id -un)" golang-github-containers-common >"$T/apt" 2>&1 &&
		dpkg-deb --fsys-tarfile golang-github-containers-common_*.deb | tar -xO ./usr/share/containers/seccomp.json >profile &&
		mv profile "$profile") || echo "# an engine's profile is not to be had: $(tail -1 "$T/apt" | cut -c1-80)"
fi
[ ! -e "$profile" ] || ok /usr/bin/python3 test/integ/seccomp_filter.py "$profile" >"$T/engine.bpf"
# shellcheck disable=SC2086 # words
ok /usr/bin/python3 test/integ/seccomp_filter.py $denied >"$T/strict.bpf"

# contained FILTER COMMAND...: in the container under that filter, if there is one; its dump is $T/dump/FILTER.
contained()
{
	local filter=$1 each devices=()
	shift
	for each in null zero random urandom; do
		devices+=(--dev-bind "/dev/$each" "/dev/$each")
	done
	if [ -e "$T/$filter.bpf" ]; then
		exec 9<"$T/$filter.bpf"
		devices+=(--seccomp 9)
	fi
	mkdir -p "$T/dump/$filter"
	chmod 777 "$T/dump/$filter"
	as_user "${root[@]}" "${devices[@]}" --ro-bind "$T/volume" /opt/gprof --bind "$T/dump/$filter" /dump --remount-ro / \
		--unshare-all --cap-drop ALL --clearenv --setenv PATH /usr/bin:/bin --setenv LD_LIBRARY_PATH "$SIM" "$@" >"$T/out" 2>"$T/err"
}

# kernels_of FOLDER: how many the streams there have, and the exit status of the report.
kernels_of()
{
	"$REPORT" --view kernel --format json "$1" 2>"$T/report.err" | jq '[.kernel.rows[].calls] | add'
	echo "${PIPESTATUS[0]}"
}

contained strict /usr/bin/python3 -c 'import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
print(os.geteuid() != 0, os.path.exists("/dev/shm"), os.access("/", os.W_OK), os.access("/tmp", os.W_OK), libc.ptrace(0, 0, 0, 0), ctypes.get_errno())'
is "True False False False -1 1" "$(cat "$T/out" "$T/err")" "user, /dev/shm, writable folders and a refused call in the container"
variables=()
while IFS= read -r line; do
	variables+=(--setenv "${line%%=*}" "${line#*=}")
done <"$T/env"
for filter in none engine strict; do
	[ $filter = none ] || [ -e "$T/$filter.bpf" ] || continue
	contained $filter "${variables[@]}" "$ROOT/$B/integ/s_loop" 5 3 call
	is 0 $? "status under $filter: $(cat "$T/err")"
	is "1 1" "$(grep -c '^gprof' "$T/err") $(grep -c '^gprof.*(none lost)' "$T/err")" "lines under $filter: $(cat "$T/err")"
	is "15 0" "$(kernels_of "$T/dump/$filter" | paste -sd' ')" "kernels under $filter"
	contained $filter /opt/gprof/bin/gprof-record -o /dump/record --python stacks,functions --hang-timeout 30 \
		/usr/bin/python3 -c 'import ctypes; ctypes.CDLL("libcudart.so.13").cudaDeviceSynchronize(); print(sum(range(9)))'
	is "0 36" "$? $(cat "$T/out")" "a Python program under $filter: $(cat "$T/err")"
	contained $filter /opt/gprof/bin/gprof-report /dump/record
	is 0 $? "the report under $filter: $(cat "$T/err")"
	ok grep -q python "$T/out"
	is "$([ $filter != strict ] || echo refused)" "$(grep -q process_vm_readv "$T/out" "$T/err" && echo refused)" "what the report says of process_vm_readv under $filter"
done
finish
