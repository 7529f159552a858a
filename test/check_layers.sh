#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who may include whom: preload -> collector's doors (and what those include), collector ->
# nothing else of ours, report -> format.h, the encoder and the list of variables, nobody -> test.
set -u
cd "$(dirname "$0")/.." || exit 1
bad=0

# includes FOLDER: "file: header" for each project header that files of FOLDER include.
includes()
{
	grep -rHoE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"[^"]+"' "$1" --include='*.[ch]' --include='*.def' |
		sed -E 's/:[[:space:]]*#[[:space:]]*include[[:space:]]+"/: /; s/"$//'
}

# allow FOLDER PATTERN: headers outside FOLDER that its files include must match PATTERN.
allow()
{
	local line
	while IFS= read -r line; do
		if ! [[ ${line#*: } =~ ^($1/.*|$2)$ ]]; then
			echo "$line is not allowed"
			bad=1
		fi
	done < <(includes "$1")
}

allow preload 'collector/(collector|config|log|format|ring|clock|stack|share|peek|frames|claim|memory|objects)\.h'
allow collector 'nothing'
allow report 'collector/((format|block|intern)\.h|config\.def)'

# The header that both sides compile stands alone.
if grep -E '^#include' collector/format/format.h | grep -vE '<std(int|def)\.h>'; then
	echo "collector/format/format.h may include <stdint.h> and <stddef.h> only"
	bad=1
fi
exit $bad
