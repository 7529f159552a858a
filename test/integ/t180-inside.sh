#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that were started without gprof and record parts of themselves: Python's gprof.start(), stop() and record(),
# the same in C by dlopen, and %%gprof in a notebook.
. "$(dirname "$0")/lib.sh"
need SIM REPORT PLAIN JQ
PYTHON=/usr/bin/python3
export PYTHONPATH=$ROOT/report/python PYTHONDONTWRITEBYTECODE=1 PYDEVD_DISABLE_FILE_VALIDATION=1 PATH=/usr/bin:$PATH
export SIM REPORT LIBRARY=$ROOT/$B/libgprof.so

# inside CASE [VARIABLE=VALUE]...: its output is what is wrong.
inside()
{
	env LD_LIBRARY_PATH="$SIM" DIRECTORY="$T/$1" "${@:2}" "$PYTHON" "$ROOT/test/integ/inside.py" "$1" 2>"$T/err"
	echo "$? $(grep -v '^gprof\[.*recorded' "$T/err")"
}

for case in windows threads fork refused; do
	is "0 " "$(inside $case)" "$case"
done
is "0 " "$(inside off GPROF_ENABLE=0)" "switched off"
is "0 " "$(inside preloaded LD_PRELOAD="$LIBRARY")" "under the preload"
ok test ! -e "$T/off"
# The whole stream has both windows, and its end.
GPROF_DIR=$T/windows summary api
is "0 16" "$report_rc $(query '.api.rows[] | select(.name == "cudaMemset").calls')" "all windows of a stream"
GPROF_DIR=$T/refused summary api,notices
is "1" "$(query '.api.rows[] | select(.name == "cudaMemset").calls')" "calls after refused settings"
if find_torch; then
	PYTHON=$TORCH_PYTHON
	is "0 " "$(inside torch_ops)" "PyTorch"
	PYTHON=/usr/bin/python3
else
	echo "# no PyTorch"
fi

# In C: a program that loads the library when it runs.
cat >"$T/late.c" <<'PROGRAM'
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

int cudaMalloc(void **memory, size_t nr_bytes);
int cudaFree(void *memory);

static void work(int nr)
{
	for (void *memory; nr--; cudaFree(memory)) {
		cudaMalloc(&memory, 100);
	}
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*start)(const char *), (*stop)(void);

	if (!library) {
		return 1;
	}
	*(void **)&start = dlsym(library, "gprof_start");
	*(void **)&stop = dlsym(library, "gprof_stop");
	work(3);
	printf("%d", start("GPROF_QUIET=1"));
	work(4);
	printf(" %d", stop());
	work(5);
	printf(" %d", start(NULL));
	work(6);
	printf(" %d", start(NULL));
	printf(" %d\n", stop());
	return 0;
}
PROGRAM
ok gcc -o "$T/late" "$T/late.c" -L"$SIM" -l:libcudart.so.13 -ldl
export GPROF_DIR=$T/c
is "1 0 2 0 0" "$(LD_LIBRARY_PATH=$SIM "$T/late" "$LIBRARY" 2>&1)" "windows of a program in C"
for each in "1 4" "2 6"; do
	summary api --window "${each% *}"
	is "${each#* }" "$(query '.api.rows[] | select(.name == "cudaMalloc").calls')" "calls of window ${each% *}"
done

# A notebook, in a kernel as it comes.
if "$PYTHON" -c 'import nbclient, ipykernel' 2>/dev/null; then
	export -n GPROF_DIR
	mkdir "$T/notebook"
	ln -s "$LIBRARY" "$REPORT" "$T/notebook"
	PATH=$T/notebook:$PATH
	export LD_LIBRARY_PATH=$SIM JUPYTER_DATA_DIR=$T/jupyter
	is "" "$("$PYTHON" "$ROOT/test/integ/notebook.py" "$T/notebook" python3 2>&1)" "a notebook"
	ok "$ROOT/$B/gprof-record" --jupyter-kernel --sample-ms 0 "$PYTHON" >"$T/installed"
	is "1 Python 3 (gprof)" "$(grep -c "^$T/jupyter/kernels/gprof/kernel.json$" "$T/installed") $(jq -r .display_name "$T/jupyter/kernels/gprof/kernel.json")" "the kernel"
	mkdir "$T/notebook/under"
	is "" "$("$PYTHON" "$ROOT/test/integ/notebook.py" "$T/notebook/under" gprof 2>&1)" "a notebook in a kernel under gprof"
else
	echo "# no nbclient or ipykernel"
fi
finish
