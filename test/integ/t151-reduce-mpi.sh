#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The processes of an MPI job write the summary that one process writes.
. "$(dirname "$0")/lib.sh"
need REPORT PLAIN
MPI=$B/gprof-report-mpi
RANKS=6
[ -x "$MPI" ] || skip "gprof-report-mpi is not built (libopenmpi-dev)"
command -v mpirun >/dev/null || skip "no mpirun (openmpi-bin)"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mkdir "$T/job"
for ((rank = 0; rank < RANKS; rank++)); do
	"$B/gen_stream" "$T/job/$rank.gprof" model 9000 $rank $RANKS || exit 1
done
head -c 20000 "$T/job/0.gprof" >"$T/cut.gprof"

# mpi STATUS PROCESSES ARGUMENT...
mpi()
{
	mpirun -n "$2" --oversubscribe "$MPI" reduce "${@:3}" >"$T/out" 2>"$T/err"
	is "$1" "$?" "exit status of mpirun -n $2 ... reduce ${*:3}"
}

# same WHAT: the summary of the job by MPI
same()
{
	cmp -s "$T/all.sum" "$T/mpi.sum" || {
		echo "not the same: $1"
		failed=1
	}
	rm -f "$T/mpi.sum"
}

"$REPORT" reduce -o "$T/all.sum" "$T/job" || failed=1
for processes in 1 2 3 5; do
	mpi 0 $processes -o "$T/mpi.sum" "$T/job"
	same "by $processes processes"
done
"$REPORT" reduce -o "$T/part.sum" "$T/job/5.gprof" "$T/job/0.gprof" || failed=1
mpi 0 4 -o "$T/mpi.sum" "$T/part.sum" "$T/job/3.gprof" "$T/job/4.gprof" "$T/job/1.gprof" "$T/job/2.gprof"
same "of summaries and streams"
mpi 3 2 -o "$T/mpi.sum" "$T/cut.gprof" "$T/job/1.gprof"
is 1 "$(grep -c "cut.gprof' is unfinished" "$T/err")" "sentence about the stream that was cut"
mpi 1 2 -o "$T/none.sum" "$T/job/1.gprof" "$T/job/1.gprof"
is 1 "$(grep -c 'is there twice' "$T/err")" "sentence about a process that is there twice"
[ ! -e "$T/none.sum" ] || { echo "a summary was written nevertheless"; failed=1; }
mpi 2 2 "$T/job"
is 1 "$(grep -c "gprof-report: name the output" "$T/err")" "sentences about usage"
finish
