/* SPDX-License-Identifier: Apache-2.0 */
/* A seccomp filter as those of containers: it refuses one system call to all threads. */
#ifndef TEST_INTEG_FORBID_H
#define TEST_INTEG_FORBID_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* how: SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_KILL_PROCESS ... */
static inline void forbid_call(unsigned int number, unsigned int how)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, how),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			&program)) {
		perror("seccomp");
		exit(1);
	}
}

#endif
