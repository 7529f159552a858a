#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs the Debian package of `make deb` into $B/deb: what `make install` installs, with the library in the folder of the
# machine, where the loader finds it by its bare name. Two builds of the same sources give the same bytes.
#
#     B=build VERSION=0.1.0 CC=gcc report/package/deb.sh
set -eu
cd "$(dirname "$0")/../.."
. report/package/linked.sh
for tool in dpkg-deb dpkg-shlibdeps dpkg-architecture; do
	command -v $tool >/dev/null || { echo "make deb needs $tool (Debian: apt-get install dpkg-dev)" >&2; exit 1; }
done
name=gprof-profiler
machine=$("$CC" -dumpmachine)
architecture=$(dpkg-architecture -q DEB_HOST_ARCH -t "$machine" 2>/dev/null)
maintainer="gprof maintainers <gprof-profiler@example.org>"
tree=$B/deb/tree
doc=$tree/usr/share/doc/$name
strip=${CC%gcc}strip
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-1767225600} # 2026-01-01, the year of this version

rm -rf "$B/deb"
mkdir -p "$tree/DEBIAN" "$tree/usr/lib/$machine" "$doc" "$tree/usr/share/lintian/overrides" "$B/deb/debian"
${MAKE:-make} -s --no-print-directory install DESTDIR="$PWD/$tree" PREFIX=/usr B="$B" CC="$CC" >/dev/null
mv "$tree"/usr/lib/libgprof*.so "$tree/usr/lib/$machine/"
rm -f "$tree/usr/bin/gprof-report-mpi" # its MPI is that of the machine which built it
mkdir -p "$tree/usr/share/zsh/vendor-completions"
mv "$tree"/usr/share/zsh/site-functions/* "$tree/usr/share/zsh/vendor-completions/"
rmdir "$tree/usr/share/zsh/site-functions"
"$strip" --strip-unneeded "$tree/usr/lib/$machine"/libgprof*.so "$tree"/usr/bin/*
gzip -9n "$tree"/usr/share/man/man1/*.1

# The file of changes is the project's own; Debian wants to know who packed what, too.
gzip -9nc CHANGELOG.md >"$doc/NEWS.gz"
gzip -9nc >"$doc/changelog.gz" <<END
$name ($VERSION) unstable; urgency=medium

  * See NEWS.gz.

 -- $maintainer  $(date -uRd "@$SOURCE_DATE_EPOCH")
END
# What is linked into the programs; what they load from other packages is not in this one.
LINKED="libzstd-dev BSD-3-Clause
libiberty-dev LGPL-2.1-or-later
libjsmn-dev MIT
uthash-dev BSD-1-Clause"
chart=
[ ! -s "$B/page/chart.js" ] || { LINKED="$LINKED
libjs-chart.js MIT"; chart=" and Chart.js"; }
{
	cat <<END
gprof is Copyright 2026 the gprof maintainers. Its licence is Apache-2.0; on Debian systems its text is in
/usr/share/common-licenses/Apache-2.0.

Parts of zstd are linked into libgprof.so, and parts of jsmn, uthash and libiberty$chart into gprof-report. The
copyright files of the Debian packages that they come from follow.
END
	while read -r package licence; do
		text=$(licence_of "$package")
		printf '\n---- %s (%s) ----\n\n' "$package" "$licence"
		cat "$text"
	done <<<"$LINKED"
} >"$doc/copyright"
sbom "$VERSION" "$architecture" >"$doc/gprof-profiler.spdx.json"
cat >"$tree/usr/share/lintian/overrides/$name" <<END
# Programs are never linked with it: the loader preloads it.
$name: sharedobject-in-library-directory-missing-soname
END

printf 'Source: %s\n\nPackage: %s\nArchitecture: any\n' $name $name >"$B/deb/debian/control"
depends=$(cd "$B/deb" && dpkg-shlibdeps -O --ignore-missing-info "tree/usr/bin/gprof-report" "tree/usr/bin/gprof-record" \
	"tree/usr/lib/$machine/libgprof.so" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
# The server of `serve` loads its library itself.
recommends=
! grep -aq 'libmicrohttpd\.so' "$tree/usr/bin/gprof-report" || recommends="
Recommends: libmicrohttpd12"
cat >"$tree/DEBIAN/control" <<END
Package: $name
Version: $VERSION
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$tree/usr" | cut -f1)
Depends: $depends$recommends
Section: devel
Priority: optional
Multi-Arch: no
Description: profiler for GPU deep-learning training
 gprof records an unmodified program through a preloaded library: steps and
 their phases, operators, kernels, copies, communication, memory, data loading,
 Python stacks and hangs, of one process or of thousands of ranks.
 .
 gprof-record runs a program under gprof, gprof-report reads the result.
END
(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"

find "$tree" -type d -exec chmod 755 {} +
find "$tree" -type f -exec chmod 644 {} +
chmod 755 "$tree"/usr/bin/*
find "$tree" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -b "$tree" "$B/deb" >/dev/null
echo "  $(echo "$B"/deb/*.deb)"
