/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what the code that torch.compile generates stands for. Inductor writes a Python module for
 * each graph. Above each call that launches a kernel, a comment names the operators that the kernel
 * replaces and the nodes of the traced program that they come from:
 *
 *     # Topologically Sorted Source Nodes: [h, h_1], Original ATen: [aten.addmm, aten.relu]
 *     triton_poi_fused_addmm_relu_0.run(buf1, primals_2, 512, stream=stream0)
 *
 * The module is read when gprof meets its name, since PyTorch's cache may be gone after the run.
 * For the drain thread.
 */
#ifndef COLLECTOR_SAMPLE_COMPILED_CODE_H
#define COLLECTOR_SAMPLE_COMPILED_CODE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The stream has got a row for that file of Python code. If the file is such a module, reads it and
 * adds rows to table compiled_call; a module that cannot be read is counted (LOSS_COMPILED).
 * GPROF_TORCH=off and steps leave that out. Opens a descriptor for an instant.
 */
void compiled_code_look(const char *path);

/* ---- pure, for the tests ---- */

/* Is the name one that Inductor gives its modules: .../2u/c2uio5agy6...qsf.py? */
bool compiled_code_is_module(const char *path);

/* A part of a line, not ended by 0. */
struct compiled_text {
	const char *bytes;
	uint32_t nr_bytes;
};

struct compiled_note {
	struct compiled_text nodes, operators; /* "h, h_1" and "aten.addmm, aten.relu" */
	bool is_cut; /* the line ended too early: nodes lack some, operators are empty */
};

/* Returns false if the line is no such comment. */
bool compiled_code_read_note(const char *line, struct compiled_note *note);

/*
 * Finds the call that launches work: of a kernel (its name alone), or of a library (such as
 * "extern_kernels.mm"). Returns false if the line has none.
 */
bool compiled_code_read_call(const char *line, struct compiled_text *name);

#endif
