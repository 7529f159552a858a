/* SPDX-License-Identifier: Apache-2.0 */
/* Notices of CPU samples that are missing, each once. Any thread. */
#ifndef COLLECTOR_SAMPLE_CPU_NOTICE_H
#define COLLECTOR_SAMPLE_CPU_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

/* A seccomp filter holds, under which nothing is tried. */
void cpu_notice_filter(void);

/* The kernel refuses samples of all threads, with that error. */
void cpu_notice_refused(int code);

/* There is no room for those of that thread and perhaps others. */
void cpu_notice_no_room(uint32_t tid, int code);

/* The process itself uses the signal by which the kernel wakes the drain. */
void cpu_notice_signal(int signal, bool has_python);

#endif
