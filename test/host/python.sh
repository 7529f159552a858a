#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Python that has nothing to do with CUDA: its switches, environments, version managers, children.
# shellcheck disable=SC2016 # what is quoted is for other shells
# shellcheck source=test/host/lib.sh
. "$(dirname "$0")/lib.sh"
if ! has python3; then
	skip python3 "no python3"
	exit 0
fi
# The interpreter itself, where python3 is a version manager's script.
PY=$(python3 -c 'import sys; print(sys.executable)')
export PYTHONDONTWRITEBYTECODE=1

work='import sys, os, threading, subprocess
t = [threading.Thread(target=lambda i=i: x.append(i)) for i in range(20)]; x = []
[a.start() for a in t]; [a.join() for a in t]; print(sorted(x), threading.active_count())
print(subprocess.run(["sh", "-c", "echo out; echo err >&2; exit 3"], capture_output=True))
p = os.fork()
if not p: os._exit(5)
print(os.waitpid(p, 0)[1] >> 8, sorted(os.listdir("/proc/self/fd")))
print(sys.flags, file=sys.stderr); sys.exit(6)'
for flags in "" -I -S -E -B -u "-X dev"; do
	# shellcheck disable=SC2086
	same "python3 $flags -c" "$PY" $flags -c "$work"
done
same "python3 as it is found" python3 -c "$work"
same "python3 from a file, -m and stdin" sh -c "
	printf '%s' 'import sys; print(__name__, sys.argv)' >m.py; $PY m.py a b; $PY -m m c
	echo 'print(6 * 7)' | $PY -; $PY -m json.tool <<-END
	{\"a\": [1, 2]}
	END
	$PY -c 'import nothing_there' 2>&1 | tail -1; $PY -c 'import os; os.abort()'; echo status \$?"

# What a version manager does: a script that looks for the program through a dozen others.
mkdir -p "$HOME/shims"
cat >"$HOME/shims/python3" <<END
#!/usr/bin/env bash
set -e
program=\$(basename "\${0##*/}")
root=\$(cd "\$(dirname "\$(readlink -f "\$0")")" && pwd)
for i in 1 2 3 4 5 6; do
	version=\$(echo "3.\$i" | sed 's/3/three/' | tr a-z A-Z | cut -d. -f1)
done
[ -n "\$version\$root\$program" ]
exec "$PY" "\$@"
END
chmod +x "$HOME/shims/python3"
same "python3 under a version manager" env "PATH=$HOME/shims:$PATH" python3 -c "$work"

trees='import multiprocessing as m, os, sys
def work(x):
	return x * x
if __name__ == "__main__":
	for method in ("fork", "spawn", "forkserver"):
		c = m.get_context(method)
		with c.Pool(3) as pool: print(method, sum(pool.map(work, range(50))))
		q = c.SimpleQueue(); p = c.Process(target=q.put, args=(7,)); p.start(); print(q.get()); p.join(); print(p.exitcode)
		p = c.Process(target=os._exit, args=(9,)); p.start(); p.join(); print(p.exitcode)
		p = c.Process(target=os.kill, args=(os.getpid(), 0)); p.start(); p.terminate(); p.join()
	from concurrent.futures import ProcessPoolExecutor
	with ProcessPoolExecutor(2) as e: print(list(e.map(work, range(5))))'
same "multiprocessing by fork, spawn and forkserver" sh -c "cat >trees.py <<'END'
$trees
END
$PY trees.py; echo status \$?"
same "a tree of subprocesses" "$PY" -c '
import subprocess, sys
def tree(n):
	code = "import subprocess, sys\nn = int(sys.argv[1])\nif n: sys.exit(sum(subprocess.call([sys.executable, \"-S\", \"-c\", open(0).read() if 0 else sys.argv[2], str(n - 1), sys.argv[2]]) for i in range(2)) + 1)"
	return subprocess.call([sys.executable, "-S", "-c", code, str(n), code])
print(tree(3))'
same "descriptors closed, empty environment, sessions" "$PY" -c '
import subprocess, sys
e = [sys.executable, "-S", "-c", "import os; print(sorted(os.environ), sorted(os.listdir(\"/proc/self/fd\")))"]
print(subprocess.check_output(e, env={"LC_ALL": "C.UTF-8"}, close_fds=True, start_new_session=True))
print(subprocess.check_output(e, env={"LC_ALL": "C.UTF-8"}, close_fds=False))'
# The times and places of its own in what it says.
venv="$PY -m venv --without-pip v && v/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'
	. v/bin/activate; python -c 'import sys; print(sys.prefix)'; v/bin/python -I -m site | head -2; rm -rf v"
same "venv" sh -c "$venv"
if "$PY" -m pip --version >/dev/null 2>&1; then
	same "pip: download and install from a folder" sh -c "
		mkdir -p src/thing && cd src && printf 'VALUE = 5\n' >thing/__init__.py && cd ..
		mkdir -p thing-1.0.dist-info && printf 'Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n' >thing-1.0.dist-info/METADATA
		printf 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >thing-1.0.dist-info/WHEEL
		cp -r src/thing . && printf 'thing/__init__.py,,\nthing-1.0.dist-info/METADATA,,\nthing-1.0.dist-info/WHEEL,,\nthing-1.0.dist-info/RECORD,,\n' >thing-1.0.dist-info/RECORD
		mkdir wheels && $PY -m zipfile -c wheels/thing-1.0-py3-none-any.whl thing thing-1.0.dist-info
		pip='$PY -m pip --no-cache-dir --disable-pip-version-check --no-color'
		\$pip download --progress-bar off --no-index -f wheels -d got thing 2>&1; ls got
		\$pip install --progress-bar off -q --no-index -f wheels --no-compile --target t thing 2>&1
		PYTHONPATH=t $PY -c 'import thing; print(thing.VALUE)'; rm -rf got t wheels"
else
	skip "pip: download and install from a folder" "no pip"
fi
