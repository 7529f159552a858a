# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2034
# What the scripts of this part share: each prints lines of TAP, numbered from 1.
# shellcheck source=test/integ/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../integ/lib.sh"
need SIM REPORT JQ PLAIN
GUEST=$ROOT/$B/fault/guest
JOB=$ROOT/$B/fault/job
[ -x "$GUEST" ] || skip "the fault build is not there (make fault-programs)"
export SIM_KERNEL_NS=10
# Its calls of cudaGetDevice are what fills rings and disks.
export GPROF_CALLS=all
nr=0

# tap STATUS NAME [WHY]
tap()
{
	nr=$((nr + 1))
	if [ "$1" = 0 ]; then
		echo "ok $nr - $2"
	else
		echo "not ok $nr - $2: ${3:-}"
		failed=1
	fi
}

# skipped NAME WHY
skipped()
{
	nr=$((nr + 1))
	echo "ok $nr - $1 # SKIP $2"
}

# at_most LIMIT VALUE NAME
at_most()
{
	tap "$([ "$2" -le "$1" ] 2>/dev/null; echo $?)" "$3" "$2 where at most $1 are allowed"
}

# value NAME FILE: what the job printed of it.
value()
{
	sed -n "s/^$1 //p" "$2"
}
