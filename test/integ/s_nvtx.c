/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX calls of all kinds, through tables as the loader inside each library that embeds NVTX makes
 * them; two such loaders, as in a process with two such libraries. It prints what the calls
 * returned. With `child` it runs itself once more, as a child; with `fork` a forked child uses what
 * its parent has made.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/abi/nvtx_abi.h"

enum {
	NR_SLOTS = 17,
	NR_LOADERS = 2,
	MODULE_SYNC = 6,
	SYNC_USER_CREATE = 1,
	SLOT_ENUM_REGISTER = 1, /* of the extension; nothing that is recorded */
};

static struct loader {
	void (*core[NR_SLOTS])(void), (*core2[NR_SLOTS])(void), (*sync[NR_SLOTS])(void);
	nvtx_slot core_slots[NR_SLOTS], core2_slots[NR_SLOTS], sync_slots[NR_SLOTS];
} loaders[NR_LOADERS], *loader;

/* What a slot holds before a tool sets it, and calls that lead nowhere leave it. */
static void not_set(void)
{
}

static int get_table(uint32_t module, nvtx_slot **table, uint32_t *nr_slots)
{
	*table = module == NVTX_MODULE_CORE    ? loader->core_slots
		 : module == NVTX_MODULE_CORE2 ? loader->core2_slots
		 : module == MODULE_SYNC       ? loader->sync_slots
					       : NULL;
	*nr_slots = module == MODULE_SYNC ? 8 : 16;
	return *table != NULL;
}

static const void *get_export(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = {sizeof(callbacks), get_table};

	return id == NVTX_EXPORT_CALLBACKS ? &callbacks : NULL;
}

static void load(struct loader *it)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *tool = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*inject)(nvtx_get_export) = NULL;

	loader = it;
	for (int i = 1; i < NR_SLOTS; i++) {
		it->core[i] = it->core2[i] = it->sync[i] = not_set;
		it->core_slots[i] = &it->core[i];
		it->core2_slots[i] = &it->core2[i];
		it->sync_slots[i] = &it->sync[i];
	}
	if (tool) {
		*(void **)&inject = dlsym(tool, "InitializeInjectionNvtx2");
	}
	printf("tool: %s\n", inject && inject(get_export) ? "yes" : "no");
}

/* A call through a slot, 0 where it leads nowhere. */
#define CALL(table, id, ret, types, args) \
	(table[id] && table[id] != not_set ? ((ret(*) types)table[id])args : (ret)0)
#define CALL_VOID(table, id, types, args)                \
	do {                                             \
		if (table[id] && table[id] != not_set) { \
			((void(*) types)table[id]) args; \
		}                                        \
	} while (0)

static void use(const struct loader *it)
{
	struct nvtx_attributes a = {.version = 3, .size = sizeof(a)};
	const struct nvtx_attributes *at = &a;
	uint64_t range, domain_range;
	void *domain, *string;

	domain = CALL(it->core2, NVTX_CORE2_DOMAIN_CREATE_A, void *, (const char *), ("domain"));
	string = CALL(it->core2, NVTX_CORE2_REGISTER_STRING_A, void *, (void *, const char *),
		(domain, "registered"));
	printf("domain %d string %d\n", domain != NULL, string != NULL);
	range = CALL(it->core, NVTX_CORE_RANGE_START_A, uint64_t, (const char *), ("across"));
	for (int i = 0; i < 3; i++) {
		printf("push %d\n",
			CALL(it->core, NVTX_CORE_RANGE_PUSH_A, int, (const char *), ("outer")));
		a.message_type = NVTX_MESSAGE_REGISTERED;
		a.message = string;
		printf("push %d\n",
			CALL(it->core2, NVTX_CORE2_RANGE_PUSH_EX, int,
				(void *, const struct nvtx_attributes *), (domain, at)));
		a.message_type = NVTX_MESSAGE_ASCII;
		a.message = "text";
		printf("push %d\n", CALL(it->core, NVTX_CORE_RANGE_PUSH_EX, int,
					    (const struct nvtx_attributes *), (at)));
		printf("pop %d\n", CALL(it->core, NVTX_CORE_RANGE_POP, int, (void), ()));
		printf("pop %d\n", CALL(it->core2, NVTX_CORE2_RANGE_POP, int, (void *), (domain)));
		printf("pop %d\n", CALL(it->core, NVTX_CORE_RANGE_POP, int, (void), ()));
	}
	a.message_type = NVTX_MESSAGE_REGISTERED;
	a.message = string;
	domain_range = CALL(it->core2, NVTX_CORE2_RANGE_START_EX, uint64_t,
		(void *, const struct nvtx_attributes *), (domain, at));
	printf("ranges differ: %d\n", range != domain_range);
	CALL_VOID(it->core, NVTX_CORE_MARK_A, (const char *), ("mark"));
	/* Without a function of the other tool's: */
	CALL_VOID(it->core2, NVTX_CORE2_MARK_EX, (void *, const struct nvtx_attributes *),
		(domain, at));
	CALL_VOID(it->core2, NVTX_CORE2_RANGE_END, (void *, uint64_t), (domain, domain_range));
	CALL_VOID(it->core, NVTX_CORE_RANGE_END, (uint64_t), (range));
	/* What is not recorded takes the same handles. */
	CALL(it->core2, NVTX_CORE2_RESOURCE_CREATE, void *, (void *, void *), (domain, NULL));
	CALL(it->sync, SYNC_USER_CREATE, void *, (void *, void *), (domain, NULL));
	CALL_VOID(it->core2, NVTX_CORE2_DOMAIN_DESTROY, (void *), (domain));
}

/* The extension with payloads: a description of one, its own pushes and pops, and a pop of what a
 * plain call pushed. */
static void use_extension(const struct loader *it, const intptr_t *slots)
{
	int (*push)(void *, const void *, size_t) =
		(int (*)(void *, const void *, size_t))slots[NVTX_EXTENDED_RANGE_PUSH];
	int (*pop)(void *, const void *, size_t) =
		(int (*)(void *, const void *, size_t))slots[NVTX_EXTENDED_RANGE_POP];
	uint64_t (*describe)(void *, const struct nvtx_schema *) = (uint64_t(*)(
		void *, const struct nvtx_schema *))slots[NVTX_EXTENDED_SCHEMA_REGISTER];
	const struct nvtx_schema chosen = {.fields = NVTX_SCHEMA_HAS_ID, .id = 5}, any = {0};
	const struct nvtx_attributes a = {.version = 3,
		.size = sizeof(a),
		.message_type = NVTX_MESSAGE_ASCII,
		.message = "popped with more"};
	void *domain;

	if (!push || !pop || !describe) {
		return;
	}
	domain = CALL(it->core2, NVTX_CORE2_DOMAIN_CREATE_A, void *, (const char *), ("extended"));
	printf("schemas %d %d\n", (int)describe(domain, &chosen), (int)describe(domain, &any));
	printf("push %d\n", CALL(it->core2, NVTX_CORE2_RANGE_PUSH_EX, int,
				    (void *, const struct nvtx_attributes *), (domain, &a)));
	printf("push %d\n", push(domain, &a, 1));
	printf("pop %d\n", pop(domain, &a, 1));
	printf("pop %d\n", pop(domain, &a, 1));
}

static void extend(const struct loader *it)
{
	static intptr_t slots[8];
	struct nvtx_segment segment = {0, 8, slots};
	struct nvtx_extension extension = {
		3, sizeof(extension), NVTX_EXTENSION_PAYLOAD, 0x103, 1, &segment};
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *tool = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*inject)(struct nvtx_extension *) = NULL;

	if (tool) {
		*(void **)&inject = dlsym(tool, "InitializeInjectionNvtxExtension");
	}
	printf("extension: %s", inject && inject(&extension) ? "yes" : "no");
	printf(", enumerations: %s\n", slots[SLOT_ENUM_REGISTER] ? "yes" : "no");
	use_extension(it, slots);
}

/* The last of many strings, and the last of the first ones. */
static void fork_child(const struct loader *it, int nr_strings)
{
	void *domain =
		CALL(it->core2, NVTX_CORE2_DOMAIN_CREATE_A, void *, (const char *), ("kept"));
	struct nvtx_attributes a = {
		.version = 3, .size = sizeof(a), .message_type = NVTX_MESSAGE_REGISTERED};
	const void *strings[2] = {NULL};
	pid_t child;

	for (int i = 0; i < nr_strings; i++) {
		char name[32];

		snprintf(name, sizeof(name), "by the parent %d", i);
		strings[i >= 1000] = CALL(it->core2, NVTX_CORE2_REGISTER_STRING_A, void *,
			(void *, const char *), (domain, name));
	}
	child = fork();
	if (!child) {
		for (int i = 0; i < 2 && strings[i]; i++) {
			a.message = strings[i];
			CALL(it->core2, NVTX_CORE2_RANGE_PUSH_EX, int,
				(void *, const struct nvtx_attributes *), (domain, &a));
			CALL(it->core2, NVTX_CORE2_RANGE_POP, int, (void *), (domain));
		}
		exit(0);
	}
	waitpid(child, NULL, 0);
}

/* Starts a range of each of so many strings, and as many ranges of one string at the same time. */
static void end_steps(const struct loader *it, int nr)
{
	void *domain =
		CALL(it->core2, NVTX_CORE2_DOMAIN_CREATE_A, void *, (const char *), ("steps"));
	struct nvtx_attributes a = {
		.version = 3, .size = sizeof(a), .message_type = NVTX_MESSAGE_REGISTERED};
	const void *first = NULL;
	uint64_t ranges[64];

	for (int i = 0; i < nr; i++) {
		a.message = CALL(it->core2, NVTX_CORE2_REGISTER_STRING_A, void *,
			(void *, const char *), (domain, "my step"));
		first = first ? first : a.message;
		CALL(it->core2, NVTX_CORE2_RANGE_PUSH_EX, int,
			(void *, const struct nvtx_attributes *), (domain, &a));
		CALL(it->core2, NVTX_CORE2_RANGE_POP, int, (void *), (domain));
	}
	a.message = first;
	for (int i = 0; i < nr && i < 64; i++) {
		ranges[i] = CALL(it->core2, NVTX_CORE2_RANGE_START_EX, uint64_t,
			(void *, const struct nvtx_attributes *), (domain, &a));
	}
	for (int i = 0; i < nr && i < 64; i++) {
		CALL_VOID(it->core2, NVTX_CORE2_RANGE_END, (void *, uint64_t), (domain, ranges[i]));
	}
}

/* Pushes a range whose name has so many wide characters. */
static void push_wide(const struct loader *it, int nr)
{
	wchar_t name[1024] = {0};

	for (int i = 0; i < nr && i < 1023; i++) {
		name[i] = L'w';
	}
	CALL(it->core, NVTX_CORE_RANGE_PUSH_W, int, (const wchar_t *), (name));
	CALL(it->core, NVTX_CORE_RANGE_POP, int, (void), ());
}

int main(int argc, char **argv)
{
	for (int i = 0; i < NR_LOADERS; i++) {
		load(&loaders[i]);
	}
	for (int i = 0; i < NR_LOADERS; i++) {
		use(&loaders[i]);
	}
	extend(&loaders[0]);
	fflush(stdout);
	if (argc > 2 && !strcmp(argv[1], "steps")) {
		end_steps(&loaders[0], atoi(argv[2]));
	} else if (argc > 2 && !strcmp(argv[1], "wide")) {
		push_wide(&loaders[0], atoi(argv[2]));
	} else if (argc > 1 && !strcmp(argv[1], "fork")) {
		fork_child(&loaders[0], argc > 2 ? atoi(argv[2]) : 1);
	} else if (argc > 1) {
		char *args[] = {argv[0], NULL};
		pid_t child = fork();

		if (!child) {
			execv("/proc/self/exe", args);
			_exit(9);
		}
		waitpid(child, NULL, 0);
	}
	return 0;
}
