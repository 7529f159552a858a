/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables of config.def with their values. config_init reads the environment, config_load the
 * file that GPROF_CONFIG names; nothing else calls getenv, since the target may call setenv at any
 * time. After both, values never change; reading needs no lock. For preload/ and collector/ only.
 */
#ifndef COLLECTOR_UTIL_CONFIG_H
#define COLLECTOR_UTIL_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

enum config_name {
#define CONFIG(name, type, value, min, max, allowed, help) CONFIG_##name,
#include "collector/util/config.def"
#undef CONFIG
	CONFIG_NR,
};

/* Values of the CHOICE variables, in the order of their `allowed`. */
enum { CAPTURE_NONE, CAPTURE_CUDAPROFILER };
enum { CALLS_WORK, CALLS_ALL };
enum { GRAPH_NODE, GRAPH_GRAPH };
enum {
	PYTHON_OFF,
	PYTHON_STACKS,
	PYTHON_MODULES,
	PYTHON_FUNCTIONS,
	PYTHON_GC
};								       /* bits of a LIST */
enum { METRICS_OFF, METRICS_DEFAULT, METRICS_PM, METRICS_FIRST_NAME }; /* bits of a LIST */
enum { TORCH_OFF, TORCH_STEPS, TORCH_OPS, TORCH_SHAPES };
enum { NCCL_OFF, NCCL_NETWORK, NCCL_CHANNELS };
enum { LAUNCH_STACKS_OFF, LAUNCH_STACKS_LONG, LAUNCH_STACKS_ALL };
enum { SCHED_OFF, SCHED_ON };
enum { PADDLE_OFF, PADDLE_STEPS, PADDLE_OPS, PADDLE_RANGES };

/*
 * Settings that override the environment, before anything of it is read: lines NAME=value. Returns
 * 0; -EINVAL for a variable that does not exist or a value that is not allowed, -E2BIG for more
 * than 4 KB, and then none of them counts.
 */
int config_preset(const char *lines);

/* Reads only whether GPROF_ENABLE is 0, all that a process without CUDA needs. */
void config_init_enable(void);

/* Is it in the environment? Every process runs this, so it touches no memory of gprof. */
bool config_is_asked(enum config_name name);

/* The number of one variable in the environment, before config_init; its default if it is wrong. */
uint64_t config_early(enum config_name name);

/*
 * Takes the values of the environment, else the defaults. Before the first event, on the target's
 * thread that causes it. Opens no file. Keeps wrong values and names that look misspelt for
 * config_complain.
 */
void config_init(void);

/* Reads the file of GPROF_CONFIG for what the environment did not set. Returns 0 or -errno. */
int config_load(void);

/*
 * Passes each wrong value to `say` as one sentence with the variable, the value and the allowed
 * values, and each misspelt variable with the right one.
 */
void config_complain(void (*say)(const char *sentence));

/* Checks one setting as config_load does; for tests and files. Returns 0, or -EINVAL. */
int config_set(const char *name, const char *value);

extern uint64_t config_numbers[CONFIG_NR] __attribute__((visibility("hidden")));

static inline uint64_t config_number(enum config_name name)
{
	return config_numbers[name];
}

bool config_flag(enum config_name name);
const char *config_text(enum config_name name); /* as the user wrote it */

/* Does the environment or the file set it, to a value that is allowed? Else it has its default. */
bool config_is_given(enum config_name name);

/* The name with its GPROF_ prefix. */
const char *config_full_name(enum config_name name);

/* CUDA_HOME, else CUDA_PATH, from the environment at config_init; "" if neither is set. */
const char *config_cuda_home(void);

#endif
