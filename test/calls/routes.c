/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes SCENARIO: prints which copies of the libraries calls have reached, as the loader binds
 * them. Without gprof and with it the output must be the same. Built as `none`, which needs no
 * copy, and as `one`, which needs the runtime of version 12.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/calls/scenarios.h"

#ifdef NEEDS_ONE
int cudaGetDevice(int *device);
int cudaGetDeviceCount(int *count);
int cudaDeviceSynchronize(void);
#endif

void (*route_wait)(void);
static pthread_barrier_t barrier;

/*
 * Counts the thread's looks at the loader's list, since this one stands before the C library's.
 * gprof's own thread looks, too, whenever it likes.
 */
static _Thread_local long nr_looks;

int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *info, size_t size, void *data), void *data)
{
	static int (*next)(int (*)(struct dl_phdr_info *, size_t, void *), void *);

	if (!next) {
		*(void **)&next = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	}
	nr_looks++;
	return next(visit, data);
}

static void *open_it(const char *name, int mode)
{
	void *handle = dlopen(name, mode);

	if (!handle) {
		printf("%s\n", dlerror());
		exit(2);
	}
	return handle;
}

static void print(const char *who, void *handle)
{
	void (*function)(const char *who);

	*(void **)&function = dlsym(handle, "caller_print");
	function(who);
}

static void close_it(const char *who, void *handle)
{
	printf("%s is closed: %d\n", who, dlclose(handle));
}

#ifdef NEEDS_ONE

static void print_own(void)
{
	int device = 0, count = 0;

	cudaGetDevice(&device);
	cudaGetDeviceCount(&count);
	printf("program: runtime %d %d\n", device, count);
}

/* The program's runtime is in use when an extension comes with an older one of its own. */
static void older_extension(void)
{
	void *extension;

	print_own();
	extension = open_it("./caller-11.so", RTLD_NOW | RTLD_LOCAL);
	print("extension", extension);
	print_own();
	close_it("extension", extension);
	print_own();
}

static void deep_extension(void)
{
	print_own();
	print("extension", open_it("./caller-11.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND));
	print_own();
}

/* Of the same version: the program's, being in the global scope, comes first. */
static void same_version(void)
{
	print_own();
	print("extension", open_it("./caller-other12.so", RTLD_NOW | RTLD_LOCAL));
	print_own();
}

static void another_namespace(void)
{
	void *handle = dlmopen(LM_ID_NEWLM, "./caller-11.so", RTLD_NOW);
	int (*function)(void);

	print_own();
	*(void **)&function = handle ? dlsym(handle, "caller_runtime") : NULL;
	printf("other namespace: runtime %d\n", function ? function() : -1);
	print_own();
}

/* A thread that a constructor waits for makes the first call of its function. */
static void *call_first(void *unused)
{
	int count = 0;

	(void)unused;
	pthread_barrier_wait(&barrier);
	cudaGetDeviceCount(&count);
	printf("other thread: runtime %d\n", count);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void wait_for_call(void)
{
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
}

static void called_in_constructor(void)
{
	pthread_t thread;
	int device = 0;

	route_wait = wait_for_call;
	cudaGetDevice(&device); /* the recorder has started by then */
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, call_first, NULL);
	open_it("./waiter.so", RTLD_NOW | RTLD_LOCAL);
	pthread_join(thread, NULL);
}

/* First calls race with the loading of a second runtime. */
static void *open_older(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&barrier);
	return open_it("./caller-11.so", RTLD_NOW | RTLD_LOCAL);
}

static int race_once(void)
{
	int device = 0, count = 0, (*function)(void);
	pthread_t thread;
	void *handle;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, open_older, NULL);
	pthread_barrier_wait(&barrier);
	cudaGetDevice(&device);
	cudaGetDeviceCount(&count);
	pthread_join(thread, &handle);
	*(void **)&function = dlsym(handle, "caller_runtime");
	return device == 12 && count == 12 && function() == 11;
}

static void race(void)
{
	int nr_right = 0;

	for (int i = 0; i < 40; i++) {
		int status = 0;
		pid_t child;

		fflush(stdout);
		child = fork();
		if (!child) {
			_exit(race_once() ? 0 : 1);
		}
		waitpid(child, &status, 0);
		nr_right += status == 0;
	}
	printf("%d races\n", nr_right);
}

/* What the program wants to know of its own failed dlopen. */
static void failed_dlopen(void)
{
	void *handle = dlopen("there-is-no-such-library.so", RTLD_NOW);
	const char *why;

	print_own();
	why = dlerror();
	printf("%s: %s\n", handle ? "opened" : "failed", why ? why : "no reason");
}

#else

static void copies(void)
{
	void *a = open_it("./caller-a.so", RTLD_NOW | RTLD_LOCAL);
	void *b = open_it("./caller-b.so", RTLD_NOW | RTLD_LOCAL);

	print("a", a);
	print("b", b);
	print("a", a);
}

static void later_global(void)
{
	void *b = open_it("./caller-b.so", RTLD_NOW | RTLD_LOCAL);

	print("b", b);
	open_it("./libcopy-a.so", RTLD_NOW | RTLD_GLOBAL);
	print("b", b);
	print("free", open_it("./caller-free.so", RTLD_LAZY | RTLD_LOCAL));
}

/*
 * Ends without destructors: the loader would run those of a module before those of a library that
 * it is bound to, also if it does not name that library, which our standing between them hides.
 */
static void earlier_global(void)
{
	open_it("./libcopy-a.so", RTLD_NOW | RTLD_GLOBAL);
	print("b", open_it("./caller-b.so", RTLD_NOW | RTLD_LOCAL));
	print("free", open_it("./caller-free.so", RTLD_NOW | RTLD_LOCAL));
	fflush(stdout);
	_exit(0);
}

/* What it calls is needed by the library that brings it, and not by itself. */
static void in_group(void)
{
	open_it("./caller-a.so", RTLD_NOW | RTLD_LOCAL);
	print("group", open_it("./group.so", RTLD_NOW | RTLD_LOCAL));
}

/*
 * Two folders have a runtime of one name and version. When the first is closed the second is
 * opened, for which the loader must not find the first.
 */
static void closed_and_another(void)
{
	for (int i = 0; i < 3; i++) {
		void *first = open_it("./one/caller.so", RTLD_NOW | RTLD_LOCAL), *second;

		print("first", first);
		close_it("first", first);
		second = open_it("./two/caller.so", RTLD_NOW | RTLD_LOCAL);
		print("second", second);
		close_it("second", second);
	}
}

/* A module that is bound to a library keeps it, without naming it. */
static void closed_early(void)
{
	void *library = open_it("./libcopy-a.so", RTLD_NOW | RTLD_GLOBAL);
	void *plugin = open_it("./caller-free.so", RTLD_NOW | RTLD_LOCAL);

	print("free", plugin);
	close_it("library", library);
	print("free", plugin);
	close_it("free", plugin);
	plugin = open_it("./caller-b.so", RTLD_NOW | RTLD_LOCAL);
	print("b", plugin);
}

/*
 * The library is kept by its use alone, and the first call made by a thread that a constructor
 * waits for, or between a failure and the question why.
 */
static void (*plugin_ask)(void);

static void *ask_for_the_first_time(void *unused)
{
	plugin_ask();
	puts("other thread has asked");
	return unused;
}

static void wait_for_ask(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, ask_for_the_first_time, NULL);
	pthread_join(thread, NULL);
}

/* A destructor waits for a thread that calls what it has called before. */
static void *ask_twice(void *unused)
{
	plugin_ask();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	plugin_ask();
	puts("other thread has asked");
	return unused;
}

static pthread_t asker;

static void wait_for_asker(void)
{
	pthread_barrier_wait(&barrier);
	pthread_join(asker, NULL);
}

static void called_in_destructor(void)
{
	void *plugin = open_it("./caller-a.so", RTLD_NOW | RTLD_LOCAL);

	open_it("./caller-b.so", RTLD_NOW | RTLD_LOCAL);
	*(void **)&plugin_ask = dlsym(plugin, "caller_ask");
	route_wait = wait_for_asker;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&asker, NULL, ask_twice, NULL);
	pthread_barrier_wait(&barrier);
	close_it("waiter", open_it("./end-waiter.so", RTLD_NOW | RTLD_LOCAL));
}

static void used_alone(void)
{
	void *library = open_it("./libcopy-a.so", RTLD_NOW | RTLD_GLOBAL);
	void *plugin = open_it("./caller-free.so", RTLD_NOW | RTLD_LOCAL);
	void *second = open_it("./caller-free2.so", RTLD_NOW | RTLD_LOCAL);
	const char *why;

	*(void **)&plugin_ask = dlsym(plugin, "caller_ask");
	route_wait = wait_for_ask;
	open_it("./waiter.so", RTLD_NOW | RTLD_LOCAL);
	*(void **)&plugin_ask = dlsym(second, "caller_ask");
	dlopen("there-is-no-such-library.so", RTLD_NOW);
	plugin_ask();
	why = dlerror();
	puts(why ? why : "no reason");
	close_it("library", library);
	print("free", plugin);
	print("free2", second);
	close_it("free", plugin);
	print("free2", second);
	close_it("free2", second);
}

/* Other libraries come and go meanwhile. */
static void kept_library(void)
{
	void *library = open_it("./libcopy-a.so", RTLD_NOW | RTLD_GLOBAL);
	void *plugin = open_it("./caller-free.so", RTLD_NOW | RTLD_LOCAL);

	print("free", plugin);
	close_it("library", library);
	for (int i = 0; i < 3; i++) {
		close_it("other", open_it("./leaver-new.so", RTLD_NOW | RTLD_LOCAL));
		print("free", plugin);
	}
	close_it("free", plugin);
}

/* How many looks the calls of a plugin take that was asked before. */
static long looks_of(void (*ask)(void))
{
	long before = nr_looks;

	ask();
	return nr_looks - before;
}

static void *open_numbered(const char *folder, int number)
{
	char path[64];

	snprintf(path, sizeof(path), "./%s/%d.so", folder, number);
	return open_it(path, RTLD_NOW | RTLD_LOCAL);
}

/* More objects than any fixed list has room for. */
static void many_objects(void)
{
	for (int i = 0; i < 4200; i++) {
		open_numbered("empty", i);
	}
	print("a", open_it("./caller-a.so", RTLD_NOW | RTLD_LOCAL));
	print("b", open_it("./caller-b.so", RTLD_NOW | RTLD_LOCAL));
}

/* Many modules call, that need what they call, or keep it by their use alone. */
static void ask_many(const char *folder, void **plugins, int nr)
{
	void (*asks[400])(void);
	long nr_more = 0;

	for (int i = 0; i < nr; i++) {
		plugins[i] = open_numbered(folder, i);
		*(void **)&asks[i] = dlsym(plugins[i], "caller_ask");
		asks[i]();
	}
	for (int i = 0; i < nr; i++) {
		nr_more += looks_of(asks[i]);
	}
	printf("%s: %ld looks\n", folder, nr_more);
}

static void many_callers(void)
{
	void *plugins[400], *library;

	open_it("./caller-b.so", RTLD_NOW | RTLD_LOCAL);
	ask_many("needs", plugins, 400);
	library = open_it("./libcopy-large.so", RTLD_NOW | RTLD_GLOBAL);
	ask_many("uses", plugins, 300);
	close_it("library", library);
	print("last", plugins[299]);
	for (int i = 0; i < 300; i++) {
		dlclose(plugins[i]);
	}
	puts("all are closed");
}

/* Each time a plugin lies elsewhere: what is remembered of its former places is used again. */
static void moving_closes(void)
{
	void *other = open_it("./caller-b.so", RTLD_NOW | RTLD_LOCAL);
	void (*ask)(void), (*ask_other)(void);
	long nr_more = 0;

	*(void **)&ask_other = dlsym(other, "caller_ask");
	for (int i = 0; i < 3000; i++) {
		void *plugin = open_it("./quiet-a.so", RTLD_NOW | RTLD_LOCAL);

		*(void **)&ask = dlsym(plugin, "caller_ask");
		ask();
		ask_other();
		nr_more = looks_of(ask) + looks_of(ask_other);
		if (nr_more) {
			printf("%ld looks in round %d\n", nr_more, i);
			break;
		}
		dlclose(plugin);
		mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	print("b", other);
}

/* The process has used up its memory maps, or its address space, before its first call. */
static void open_both(void **a, void **b)
{
	static char text[BUFSIZ];

	setvbuf(stdout, text, _IOFBF, sizeof(text));
	*a = open_it("./caller-a.so", RTLD_NOW | RTLD_LOCAL);
	*b = open_it("./caller-b.so", RTLD_NOW | RTLD_LOCAL);
}

static void no_maps(void)
{
	void *a, *b;

	open_both(&a, &b);
	for (int i = 0; mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0) != MAP_FAILED;
		i++) {
	}
	print("a", a);
	print("b", b);
}

static void no_address_space(void)
{
	struct rlimit none = {0, RLIM_INFINITY};
	void *a, *b;

	open_both(&a, &b);
	setrlimit(RLIMIT_AS, &none);
	print("a", a);
	print("b", b);
}

/* Both at once: more objects than the list has had, and no memory for more. */
static void many_without_memory(void)
{
	struct rlimit none = {0, RLIM_INFINITY};
	void *a, *b;

	for (int i = 0; i < 1200; i++) {
		open_numbered("empty", i);
	}
	open_both(&a, &b);
	setrlimit(RLIMIT_AS, &none);
	print("a", a);
	print("b", b);
}

/* Only the loader knows where such a function is. */
static void indirect(void)
{
	void *plugin = open_it("./caller-indirect.so", RTLD_NOW | RTLD_LOCAL);
	int (*runtime)(void);
	long before;

	*(void **)&runtime = dlsym(plugin, "caller_runtime");
	printf("indirect: runtime %d\n", runtime());
	before = nr_looks;
	printf("indirect: runtime %d\n", runtime());
	printf("%ld looks\n", nr_looks - before);
}

/*
 * A library becomes global after a module was bound to another one: it does not come first for
 * that. By itself, and with what needs it.
 */
static void promoted(void)
{
	void *b;

	open_it("./libcopy-a.so", RTLD_NOW | RTLD_LOCAL);
	b = open_it("./caller-b.so", RTLD_NOW | RTLD_LOCAL);
	open_it("./libcopy-a.so", RTLD_NOW | RTLD_GLOBAL);
	print("b", b);
	print("free", open_it("./caller-free.so", RTLD_NOW | RTLD_LOCAL));
	fflush(stdout);
	_exit(0);
}

static void promoted_by_need(void)
{
	void *b;

	open_it("./caller-a.so", RTLD_NOW | RTLD_LOCAL);
	b = open_it("./caller-b.so", RTLD_NOW | RTLD_LOCAL);
	open_it("./caller-again.so", RTLD_NOW | RTLD_GLOBAL);
	open_it("./libcopy-large.so", RTLD_NOW | RTLD_GLOBAL);
	print("b", b);
}

/* Libraries come and go all the time: what is remembered lasts, and there is room for it. */
static void many_closes(void)
{
	void *plugin = open_it("./caller-a.so", RTLD_NOW | RTLD_LOCAL);
	void (*ask)(void);
	long before;

	*(void **)&ask = dlsym(plugin, "caller_ask");
	for (int i = 0; i < 3000; i++) {
		void *other = open_it("./caller-again.so", RTLD_NOW | RTLD_LOCAL);
		void (*ask_again)(void);

		*(void **)&ask_again = dlsym(other, "caller_ask");
		ask_again();
		ask();
		if (i == 0 || i == 2999) {
			before = nr_looks;
			ask();
#if defined(__x86_64__) /* an emulator maps the other one to a new place each time */
			ask_again();
#endif
			printf("%ld looks\n", nr_looks - before);
		}
		dlclose(other);
		before = nr_looks;
		ask();
		if (nr_looks != before) {
			printf("%ld looks after close %d\n", nr_looks - before, i);
		}
	}
}

static void failed_close(void)
{
	void *plugin = open_it("./caller-a.so", RTLD_NOW | RTLD_LOCAL);
	void *library = open_it("libc.so.6", RTLD_NOW);
	int rc;

	print("a", plugin);
	close_it("library", library);
	rc = dlclose(library); /* once too often */
	printf("dlclose: %d, %s\n", rc, dlerror() ? "a reason" : "no reason");
	print("a", plugin);
	close_it("a", plugin);
}

/* The first call of all is made by the destructor of a plugin, in whose place another one comes. */
static void first_call_at_end(void)
{
	close_it("first", open_it("./one/ender.so", RTLD_NOW | RTLD_LOCAL));
	print("second", open_it("./two/ender.so", RTLD_NOW | RTLD_LOCAL));
}

/* By the C library's own function, which goes round whoever stands before it. */
static void closed_unseen(void)
{
	void *c = open_it("libc.so.6", RTLD_NOW);
	int (*close_unseen)(void *handle);

	*(void **)&close_unseen = dlsym(c, "dlclose");
	for (int i = 0; i < 4; i++) {
		void *plugin =
			open_it(i % 2 ? "./two/ender.so" : "./one/ender.so", RTLD_NOW | RTLD_LOCAL);

		print(i % 2 ? "second" : "first", plugin);
		close_unseen(plugin);
	}
}

/* Who needs a library of that name has not brought the other one. */
static void same_names(void)
{
	open_it("./one/needs-same.so", RTLD_NOW | RTLD_LOCAL);
	print("second", open_it("./two/libsame.so", RTLD_NOW | RTLD_LOCAL));
	print("first", open_it("./one/libsame.so", RTLD_NOW | RTLD_LOCAL));
}

static void unfinished_communicator(void)
{
	void (*split)(void);

	*(void **)&split = dlsym(open_it("./caller-a.so", RTLD_NOW | RTLD_LOCAL), "caller_split");
	split();
	puts("done");
}

/* Machine code that lies in no library, as compilers at run time make it. */
#if defined(__x86_64__)
static void made_code(void)
{
	/* push %rbx; mov %rsi,%rax; call *%rax; pop %rbx; ret */
	static const unsigned char code[] = {0x53, 0x48, 0x89, 0xf0, 0xff, 0xd0, 0x5b, 0xc3};
	void *plugin = open_it("./caller-b.so", RTLD_NOW | RTLD_LOCAL);
	int (*made)(int *result, int (*function)(int *));
	int (*function)(int *), id = 0;
	long before;
	void *memory = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	open_it("./libcopy-a.so", RTLD_NOW | RTLD_GLOBAL);
	memcpy(memory, code, sizeof(code));
	*(void **)&made = memory;
	*(void **)&function = dlsym(RTLD_DEFAULT, "cudaGetDevice");
	made(&id, function);
	printf("made code: runtime %d\n", id);
	print("b", plugin);
	made(&id, function);
	printf("made code: runtime %d\n", id);
	print("a", open_it("./caller-a.so", RTLD_NOW | RTLD_LOCAL));
	made(&id, function);
	before = nr_looks;
	for (int i = 0; i < 100; i++) {
		made(&id, function);
	}
	/* One to see that nothing has changed; each look at the whole list counts twice. */
	printf("made code: runtime %d, %s looks\n", id, nr_looks - before <= 100 ? "few" : "many");
}
#else
static void made_code(void)
{
	puts("no machine code of this machine's is at hand");
}
#endif

/* Libraries built before glibc 2.24 ask for a quick_exit that runs thread-local destructors. */
static void quick_exits(void)
{
	void (*leave)(int status);

	print("a", open_it("./caller-a.so", RTLD_NOW | RTLD_LOCAL));
	fflush(stdout);
	*(void **)&leave = dlsym(open_it("./leaver-new.so", RTLD_NOW), "leave");
	if (!fork()) {
		leave(3);
	}
	wait(NULL);
	*(void **)&leave = dlsym(open_it("./leaver-old.so", RTLD_NOW), "leave");
	leave(4);
}

#endif

static const struct scenario scenarios[] = {
#ifdef NEEDS_ONE
	{"older_extension", older_extension},
	{"deep_extension", deep_extension},
	{"same_version", same_version},
	{"another_namespace", another_namespace},
	{"called_in_constructor", called_in_constructor},
	{"race", race},
	{"failed_dlopen", failed_dlopen},
#else
	{"copies", copies},
	{"later_global", later_global},
	{"earlier_global", earlier_global},
	{"in_group", in_group},
	{"closed_and_another", closed_and_another},
	{"closed_early", closed_early},
	{"called_in_destructor", called_in_destructor},
	{"used_alone", used_alone},
	{"kept_library", kept_library},
	{"many_closes", many_closes},
	{"many_objects", many_objects},
	{"many_callers", many_callers},
	{"moving_closes", moving_closes},
	{"no_maps", no_maps},
	{"no_address_space", no_address_space},
	{"many_without_memory", many_without_memory},
	{"indirect", indirect},
	{"promoted", promoted},
	{"promoted_by_need", promoted_by_need},
	{"failed_close", failed_close},
	{"first_call_at_end", first_call_at_end},
	{"closed_unseen", closed_unseen},
	{"same_names", same_names},
	{"unfinished_communicator", unfinished_communicator},
	{"made_code", made_code},
	{"quick_exits", quick_exits},
#endif
};

int main(int argc, char **argv)
{
	(void)argc;
	run_scenario(scenarios, sizeof(scenarios) / sizeof(scenarios[0]), argv[1]);
	return 0;
}
