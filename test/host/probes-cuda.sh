#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The probes as programs that call CUDA: they behave as without us, and every call is recorded.
# shellcheck source=test/host/lib.sh
. "$(dirname "$0")/lib.sh"
export PROBE_LIBRARY=$HOST/module-cuda.so

probe()
{
	recorded "recording: $*" "$HOST/cuda" "$@"
}

as_root()
{
	if [ "$(id -u)" = 0 ]; then
		probe "$@"
	else
		skip "recording: $*" "not root"
	fi
}

probe close_all
probe close_range
GPROF_CPU_HZ=0 probe low_numbers
# To sample a thread that has run for a while takes one for an instant.
EDIT='s/lowest number: [1-4]?[0-9] times/lowest number: 0 times/' probe low_numbers
probe bad_names
# Recording takes one descriptor, and none of the low numbers.
EDIT='s/opened [34],/opened 3 or 4,/' probe nofile 8
EDIT='s/opened (5[789]|60),/opened 57 to 60,/' probe nofile 64
# Not even the header fits, or not what calls are called: nothing is left behind.
STREAMS=0 CALLS=any CHECK=any probe fsize 0
STREAMS=0 CALLS=any CHECK=any probe fsize_over 4096
CALLS=any CHECK=any probe fsize 100000
# Where the address space has no room for us, all of it stays the host's.
STREAMS=any CHECK=any CALLS=any probe as 16 8
STREAMS=any CHECK=any CALLS=any probe as 48 24
probe as 512 64
as_root chroot
# Where the streams go is a path, and that is inside by then.
STREAMS=any CHECK=any AFTER='rm -rf jail/tmp' as_root chroot_first
probe gone_dir
as_root drop
STREAMS=any CHECK=any as_root drop_first
probe umask 0
probe umask 0777
# What comes after an exec is another program's; the calls until then are in the rings.
CHECK=3 probe exec_empty
STREAMS=any probe exec_unset
STREAMS=11 LINKS=10 probe fork_many 1000 100
STREAMS=5 LINKS=4 probe fork_deep 4
STREAMS=2 probe vfork
STREAMS=4 probe spawn
probe system
probe clone_fork 2000
probe clone_vm
probe libc_fork
STREAMS=2 LINKS=1 AFTER='cat told' probe daemon
STREAMS=2 LINKS=1 AFTER='cat told' probe orphan
probe threads 1000
STREAMS=11 LINKS=10 probe fork_threads 50
probe thrd
probe min_stack
probe cancelled
probe names
probe key_ends
probe thread_exits
probe main_returns
# CUPTI has a thread of its own, without end; like those of the driver it keeps such a process alive.
GPROF_CUPTI=0 probe main_leaves
probe leave_quick
probe leave_now
probe leave_late
probe handlers
# Calls of a handler that interrupts the writing of an event are lost, and counted.
CHECK=any probe alarms
probe small_stack
probe dispositions
probe blocked
probe terminated
STREAMS=any probe namespace
probe unload
# A program that knows nothing of CUDA opens a plugin that does, and closes it.
CALLS=any recorded "recording: unload a plugin and its CUDA" "$HOST/plain" unload
probe locale
probe errnos
CALLS=any recorded "recording: its own malloc, dlsym and pthread_create" "$HOST/own-cuda" 10
for who in "$HOST/interposer.so:%" "%:$HOST/interposer.so"; do
	# It sees our one thread too, and the simulator's.
	INTERPOSER_OUT=told WHO=$who AFTER='sed "s/threads 5[0-3]/threads 50/" told; rm told' \
		recorded "recording: another interposer, ${who//$HOST\//}" "$HOST/cuda" threads 50
done
