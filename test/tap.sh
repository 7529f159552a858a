# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Lines of TAP for scripts of one command a result. The caller sets version, n=0 and bad=0.

# tap COMMAND... NAME: a result; of what the command printed the begin is shown if it fails.
tap()
{
	local name=${!#} out
	n=$((n + 1))
	if out=$("${@:1:$#-1}" 2>&1); then
		echo "ok $n - $version $name"
	else
		echo "not ok $n - $version $name: $(head -c 200 <<<"$out" | tr '\n' ' ')"
		head -40 <<<"$out" | sed 's/^/# /' | cut -c1-300
		# shellcheck disable=SC2034 # the caller's exit status
		bad=1
	fi
}

# fetch_lib FOLDER PACKAGE==VERSION: from PyPI, once, whichever of the tests that run at once wants it first.
fetch_lib()
{
	(
		flock 9
		[ -d "$1" ] || { python3 -m pip install -q --no-compile --no-warn-script-location --target "$T/lib" "$2" >"$T/pip" 2>&1 && mv "$T/lib" "$1"; }
	) 9>"$1.lock"
}

# real_traces: those in $GPROF_TRACES, files of one process and folders of several ranks; in `make test` one of each.
real_traces()
{
	local most=9999 pattern
	[ "${TEST_TIER:-all}" = all ] || most=1
	for pattern in .json.gz ranks; do
		find -H "${GPROF_TRACES:-/dev/null}" -maxdepth 1 -name "*$pattern" | sort | head -$most
	done
}
