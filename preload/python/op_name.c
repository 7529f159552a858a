/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names to ids. The same few thousand names come again and again, mostly at the same address, but
 * an address may get another text. So a name is looked up by its address first, and its text
 * compared.
 */
#include "preload/python/op_name.h"

#include <stdatomic.h>
#include <string.h>

#include "collector/util/hash.h"
#include "collector/util/memory.h"
#include "preload/hook/hook.h"

#define NR_SLOTS   65536u /* twice the names, a power of two */
#define NR_RECENT  4096u  /* a power of two */
#define TEXT_BYTES (4u << 20)

/* Never changed once it is visible. */
struct name {
	uint32_t id;
	uint32_t nr_bytes;
	char text[];
};

/* Mapped at first use, so that a forked child drops it without touching it. */
struct table {
	_Atomic uint32_t used; /* of arena */
	_Atomic uint32_t nr_names;
	struct name *_Atomic slots[NR_SLOTS];
	struct name *_Atomic recent[NR_RECENT]; /* by the address of the text */
	char arena[TEXT_BYTES] __attribute__((aligned(8)));
};

static void *_Atomic tables[OP_NAME_NR_TABLES];

static struct table *table(enum op_name_table number)
{
	struct table *now = atomic_load_explicit(&tables[number], memory_order_acquire);

	return __builtin_expect(now != NULL, 1) ? now
						: memory_map_once(&tables[number], sizeof(*now));
}

/* Rows of table op_shape have the same form. */
static void write_row(enum op_name_table number, const struct name *name)
{
	struct gprof_row_op_name row = {.id = name->id};

	ring_emit(&row, number == OP_NAME_NAMES ? GPROF_TABLE_op_name : GPROF_TABLE_op_shape,
		name->text, name->nr_bytes);
}
_Static_assert(sizeof(struct gprof_row_op_name) == sizeof(struct gprof_row_op_shape), "one form");

static struct name *make(struct table *t, const char *text, uint32_t nr_bytes)
{
	uint32_t bytes = (uint32_t)(sizeof(struct name) + nr_bytes + 1 + 7) & ~7u;
	struct name *name;
	uint32_t at, id;

	if (atomic_load(&t->used) + bytes > TEXT_BYTES ||
		atomic_load(&t->nr_names) >= OP_NAME_MAX) {
		return NULL;
	}
	at = atomic_fetch_add(&t->used, bytes);
	id = atomic_fetch_add(&t->nr_names, 1) + 1;
	if (at + bytes > TEXT_BYTES || id > OP_NAME_MAX) {
		return NULL;
	}
	name = (struct name *)(void *)(t->arena + at);
	name->id = id;
	name->nr_bytes = nr_bytes;
	memcpy(name->text, text, nr_bytes);
	return name;
}

/*
 * Slots are filled once and never emptied: a thread that loses the exchange compares with the
 * winner's name, and its own copy stays unused.
 */
static struct name *find(enum op_name_table number, struct table *t, const char *text)
{
	uint32_t nr_bytes = (uint32_t)strnlen(text, GPROF_TEXT_BYTES);
	uint64_t hash = hash_add(HASH_BEGIN, text, nr_bytes);
	struct name *fresh = NULL;

	for (uint32_t i = 0; i < NR_SLOTS; i++) {
		struct name *_Atomic *slot = &t->slots[(hash + i) % NR_SLOTS];
		struct name *name = atomic_load(slot);

		if (!name) {
			fresh = fresh ? fresh : make(t, text, nr_bytes);
			if (!fresh) {
				return NULL;
			}
			if (atomic_compare_exchange_strong(slot, &name, fresh)) {
				write_row(number, fresh);
				return fresh;
			}
		}
		if (name->nr_bytes == nr_bytes && !memcmp(name->text, text, nr_bytes)) {
			return name;
		}
	}
	return NULL;
}

static struct name *_Atomic *recent_of(struct table *t, const char *text)
{
	return &t->recent[(uintptr_t)text * 0x9e3779b97f4a7c15u >> 52];
}

static __attribute__((noinline)) uint32_t intern_slow(enum op_name_table number, const char *text)
{
	struct table *t = table(number);
	struct name *name = t ? find(number, t, text) : NULL;

	if (!name) {
		return 0;
	}
	atomic_store_explicit(recent_of(t, text), name, memory_order_release);
	return name->id;
}

/* From the begin of a cache line, wherever the linker puts it: an operator begins here. */
__attribute__((aligned(64))) uint32_t op_name_intern(enum op_name_table number, const char *text)
{
	struct table *t = atomic_load_explicit(&tables[number], memory_order_acquire);
	struct name *name = NULL;

	if (__builtin_expect(t != NULL, 1)) {
		name = atomic_load_explicit(recent_of(t, text), memory_order_acquire);
	}
	return __builtin_expect(name && !strcmp(name->text, text), 1) ? name->id
								      : intern_slow(number, text);
}

void op_name_forget(void)
{
	for (unsigned int i = 0; i < OP_NAME_NR_TABLES; i++) {
		atomic_store(&tables[i], NULL);
	}
}
