#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What looks like a secret is in no file that gprof leaves: not of the command line, not of the
# environment, not of its own settings; killed or ended.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

secret=hunter2
export HF_TOKEN=$secret AWS_SECRET_ACCESS_KEY=$secret GPROF_TOKEN=$secret
export MASTER_ADDR="https://me:$secret@node7:29500" JOB_ID="password=$secret"
printf 'GPROF_API_KEY=%s\nGPROF_STEP=nvtx:secret=%s\n' $secret $secret >"$T/env"
export GPROF_CONFIG=$T/env GPROF_LOG=debug GPROF_LOG_FILE=$T/log

for how in 0 kill; do
	rm -rf "$GPROF_DIR"
	record "$B/integ/s_loop" 2 5 $how --token $secret --password=$secret API_KEY=$secret \
		"Authorization: Bearer $secret" "https://me:$secret@host/x?key=$secret&lr=1" --lr 1e-3
	"$REPORT" info "$GPROF_DIR" >"$T/info" 2>"$T/report.err"
	is 0 "$(cat "$T/info" "$T/report.err" "$T/err" "$T/log" | grep -c $secret)" "secrets in words ($how)"
	# Rings too; blocks are compressed, and that is what info shows.
	is 0 "$(cat "$GPROF_DIR"/* | grep -ca $secret)" "secrets in files ($how)"
	is 1 "$(grep -cF -- '--token *** --password=*** API_KEY=*** Authorization: *** https://***@host/x?key=***&lr=1 --lr 1e-3' "$T/info")" "the rest of the command ($how)"
	is 1 "$(grep -cE '^  job.master +https://\*\*\*@node7:29500$' "$T/info")" "the master's address ($how)"
	is 1 "$(grep -cE '^  job.id +password=\*\*\*$' "$T/info")" "the job's id ($how)"
	is "$("$REPORT" env | grep -oE '^GPROF_[A-Z_]+')" \
		"$(grep -oE '^  config\.GPROF_[A-Z_]+ ' "$T/info" | tr -d ' ' | cut -d. -f2)" "settings ($how)"
	is 1 "$(grep -cE '^  config.GPROF_STEP +nvtx:secret=\*\*\*$' "$T/info")" "a setting ($how)"
done
finish
