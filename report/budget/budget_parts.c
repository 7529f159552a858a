/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the parts of a time budget: keys, titles and meanings, the same on every screen. */
#include "report/budget/budget.h"

const struct budget_part_text budget_part_texts[NR_BUDGET_PARTS] = {
	[BUDGET_COMPUTING] = {"computing", "Computing", "a kernel computes"},
	[BUDGET_UPLOAD] = {"upload", "Copies to the GPU", "and no kernel computes"},
	[BUDGET_DOWNLOAD] = {"download", "Copies from the GPU", "and no kernel computes"},
	[BUDGET_COPY] = {"copy", "Other copies", "and no kernel computes"},
	[BUDGET_SET] = {"set", "Memsets", "and no kernel computes"},
	[BUDGET_TRANSFER] = {"transfer", "Communication: transfer",
		"all ranks have come, or data of another one come, and nothing else runs"},
	[BUDGET_COMMUNICATION] = {"communication", "Communication", "and nothing else runs"},
	[BUDGET_RANK_WAIT] = {"rank_wait", "Communication: waiting for a rank",
		"a rank comes later, or its data do, and nothing else runs"},
	[BUDGET_HOST + HOST_COMPILATION] = {"compilation", "Idle: compilation",
		"torch.compile, JAX, Triton or another compiler works, and all that it does for "
		"that"},
	[BUDGET_HOST + HOST_STARTUP] = {"startup", "Idle: start-up",
		"the host is in a long call that does not recur"},
	[BUDGET_HOST + HOST_ALLOCATION] = {"allocation", "Idle: allocation",
		"the host allocates, frees, loads or compiles"},
	[BUDGET_HOST +
		HOST_WAIT] = {"wait", "Idle: waits", "the host waits for the GPU, or reads back"},
	[BUDGET_HOST + HOST_STAGING] = {"staging", "Idle: copy calls",
		"the host copies to the GPU, and waits for it"},
	[BUDGET_HOST + HOST_LAUNCH] = {"launch", "Idle: launches",
		"the host launches kernels, copies or memsets"},
	[BUDGET_HOST +
		HOST_CALL] = {"calls", "Idle: other calls", "the host is in another call of CUDA"},
	[BUDGET_HOST + HOST_GIL] = {"gil", "Idle: Python's lock",
		"the host waits for Python's lock (GIL), which another thread holds"},
	[BUDGET_HOST +
		HOST_GC] = {"gc", "Idle: garbage collection", "the host collects Python's garbage"},
	[BUDGET_HOST +
		HOST_LOADER] = {"loader", "Idle: data loader", "the host is in the data loader"},
	[BUDGET_HOST +
		HOST_OPERATOR] = {"operators", "Idle: operators", "the host is in an operator"},
	[BUDGET_HOST + HOST_OS] = {"os", "Idle: OS calls",
		"the host is in a call of the operating system, such as a read or a sleep"},
	[BUDGET_HOST + HOST_RANGE] = {"range", "Idle: user code in ranges",
		"the host is in a range of the user, and in none of the above"},
	[BUDGET_USER] = {"user", "Idle: user code", "the host is elsewhere, such as in Python"},
	[BUDGET_LATENCY] = {"latency", "Idle: latency",
		"the GPU is about to begin what was launched"},
	[BUDGET_DEPENDENCY] = {"dependency", "Idle: dependencies",
		"what was launched waits for an event, another stream or another process"},
	[BUDGET_UNKNOWN] = {"unknown", "Idle or not recorded",
		"no recorded activity runs, but launches lack theirs"},
};

const uint8_t budget_later_parts[NR_BUDGET_LATER_PARTS] = {
	BUDGET_HOST + HOST_GIL, BUDGET_HOST + HOST_COMPILATION, BUDGET_TRANSFER, BUDGET_RANK_WAIT};
