# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What a finding must say of a planted trouble. Prints TAP.

# says NAME PATTERN: does the first finding begin so?
says()
{
	local finding
	finding=$("$REPORT" "$T/$1" 2>/dev/null | tr -s '\n ' ' ')
	if grep -qE "1\. $2" <<<"$finding"; then
		echo "ok 1 - $1: what takes the time"
	else
		echo "not ok 1 - $1: what takes the time: ${finding:0:400}"
	fi
}
