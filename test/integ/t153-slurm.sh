#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Under Slurm: the ranks of a job of srun, and the array of tasks that the manual has for its summary.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PLAIN
PATH=$PATH:/usr/sbin
for command in munged slurmctld slurmd srun sbatch; do
	command -v $command >/dev/null || skip "no $command (munge slurmctld slurmd slurm-client)"
done
[ "$(id -u)" = 0 ] || skip "Slurm's daemons want to be root"

host=$(hostname -s)
port=$((20000 + $$ % 20000))
export SLURM_CONF=$T/slurm.conf
mkdir "$T/state" "$T/spool" "$T/munge"
chmod 755 "$T"
head -c 128 /dev/urandom >"$T/munge/key"
chmod 400 "$T/munge/key"
cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$T/munge/socket
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$T/state
SlurmdSpoolDir=$T/spool
SlurmctldPidFile=$T/slurmctld.pid
SlurmdPidFile=$T/slurmd.pid
SlurmctldLogFile=$T/slurmctld.log
SlurmdLogFile=$T/slurmd.log
MpiDefault=none
SchedulerParameters=sched_interval=1,sched_min_interval=100000,batch_sched_delay=0,sched_max_job_start=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP
END
daemons=
start()
{
	"$@" >"$T/${1##*/}.out" 2>&1 &
	daemons+=" $!"
}
stop()
{
	# shellcheck disable=SC2086
	kill $daemons 2>/dev/null
	wait
	rm -rf "$T"
}
trap stop EXIT
start munged --foreground --force --key-file="$T/munge/key" --socket="$T/munge/socket" \
	--pid-file="$T/munge/pid" --log-file="$T/munge/log" --seed-file="$T/munge/seed"
until [ -S "$T/munge/socket" ]; do
	# shellcheck disable=SC2086
	kill -0 $daemons 2>/dev/null || { cat "$T/munged.out"; skip "munged does not run here"; }
	sleep 0.05
done
start slurmctld -D
start slurmd -D
until [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; do
	# shellcheck disable=SC2086
	kill -0 $daemons 2>/dev/null || { tail -3 "$T"/slurm*.out; skip "Slurm does not run here"; }
	sleep 0.1
done

cd "$T" || exit 1
srun -n 4 --overcommit env LD_LIBRARY_PATH="$SIM" LD_PRELOAD="$(preload)" "$ROOT/$B/integ/s_loop" 20 2 call >"$T/out" 2>"$T/err"
is 0 $? "status of srun"
"$REPORT" info "$GPROF_DIR" >"$T/info"
is "4 SLURM_PROCID" "$(sed -n 's/^  rank.world.source  *//p' "$T/info" | sort | uniq -c | xargs)" "where they are from"

# The script of the manual page, with fewer tasks.
{
	echo "#!/bin/bash"
	sed -n '/^    #SBATCH --array/,/part\.\*\.sum/p' "$ROOT/docs/man/gprof-report-reduce.1.md" |
		sed -n "s|^    ||; s|0-63|0-2|; s|/64\"|/3\"|; s|gprof-report reduce|'$REPORT' reduce|; s|gprof-dump|'$GPROF_DIR'|; p" >"$T/lines"
	sed '/part\.\*/d' "$T/lines"
} >"$T/array"
sbatch "$T/array" >"$T/out" 2>"$T/err"
is 0 $? "status of sbatch"
while [ -n "$(squeue -h)" ]; do
	sleep 0.1
done
is 3 "$(find "$T" -name 'part.*.sum' | wc -l)" "shares"
bash -c "$(grep 'part\.\*' "$T/lines")"
is 0 $? "status of the last line"
"$REPORT" reduce -o "$T/whole.sum" "$GPROF_DIR"
ok cmp "$T/job.sum" "$T/whole.sum"
is "0 1 2 3" "$("$REPORT" --format json "$T/job.sum" | jq -r '[.processes.rows[].rank] | join(" ")')" "ranks"
finish
