/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts_look() keeps variables of the environment while the target's thread waits, since the target
 * may change them later. The drain writes them with the rest when the stream begins. Values from
 * outside pass redact.c.
 */
#include "collector/stream/facts.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "collector/ring/ending.h"
#include "collector/stream/batch.h"
#include "collector/util/clock.h"
#include "collector/util/config.h"
#include "collector/util/file_text.h"
#include "collector/util/log.h"
#include "collector/util/loss.h"
#include "collector/util/redact.h"

/* One byte more than add() keeps, so that add() sees and counts a cut. */
#define MAX_BYTES (GPROF_TEXT_BYTES + 1)
/* Room for the values of all launchers together. */
#define VALUES_BYTES (2 * GPROF_TEXT_BYTES)
/* Fields of /proc/PID/stat, from 1. */
#define STAT_PARENT 4
#define STAT_START  22

#define MAX_NAMES 9

/* The names that launchers have for one fact; the first that is set counts. */
struct source {
	const char *key;
	const char *names[MAX_NAMES];
};

/* From torchrun, Open MPI, MPICH and Intel MPI, PMIx, MVAPICH2, Horovod, Paddle, Slurm, Kubernetes.
 */
static const struct source sources[] = {
	{"rank.world", {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
			       "MV2_COMM_WORLD_RANK", "HOROVOD_RANK", "PADDLE_TRAINER_ID",
			       "SLURM_PROCID", "JOB_COMPLETION_INDEX"}},
	{"rank.local", {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
			       "PMI_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "HOROVOD_LOCAL_RANK",
			       "PADDLE_RANK_IN_NODE", "SLURM_LOCALID"}},
	{"rank.world_size",
		{"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
			"HOROVOD_SIZE", "PADDLE_TRAINERS_NUM", "SLURM_NTASKS"}},
	{"rank.local_size", {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
				    "MV2_COMM_WORLD_LOCAL_SIZE", "HOROVOD_LOCAL_SIZE"}},
	{"rank.node", {"GROUP_RANK", "OMPI_COMM_WORLD_NODE_RANK", "SLURM_NODEID"}},
	{"job.id", {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "TORCHELASTIC_RUN_ID", "JOB_ID"}},
	{"job.step", {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_ess_jobid",
			     "SLURM_STEP_ID"}},
	{"job.master", {"MASTER_ADDR"}},
	{"job.port", {"MASTER_PORT"}},
	{"job.restarts", {"TORCHELASTIC_RESTART_COUNT"}},
	{"cuda.visible_devices", {"CUDA_VISIBLE_DEVICES"}},
};
#define NR_SOURCES (sizeof(sources) / sizeof(sources[0]))

static struct facts_state {
	struct {
		const char *name; /* NULL: no variable of the source is set */
		const char *value;
	} found[NR_SOURCES];
	char values[VALUES_BYTES];
	size_t values_bytes;
	char parent[NAME_MAX + 1];
	_Atomic uint64_t worker; /* its number, and in the upper half the number of workers; 0:
				    nothing new */
} state;

static const char *keep(const char *value)
{
	char *copy = state.values + state.values_bytes;
	size_t room = sizeof(state.values) - state.values_bytes;
	size_t n = log_format(copy, room, "%.*s", (int)MAX_BYTES, value);

	loss_add(LOSS_TEXT, value[n] && n < MAX_BYTES);
	state.values_bytes += n + (n + 1 < room);
	return copy;
}

void facts_look(void)
{
	state.values_bytes = 0;
	for (size_t i = 0; i < NR_SOURCES; i++) {
		state.found[i].name = NULL;
		for (size_t n = 0; n < MAX_NAMES && sources[i].names[n]; n++) {
			const char *value = getenv(sources[i].names[n]);

			if (value && *value) {
				state.found[i].name = sources[i].names[n];
				state.found[i].value = keep(value);
				break;
			}
		}
	}
}

void facts_set_parent(const char *path)
{
	const char *base = strrchr(path, '/');
	size_t length;

	/* Its name once it is closed: the child may live longer. */
	base = base ? base + 1 : path;
	length = strlen(base);
	if (length > 5 && !strcmp(base + length - 5, ".part")) {
		length -= 5;
	}
	log_format(state.parent, sizeof(state.parent), "%.*s", (int)length, base);
}

static void add(const char *key, const char *value, size_t nr_bytes)
{
	struct gprof_text key_text = batch_text(key, strlen(key));
	struct gprof_text value_text = batch_text(value, nr_bytes);
	struct gprof_row_info *row = batch_add(GPROF_TABLE_info);

	loss_add(LOSS_TEXT, nr_bytes > GPROF_TEXT_BYTES);
	row->key = key_text;
	row->value = value_text;
}

void facts_add(const char *key, const char *value)
{
	add(key, value, strlen(value));
}

void facts_add_number(const char *key, uint64_t value)
{
	char text[32];

	log_format(text, sizeof(text), "%llu", (unsigned long long)value);
	facts_add(key, text);
}

/* A value that came from the environment or from a file, under the name that it had there. */
static void add_redacted(const char *key, const char *name, const char *value)
{
	char redacted[MAX_BYTES];

	add(key, redacted, redact_value(redacted, sizeof(redacted), name, value, strlen(value)));
}

static void add_command(void)
{
	char text[MAX_BYTES + 1], redacted[MAX_BYTES];
	size_t n = file_text_read("/proc/self/cmdline", text, sizeof(text));

	/* Arguments end in 0 each; they stay so, since a blank may be part of one. */
	n = redact_command(redacted, sizeof(redacted), text, n);
	add("process.command", redacted, n && !redacted[n - 1] ? n - 1 : n);
}

/* A process as /proc shows it: of a space of ids around its own, /proc has other ids. */
struct kin {
	uint64_t pid, parent, start; /* start: in ticks since boot */
};

/* Reads /proc/WHO/stat. Returns false if there is no such process. */
static bool read_stat(const char *who, struct kin *kin)
{
	char path[48], text[1024];
	const char *at;

	log_format(path, sizeof(path), "/proc/%s/stat", who);
	file_text_read(path, text, sizeof(text));
	kin->pid = strtoull(text, NULL, 10);
	kin->parent = 0;
	at = strrchr(text, ')'); /* the name before it may contain parentheses */
	for (int field = 2; at && field < STAT_START; field++) {
		at = strchr(at + 1, ' ');
		if (at && field + 1 == STAT_PARENT) {
			kin->parent = strtoull(at, NULL, 10);
		}
	}
	kin->start = at ? strtoull(at, NULL, 10) : 0;
	return at != NULL;
}

static bool read_parent(struct kin *kin)
{
	char who[24];

	log_format(who, sizeof(who), "%llu", (unsigned long long)kin->parent);
	return kin->parent && read_stat(who, kin);
}

/* Does this assignment of the environment preload gprof? */
static bool look_for_preload(const char *line, void *data)
{
	static const char name[] = "LD_PRELOAD=";

	(void)data;
	return !strncmp(line, name, sizeof(name) - 1) && strstr(line, "libgprof");
}

/* Did that process start under the preload? Its own changes of its environment do not show. */
static bool is_preloaded(uint64_t pid)
{
	char path[48];

	log_format(path, sizeof(path), "/proc/%llu/environ", (unsigned long long)pid);
	return file_text_find(path, 0, look_for_preload, NULL);
}

static void add_path(const char *key, const char *link)
{
	char text[GPROF_TEXT_BYTES];
	ssize_t n = readlink(link, text, sizeof(text));

	if (n > 0) {
		add(key, text, (size_t)n);
	}
}

/*
 * The start time makes a pid unique; the ancestors locate it in the process tree. Processes that
 * were launched together have the same outermost ancestor under the preload: each program of a
 * shell that exports LD_PRELOAD is a launch of its own, and a script that is started with
 * LD_PRELOAD is one launch with all its programs.
 */
static void add_kinship(void)
{
	char text[MAX_BYTES + 1] = "", first[48] = "", path[48];
	bool is_launched = true, is_shown;
	struct kin kin;
	size_t n = 0;

	is_shown = read_stat("self", &kin);
	if (is_shown) {
		facts_add_number("process.start_ticks", kin.start);
		log_format(first, sizeof(first), "%llu:%llu", (unsigned long long)kin.pid,
			(unsigned long long)kin.start);
	}
	if (!is_shown || kin.pid == (uint64_t)getpid()) {
		kin.parent = (uint64_t)getppid();
	} else {
		log_format(path, sizeof(path), "/proc/%llu/ns/pid", (unsigned long long)kin.parent);
		add_path("process.ancestor_namespace", path);
	}
	while (n < MAX_BYTES && read_parent(&kin)) {
		size_t from = n + (n > 0);

		n += log_format(text + n, sizeof(text) - n, "%s%llu:%llu", n ? " " : "",
			(unsigned long long)kin.pid, (unsigned long long)kin.start);
		is_launched = is_launched && is_preloaded(kin.pid);
		if (is_launched) {
			log_format(first, sizeof(first), "%s", text + from);
		}
	}
	facts_add("process.ancestors", text);
	facts_add("process.first_launched", first);
}

/* Adds the first line of a file. */
static void add_line(const char *key, const char *path)
{
	char text[256];
	size_t n = file_text_read(path, text, sizeof(text));
	const char *end = memchr(text, '\n', n);

	if (n) {
		add(key, text, end ? (size_t)(end - text) : n);
	}
}

static void add_host(void)
{
	struct utsname host;

	if (!uname(&host)) {
		facts_add("host.name", host.nodename);
		facts_add("host.kernel", host.release);
		facts_add("host.machine", host.machine);
	}
	facts_add_number("host.cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
}

/* The identity of the process, and its command. */
static void add_identity(void)
{
	facts_add("gprof.version", GPROF_VERSION);
	facts_add_number("process.pid", (uint64_t)getpid());
	facts_add_number("process.parent_pid", (uint64_t)getppid());
	add_line("host.boot_id", "/proc/sys/kernel/random/boot_id");
	add_path("process.pid_namespace", "/proc/self/ns/pid");
	add_kinship();
	if (state.parent[0]) {
		facts_add("process.parent_stream", state.parent);
	}
	add_command();
}

void facts_add_start(void)
{
	add_identity();
	add_path("process.executable", "/proc/self/exe");
	add_path("process.directory", "/proc/self/cwd");
	add_host();
	add_line("cuda.driver_release", "/sys/module/nvidia/version");
	facts_add("clock.name", clock_name());
	for (size_t i = 0; i < NR_SOURCES; i++) {
		const char *name = state.found[i].name;

		if (name) {
			char key[64];

			add_redacted(sources[i].key, name, state.found[i].value);
			log_format(key, sizeof(key), "%s.source", sources[i].key);
			facts_add(key, name);
		}
	}
	for (int i = 0; i < CONFIG_NR; i++) {
		char key[64];

		log_format(key, sizeof(key), "config.%s", config_full_name((enum config_name)i));
		add_redacted(key, "", config_text((enum config_name)i));
	}
}

void facts_set_worker(uint32_t number, uint32_t nr_workers)
{
	atomic_store(&state.worker, (uint64_t)nr_workers << 32 | number);
}

void facts_add_worker(void)
{
	uint64_t worker = atomic_exchange(&state.worker, 0);

	if (worker) {
		facts_add_number("loader.worker", worker & UINT32_MAX);
		facts_add_number("loader.workers", worker >> 32);
	}
}

void facts_add_end(const char *how)
{
	int code;

	facts_add("end.how", how);
	if (ending_kind(&code) != GPROF_END_UNKNOWN) {
		facts_add_number("end.code", (uint64_t)(uint32_t)code);
	}
}
