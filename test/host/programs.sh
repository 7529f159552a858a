#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs of other people that have nothing to do with CUDA: shells, git, make, compilers, node.
# shellcheck disable=SC2016 # what is quoted is for other shells
# shellcheck source=test/host/lib.sh
. "$(dirname "$0")/lib.sh"
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
	GIT_COMMITTER_EMAIL=a@b GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' \
	GIT_COMMITTER_DATE='2024-01-01T00:00:00Z'

# foreign NAME PROGRAM COMMAND...: skipped where there is no such program
foreign()
{
	local name=$1 program=$2
	shift 2
	if has "$program"; then
		same "$name" "$@"
	else
		skip "$name" "no $program"
	fi
}

same "true" /bin/true
same "false" /bin/false
same "cat a missing file" cat missing

EDIT='s/line ([0-9]+): +[0-9]+/line \1: PID/' foreign "bash: pipes, jobs, traps, here-documents" bash bash -c '
	set -o pipefail
	seq 1 20000 | sort -rn | awk "{s += \$1} END {print s}" | tee sum | sha256sum
	(exit 3) | cat; echo "${PIPESTATUS[@]}"
	sleep 0.05 & wait $!; echo "waited $?"
	trap "echo trapped" TERM; kill -TERM $$
	bash -c "kill -SEGV \$\$"; echo "signal $?"
	exec 7>numbered; echo seven >&7; ls /proc/self/fd | wc -l; exec 7>&-
	cat <<-END | while read -r a b; do echo "$b $a"; done
	one two
	three four
	END
	diff <(seq 1 5) <(seq 2 6); echo "diff $?"
	ulimit -n 20; ulimit -n; (ulimit -v 200000; /bin/true; echo "small $?")
	env -i /bin/sh -c "echo empty; env | grep -vE ^PWD"
	exit 42'
same "sh: exec by name, background, subshells" sh -c '
	for i in 1 2 3; do (echo $i; exec sh -c "exit $i") || echo "status $?"; done
	sh -c "echo inner; exec cat /dev/null"; echo done; exec sh -c "echo last; exit 5"'
same "xargs, find, tar, gzip" sh -c '
	mkdir -p a/b; seq 1000 >a/one; seq 2000 >a/b/two
	find a -type f | sort | xargs -P 2 -n 1 wc -l | sort
	tar --sort=name --mtime=2020-01-01 --owner=0 --group=0 -czf - a | tar -tzf - | sort
	gzip -9n <a/one | sha256sum'

repository='git init -q -b main r; cd r
	for i in 1 2 3 4 5 6 7 8; do seq $i $((i * 100)) >f$i; git add .; git commit -qm "change $i"; done'
foreign "git: log, branch, rebase, merge" git bash -c "$repository"'
	git checkout -qb side HEAD~3; echo more >>f1; git commit -qam side
	git rebase -q main; git checkout -q main; git merge -q --no-edit side
	git log --format="%H %s" | sort; git diff --stat HEAD~4; git status --short; git fsck --strict 2>&1'
foreign "git: clone, gc, fetch, stash, hooks" git bash -c "$repository"'
	printf "#!/bin/sh\necho hook ran\n" >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
	echo x >>f2; git stash -q; git stash pop -q; git commit -qam last 2>&1
	cd ..; git clone -q --no-local file://$PWD/r c 2>&1; cd c; git log --format=%H | sha256sum
	git gc -q --prune=now; git count-objects -v | grep -E "^(in-pack|garbage)"
	cd ../r; git tag t; cd ../c; git fetch -q --tags 2>&1; git tag; cd ..; rm -rf r c'

project='for i in 1 2 3 4 5 6; do
		printf "int f%d(int);\nint f%d(int x)\n{\n\treturn x + %d;\n}\n" $i $i $i >f$i.c; done
	{ echo "#include <stdio.h>"; for i in 1 2 3 4 5 6; do echo "int f$i(int);"; done
	echo "int main(void){int x=0;"; for i in 1 2 3 4 5 6; do echo "x=f$i(x);"; done
	echo "printf(\"%d\\n\",x);return x;}"; } >main.c
	{ echo "OBJ := main.o f1.o f2.o f3.o f4.o f5.o f6.o"; echo "all: prog"
	printf "prog: \$(OBJ)\n\t\$(CC) -o \$@ \$^\n"
	printf "%%.o: %%.c\n\t\$(CC) -O2 -Wall -c -o \$@ \$<\n"; } >Makefile'
foreign "gcc: compile, warn, link, run" gcc bash -c "$project"'
	gcc -O2 -g -Wall -Wextra *.c -o prog; ./prog; echo "status $?"
	echo "int main(void) { return x; }" | gcc -x c - 2>&1; echo "status $?"
	gcc -O2 -shared -fPIC -flto f1.c -o libf.so; sha256sum prog *.so'
EDIT='s/gcc|cc/CC/g' foreign "make -j with a job server" make bash -c "$project"'
	make -j4 2>&1 | sort; make -j2 -B --output-sync | sort; ./prog
	printf "all: a b\n\t@echo all\na b:\n\t+@\$(MAKE) -s -f other \$@\n" >top
	printf "a b:\n\t@sleep 0.05; echo \$@\n" >other; make -j3 -s --no-print-directory -f top | sort'
foreign "perl: fork, pipes, signals" perl perl -e '
	$SIG{CHLD} = sub { $n++ }; $SIG{ALRM} = sub { print "alarm\n" };
	for (1 .. 5) { my $p = fork; if (!$p) { exit $_ } waitpid $p, 0; print $? >> 8, "\n" }
	open my $f, "-|", "echo from a child" or die; print <$f>; close $f;
	alarm 1; select undef, undef, undef, 2; print `id -u`; exit 9'
foreign "node: timers, workers, children" node node -e '
	const {execFileSync, spawn} = require("child_process");
	const {Worker} = require("worker_threads");
	console.log(execFileSync("echo", ["child"]).toString());
	const w = new Worker("require(\"worker_threads\").parentPort.postMessage(6 * 7)", {eval: true});
	w.on("message", m => console.log("worker", m));
	w.on("exit", () => spawn("sh", ["-c", "exit 4"]).on("exit", c => {
		console.log("status", c); process.exit(7); }));'
cat >"$HOME/Main.java" <<'END'
public class Main {
	public static void main(String[] args) throws Exception {
		Thread[] all = new Thread[20];
		int[] sum = new int[20];
		for (int i = 0; i < 20; i++) {
			final int n = i;
			all[i] = new Thread(() -> sum[n] = n * n);
			all[i].start();
		}
		int total = 0;
		for (int i = 0; i < 20; i++) { all[i].join(); total += sum[i]; }
		System.out.println(total);
		System.out.println(new ProcessBuilder("sh", "-c", "exit 4").start().waitFor());
		try { int[] none = null; System.out.println(none[0]); } catch (NullPointerException e) { System.out.println("caught"); }
		System.exit(8);
	}
}
END
foreign "java: threads, children, null pointers by SIGSEGV" java java -Xshare:auto "$HOME/Main.java"
foreign "ssh: the client without a server" ssh ssh -F none -o BatchMode=yes -o ConnectTimeout=2 -p 1 127.0.0.1 true
foreign "awk, sed, bc-like pipes under LANG=C" awk env LANG=C LC_ALL=C sh -c 'seq 1 1000 | awk "{printf \"%.2f\n\", \$1 / 7}" | sed -n "1~100p"'
