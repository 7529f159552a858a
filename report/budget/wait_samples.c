/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of wait_sample, and the names in them. */
#include "report/budget/wait_samples.h"

#include <string.h>

#include "report/model/mixed_stack.h"
#include "report/util/buf.h"
#include "report/util/string_pool.h"

struct wait_key wait_key_of(const struct batch *batch, uint32_t row)
{
	return (struct wait_key){
		.py_stack = (uint32_t)batch->col[COL_wait_sample_py_stack][row],
		.call = (uint32_t)batch->col[COL_wait_sample_syscall][row],
		.object = (uint32_t)batch->col[COL_wait_sample_object][row],
		.kind = (uint32_t)batch->col[COL_wait_sample_kind][row],
		.holder_stack = (uint32_t)batch->col[COL_wait_sample_holder_stack][row],
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

uint32_t wait_detail(struct process *process, const struct wait_key *key)
{
	uint64_t stack = mixed_stack_id(0, key->holder_stack);

	return mixed_stack_has_python(stack) ? mixed_stack_place(process, stack)
					     : wait_object_name(process, key);
}

uint32_t wait_text(struct process *process, const struct wait_key *key)
{
	uint32_t call = wait_call_name(process, key), detail = wait_detail(process, key), text;
	struct buf whole = {0};

	if (!detail) {
		return call;
	}
	buf_printf(&whole, "%s%s%s", string_pool_text(call, NULL),
		key->kind == GPROF_OS_GIL ? ", held at " : " of ", string_pool_text(detail, NULL));
	text = string_pool_intern(whole.bytes, whole.nr_bytes);
	buf_fini(&whole);
	return text;
}
