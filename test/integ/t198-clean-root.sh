#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# README's section Install, line by line, as a user who is not root, on Debian systems with nothing else: what is built on
# the one is installed on others, the wheel on the oldest glibc that can be had. Then the first commands of README.
. "$(dirname "$0")/lib.sh"
need REPORT PLAIN SIM JQ
[ -n "${PACKAGES:-}" ] || skip "PACKAGES=1 bash $0 runs it (it fetches two Debian systems, minutes)"
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || skip "not root, or no debootstrap"
[ "$(uname -m)" = x86_64 ] || skip "only x86-64's systems are fetched"
MIRROR=http://deb.debian.org/debian
KEEP=$ROOT/build/clean-root

# system RELEASE NAME: a new system in $T/NAME, with a user who may use sudo. What is fetched is kept as it was.
system()
{
	if [ ! -e "$KEEP/$1.tar.gz" ]; then
		mkdir -p "$KEEP"
		debootstrap --variant=minbase --include=sudo,ca-certificates "$1" "$T/$2" $MIRROR >"$T/debootstrap" 2>&1 ||
			skip "Debian's $1 is not to be had: $(tail -n 1 "$T/debootstrap")"
		tar -C "$T/$2" --one-file-system -czf "$KEEP/$1.part" . && mv "$KEEP/$1.part" "$KEEP/$1.tar.gz"
	else
		mkdir "$T/$2" && tar -C "$T/$2" -xzf "$KEEP/$1.tar.gz"
	fi
	cp /etc/resolv.conf "$T/$2/etc/"
	echo 'APT::Get::Assume-Yes "true";' >"$T/$2/etc/apt/apt.conf.d/yes"
	echo 'user ALL=(ALL) NOPASSWD: ALL' >"$T/$2/etc/sudoers.d/user"
	chroot "$T/$2" useradd -m -s /bin/bash user
	mkdir -p "$T/$2/home/user/gprof"
}

# within NAME COMMAND: in that system, as its user, in gprof's folder.
within()
{
	unshare --mount --pid --fork --kill-child --root="$T/$1" --mount-proc \
		env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 HOME=/home/user DEBIAN_FRONTEND=noninteractive ${LIB:+LD_LIBRARY_PATH="$LIB"} \
		setpriv --reuid user --regid user --init-groups bash -ec "cd ~/gprof; $2" >"$T/out" 2>"$T/err"
	rc=$?
	[ $rc = 0 ] || { echo "failed in the system $1: $2"; tail -n 5 "$T/out" "$T/err"; failed=1; }
	return $rc
}

# readme PATTERN: the only command of the section Install that has it; one that fails if there is none.
readme()
{
	sed -n '/^## Install/,/^## Quick/s/^\$ //p' README.md | sed 's/ *#.*//' | grep -e "$1" || echo false
}
build=$(readme '^sudo apt install gcc')
is "6 1" "$(readme . | wc -l) $(wc -l <<<"$build")" "commands of README's section Install"

# ---- built and installed from the sources ----
system bookworm built
git ls-files -z | xargs -0 cp -a --parents -t "$T/built/home/user/gprof"
chown -R --reference="$T/built/home/user" "$T/built/home/user/gprof"
within built "sudo apt-get -q update; $build" &&
	within built "$(readme '&& sudo make install')" &&
	within built "$(readme '&& make wheel')" &&
	within built "$(readme '&& make deb')" || finish

# use NAME: README's first commands, there, but for `serve`, which does not end; the program marks its steps.
use()
{
	cat >"$T/$1/home/user/gprof/train.py" <<'END'
import ctypes
step = ctypes.CDLL(None).gprof_step
for _ in range(5):
	step()
END
	while IFS= read -r line; do
		within "$1" "$ACTIVATE python() { python3 \"\$@\"; }; $line"
	done < <(sed -n '1,/^## /s/^\$ //p' README.md | sed 's/ *#.*//; s/record python /record python3 /; /^gprof-report serve$/d')
	ok test -s "$T/$1/home/user/gprof/report.html"
	within "$1" "$ACTIVATE gprof-report --view steps --format json --top 0"
	is "gprof_step() 6" "$(jq -r '.steps.rows | (.[-1].rule + " " + (length | tostring))' "$T/out")" "steps in the system $1"
}
ACTIVATE=''
within built 'sudo apt-get -q install --no-install-recommends python3-minimal python3'
use built

# ---- the Debian package, where nothing is installed that building needs ----
system bookworm deb
mkdir -p "$T/deb/home/user/gprof/build"
cp -a "$T/built/home/user/gprof/build/deb" "$T/deb/home/user/gprof/build/"
chown -R --reference="$T/deb/home/user" "$T/deb/home/user/gprof"
within deb "sudo apt-get -q update; sudo apt-get -q install --no-install-recommends python3; $(readme '^sudo apt install ./')"
use deb
within deb 'LD_PRELOAD=libgprof.so GPROF_DIR=bare python3 train.py; gprof-report bare; sudo apt-get -q remove gprof-profiler'
is "" "$(find "$T/deb/usr" -name '*gprof*')" "files that apt leaves"

# ---- the wheel, on the oldest glibc ----
system bullseye wheel
mkdir -p "$T/wheel/home/user/gprof/build/wheel"
cp "$T/built/home/user/gprof/build/wheel/"*.whl "$T/wheel/home/user/gprof/build/wheel/"
chown -R --reference="$T/wheel/home/user" "$T/wheel/home/user/gprof"
within wheel 'sudo apt-get -q update; sudo apt-get -q install --no-install-recommends python3-venv; python3 -m venv ~/venv'
ACTIVATE='. ~/venv/bin/activate;'
within wheel "$ACTIVATE $(readme '^pip install')"
use wheel
within wheel "$ACTIVATE python -c 'import gprof; print(len(gprof.load(\"gprof-dump\")._rows(\"steps\", {})[1]))'"
echo "# the wheel ran on glibc $(chroot "$T/wheel" ldd --version | sed -n '1s/.* //p')"
finish
