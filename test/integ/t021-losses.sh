#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is lost is counted: kernels without times, and rows that found no room.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

SIM_CUPTI_ZERO=3 record "$B/integ/s_loop" 10 9
summary kernel,memcpy,device,losses
untimed=$(query '[.kernel.rows[].untimed] | add')
is 90 "$(query '[.kernel.rows[].calls] | add')" "kernels with and without times"
[ "$untimed" -gt 0 ] || { echo "no kernel without times"; failed=1; }

rm -rf "$GPROF_DIR"
export SIM_KERNEL_NS=10
# 8 MB hold about 40,000 launches in the rings; nobody drains them but for want of room. With ThreadSanitizer
# a launch takes long.
nr_launches=100000
[[ $B != *san-thread ]] || nr_launches=25000
GPROF_CUPTI=0 GPROF_BUFFER_MB=8 GPROF_FLUSH_MS=60000 record "$B/integ/s_loop" 4 $nr_launches
is 0 $rc "exit status"
summary api,losses
kept=$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')
lost=$(query '[.losses.rows[].count // 0] | add // 0')
all=$(query '[.api.rows[].calls] | add')
# malloc, copies, synchronisations and launches, each kept or counted
is $((1 + 5 + 4 + 4 * nr_launches)) $((all + lost)) "calls kept and lost ($kept launches kept)"
[ "$lost" = 0 ] || is 3 $report_rc "report's status with losses"

# Records of kernels that CUPTI finds no buffer for are counted once; few are of other kinds.
rm -rf "$GPROF_DIR"
GPROF_BUFFER_MB=8 record "$B/integ/s_loop" 4 $nr_launches
is 0 $rc "exit status without buffers for CUPTI"
summary kernel,losses
missing=$((4 * nr_launches - $(query '[.kernel.rows[].calls] | add')))
lost=$(query '[.losses.rows[] | select(.cause | test("CUPTI")).count] | add // 0')
echo "CUPTI: $missing kernels are missing, $lost records are counted as lost"
ok test "$lost" -ge "$missing"
ok test "$lost" -le $((missing + 100))
finish
