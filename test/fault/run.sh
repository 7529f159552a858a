#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What goes wrong around the recorder, and how much it takes at most: lines of TAP.
here=$(dirname "$0")
status=0
late=$(mktemp)
trap 'rm -f "$late"' EXIT

# An hour's job mostly sleeps; meanwhile there is time for the many short ones.
bash "$here/bounds.sh" >"$late" 2>&1 &
bash "$here/calls.sh" || status=1
bash "$here/late.sh" || status=1
wait $! || status=1
cat "$late"
bash "$here/disk.sh" || status=1
exit $status
