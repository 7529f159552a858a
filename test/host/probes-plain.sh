#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The probes as programs that never touch CUDA: no trace of us.
# shellcheck source=test/host/lib.sh
. "$(dirname "$0")/lib.sh"
export PROBE_LIBRARY=$HOST/module-plain.so

probe()
{
	same "untouched: $*" "$HOST/plain" "$@"
}

as_root()
{
	if [ "$(id -u)" = 0 ]; then
		probe "$@"
	else
		skip "untouched: $*" "not root"
	fi
}

probe self
probe close_all
probe close_range
probe low_numbers
probe nofile 8
probe nofile 64
probe fsize 0
probe fsize_over 4096
probe as 32 8
as_root chroot
probe gone_dir
as_root drop
probe umask 0777
probe exec_empty
probe exec_unset
probe fork_many 1000 100
probe fork_deep 4
probe vfork
probe spawn
probe system
probe clone_fork
probe clone_vm
probe libc_fork
AFTER='cat told' probe daemon
AFTER='cat told' probe orphan
probe threads 1000
probe fork_threads 50
probe thrd
probe min_stack
probe cancelled
probe names
probe keys
probe key_ends
probe thread_exits
probe main_returns
probe main_leaves
probe leave_quick
probe leave_now
probe leave_late
probe handlers
probe alarms
probe small_stack
probe dispositions
probe blocked
probe terminated
probe namespace
probe unload
probe locale
same "untouched: its own malloc, dlsym and pthread_create" "$HOST/own-plain" 10
for who in "$HOST/interposer.so:%" "%:$HOST/interposer.so"; do
	INTERPOSER_OUT=told WHO=$who AFTER='cat told' \
		same "untouched: another interposer, ${who//$HOST\//}" "$HOST/plain" threads 50
done
