# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What a package contains of others: their licences, and the bill of materials. The scripts that pack source this.
#
# LINKED is a list of "Debian package, SPDX licence" lines. $CROSS_ROOT, for another machine, has the packages of it;
# what is not in there is this machine's.

# package_of FILE: the Debian package that has the file.
package_of()
{
	dpkg-query -S "$(realpath "$1")" | sed 's/[:,].*//'
}

# admin_of PACKAGE: the option by which dpkg-query finds it.
admin_of()
{
	if [ -n "${CROSS_ROOT:-}" ] && [ -e "$CROSS_ROOT/usr/share/doc/$1/copyright" ]; then
		echo "--admindir=$CROSS_ROOT/var/lib/dpkg"
	else
		echo "--admindir=/var/lib/dpkg"
	fi
}

# licence_of PACKAGE: the file of its licence.
licence_of()
{
	local text=${CROSS_ROOT:-}/usr/share/doc/$1/copyright
	[ -e "$text" ] || text=/usr/share/doc/$1/copyright
	[ -e "$text" ] || { echo "there is no licence of $1 in $text" >&2; return 1; }
	echo "$text"
}

# copy_licences FOLDER: of all in LINKED, PACKAGE.txt each, and the common licences that these refer to.
copy_licences()
{
	local package licence text
	while read -r package licence; do
		text=$(licence_of "$package") || return 1
		cp "$text" "$1/$package.txt"
	done <<<"$LINKED"
	grep -ohE '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' "$1"/*.txt | sort -u | while read -r text; do
		[ ! -e "$text" ] || cp "$text" "$1/${text##*/}.txt"
	done
}

sbom_row()
{
	printf '{"SPDXID": "SPDXRef-%s", "name": "%s", "versionInfo": "%s", "downloadLocation": "%s", "filesAnalyzed": false, "licenseConcluded": "NOASSERTION", "licenseDeclared": "%s", "copyrightText": "NOASSERTION"}' \
		"${1//[.+]/-}" "$1" "$2" "$4" "$3"
}

# sbom VERSION MACHINE: the bill of materials in the JSON of SPDX 2.3.
sbom()
{
	local package licence rows relations id version
	rows=$(sbom_row gprof-profiler "$1" Apache-2.0 NOASSERTION)
	relations='{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-gprof-profiler"}'
	while read -r package licence; do
		version=$(dpkg-query "$(admin_of "$package")" -W -f '${Version}\n' "$package" | head -1)
		rows="$rows,
    $(sbom_row "$package" "$version" "$licence" "https://packages.debian.org/$package")"
		id=SPDXRef-${package//[.+]/-}
		relations="$relations,
    {\"spdxElementId\": \"SPDXRef-gprof-profiler\", \"relationshipType\": \"STATIC_LINK\", \"relatedSpdxElement\": \"$id\"}"
	done <<<"$LINKED"
	cat <<END
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "gprof-profiler-$1",
  "documentNamespace": "https://spdx.org/spdxdocs/gprof-profiler-$1-$2",
  "creationInfo": {"created": "$(date -ud "@$SOURCE_DATE_EPOCH" +%FT%TZ)", "creators": ["Tool: gprof-$1"]},
  "packages": [
    $rows
  ],
  "relationships": [
    $relations
  ]
}
END
}
