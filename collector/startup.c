/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs once on the drain thread, while the target's first call waits (collector.c): settings,
 * memory, stream, schema, rings, in this order. Each part that may take long signals its progress.
 * `waits_for` names the setting whose file system is in use, so that a process that ends meanwhile
 * can say which one is slow.
 */
#include "collector/startup.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "collector/cupti/callback.h"
#include "collector/cupti/record.h"
#include "collector/ring/os_counts.h"
#include "collector/ring/ring.h"
#include "collector/sample/cpu_sample.h"
#include "collector/sample/launch_stack.h"
#include "collector/sample/sample.h"
#include "collector/step/step.h"
#include "collector/stream/batch.h"
#include "collector/stream/calls.h"
#include "collector/stream/dictionary.h"
#include "collector/stream/facts.h"
#include "collector/stream/stream.h"
#include "collector/thread.h"
#include "collector/util/clock.h"
#include "collector/util/config.h"
#include "collector/util/log.h"
#include "collector/util/memory_limits.h"
#include "collector/util/notice.h"
#include "collector/util/start_progress.h"

/* If the target's memory is limited, rings take at most this part of the limit. */
#define TARGET_SHARE 16u
/* And at most this part of what its cgroup has left. */
#define LEFT_SHARE 8u
/* The recorder's own tables, beside rings and CUPTI's buffers; 5 MB are usual. */
#define OWN_BYTES  (8u << 20)
#define PAGE_BYTES 4096u

static const char *rings_path;
static atomic_int waits_for = CONFIG_NR;
static uint64_t ring_bytes;
static struct memory_limits cgroup;

/*
 * Texts come before the row: making room for a text may write the rows that wait, and this one must
 * not be written half filled.
 */
static void add_schema(void)
{
	for (unsigned int t = 1; t < GPROF_NR_TABLES; t++) {
		const struct block_table *table = block_table(t);

		for (uint16_t c = 0; table && c < table->nr_columns; c++) {
			struct gprof_text table_name = batch_text(table->name, strlen(table->name));
			struct gprof_text name =
				batch_text(table->columns[c].name, strlen(table->columns[c].name));
			struct gprof_row_schema *row = batch_add(GPROF_TABLE_schema);

			row->table = (uint16_t)t;
			row->column = c;
			row->kind = table->columns[c].kind;
			row->width = table->columns[c].width;
			row->offset = table->columns[c].offset;
			row->row_bytes = table->row_bytes;
			row->table_name = table_name;
			row->name = name;
		}
	}
}

static void report_wrong(const char *sentence)
{
	notice_add("wrong setting", 0, "%s", sentence);
	log_message(LOG_WARN, "%s", sentence);
}

/*
 * Puts the rings into memory that outlives the process, else beside the stream, else into memory
 * that dies with the process.
 */
static int start_rings(uint64_t pool_bytes)
{
	enum stream_place place;
	int rc = -ENOSPC;

	for (place = STREAM_PLACE_MEMORY; place < STREAM_NR_PLACES; place++) {
		rings_path = stream_rings_path(pool_bytes, place);
		rc = rings_path ? ring_start(rings_path, stream_id(), pool_bytes) : -ENOSPC;
		if (!rc) {
			break;
		}
	}
	if (rc) {
		rings_path = NULL;
		rc = ring_start(NULL, stream_id(), pool_bytes);
		notice_add("rings elsewhere", 0,
			"if the process is killed, its last events are lost: the rings are in its "
			"own memory only. Give /dev/shm %llu MB, or set GPROF_DIR to a local disk "
			"with room that does not copy on write",
			(unsigned long long)(pool_bytes * STREAM_MEMORY_SHARE >> 20));
	} else {
		facts_add("rings.path", rings_path);
	}
	if (!rc && place == STREAM_PLACE_DISK) {
		notice_add("rings on a disk", 0,
			"/dev/shm has less than %llu MB free, so the rings are in a file beside "
			"the stream, and a call may wait for the disk. Enlarge /dev/shm (docker "
			"run --shm-size)",
			(unsigned long long)(pool_bytes * STREAM_MEMORY_SHARE >> 20));
	}
	return rc;
}

/* Is the limit on locked memory so low that locking gprof's memory would leave the target too
 * little? */
static bool is_locking(uint64_t limit)
{
	size_t bytes = (size_t)limit + PAGE_BYTES;
	void *more =
		mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (more != MAP_FAILED) {
		munmap(more, bytes);
	}
	return more == MAP_FAILED &&
	       errno == EAGAIN; /* after mlockall(MCL_FUTURE), without rights */
}

/* The limit of the process's memory; UINT64_MAX: none. */
static uint64_t target_rlimit(void)
{
	static const __rlimit_resource_t kinds[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_MEMLOCK};
	uint64_t least = UINT64_MAX;
	struct rlimit limit;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!getrlimit(kinds[i], &limit) && limit.rlim_cur != RLIM_INFINITY &&
			limit.rlim_cur < least &&
			(kinds[i] != RLIMIT_MEMLOCK || is_locking(limit.rlim_cur))) {
			least = limit.rlim_cur;
		}
	}
	return least;
}

/* Half of GPROF_BUFFER_MB, but only a small part of the target's limited memory. */
static uint64_t find_ring_bytes(void)
{
	const uint64_t least = 2u << 20;
	uint64_t wanted = (config_number(CONFIG_BUFFER_MB) << 20) / 2;
	uint64_t limit = target_rlimit();
	uint64_t bytes = (limit < cgroup.limit ? limit : cgroup.limit) / TARGET_SHARE;

	bytes = bytes < cgroup.left / LEFT_SHARE ? bytes : cgroup.left / LEFT_SHARE;
	bytes = bytes < least ? least : bytes;
	return bytes < wanted ? bytes : wanted;
}

uint64_t startup_ring_bytes(void)
{
	return ring_bytes;
}

static void report_less_memory(uint64_t bytes)
{
	if (bytes < (config_number(CONFIG_BUFFER_MB) << 20) / 2) {
		notice_add("less memory", 0,
			"a limit on the memory of the process (ulimit -v, -d or -l) or of its "
			"container (cgroup) leaves %llu MB for events instead of half of "
			"GPROF_BUFFER_MB; raise the limit if events are lost",
			(unsigned long long)(bytes >> 20));
	}
}

/*
 * If memory is limited we take all that we need or nothing, and only if as much remains for the
 * target: a failed allocation would change its behaviour.
 */
static int look_for_room(void)
{
	size_t bytes = 2 * (size_t)(startup_ring_bytes() + (config_number(CONFIG_BUFFER_MB) << 20));
	struct rlimit data;
	/*
	 * RLIMIT_DATA counts writable mappings only. Without that limit the probe is not writable,
	 * since a writable one gets all its pages at once where memory is locked.
	 */
	bool is_data = !getrlimit(RLIMIT_DATA, &data) && data.rlim_cur != RLIM_INFINITY;
	void *room;

	/* A cgroup fails no allocation: it kills. */
	if (cgroup.left / 2 < startup_ring_bytes() * 3 / 2 + OWN_BYTES) {
		return -ENOMEM;
	}
	if (memory_limits_commit("") < bytes) {
		return -ENOMEM;
	}
	if (target_rlimit() == UINT64_MAX) {
		return 0;
	}
	room = mmap(NULL, bytes, is_data ? PROT_READ | PROT_WRITE : PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED) {
		return -ENOMEM;
	}
	munmap(room, bytes);
	return 0;
}

enum config_name startup_waits_for(void)
{
	return (enum config_name)atomic_load(&waits_for);
}

/* Only where they can occur: most streams have none. */
static void add_os_calls(uint64_t tick_mult)
{
	uint32_t first = 0;

	for (unsigned int i = 0; os_counts_are_wanted() && os_counts_name(i); i++) {
		uint32_t id = calls_find_or_add(os_counts_name(i), GPROF_API_THREAD);

		first = i ? first : id;
	}
	os_counts_start(tick_mult, first);
}

/*
 * A process is recorded with the memory that it needs, or not at all; nothing is in the stream's
 * directory before that is known.
 */
static int start(struct block_ticks *ticks)
{
	int rc;

	atomic_store(&waits_for, CONFIG_CONFIG);
	config_load();
	atomic_store(&waits_for, CONFIG_NR);
	if (!config_flag(CONFIG_ENABLE)) {
		return -ECANCELED;
	}
	log_init((enum log_level)config_number(CONFIG_LOG), config_text(CONFIG_LOG_FILE),
		config_flag(CONFIG_QUIET));
	config_complain(report_wrong);
	cgroup = memory_limits_cgroup("");
	ring_bytes = find_ring_bytes();
	rc = look_for_room();
	if (rc) {
		return rc;
	}
	start_progress_signal();
	ticks->mult = clock_calibrate();
	ticks->base = clock_raw();
	rc = batch_init();
	rc = rc ? rc : dictionary_init();
	record_init();
	atomic_store(&waits_for, CONFIG_DIR);
	rc = rc ? rc
		: stream_start(config_text(CONFIG_DIR), config_number(CONFIG_MAX_MB) << 20, ticks);
	if (rc) {
		return rc;
	}
	start_progress_signal();
	add_schema();
	add_os_calls(ticks->mult);
	callback_init(calls_find_or_add);
	calls_add_rows();
	facts_add_start();
	/*
	 * Before the first event: without the schema, the rings of a killed process are unreadable,
	 * and its identity and rank unknown.
	 */
	batch_write_all();
	rc = stream_flush_deferred();
	if (!rc) {
		start_progress_signal();
		/* Half for the rings, a quarter for CUPTI's buffers; the rest is the drain's. */
		report_less_memory(startup_ring_bytes());
		rc = start_rings(startup_ring_bytes());
		atomic_store(&waits_for, CONFIG_NR);
	}
	if (rc) {
		stream_discard();
		return rc;
	}
	thread_init();
	step_init(calls_find_hook);
	sample_init();
	cpu_sample_init();
	launch_stack_init(ticks->mult);
	return 0;
}

int startup_run(struct block_ticks *ticks)
{
	int rc = start(ticks);

	atomic_store(&waits_for, CONFIG_NR);
	return rc;
}

void startup_undo(void)
{
	ring_stop(rings_path);
}
