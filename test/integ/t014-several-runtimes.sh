#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A plugin with a runtime of its own (RTLD_LOCAL), and two runtimes in one process.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
[[ $B != *san-thread ]] || skip "ThreadSanitizer's frames hide the caller, by which the runtime is chosen"

for program in local_plugin two_runtimes; do
	rm -rf "$GPROF_DIR"
	plain "$B/prog/$program"
	record "$B/prog/$program"
	is "$plain_rc" $rc "exit status of $program"
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output of $program"
	summary api,kernel
	launched=$(query '[.api.rows[] | select(.name | startswith("cudaLaunchKernel")).calls] | add')
	is "$launched" "$(query '[.kernel.rows[].calls] | add')" "kernels of $program"
	[ "$launched" -gt 0 ] || failed=1
done
finish
