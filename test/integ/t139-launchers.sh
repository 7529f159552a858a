#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each launcher's way to tell a process its rank.
. "$(dirname "$0")/lib.sh"
need SIM REPORT PLAIN

# told: rank, ranks and local rank of the only stream, and the variables that these are from.
told()
{
	"$REPORT" info "$GPROF_DIR" 2>/dev/null | awk '
		$1 == "process" { world = $(NF - 2); size = $NF }
		$1 == "rank.local" { local = $2 }
		$1 ~ /^rank\..*\.source$/ { from[$1] = $2 }
		END { print world, size, local, from["rank.world.source"], from["rank.world_size.source"], from["rank.local.source"] }'
}

while read -r launcher world size local; do
	rm -rf "$GPROF_DIR"
	record env "$world=5" "$size=8" "$local=1" "$B/integ/s_loop" 2 1 call
	is 0 $rc "exit status under $launcher"
	is "5 8 1 $world $size $local" "$(told)" "ranks by $launcher"
done <<'END'
torchrun RANK WORLD_SIZE LOCAL_RANK
mpirun OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK
mpiexec PMI_RANK PMI_SIZE MPI_LOCALRANKID
pmi PMI_RANK PMI_SIZE PMI_LOCAL_RANK
pmix PMIX_RANK WORLD_SIZE LOCAL_RANK
mvapich MV2_COMM_WORLD_RANK MV2_COMM_WORLD_SIZE MV2_COMM_WORLD_LOCAL_RANK
horovodrun HOROVOD_RANK HOROVOD_SIZE HOROVOD_LOCAL_RANK
paddle PADDLE_TRAINER_ID PADDLE_TRAINERS_NUM PADDLE_RANK_IN_NODE
srun SLURM_PROCID SLURM_NTASKS SLURM_LOCALID
kubernetes JOB_COMPLETION_INDEX WORLD_SIZE LOCAL_RANK
END

# What runs the processes knows better than what runs the launcher.
rm -rf "$GPROF_DIR"
RANK=3 WORLD_SIZE=4 LOCAL_RANK=1 SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_LOCALID=0 JOB_COMPLETION_INDEX=1 record "$B/integ/s_loop" 2 1 call
is "3 4 1 RANK WORLD_SIZE LOCAL_RANK" "$(told)" "ranks of torchrun under srun"

if command -v mpirun >/dev/null; then
	rm -rf "$GPROF_DIR"
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	LD_LIBRARY_PATH=$SIM mpirun -n 2 --oversubscribe -x LD_PRELOAD="$(preload)" -x LD_LIBRARY_PATH -x GPROF_DIR -x GPROF_FLUSH_MS \
		"$B/integ/s_loop" 2 1 call >"$T/out" 2>"$T/err"
	is 0 $? "exit status of mpirun"
	is "0 1 " "$("$REPORT" info "$GPROF_DIR" 2>/dev/null | awk '$1 == "process" { print $(NF - 2) }' | sort | tr '\n' ' ')" "ranks by a real mpirun"
fi
finish
