/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handle of a pair is its number shifted left by two, so that gprof's own handles, which have a
 * tag there, are never taken for one. A pair whose number is another one by now has been reused.
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

bool nccl_plugin_is_ours COMPAT_AT_START;
char nccl_plugin_next_path[PATH_MAX + 1];

static struct nccl_plugin_next_state {
	atomic_bool is_looked_for; /* under the loader's lock, as all symbols are looked up */
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
	const char *name = nccl_plugin_next_path;
	void *library = open_named(*name ? name : "libnccl-profiler.so");
	char symbol[] = "ncclProfiler_v0";

	if (!library && *name) {
		notice_add("NCCL's plugin", 0,
			"NCCL_PROFILER_PLUGIN named %.200s, which cannot be loaded", name);
	}
	for (int version = 1; library && version <= NCCL_PROFILER_VERSIONS; version++) {
		symbol[sizeof(symbol) - 2] = (char)('0' + version);
		state.plugins[version] = dlsym(library, symbol);
		state.is_there |= state.plugins[version] != NULL;
	}
}

/* While it looks, a symbol of the program itself (STATIC_PLUGIN) must not be ours. */
bool nccl_plugin_next_allows(int version)
{
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

/* ---- pairs ---- */

struct nccl_pair *nccl_pair_make(int version, void *theirs, uint64_t ours)
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
		pair->theirs = theirs;
		pair->ours = ours;
		pair->mask = 0;
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

struct nccl_pair *nccl_pair_find(const void *handle)
{
	uint64_t number = (uintptr_t)handle >> TAG_BITS;
	struct nccl_pair *pairs = atomic_load(&state.pairs);
	struct nccl_pair *pair = pairs ? &pairs[number % NR_PAIRS] : NULL;
	bool is_tagged = (uintptr_t)handle & ((1u << TAG_BITS) - 1);

	return pair && number && !is_tagged && atomic_load(&pair->number) == number ? pair : NULL;
}

bool nccl_pair_close(struct nccl_pair *pair)
{
	return atomic_exchange(&pair->is_open, 0);
}

bool nccl_plugin_next_wants(uint64_t type, int mask)
{
	const int network = NCCL_PROFILE_PROXY_STEP | NCCL_PROFILE_NET;
	const int below = network | NCCL_PROFILE_PROXY_OP | NCCL_PROFILE_KERNEL_CH;

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
