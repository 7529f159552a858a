#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs the wheel of `make wheel` into $B/wheel: two builds of the same sources give the same bytes. pip puts the commands
# into bin, the library into lib, manual and completions into share of its environment, as `make install` does.
#
#     B=build VERSION=0.1.0 CC=gcc report/package/wheel.sh
set -eu
cd "$(dirname "$0")/../.."
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
cp "$B/libgprof.so" "$tree/$name.data/data/lib"
"${CC%gcc}strip" --strip-unneeded "$tree/$name.data/data/lib/libgprof.so"
cp "$B"/man/*.1 "$tree/$name.data/data/share/man/man1"
data=$tree/$name.data/data/share
mkdir -p "$data/bash-completion/completions" "$data/zsh/site-functions" "$data/fish/vendor_completions.d"
cp "$B/completion/zsh" "$data/zsh/site-functions/_gprof-report"
for each in gprof-report gprof-record; do
	cp "$B/completion/bash" "$data/bash-completion/completions/$each"
	cp "$B/completion/fish" "$data/fish/vendor_completions.d/$each.fish"
done
cp "$B/wheel/gprof-report" "$B/wheel/gprof-record" "$tree/$name.data/scripts"

cat >"$info/METADATA" <<END
Metadata-Version: 2.1
Name: gprof-profiler
Version: $VERSION
Summary: Profiler for GPU deep-learning training
License: Apache-2.0
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Requires-Python: >=3.8
Provides-Extra: pandas
Requires-Dist: pandas>=1.5; extra == "pandas"
Description-Content-Type: text/markdown

$(sed -n '3,4p' README.md)

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

# What is linked in: "Debian package, SPDX licence", with its text and a row in the bill of materials.
linked="libzstd-dev BSD-3-Clause
zlib1g-dev Zlib
libsqlite3-dev blessing
libprotobuf-c-dev BSD-2-Clause
libiberty-dev LGPL-2.1-or-later
libjsmn-dev MIT
uthash-dev BSD-1-Clause
libjs-chart.js MIT
libc6-dev LGPL-2.1-or-later"
row()
{
	printf '{"SPDXID": "SPDXRef-%s", "name": "%s", "versionInfo": "%s", "downloadLocation": "NOASSERTION", "licenseDeclared": "%s"}' \
		"${1//./-}" "$1" "$2" "$3"
}
packages=$(row gprof "$VERSION" Apache-2.0)
relations='{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-gprof"}'
while read -r package licence; do
	text=/usr/share/doc/$package/copyright
	[ -e "$text" ] || { echo "make wheel needs the licence of $package in $text" >&2; exit 1; }
	cp "$text" "$info/licenses/$package.txt"
	version=$(dpkg-query -W -f '${Version}\n' "$package" | head -1)
	packages="$packages,
    $(row "$package" "$version" "$licence")"
	relations="$relations,
    {\"spdxElementId\": \"SPDXRef-gprof\", \"relationshipType\": \"STATIC_LINK\", \"relatedSpdxElement\": \"SPDXRef-${package//./-}\"}"
done <<<"$linked"
cat >"$info/sboms/gprof.spdx.json" <<END
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "gprof-profiler-$VERSION",
  "documentNamespace": "https://spdx.org/spdxdocs/gprof-profiler-$VERSION-$machine",
  "creationInfo": {"created": "1980-01-01T00:00:00Z", "creators": ["Tool: gprof-$VERSION"]},
  "packages": [
    $packages
  ],
  "relationships": [
    $relations
  ]
}
END

find "$tree" -type d -exec chmod 755 {} +
find "$tree" -type f -exec chmod 644 {} +
chmod 755 "$tree/$name.data/scripts"/* "$tree/$name.data/data/lib/libgprof.so"
rm -f "$B/wheel"/*.whl
# The oldest time that a zip file can hold.
SOURCE_DATE_EPOCH=315532800 "$python" -m wheel pack -d "$B/wheel" "$tree" >/dev/null
echo "  $(echo "$B"/wheel/*.whl)"
