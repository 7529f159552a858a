#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs the wheel of `make wheel` into $B/wheel: two builds of the same sources give the same bytes. pip puts the commands
# into bin, the library into lib, manual and completions into share of its environment, as `make install` does.
#
#     B=build VERSION=0.1.0 CC=gcc report/package/wheel.sh
#
# TEXTS has the manual and the completions, which are the same for all machines: $B, or where $B is for another machine
# the folder of this one's build.
set -eu
cd "$(dirname "$0")/../.."
. report/package/linked.sh
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-1767225600} # 2026-01-01, the year of this version
texts=${TEXTS:-$B}
name=gprof_profiler-$VERSION
machine=$("$CC" -dumpmachine | cut -d- -f1)
tree=$B/wheel/tree
info=$tree/$name.dist-info

python=
for each in python3 /usr/bin/python3; do
	"$each" -c 'import wheel' 2>/dev/null && python=$each && break
done
[ -n "$python" ] || { echo "make wheel needs the Python package wheel (Debian: apt-get install python3-wheel)" >&2; exit 1; }

rm -rf "$tree"
mkdir -p "$tree/$name.data/data/lib" "$tree/$name.data/data/share/man/man1" "$tree/$name.data/scripts" "$info/licenses" "$info/sboms"
mkdir "$tree/gprof"
cp report/python/gprof/*.py report/python/gprof/py.typed "$tree/gprof"
cp "$B/libgprof.so" "$B/libgprof-os.so" "$tree/$name.data/data/lib"
"${CC%gcc}strip" --strip-unneeded "$tree/$name.data/data/lib"/libgprof*.so
cp "$texts"/man/*.1 "$tree/$name.data/data/share/man/man1"
data=$tree/$name.data/data/share
mkdir -p "$data/bash-completion/completions" "$data/zsh/site-functions" "$data/fish/vendor_completions.d"
cp "$texts/completion/zsh" "$data/zsh/site-functions/_gprof-report"
for each in gprof-report gprof-record; do
	cp "$texts/completion/bash" "$data/bash-completion/completions/$each"
	cp "$texts/completion/fish" "$data/fish/vendor_completions.d/$each.fish"
done
cp "$B/wheel/gprof-report" "$B/wheel/gprof-record" "$tree/$name.data/scripts"

cat >"$info/METADATA" <<END
Metadata-Version: 2.1
Name: gprof-profiler
Version: $VERSION
Summary: Profiler for GPU deep-learning training
License: Apache-2.0
Keywords: profiler,GPU,CUDA,NCCL,PyTorch,JAX,tracing
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Requires-Python: >=3.8
Provides-Extra: pandas
Requires-Dist: pandas>=1.5; extra == "pandas"
Description-Content-Type: text/markdown

$(awk '/^# / || /^\[/ {next} NF {is_in = 1; print} is_in && !NF {exit}' README.md)

    gprof-record python train.py
    gprof-report
END
cat >"$info/WHEEL" <<END
Wheel-Version: 1.0
Generator: gprof $VERSION
Root-Is-Purelib: false
Tag: py3-none-manylinux_2_17_$machine
END
cp LICENSE "$info/licenses/LICENSE"

LINKED="libzstd-dev BSD-3-Clause
zlib1g-dev Zlib
libprotobuf-c-dev BSD-2-Clause
libiberty-dev LGPL-2.1-or-later
libjsmn-dev MIT
uthash-dev BSD-1-Clause
$(package_of "$("$CC" -print-file-name=libc.a)") LGPL-2.1-or-later
$(package_of "$("$CC" -print-libgcc-file-name)") GPL-3.0-or-later WITH GCC-exception-3.1"
if grep -q '/libsqlite3\.a(' "$B/wheel/gprof-report.map"; then
	LINKED="$LINKED
libsqlite3-dev blessing"
fi
[ ! -s "$B/page/chart.js" ] || LINKED="$LINKED
libjs-chart.js MIT"
copy_licences "$info/licenses"
sbom "$VERSION" "$machine" >"$info/sboms/gprof.spdx.json"

find "$tree" -type d -exec chmod 755 {} +
find "$tree" -type f -exec chmod 644 {} +
chmod 755 "$tree/$name.data/scripts"/* "$tree/$name.data/data/lib"/libgprof*.so
rm -f "$B/wheel"/*.whl
"$python" -m wheel pack -d "$B/wheel" "$tree" >/dev/null
echo "  $(echo "$B"/wheel/*.whl)"
