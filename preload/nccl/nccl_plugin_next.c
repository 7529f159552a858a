/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handle of a pair is its number shifted left by two. gprof's own handles have a tag in these
 * two bits, so they are never taken for a pair's. A pair that has another number than its handle
 * has been reused.
 */
#include "preload/nccl/nccl_plugin_next.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "collector/collector.h"
#include "collector/util/memory.h"

#define NR_PAIRS 65536u
#define TRIES	 64u /* pairs in a row that may be open */
#define TAG_BITS 2

enum nccl_plugin_role nccl_plugin_role COMPAT_AT_START;
char nccl_plugin_next_path[PATH_MAX + 1];
int nccl_plugin_next_mask;

static struct nccl_plugin_next_state {
	atomic_bool is_looked_for; /* The loader holds its lock while it looks up a symbol. */
	atomic_bool is_looking;
	bool is_there;
	const void *plugins[NCCL_PROFILER_VERSIONS + 1]; /* by version */
	void *_Atomic pairs;
	_Atomic uint64_t nr_pairs;
} state;

/* NCCL's own rules: a file, a short name, or the program itself. */
static void *open_named(const char *name)
{
	char file[PATH_MAX];
	void *library;

	if (!strncasecmp(name, "STATIC_PLUGIN", strlen(name))) {
		return dlopen(NULL, RTLD_NOW | RTLD_LOCAL);
	}
	library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!library && !strchr(name, '/') &&
		snprintf(file, sizeof(file), "libnccl-profiler-%s.so", name) < (int)sizeof(file)) {
		library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	}
	return library;
}

static void open_next(void)
{
	const char *name = *nccl_plugin_next_path ? nccl_plugin_next_path : "libnccl-profiler.so";
	void *library = open_named(name);
	char symbol[] = "ncclProfiler_v0";

	for (int version = 1; library && version <= NCCL_PROFILER_VERSIONS; version++) {
		symbol[sizeof(symbol) - 2] = (char)('0' + version);
		state.plugins[version] = dlsym(library, symbol);
		state.is_there |= state.plugins[version] != NULL;
	}
	if (!library && *nccl_plugin_next_path) {
		notice_add("NCCL's plugin", 0,
			"NCCL_PROFILER_PLUGIN named %.200s, which cannot be loaded", name);
	} else if (library && !state.is_there) {
		notice_add("NCCL's plugin", 0,
			"%.200s has no plugin of version 1 to %d of NCCL's profiler interface, so "
			"it "
			"gets no events",
			name, NCCL_PROFILER_VERSIONS);
	}
}

/* While it looks for a symbol of the program itself (STATIC_PLUGIN), it must not find ours. */
bool nccl_plugin_next_allows(int version)
{
	if (nccl_plugin_role == NCCL_PLUGIN_UNNAMED) {
		return false;
	}
	if (!atomic_exchange(&state.is_looked_for, true)) {
		atomic_store(&state.is_looking, true);
		open_next();
		atomic_store(&state.is_looking, false);
	}
	return !atomic_load(&state.is_looking) && (!state.is_there || state.plugins[version]);
}

const void *nccl_plugin_next(int version)
{
	return state.plugins[version];
}

int nccl_plugin_next_wanted(void)
{
	return __atomic_load_n(&nccl_plugin_next_mask, __ATOMIC_RELAXED);
}

/* ---- pairs ---- */

struct nccl_pair *nccl_pair_make(int version, uint64_t ours)
{
	struct nccl_pair *pairs =
		memory_map_once(&state.pairs, NR_PAIRS * sizeof(struct nccl_pair));

	for (uint32_t i = 0; pairs && i < TRIES; i++) {
		uint64_t number = atomic_fetch_add(&state.nr_pairs, 1) + 1;
		struct nccl_pair *pair = &pairs[number % NR_PAIRS];
		uint8_t closed = 0;

		if (!atomic_compare_exchange_strong(&pair->is_open, &closed, 1)) {
			continue;
		}
		atomic_store(&pair->number, 0);
		pair->version = (uint8_t)version;
		pair->theirs = NULL;
		pair->ours = ours;
		atomic_store(&pair->number, number);
		return pair;
	}
	loss_add(LOSS_NCCL_NEXT, 1);
	return NULL;
}

void *nccl_pair_handle(const struct nccl_pair *pair)
{
	return (void *)(uintptr_t)(atomic_load(&pair->number) << TAG_BITS);
}

/* Returns 0 for a handle of gprof's own. */
static uint64_t number_of(const void *handle)
{
	bool is_tagged = (uintptr_t)handle & ((1u << TAG_BITS) - 1);

	return is_tagged ? 0 : (uintptr_t)handle >> TAG_BITS;
}

struct nccl_pair *nccl_pair_find(const void *handle)
{
	uint64_t number = number_of(handle);
	struct nccl_pair *pairs = atomic_load(&state.pairs);
	struct nccl_pair *pair = pairs ? &pairs[number % NR_PAIRS] : NULL;

	return pair && number && atomic_load(&pair->number) == number ? pair : NULL;
}

bool nccl_pair_is_gone(const void *handle)
{
	return number_of(handle) && !nccl_pair_find(handle);
}

bool nccl_pair_close(struct nccl_pair *pair)
{
	return atomic_exchange(&pair->is_open, 0);
}

bool nccl_plugin_next_wants(uint64_t type)
{
	const int network = NCCL_PROFILE_PROXY_STEP | NCCL_PROFILE_NET;
	const int below = network | NCCL_PROFILE_PROXY_OP | NCCL_PROFILE_KERNEL_CH;
	int mask = nccl_plugin_next_wanted();

	switch (type) {
	case NCCL_PROFILE_GROUP:
		mask &= below | NCCL_PROFILE_GROUP | NCCL_PROFILE_COLL | NCCL_PROFILE_P2P;
		break;
	case NCCL_PROFILE_GROUP_API:
		mask &= ~NCCL_PROFILE_PROXY_CTRL;
		break;
	case NCCL_PROFILE_COLL_API:
		mask &= below | NCCL_PROFILE_COLL_API | NCCL_PROFILE_COLL | NCCL_PROFILE_CE;
		break;
	case NCCL_PROFILE_P2P_API:
		mask &= below | NCCL_PROFILE_P2P_API | NCCL_PROFILE_P2P;
		break;
	case NCCL_PROFILE_COLL:
	case NCCL_PROFILE_P2P:
		mask &= below | (int)type;
		break;
	case NCCL_PROFILE_PROXY_OP:
		mask &= network | NCCL_PROFILE_PROXY_OP;
		break;
	case NCCL_PROFILE_PROXY_STEP:
		mask &= network;
		break;
	case NCCL_PROFILE_CE_COLL:
		mask &= NCCL_PROFILE_CE;
		break;
	default:
		mask &= (int)type;
	}
	return mask != 0;
}
