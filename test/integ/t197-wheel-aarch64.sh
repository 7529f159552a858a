#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make wheel ARCH=aarch64: the wheel for another machine, its programs under emulation.
. "$(dirname "$0")/lib.sh"
need REPORT PLAIN JQ
[ "$(uname -m)" != aarch64 ] || skip "this is an aarch64 machine, whose wheel is make wheel"
[ -n "${PACKAGES:-}" ] || skip "PACKAGES=1 bash $0 runs it (a build for aarch64, minutes)"
/usr/bin/python3 -c 'import wheel' 2>/dev/null || skip "no python3-wheel"
why=$(bash test/cross.sh prepare 2>&1) || skip "$(tail -1 <<<"$why")"
emulated()
{
	qemu-aarch64 -L /usr/aarch64-linux-gnu "$@"
}
unset GPROF_FLUSH_MS

ok make -s wheel ARCH=aarch64
is "make wheel ARCH=riscv64 fails" "make wheel ARCH=riscv64 $(make -s wheel ARCH=riscv64 2>&1 | grep -q 'for this machine and for aarch64' && echo fails)" "a machine that nothing is built for"
wheel=$(echo build/aarch64/wheel/*.whl)
is "gprof_profiler-$(sed -n 's/^VERSION := //p' Makefile)-py3-none-manylinux_2_17_aarch64.whl" "$(basename "$wheel")" "name"
ok python3 -m zipfile -e "$wheel" "$T/wheel"
mv "$T/wheel/"*.data "$T/wheel/data"
chmod +x "$T/wheel/data/scripts/"*
B=build/aarch64 ok bash test/check_exports.sh

# The commands, and the library in a program that marks its steps.
aarch64-linux-gnu-gcc -x c -o "$T/marked" - <<'END' || failed=1
__attribute__((weak)) void gprof_step(void);
int main(void)
{
	for (int i = 0; i < 5 && gprof_step; i++) {
		gprof_step();
	}
	return gprof_step ? 0 : 1;
}
END
ok emulated -E LD_PRELOAD="$T/wheel/data/data/lib/libgprof.so" -E GPROF_DIR="$GPROF_DIR" "$T/marked" 2>"$T/err"
is "gprof_step() 6" "$(emulated "$T/wheel/data/scripts/gprof-report" --view steps --format json --top 0 "$GPROF_DIR" 2>/dev/null | jq -r '.steps.rows | (.[-1].rule + " " + (length | tostring))')" "steps"
is "gprof-record $(sed -n 's/^VERSION := //p' Makefile)" "$(emulated "$T/wheel/data/scripts/gprof-record" --version)" "version"
is "export LD_PRELOAD='$T/wheel/data/data/lib/libgprof.so'" "$(emulated "$T/wheel/data/scripts/gprof-record" --library "$T/wheel/data/data/lib/libgprof.so" --print-env)" "variables"
# Texts come from this machine's programs, and are the same.
ok cmp "$B/man/gprof-report-summary.1" "$T/wheel/data/data/share/man/man1/gprof-report-summary.1"
ok cmp "$B/completion/zsh" "$T/wheel/data/data/share/zsh/site-functions/_gprof-report"
info=$(echo "$T/wheel/"*.dist-info)
for part in $(jq -r '.packages[].name' "$info/sboms/gprof.spdx.json"); do
	[ "$part" = gprof-profiler ] || ok test -s "$info/licenses/$part.txt"
done
is 0 "$(jq '[.packages[] | select(.versionInfo == "")] | length' "$info/sboms/gprof.spdx.json")" "parts without version"

if [ -d "$ROOT/build/auditwheel-lib" ]; then # t192 gets it
	PYTHONPATH=$ROOT/build/auditwheel-lib /usr/bin/python3 -m auditwheel show "$wheel" >"$T/audit" 2>&1
	ok grep -q manylinux_2_17_aarch64 "$T/audit"
	is 0 "$(grep -c 'is not compliant\|ERROR' "$T/audit")" "what auditwheel finds"
else
	echo "# no auditwheel"
fi
finish
