/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First come definitions: NCCL registers its domain, the names of its functions and the layouts of
 * its payloads, whose ids are kept. Then a push that names a function begins a call (nccl_begin),
 * and its pop ends it, with what the payloads say.
 */
#include "preload/nccl/nccl_range.h"

#include <stdatomic.h>
#include <string.h>

#include "collector/collector.h"
#include "collector/format/nccl_nvtx.h"
#include "preload/nccl/nccl.h"

/* One for each copy of NCCL in the process. */
#define MAX_COPIES  4u
#define MAX_STRINGS (MAX_COPIES * 32u)
#define MAX_SCHEMAS (MAX_COPIES * 32u)

/* The positions of the facts in payloads of one schema. */
struct layout {
	_Atomic uint32_t domain; /* 0: not written yet */
	uint64_t schema;
	struct {
		uint16_t at;
		uint8_t nr_bytes; /* 0: it is not there */
	} places[NCCL_NVTX_NR_FACTS];
};

static struct nccl_range_state {
	_Atomic uint32_t domains[MAX_COPIES], nr_domains;
	struct {
		_Atomic uint32_t id; /* 0: not written yet */
		uint8_t function;    /* its index in nccl_nvtx_functions */
	} strings[MAX_STRINGS];
	_Atomic uint32_t nr_strings;
	struct layout layouts[MAX_SCHEMAS];
	_Atomic uint32_t nr_layouts;
	atomic_bool is_reported, is_unnamed_reported;
} state;

/* State of the calling thread. */
static __thread struct {
	uint32_t depth;	 /* of ranges of NCCL */
	uintptr_t stack; /* where the outermost was begun */
	uint8_t kind;
	bool is_call;	 /* the outermost is one that nobody else records */
	bool is_doubted; /* a call that had not ended when another began at its stack address */
	uint16_t has;	 /* bits by enum nccl_nvtx_fact */
	int64_t facts[NCCL_NVTX_NR_FACTS];
	struct nccl_call call;
} self __attribute__((tls_model("initial-exec")));

/* ---- definitions ---- */

static uint32_t at_most(_Atomic uint32_t *nr, uint32_t max)
{
	uint32_t n = atomic_load(nr);

	return n < max ? n : max;
}

static bool is_nccl(uint32_t domain)
{
	uint32_t n = at_most(&state.nr_domains, MAX_COPIES);

	for (uint32_t i = 0; i < n; i++) {
		if (atomic_load_explicit(&state.domains[i], memory_order_relaxed) == domain) {
			return domain != 0;
		}
	}
	return false;
}

/* Reserves the index of one more; returns false if there is no room. */
static bool take_place(_Atomic uint32_t *nr, uint32_t max, uint32_t *place)
{
	if (atomic_load(nr) < max && (*place = atomic_fetch_add(nr, 1)) < max) {
		return true;
	}
	notice_add("NCCL's ranges", 0,
		"more than %u copies of NCCL in the process; calls of the others are not recorded "
		"if they are linked statically",
		MAX_COPIES);
	return false;
}

void nccl_range_domain(uint32_t domain, const char *name)
{
	uint32_t place;

	if (strcmp(name, "NCCL") == 0 && take_place(&state.nr_domains, MAX_COPIES, &place)) {
		atomic_store(&state.domains[place], domain);
	}
}

void nccl_range_string(uint32_t domain, uint32_t string, const char *text)
{
	int function = is_nccl(domain) ? nccl_nvtx_find_function(text, strlen(text)) : -1;
	uint32_t place;

	if (function >= 0 && take_place(&state.nr_strings, MAX_STRINGS, &place)) {
		state.strings[place].function = (uint8_t)function;
		atomic_store(&state.strings[place].id, string);
	}
}

/* Returns its index in nccl_nvtx_functions, -1 if it has none. */
static int function_of(uint32_t string)
{
	uint32_t n = string ? at_most(&state.nr_strings, MAX_STRINGS) : 0;

	for (uint32_t i = 0; i < n; i++) {
		if (atomic_load(&state.strings[i].id) == string) {
			return state.strings[i].function;
		}
	}
	return -1;
}

/* Only the types that NCCL's have; an enumeration is an int. */
static uint8_t nr_bytes_of(const struct nvtx_schema_entry *entry)
{
	switch (entry->flags ? 0 : entry->type) {
	case NVTX_ENTRY_UINT64:
	case NVTX_ENTRY_SIZE:
		return 8;
	case NVTX_ENTRY_INT:
		return 4;
	default:
		return !entry->flags && entry->type >= NVTX_ENTRY_OWN ? 4 : 0;
	}
}

static void place_fact(struct layout *layout, const struct nvtx_schema_entry *entry)
{
	int fact = entry->name ? nccl_nvtx_find_fact(entry->name, strlen(entry->name)) : -1;

	if (fact >= 0 && entry->offset <= UINT16_MAX) {
		layout->places[fact].at = (uint16_t)entry->offset;
		layout->places[fact].nr_bytes = nr_bytes_of(entry);
	}
}

void nccl_range_schema(uint32_t domain, const struct nvtx_schema *schema)
{
	const uint64_t must = NVTX_SCHEMA_HAS_ENTRIES | NVTX_SCHEMA_HAS_ID;
	uint32_t place;

	if (!is_nccl(domain) || (schema->fields & must) != must ||
		!take_place(&state.nr_layouts, MAX_SCHEMAS, &place)) {
		return;
	}
	for (size_t i = 0; i < schema->nr_entries; i++) {
		/* If it does not say where the others are, any answer is a guess. */
		if (i == 0 || schema->entries[i].offset) {
			place_fact(&state.layouts[place], &schema->entries[i]);
		}
	}
	state.layouts[place].schema = schema->id;
	atomic_store(&state.layouts[place].domain, domain);
}

/* ---- facts ---- */

static const struct layout *layout_of(uint32_t domain, uint64_t schema)
{
	uint32_t n = at_most(&state.nr_layouts, MAX_SCHEMAS);

	for (uint32_t i = 0; i < n; i++) {
		if (atomic_load(&state.layouts[i].domain) == domain &&
			state.layouts[i].schema == schema) {
			return &state.layouts[i];
		}
	}
	return NULL;
}

static void take_payload(const struct layout *layout, const struct nvtx_payload_data *payload)
{
	for (int fact = 0; fact < NCCL_NVTX_NR_FACTS; fact++) {
		size_t at = layout->places[fact].at, nr_bytes = layout->places[fact].nr_bytes;
		const char *bytes = payload->bytes;
		int32_t number;

		/* Its size may be said to be unknown, which is a very large one. */
		if (!nr_bytes || payload->size > UINT16_MAX || at + nr_bytes > payload->size) {
			continue;
		}
		if (nr_bytes == sizeof(number)) {
			memcpy(&number, bytes + at, sizeof(number));
			self.facts[fact] = number;
		} else {
			memcpy(&self.facts[fact], bytes + at, sizeof(self.facts[fact]));
		}
		self.has |= (uint16_t)(1u << fact);
	}
}

static void take_payloads(
	uint32_t domain, const struct nvtx_payload_data *payloads, size_t nr_payloads)
{
	for (size_t i = 0; payloads && i < nr_payloads; i++) {
		const struct layout *layout =
			payloads[i].bytes ? layout_of(domain, payloads[i].schema) : NULL;

		if (layout) {
			take_payload(layout, &payloads[i]);
		}
	}
}

static int64_t fact_or(enum nccl_nvtx_fact fact, int64_t otherwise)
{
	return self.has & (1u << fact) ? self.facts[fact] : otherwise;
}

/* ---- calls ---- */

static void report_limits(void)
{
	if (self.call.begin && !atomic_exchange(&state.is_reported, true)) {
		notice_add("NCCL's ranges", 0,
			"NCCL is linked statically or looked up by the program, so its calls are "
			"recorded from its NVTX ranges: stream, data type and result are unknown");
	}
	if (self.call.begin && self.kind <= GPROF_NCCL_RECV &&
		!(self.has & (1u << NCCL_NVTX_COMM)) &&
		!atomic_exchange(&state.is_unnamed_reported, true)) {
		notice_add("NCCL's ranges", 0,
			"the NVTX ranges of this NCCL (before 2.25) name no communicator; the "
			"communicator of each call is unknown");
	}
}

/* Learns the devices of the process, and the communicator of the call. */
static struct nccl_comm_entry *know(struct nccl_comm_entry *comm)
{
	int64_t device = fact_or(NCCL_NVTX_DEVICE, -1),
		nr_devices = fact_or(NCCL_NVTX_NR_DEVICES, 0);

	if (nr_devices > 1) { /* a rank on each; which they are is not said */
		nccl_comm_use_device(0);
		nccl_comm_use_device(1);
	} else if (device >= 0) {
		nccl_comm_use_device((uint32_t)device);
	}
	nccl_comm_know(comm, (int32_t)fact_or(NCCL_NVTX_RANK, nr_devices == 1 ? 0 : -1),
		(uint32_t)fact_or(NCCL_NVTX_NR_RANKS, nr_devices));
	return comm;
}

/* Only now are all facts there: NCCL may pass a payload with the end of the range. */
static void end_call(void)
{
	uint64_t hash = (uint64_t)fact_or(NCCL_NVTX_COMM, 0);
	struct nccl_facts row = NCCL_FACTS(self.kind, 0);

	switch (self.kind) {
	case NCCL_NVTX_GROUP_START:
		nccl_group_start(&self.call);
		break;
	case NCCL_NVTX_GROUP_SIMULATE_END:
		nccl_group_leave(&self.call);
		break;
	case GPROF_NCCL_GROUP_END:
		nccl_group_end(&self.call);
		break;
	case GPROF_NCCL_SPLIT:
		/* Rank, ranks and device are the parent's; the new one has no hash yet. */
		know(NULL);
		nccl_end(&self.call, &row);
		break;
	case GPROF_NCCL_INIT:
	case GPROF_NCCL_FINALIZE:
		row.comm = nccl_id(&self.call, know(nccl_comm_find_hash(hash)), false);
		nccl_end(&self.call, &row);
		break;
	case GPROF_NCCL_DESTROY:
	case GPROF_NCCL_ABORT:
		row.comm = nccl_id(&self.call, know(nccl_comm_find_hash(hash)), false);
		nccl_comm_drop_hash(hash);
		nccl_end(&self.call, &row);
		break;
	default:
		row.bytes = (uint64_t)fact_or(NCCL_NVTX_BYTES, 0);
		row.redop = nccl_small_redop(fact_or(NCCL_NVTX_REDOP, NCCL_NO_REDOP));
		row.peer = (int32_t)fact_or(NCCL_NVTX_PEER, -1);
		nccl_move(&self.call, row, nccl_comm_find_hash(hash));
	}
}

/* One that is still doubted when the next begins was left: a range around that would have ended. */
static void settle_doubt(void)
{
	loss_add(LOSS_LEFT, self.is_doubted);
	self.is_doubted = false;
}

/*
 * A range begins at or above the stack address of one that has not ended. Above it, that one was
 * left, which nccl_begin counts. At the same address that is likely as well; but a function that
 * the compiler has inlined has its range there, too, and then another end will come.
 */
static void come_back(uintptr_t stack)
{
	settle_doubt();
	if (stack == self.stack && self.is_call) {
		nccl_drop(&self.call);
		self.is_doubted = self.call.begin != 0;
	}
	self.depth = 0;
}

void nccl_range_push(uint32_t domain, uint32_t string, const struct nvtx_attributes *attributes)
{
	int function;

	if (!is_nccl(domain)) {
		return;
	}
	if (self.depth && ring_is_left(self.stack - 1, RING_STACK)) {
		come_back(RING_STACK);
	} else if (!self.depth) {
		settle_doubt();
	}
	if (self.depth++) {
		return; /* NCCL's own calls are not the program's */
	}
	self.stack = RING_STACK;
	function = function_of(string);
	self.is_call = function >= 0 && nccl_begin(&self.call, NULL,
						nccl_nvtx_functions[function].name, self.stack, 0);
	self.kind = function >= 0 ? nccl_nvtx_functions[function].kind : 0;
	self.has = 0;
	if (self.is_call && attributes->payload_type == NVTX_PAYLOAD_EXTENDED) {
		take_payloads(domain,
			(const struct nvtx_payload_data *)(uintptr_t)attributes->payload,
			(size_t)attributes->reserved);
	}
}

void nccl_range_pop(uint32_t domain, const struct nvtx_payload_data *payloads, size_t nr_payloads)
{
	if (!is_nccl(domain)) {
		return;
	}
	if (!self.depth) {
		self.is_doubted = false;
	}
	if (!self.depth || --self.depth || !self.is_call) {
		return;
	}
	nccl_return(&self.call, NCCL_SUCCESS);
	take_payloads(domain, payloads, nr_payloads);
	report_limits();
	end_call();
}
