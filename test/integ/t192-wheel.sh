#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make wheel, and a new user who installs it with pip: two commands, and the module.
. "$(dirname "$0")/lib.sh"
need SIM REPORT PLAIN JQ
PYTHON=/usr/bin/python3
"$PYTHON" -c 'import wheel, venv, ensurepip' 2>/dev/null || skip "no python3-wheel or python3-venv"
NAME=gprof_profiler-$(sed -n 's/^VERSION := //p' Makefile)
WHEEL=$T/$NAME-py3-none-manylinux_2_17_$(uname -m).whl

make_package wheel || exit 1
# The environment of a user, without network; nothing of this folder is in it.
ok "$PYTHON" -m venv "$T/venv"
ok "$T/venv/bin/pip" install -q --no-index --no-deps --disable-pip-version-check "$WHEEL"
export -n GPROF_DIR
unset GPROF_FLUSH_MS
cd "$T" || exit 1
PATH=$T/venv/bin:/usr/bin:/bin LD_LIBRARY_PATH=$SIM gprof-record "$ROOT/$B/integ/s_loop" 4 3 >out 2>err
is 0 $? "gprof-record of the wheel"
PATH=$T/venv/bin:/usr/bin:/bin gprof-report --view kernel --format json >json 2>>err
is 12 "$(jq '[.kernel.rows[].calls] | add' json)" "kernels of gprof-report of the wheel"
ok test -e "$T/venv/share/man/man1/gprof-report-summary.1"
is "True True 3" "$(PATH=$T/venv/bin:/usr/bin LD_LIBRARY_PATH=$SIM gprof-record -o marks python -c '
import gprof, sys
for _ in range(2):
    with gprof.range("x"):
        gprof.step()
print(gprof.is_recorded(), "venv" in gprof.__file__, len(gprof.load("gprof-dump")._rows("kernel", {})[1]) + 2)' 2>/dev/null)" "the module of the wheel"
ok "$T/venv/bin/gprof-report" sql 'SELECT count(*) FROM kernel'
ok "$T/venv/bin/gprof-report" html -o page.html

# Nothing but libc is needed, statically linked commands not even that; each licence and part is named.
for each in gprof-report gprof-record; do
	is "" "$(readelf -d "$T/venv/bin/$each" 2>/dev/null | grep NEEDED)" "libraries that $each needs"
done
info=$(echo "$T"/venv/lib/python3*/site-packages/"$NAME".dist-info)
sbom=$info/sboms/gprof.spdx.json
parts=$(jq -r '.relationships[] | select(.relationshipType == "STATIC_LINK") | .relatedSpdxElement' "$sbom" | sort)
is "SPDX-2.3 $parts" "$(jq -r '.spdxVersion' "$sbom") $(jq -r '.packages[] | select(.name != "gprof-profiler") | .SPDXID' "$sbom" | sort)" "bill of materials"
is 0 "$(jq '[.packages[] | select(.versionInfo == "" or .licenseDeclared == "")] | length' "$sbom")" "parts without version or licence"
for part in $(jq -r '.packages[].name' "$sbom"); do
	[ "$part" = gprof-profiler ] || ok test -s "$info/licenses/$part.txt"
done
# What PyPI shows is the first paragraph of the README, and the manual has no marks of its source.
is "Run your training" "$(sed '1,/^$/d' "$info/METADATA" | head -1 | cut -d' ' -f1-3)" "description of the wheel"
ok grep -q '^Keywords: profiler,' "$info/METADATA"
is "" "$(grep -lE '(^| )\*[A-Za-z][A-Za-z ]*\*( |$)' "$T/venv/share/man/man1/"*.1)" "pages of the manual with asterisks of Markdown"
ok test -s "$info/licenses/LICENSE"
ok test -s "$info/licenses/LGPL-2.1.txt"
# The linker says which archives it took: each is of a package in the bill.
for archive in $(grep -ohE '^/[^(]*\.a' "$ROOT/$B/wheel/"*.map | xargs realpath | sort -u); do
	package=$(dpkg-query -S "$archive" 2>/dev/null | sed 's/[:,].*//')
	is 1 "$(jq --arg name "$package" '[.packages[] | select(.name == $name)] | length' "$sbom")" "$package in the bill of materials, for $archive"
done

# auditwheel agrees with the name, where PyPI has it.
lib=$ROOT/build/auditwheel-lib
[ -d "$lib" ] || { "$T/venv/bin/pip" install -q --disable-pip-version-check --target "$T/lib" auditwheel==6.4.2 >"$T/pip" 2>&1 && mv "$T/lib" "$lib"; }
if [ -d "$lib" ]; then
	PYTHONPATH=$lib "$PYTHON" -m auditwheel show "$WHEEL" >audit 2>&1
	ok grep -q "manylinux_2_17_$(uname -m)" audit
	is 0 "$(grep -c 'is not compliant\|ERROR' audit)" "what auditwheel finds"
else
	echo "# auditwheel is not to be had: $(tail -1 "$T/pip" | cut -c1-80)"
fi
ok "$T/venv/bin/pip" uninstall -q -y --disable-pip-version-check gprof-profiler
is 0 "$(find "$T/venv" -name '*gprof*' -not -name '*.pyc' | wc -l)" "files that pip leaves"

# The recipe of the conda package: its script installs the same, and its tests pass; rattler-build reads it.
recipe=$ROOT/report/package/conda/recipe.yaml
is "${NAME#gprof_profiler-}" "$(sed -n 's/^  version: \([0-9.]*\)$/\1/p' "$recipe")" "version of the recipe"
lines()
{
	sed -n "$1" "$recipe" | sed -n 's/^ *- //p' | sed "s/\\\${{ version }}/${NAME#gprof_profiler-}/"
}
rm -rf gprof-dump
while IFS= read -r line; do
	PATH=$T/venv/bin:/usr/bin:/bin PYTHON=$T/venv/bin/python bash -ec "$line" >out 2>err || { echo "the recipe's line failed: $line"; cat out err; failed=1; }
done < <(lines '/^  script:/,/^  #/p'; lines '/^  - script:/,/^  - python:/{/- script:/d; /- python:/d; p}')
ok grep -q 'gprof_step()' out
[ "${TEST_TIER:-all}" = all ] || finish
lib=$ROOT/build/rattler-lib
[ -d "$lib" ] || { "$T/venv/bin/pip" install -q --disable-pip-version-check --target "$T/rattler" py-rattler-build==0.73.0 >"$T/pip" 2>&1 && mv "$T/rattler" "$lib"; }
if [ -d "$lib" ]; then
	is "gprof-profiler" "$(PYTHONPATH=$lib "$T/venv/bin/python" -c '
import rattler_build, sys
print(*(each.recipe.package.name for each in rattler_build.Stage0Recipe.from_yaml(open(sys.argv[1]).read()).render()))' "$recipe")" "what rattler-build reads"
else
	echo "# rattler-build is not to be had: $(tail -1 "$T/pip" | cut -c1-80)"
fi
finish
