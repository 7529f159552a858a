/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether a process has records of its devices, and else why not; and whose they are. */
#ifndef REPORT_MODEL_DEVICE_RECORDS_H
#define REPORT_MODEL_DEVICE_RECORDS_H

#include "report/model/model.h"

/*
 * Has the process any record of work on a device? If not, `*why` says what is known of the reason;
 * `why` may be NULL.
 */
bool process_has_device_records(const struct process *process, const char **why);

/*
 * The call by which the process learnt that it has no GPU, with the reason: "cudaGetDeviceCount
 * failed (no CUDA-capable device)". NULL: it has one, or did not ask. Of a trace it is what the
 * fact says, if there is one: a timeline that gprof wrote has it.
 */
#define PROCESS_LACKS_GPU "trace.no_gpu"
const char *process_lacks_gpu(const struct process *process);

/* Whose devices a process used, by the names of its calls. */
enum device_maker {
	DEVICE_MAKER_UNKNOWN, /* it made no calls, or none was recorded */
	DEVICE_MAKER_NVIDIA,
	DEVICE_MAKER_AMD,
	DEVICE_MAKER_OTHER, /* such as XPU and MTIA: neither CUDA nor HIP */
};

enum device_maker process_device_maker(const struct process *process);

/*
 * Are the GPU times of a trace those of operators, between two CUDA events, as its fact says? They
 * tell neither which kernels ran nor how long a GPU was idle in between.
 */
#define PROCESS_OPERATOR_TIMES "trace.operator_times"
bool process_has_operator_times(const struct process *process);

#endif
