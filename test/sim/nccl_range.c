/* SPDX-License-Identifier: Apache-2.0 */
/* A loader of NVTX's tools, and what NCCL says through it. */
#include "test/sim/nccl_range.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "preload/abi/nvtx_abi.h"

enum {
	NR_SLOTS = 17,
	NR_EXTENDED = 63,
	OLD_NR_EXTENDED = 2, /* without calls that have payloads */
	MAX_FIELDS = 8,
	PAYLOAD_BYTES = 64,
	SCHEMA_FIRST = 0x1000000,
	SCHEMA_REDOP = SCHEMA_FIRST + NCCL_RANGE_KINDS,
};

static const struct {
	const char *name;
	const char *says; /* a letter a field */
	const char *said; /* by 2.21.5, at once */
	bool is_late;	  /* said when it ends */
} forms[NCCL_RANGE_KINDS] = {
	[NCCL_ALL_REDUCE] = {"ncclAllReduce", "HBO", "BO", false},
	[NCCL_REDUCE] = {"ncclReduce", "HBTO", "BTO", false},
	[NCCL_BROADCAST] = {"ncclBroadcast", "HBT", "bT", false},
	[NCCL_ALL_GATHER] = {"ncclAllGather", "HB", "B", false},
	[NCCL_REDUCE_SCATTER] = {"ncclReduceScatter", "HBO", "BO", false},
	[NCCL_ALL_TO_ALL] = {"ncclAlltoAll", "HB", "B", false},
	[NCCL_GATHER] = {"ncclGather", "HBT", "BT", false},
	[NCCL_SCATTER] = {"ncclScatter", "HBT", "BT", false},
	[NCCL_SEND] = {"ncclSend", "HBP", "bP", false},
	[NCCL_RECV] = {"ncclRecv", "HBP", "bP", false},
	[NCCL_RANGE_GROUP_START] = {"ncclGroupStart", "", "", false},
	[NCCL_RANGE_GROUP_END] = {"ncclGroupEnd", "", "", false},
	[NCCL_RANGE_GROUP_SIMULATE_END] = {"ncclGroupSimulateEnd", "", "", false},
	[NCCL_RANGE_INIT_RANK] = {"ncclCommInitRank", "HNRD", "RND", true},
	[NCCL_RANGE_INIT_RANK_CONFIG] = {"ncclCommInitRankConfig", "HNRD", "", true},
	[NCCL_RANGE_INIT_ALL] = {"ncclCommInitAll", "HM", "M", true},
	[NCCL_RANGE_SPLIT] = {"ncclCommSplit", "HANRDCK", "", true},
	[NCCL_RANGE_FINALIZE] = {"ncclCommFinalize", "H", "", true},
	[NCCL_RANGE_DESTROY] = {"ncclCommDestroy", "HNRD", "", false},
	[NCCL_RANGE_ABORT] = {"ncclCommAbort", "HNRD", "", true},
};

/* What the letters mean. */
#define FIELD(letter, type, bytes, field, name)                              \
	{                                                                    \
		letter, bytes, type, offsetof(struct nccl_said, field), name \
	}
static const struct field {
	char letter;
	uint8_t bytes;
	uint64_t type;
	size_t from;
	const char *name;
} fields[] = {
	FIELD('H', NVTX_ENTRY_UINT64, 8, hash, "NCCL communicator ID"),
	FIELD('A', NVTX_ENTRY_UINT64, 8, parent, "Parent NCCL communicator ID"),
	FIELD('B', NVTX_ENTRY_SIZE, 8, bytes, "Message size [bytes]"),
	FIELD('b', NVTX_ENTRY_SIZE, 8, bytes, "Bytes"),
	FIELD('O', SCHEMA_REDOP, 4, redop, "Reduction operation"),
	FIELD('T', NVTX_ENTRY_INT, 4, peer, "Root"),
	FIELD('P', NVTX_ENTRY_INT, 4, peer, "Peer rank"),
	FIELD('N', NVTX_ENTRY_INT, 4, nr_ranks, "No. of ranks"),
	FIELD('M', NVTX_ENTRY_INT, 4, nr_devices, "No. of devices"),
	FIELD('R', NVTX_ENTRY_INT, 4, rank, "Rank"),
	FIELD('D', NVTX_ENTRY_INT, 4, device, "CUDA device"),
	FIELD('C', NVTX_ENTRY_INT, 4, color, "Color"),
	FIELD('K', NVTX_ENTRY_INT, 4, key, "Key"),
};

static struct {
	void (*core2[NR_SLOTS])(void);
	nvtx_slot core2_slots[NR_SLOTS];
	intptr_t extended[NR_EXTENDED];
	void *domain;
	const void *names[NCCL_RANGE_KINDS]; /* registered strings */
} nvtx;

bool nccl_range_is_old(void)
{
	const char *text = getenv("SIM_NCCL_RANGES");

	return text && strcmp(text, "old") == 0;
}

/* ---- the loader ---- */

static int get_table(uint32_t module, nvtx_slot **table, uint32_t *nr_slots)
{
	*table = module == NVTX_MODULE_CORE2 ? nvtx.core2_slots : NULL;
	*nr_slots = 16;
	return *table != NULL;
}

static const void *get_export(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = {sizeof(callbacks), get_table};

	return id == NVTX_EXPORT_CALLBACKS ? &callbacks : NULL;
}

static void load(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH"), *off = getenv("NCCL_NVTX_DISABLE");
	void *tool = path && !(off && atoi(off)) ? dlopen(path, RTLD_LAZY) : NULL;
	int (*inject)(nvtx_get_export) = NULL;
	int (*extend)(struct nvtx_extension *) = NULL;
	struct nvtx_segment segment = {
		0, nccl_range_is_old() ? OLD_NR_EXTENDED : NR_EXTENDED, nvtx.extended};
	struct nvtx_extension extension = {
		3, sizeof(extension), NVTX_EXTENSION_PAYLOAD, 0x103, 1, &segment};

	for (int i = 1; i < NR_SLOTS; i++) {
		nvtx.core2_slots[i] = &nvtx.core2[i];
	}
	if (tool) {
		*(void **)&inject = dlsym(tool, "InitializeInjectionNvtx2");
		*(void **)&extend = dlsym(tool, "InitializeInjectionNvtxExtension");
	}
	if (inject && inject(get_export) && nvtx.core2[NVTX_CORE2_DOMAIN_CREATE_A]) {
		nvtx.domain =
			((void *(*)(const char *))nvtx.core2[NVTX_CORE2_DOMAIN_CREATE_A])("NCCL");
	}
	if (nvtx.domain && extend) {
		extend(&extension);
	}
}

/* ---- payloads ---- */

/* The fields of a form, each where it is due by its size; returns how many. */
static size_t lay_out(const char *letters, struct nvtx_schema_entry *entries,
	const struct field **of, size_t *nr_bytes)
{
	size_t nr = 0, at = 0;

	for (; letters[nr]; nr++) {
		const struct field *field = fields;

		while (field->letter != letters[nr]) {
			field++;
		}
		at = (at + field->bytes - 1) / field->bytes * field->bytes;
		entries[nr] = (struct nvtx_schema_entry){
			.type = field->type, .name = field->name, .offset = at};
		of[nr] = field;
		at += field->bytes;
	}
	*nr_bytes = (at + 7) / 8 * 8;
	return nr;
}

static const char *letters_of(int kind)
{
	return nccl_range_is_old() ? forms[kind].said : forms[kind].says;
}

/* Once for each function, when it is first called. */
static void describe(int kind)
{
	struct nvtx_schema_entry entries[MAX_FIELDS];
	const struct field *of[MAX_FIELDS];
	struct nvtx_schema schema = {.fields = 0x174,
		.type = 1,
		.entries = entries,
		.id = SCHEMA_FIRST + (uint64_t)kind};
	intptr_t slot = nvtx.extended[NVTX_EXTENDED_SCHEMA_REGISTER];

	schema.nr_entries = lay_out(letters_of(kind), entries, of, &schema.static_size);
	if (slot && schema.nr_entries) {
		((uint64_t(*)(void *, const struct nvtx_schema *))slot)(nvtx.domain, &schema);
	}
	if (nvtx.core2[NVTX_CORE2_REGISTER_STRING_A]) {
		nvtx.names[kind] =
			((void *(*)(void *, const char *))nvtx.core2[NVTX_CORE2_REGISTER_STRING_A])(
				nvtx.domain, forms[kind].name);
	}
}

static struct nvtx_payload_data fill(const struct nccl_range *range, char *bytes)
{
	struct nvtx_schema_entry entries[MAX_FIELDS];
	const struct field *of[MAX_FIELDS];
	struct nvtx_payload_data data = {
		.schema = SCHEMA_FIRST + (uint64_t)range->kind, .bytes = bytes};
	size_t nr = lay_out(letters_of(range->kind), entries, of, &data.size);

	memset(bytes, 0x5a, PAYLOAD_BYTES); /* what pads it may be anything */
	for (size_t i = 0; i < nr; i++) {
		memcpy(bytes + entries[i].offset, (const char *)&range->said + of[i]->from,
			of[i]->bytes);
	}
	return data;
}

static bool is_late(int kind)
{
	return forms[kind].is_late && !nccl_range_is_old();
}

void nccl_range_begin(const struct nccl_range *range)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char bytes[PAYLOAD_BYTES];
	struct nvtx_payload_data data = fill(range, bytes);
	struct nvtx_attributes a = {
		.version = 3, .size = sizeof(a), .message_type = NVTX_MESSAGE_REGISTERED};

	pthread_once(&once, load);
	if (!nvtx.domain || !nvtx.core2[NVTX_CORE2_RANGE_PUSH_EX]) {
		return;
	}
	pthread_mutex_lock(&lock);
	if (!nvtx.names[range->kind]) {
		describe(range->kind);
	}
	a.message = nvtx.names[range->kind];
	pthread_mutex_unlock(&lock);
	if (data.size && !is_late(range->kind)) {
		a.payload_type = NVTX_PAYLOAD_EXTENDED;
		a.reserved = 1;
		a.payload = (uintptr_t)&data;
	}
	((int (*)(void *, const struct nvtx_attributes *))nvtx.core2[NVTX_CORE2_RANGE_PUSH_EX])(
		nvtx.domain, &a);
}

void nccl_range_end(const struct nccl_range *range)
{
	char bytes[PAYLOAD_BYTES];
	struct nvtx_payload_data data = fill(range, bytes);
	intptr_t slot = nvtx.extended[NVTX_EXTENDED_RANGE_POP];

	if (!nvtx.domain || !nvtx.core2[NVTX_CORE2_RANGE_POP]) {
		return;
	}
	if (range->has_more && slot && is_late(range->kind)) {
		((int (*)(void *, const struct nvtx_payload_data *, size_t))slot)(
			nvtx.domain, &data, 1);
	} else {
		((int (*)(void *))nvtx.core2[NVTX_CORE2_RANGE_POP])(nvtx.domain);
	}
}
