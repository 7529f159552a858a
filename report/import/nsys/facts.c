/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the facts of an export: devices, names, the host, versions; and notices of what it lacks.
 */
#include "report/import/nsys/trace.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/util/text.h"

#define NR(names) (sizeof(names) / sizeof((names)[0]))
#define CAUSE	  "Nsight Systems export"

/* ---- enumerations ---- */

struct enumeration {
	uint8_t *kinds; /* CUPTI's numbers by the export's */
	struct {
		const char *name; /* the end of the export's; longer ends first */
		uint8_t kind;	  /* CUPTI's number */
	} names[8];
};

/* The export's own list replaces the usual numbers. */
static void take_kind(struct nsys_trace *trace, const struct nsys_query *query, void *context)
{
	const struct enumeration *enumeration = context;
	uint32_t id = nsys_query_u32(query, 0, NSYS_KINDS);
	size_t nr_bytes;
	const char *name = nsys_query_text(query, 1, &nr_bytes);

	(void)trace;
	for (size_t i = 0; name && id < NSYS_KINDS && i < NR(enumeration->names); i++) {
		const char *end = enumeration->names[i].name;
		size_t nr = end ? strlen(end) : 0;

		if (end && nr_bytes >= nr && !memcmp(name + nr_bytes - nr, end, nr)) {
			enumeration->kinds[id] = enumeration->names[i].kind;
			return;
		}
	}
}

/* CUPTI's own numbers count where the export does not say by name what its numbers are. */
static void read_enumerations(struct nsys_trace *trace)
{
	static const char *const columns[] = {"id", "name"};
	const struct nsys_query_want memory_kinds = {
		.table = "ENUM_CUDA_MEM_KIND", NSYS_COLUMNS(columns), .nr_needed = 2};
	const struct nsys_query_want sync_types = {
		.table = "ENUM_CUPTI_SYNC_TYPE", NSYS_COLUMNS(columns), .nr_needed = 2};
	struct enumeration memories = {trace->memory_kinds,
		{{"_DEVICE_STATIC", 6}, {"_MANAGED_STATIC", 7}, {"_PAGEABLE", 1}, {"_PINNED", 2},
			{"_DEVICE", 3}, {"_ARRAY", 4}, {"_MANAGED", 5}, {"_UNKNOWN", 0}}};
	struct enumeration syncs = {
		trace->sync_types, {{"EVENT_SYNCHRONIZE", 1}, {"STREAM_WAIT_EVENT", 2},
					   {"STREAM_SYNCHRONIZE", 3}, {"CONTEXT_SYNCHRONIZE", 4}}};

	for (uint8_t i = 0; i < 7; i++) {
		trace->memory_kinds[i] = i + 1; /* CUPTI's begin with 0 for what is unknown */
	}
	for (uint8_t i = 0; i <= 4; i++) {
		trace->sync_types[i] = i;
	}
	nsys_table_read(trace, &memory_kinds, take_kind, &memories);
	nsys_table_read(trace, &sync_types, take_kind, &syncs);
}

/* ---- devices ---- */

enum {
	GPU_ID,
	GPU_NAME,
	GPU_UUID,
	GPU_ATTRIBUTES,
};

static const struct {
	const char *column, *name;
	uint64_t divisor;
} attributes[] = {
	{"totalMemory", "memory_bytes", 1},
	{"smCount", "multiprocessors", 1},
	{"computeMajor", "capability_major", 1},
	{"computeMinor", "capability_minor", 1},
	{"threadsPerWarp", "warp_threads", 1},
	{"maxWarpsPerSm", "max_warps_per_multiprocessor", 1},
	{"maxBlocksPerSm", "max_blocks_per_multiprocessor", 1},
	{"maxThreadsPerBlock", "max_threads_per_block", 1},
	{"maxRegistersPerSm", "registers_per_multiprocessor", 1},
	{"maxRegistersPerBlock", "registers_per_block", 1},
	{"maxShmemPerSm", "shared_bytes_per_multiprocessor", 1},
	{"maxShmemPerBlock", "shared_bytes_per_block", 1},
	{"maxShmemPerBlockOptin", "shared_bytes_per_block_optin", 1},
	{"l2CacheSize", "l2_bytes", 1},
	{"asyncEngines", "copy_engines", 1},
	{"clockRate", "core_clock_khz", 1000},
	{"memoryBandwidth", "memory_bandwidth_kb_per_s", 1000},
};

/* "GPU-74e128b2-90b6-...", or without GPU-. False if these are not 16 bytes. */
static bool read_uuid(const char *text, size_t nr_bytes, unsigned char uuid[16])
{
	size_t nr = 0;

	for (size_t i = nr_bytes > 4 && !memcmp(text, "GPU-", 4) ? 4 : 0; i < nr_bytes; i++) {
		static const char digits[] = "0123456789abcdef";
		const char *digit = text[i] ? strchr(digits, text[i] | 0x20) : NULL;

		if (text[i] == '-') {
			continue;
		}
		if (!digit || nr == 32) {
			return false;
		}
		uuid[nr / 2] = (unsigned char)((nr % 2 ? uuid[nr / 2] << 4 : 0) | (digit - digits));
		nr++;
	}
	return nr == 32;
}

static void add_device(struct nsys_trace *trace, const struct nsys_query *query, uint32_t device)
{
	size_t nr_name = 0, nr_uuid;
	const char *name = nsys_query_text(query, GPU_NAME, &nr_name);
	const char *uuid = nsys_query_text(query, GPU_UUID, &nr_uuid);
	unsigned char bytes[16];
	bool has_uuid = uuid && read_uuid(uuid, nr_uuid, bytes);

	import_out_device(trace->out, device, name, name ? nr_name : 0, has_uuid ? bytes : NULL);
	for (unsigned int i = 0; i < NR(attributes); i++) {
		int64_t value;

		if (nsys_query_integer(query, GPU_ATTRIBUTES + i, &value) && value > 0) {
			import_out_attribute(trace->out, device, attributes[i].name,
				(uint64_t)value / attributes[i].divisor);
		}
	}
}

static void take_cuda_device(
	struct nsys_trace *trace, const struct nsys_query *query, void *capacity)
{
	if (nsys_query_u64(query, 2, 0) == (trace->process & NSYS_ID_MASK)) {
		trace->devices = array_grow(
			trace->devices, trace->nr_devices, capacity, sizeof(*trace->devices));
		trace->devices[trace->nr_devices++] = (struct nsys_device){
			nsys_query_u64(query, 0, 0), nsys_query_u32(query, 1, 0)};
	}
}

static void take_gpu(struct nsys_trace *trace, const struct nsys_query *query, void *context)
{
	uint64_t gpu = nsys_query_u64(query, GPU_ID, 0);

	(void)context;
	for (size_t i = 0; i < trace->nr_devices; i++) {
		if (trace->devices[i].gpu == gpu) {
			add_device(trace, query, trace->devices[i].device);
		}
	}
	if (!trace->nr_devices && gpu < UINT32_MAX) {
		add_device(trace, query, (uint32_t)gpu);
	}
}

static void read_devices(struct nsys_trace *trace)
{
	static const char *const cuda_columns[] = {"gpuId", "cudaId", "pid"};
	const struct nsys_query_want cuda = {
		.table = "TARGET_INFO_CUDA_DEVICE", NSYS_COLUMNS(cuda_columns), .nr_needed = 3};
	const char *columns[GPU_ATTRIBUTES + NR(attributes)] = {"id", "name", "uuid"};
	const struct nsys_query_want gpus = {
		.table = "TARGET_INFO_GPU", NSYS_COLUMNS(columns), .nr_needed = 1};
	size_t capacity = 0;

	for (size_t i = 0; i < NR(attributes); i++) {
		columns[GPU_ATTRIBUTES + i] = attributes[i].column;
	}
	nsys_table_read(trace, &cuda, take_cuda_device, &capacity);
	nsys_table_read(trace, &gpus, take_gpu, NULL);
}

/* ---- the host, the rank ---- */

/* The variables in which launchers give each fact, the most particular first. */
static const struct {
	const char *key;
	const char *names[8];
} variables[] = {
	{"rank.world", {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
			       "MV2_COMM_WORLD_RANK", "PADDLE_TRAINER_ID", "SLURM_PROCID"}},
	{"rank.world_size", {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
				    "MV2_COMM_WORLD_SIZE", "PADDLE_TRAINERS_NUM", "SLURM_NTASKS"}},
	{"rank.local", {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"}},
	{"job.id", {"SLURM_JOB_ID", "TORCHELASTIC_RUN_ID"}},
};

/* The value of NAME=VALUE on a line of its own, NULL if there is none. */
static const char *find_variable(
	const char *text, size_t nr_bytes, const char *name, size_t *nr_value)
{
	size_t nr_name = strlen(name);

	for (size_t i = 0; i < nr_bytes;) {
		const char *line = text + i;
		const char *end = memchr(line, '\n', nr_bytes - i);
		size_t nr_line = end ? (size_t)(end - line) : nr_bytes - i;

		if (nr_line > nr_name + 1 && !memcmp(line, name, nr_name) && line[nr_name] == '=') {
			*nr_value = nr_line - nr_name - 1;
			return line + nr_name + 1;
		}
		i += nr_line + 1;
	}
	return NULL;
}

/* The environment is that of the first process; of several, its rank is not theirs. */
static void read_environment(struct nsys_trace *trace, const char *text, size_t nr_bytes)
{
	for (size_t i = 0; trace->is_only && i < NR(variables); i++) {
		for (size_t k = 0; variables[i].names[k]; k++) {
			size_t nr;
			const char *value =
				find_variable(text, nr_bytes, variables[i].names[k], &nr);

			if (value) {
				import_out_fact(trace->out, variables[i].key, value, nr);
				trace->has_rank |= i == 0;
				break;
			}
		}
	}
}

static void take_variable(struct nsys_trace *trace, const struct nsys_query *query, void *context)
{
	static const char environment[] = "DeviceEnvironment";
	static const struct {
		const char *name, *key;
	} facts[] = {
		{"Hostname", "host.name"},
		{"CpuCores", "host.cpus"},
		{"HardwarePlatform", "host.machine"},
		{"SoftwareReleaseVersion", "host.kernel"},
		{"CudaDriverVersion", "cuda.driver_version"},
		{"EXPORT_SCHEMA_VERSION", "trace.version"},
		{"EXPORT_PRODUCT_VERSION", "trace.profiler"},
	};
	size_t nr_name, nr_value;
	const char *name = nsys_query_text(query, 0, &nr_name);
	const char *value = nsys_query_text(query, 1, &nr_value);

	(void)context;
	for (size_t i = 0; name && value && i < NR(facts); i++) {
		if (text_is(name, nr_name, facts[i].name)) {
			import_out_fact(trace->out, facts[i].key, value, nr_value);
		}
	}
	if (name && value && text_is(name, nr_name, environment)) {
		read_environment(trace, value, nr_value);
	}
}

/* META_DATA_EXPORT was EXPORT_META_DATA. */
static void read_variables(struct nsys_trace *trace)
{
	static const char *const columns[] = {"name", "value"};
	static const char *const tables[] = {
		"TARGET_INFO_SYSTEM_ENV", "META_DATA_EXPORT", "EXPORT_META_DATA"};

	for (size_t i = 0; i < NR(tables); i++) {
		const struct nsys_query_want want = {
			.table = tables[i], NSYS_COLUMNS(columns), .nr_needed = 2};

		nsys_table_read(trace, &want, take_variable, NULL);
	}
}

static void take_own_process(
	struct nsys_trace *trace, const struct nsys_query *query, void *context)
{
	size_t nr_bytes;
	const char *host = nsys_query_text(query, 2, &nr_bytes);
	int64_t number;

	(void)context;
	if (nsys_query_u64(query, 0, 0) != (trace->process & NSYS_ID_MASK)) {
		return;
	}
	if (nr_bytes && *host != '?') {
		import_out_fact(trace->out, "host.name", host, nr_bytes);
	}
	if (nsys_query_integer(query, 1, &number) && number >= 0) {
		import_out_fact_number(trace->out, "rank.world", (uint64_t)number);
		trace->has_rank = true;
	}
	if (nsys_query_integer(query, 3, &number) && number > 0) {
		import_out_fact_number(trace->out, "rank.world_size", (uint64_t)number);
	}
}

/* gprof's own export has a table of the processes with their ranks. */
static void read_own_process(struct nsys_trace *trace)
{
	static const char *const columns[] = {"pid", "rank", "host", "ranks"};
	const struct nsys_query_want want = {
		.table = "process", NSYS_COLUMNS(columns), .nr_needed = 3};

	nsys_table_read(trace, &want, take_own_process, NULL);
}

/* ---- names, times ---- */

static void take_thread_name(
	struct nsys_trace *trace, const struct nsys_query *query, void *context)
{
	(void)context;
	nsys_thread_of(trace, nsys_query_u64(query, 1, 0), UINT64_MAX)->name =
		nsys_string(trace, query, 0);
}

static void read_thread_names(struct nsys_trace *trace)
{
	static const char *const columns[] = {"nameId", "globalTid"};
	const struct nsys_query_want want = {
		.table = "ThreadNames", NSYS_COLUMNS(columns), .nr_needed = 2, .key = "globalTid"};

	nsys_table_read(trace, &want, take_thread_name, NULL);
}

static void take_command(
	struct nsys_trace *trace, const struct nsys_query *query, void *has_command)
{
	size_t nr_bytes;
	const char *name = nsys_query_text(query, 0, &nr_bytes);

	if (name && !text_is(name, nr_bytes, "?") && !*(bool *)has_command) {
		import_out_fact(trace->out, "process.command", name, nr_bytes);
		*(bool *)has_command = true;
	}
}

static void read_command(struct nsys_trace *trace)
{
	static const char *const columns[] = {"name", "globalPid"};
	const struct nsys_query_want want = {
		.table = "PROCESSES", NSYS_COLUMNS(columns), .nr_needed = 2, .key = "globalPid"};
	bool has_command = false;

	nsys_table_read(trace, &want, take_command, &has_command);
}

static void take_begin(struct nsys_trace *trace, const struct nsys_query *query, void *context)
{
	int64_t utc_ns;

	(void)context;
	if (nsys_query_integer(query, 0, &utc_ns) && utc_ns > (int64_t)NSYS_TICKS_BEFORE &&
		utc_ns < INT64_MAX / 4 && !trace->utc_ns) {
		trace->utc_ns = (uint64_t)utc_ns;
	}
}

static void read_begin(struct nsys_trace *trace)
{
	static const char *const columns[] = {"utcEpochNs"};
	const struct nsys_query_want want = {
		.table = "TARGET_INFO_SESSION_START_TIME", NSYS_COLUMNS(columns), .nr_needed = 1};

	nsys_table_read(trace, &want, take_begin, NULL);
}

void nsys_facts_read(struct nsys_trace *trace)
{
	read_enumerations(trace);
	read_devices(trace);
	read_variables(trace);
	read_own_process(trace);
	read_thread_names(trace);
	read_command(trace);
	read_begin(trace);
}

/* ---- what is not there, and what is not read ---- */

struct tables {
	struct nsys_trace *trace;
	struct buf text;
};

static bool is_source(const char *table)
{
	const struct nsys_source *source;
	bool is_one = false;

	for (size_t i = 0; !is_one && (source = nsys_source_at(i)); i++) {
		is_one = strcmp(source->table, table) == 0;
	}
	return is_one;
}

/* Has the table rows with that column? */
static bool has_rows(
	struct nsys_trace *trace, const char *table, const char *column, const char *where)
{
	const char *const columns[] = {column};
	const struct nsys_query_want want = {
		.table = table, NSYS_COLUMNS(columns), .nr_needed = 1, .where = where};
	struct nsys_query *query = nsys_query_open(trace->database, &want);
	bool has_any = query && nsys_query_next(query);

	nsys_query_close(query);
	return has_any;
}

/* Tables of events have such columns; definitions have not. */
static void add_unread(void *context, const char *name)
{
	static const char *const columns[] = {"start", "timestamp", "rawTimestamp"};
	static const char *const read[] = {"CUPTI_ACTIVITY_KIND_CUDA_EVENT", "DIAGNOSTIC_EVENT",
		"CUDA_GRAPH_EVENTS", "CUDA_GRAPH_NODE_EVENTS"};
	struct tables *tables = context;
	bool is_unread = !is_source(name) && !strchr(name, '"');

	for (size_t i = 0; i < NR(read); i++) {
		is_unread = is_unread && strcmp(name, read[i]) != 0;
	}
	for (size_t i = 0; is_unread && i < NR(columns); i++) {
		if (has_rows(tables->trace, name, columns[i], NULL)) {
			buf_printf(&tables->text, "%s%s", tables->text.nr_bytes ? ", " : "", name);
			break;
		}
	}
}

static void add_missing(struct nsys_trace *trace, struct buf *text)
{
	const struct nsys_source *source;

	for (size_t i = 0; (source = nsys_source_at(i)); i++) {
		/* No version has both of calls, nor both of overhead. */
		if (strcmp(source->table, "CUPTI_ACTIVITY_KIND_DRIVER") != 0 &&
			!strstr(source->table, "OVERHEAD") &&
			!has_rows(trace, source->table, source->columns[0], source->where)) {
			buf_printf(text, "%s%s", text->nr_bytes ? ", " : "", source->table);
		}
	}
}

static void write_notices(struct nsys_trace *trace)
{
	struct tables tables = {.trace = trace};
	struct buf text = {0}, list = {0};

	add_missing(trace, &list);
	if (list.nr_bytes) {
		buf_text(&text, "the export has no rows in: ");
		buf_add(&text, list.bytes, list.nr_bytes);
		import_out_notice(trace->out, trace->first_tick, CAUSE, text.bytes, text.nr_bytes);
	}
	nsys_database_tables(trace->database, add_unread, &tables);
	text.nr_bytes = 0;
	if (tables.text.nr_bytes) {
		buf_text(&text, "not read: ");
		buf_add(&text, tables.text.bytes, tables.text.nr_bytes);
		import_out_notice(trace->out, trace->first_tick, CAUSE, text.bytes, text.nr_bytes);
	}
	text.nr_bytes = 0;
	if (trace->nr_metrics) {
		buf_printf(&text,
			"not read: %llu samples of GPU_METRICS, of metrics that gprof does not "
			"have",
			(unsigned long long)trace->nr_metrics);
		import_out_notice(trace->out, trace->first_tick, CAUSE, text.bytes, text.nr_bytes);
	}
	buf_fini(&list);
	buf_fini(&text);
	buf_fini(&tables.text);
}

static void write_threads(struct nsys_trace *trace)
{
	for (size_t i = 0; i < trace->threads.nr; i++) {
		const struct nsys_thread *thread = idmap_at(&trace->threads, i);
		struct gprof_row_thread *row;

		if (thread->seen == UINT64_MAX) {
			continue; /* it has a name, and did nothing */
		}
		row = import_out_row(trace->out, GPROF_TABLE_thread);
		row->tick = thread->seen;
		row->thread = thread->id;
		row->tid = thread->tid;
		row->name = thread->name;
		row->what = GPROF_THREAD_SEEN;
	}
}

void nsys_facts_write(struct nsys_trace *trace)
{
	write_threads(trace);
	if (trace->is_first) {
		write_notices(trace);
	}
	import_out_loss(trace->out, trace->last_tick, trace->nr_incomplete,
		"they have no begin, no end or no name in the export");
}
