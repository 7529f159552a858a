/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of wait_sample, and the names in them. */
#include "report/budget/wait_samples.h"

#include <string.h>

#include "report/util/buf.h"
#include "report/util/string_pool.h"

struct wait_key wait_key_of(const struct batch *batch, uint32_t row)
{
	return (struct wait_key){
		.py_stack = (uint32_t)batch->col[COL_wait_sample_py_stack][row],
		.call = (uint32_t)batch->col[COL_wait_sample_syscall][row],
		.object = (uint32_t)batch->col[COL_wait_sample_object][row],
		.kind = (uint32_t)batch->col[COL_wait_sample_kind][row],
	};
}

uint32_t wait_call_name(struct process *process, const struct wait_key *key)
{
	static const char lock[] = "Python's lock (GIL)";

	return key->kind == GPROF_OS_GIL ? string_pool_intern(lock, strlen(lock))
					 : process_string(process, key->call);
}

uint32_t wait_object_name(struct process *process, const struct wait_key *key)
{
	return key->object ? process_string(process, key->object) : 0;
}

uint32_t wait_text(struct process *process, const struct wait_key *key)
{
	uint32_t call = wait_call_name(process, key), object = wait_object_name(process, key), text;
	struct buf whole = {0};

	if (!object) {
		return call;
	}
	buf_printf(
		&whole, "%s of %s", string_pool_text(call, NULL), string_pool_text(object, NULL));
	text = string_pool_intern(whole.bytes, whole.nr_bytes);
	buf_fini(&whole);
	return text;
}
