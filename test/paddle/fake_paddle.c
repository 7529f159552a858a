/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays Paddle's libraries: with FAKE_EVENTS what libphi_core.so defines, with FAKE_PROGRAM what
 * libpaddle.so makes of it; until 2.6 both are one library.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define QUEUE "MultiDeviceFeedReaderINS_9operators6reader24DenseTensorBlockingQueueEE"
#define MAGIC 0x6576656e74u

struct event {
	uint64_t magic;
	uint32_t type, level;
	int role;
};

struct string {
	const char *text;
	size_t nr_bytes;
	char room[16];
};

struct place {
	int8_t device, kind;
};

struct batch {
	uint64_t words[3];
};

void begin_text(struct event *event, const char *name, uint32_t type, uint32_t level,
	int role) __asm__("_ZN3phi11RecordEventC1EPKcNS_15TracerEventTypeEjNS_9EventRoleE");
void begin_string(struct event *event, const struct string *name, uint32_t type, uint32_t level,
	int role) __asm__("_ZN3phi11RecordEventC1ERKNSt7__cxx1112basic_stringIcSt11char_"
			  "traitsIcESaIcE"
			  "EENS_15TracerEventTypeEjNS_9EventRoleE");
void begin_strings(struct event *event, const struct string *name, const struct string *attribute,
	uint32_t type, uint32_t level,
	int role) __asm__("_ZN3phi11RecordEventC1ERKNSt7__cxx1112basic_stringIcSt11char_"
			  "traitsIcESaIcE"
			  "EES8_NS_15TracerEventTypeEjNS_9EventRoleE");
void end_event(struct event *event) __asm__("_ZN3phi11RecordEvent3EndEv");
bool is_enabled(void) __asm__("_ZN3phi11RecordEvent9IsEnabledEv");
void tell_memory(void *event, const void *address, const struct place *place, size_t nr_bytes,
	uint32_t type) __asm__("_ZN6paddle8platform14RecordMemEventC1EPKvRKN3phi5PlaceEmNS4_"
			       "18TracerMemEventTypeE");
struct batch read_next(void *reader) __asm__("_ZN6paddle6pybind21" QUEUE "12ReadNextListEv");
extern uint64_t nr_memory_bytes;
void fake_ops(unsigned int nr_steps);

#if defined(FAKE_EVENTS)
uint64_t nr_memory_bytes;

static void make(struct event *event, uint32_t type, uint32_t level, int role)
{
	*event = (struct event){MAGIC, type, level, role};
}

void begin_text(struct event *event, const char *name, uint32_t type, uint32_t level, int role)
{
	(void)name;
	make(event, type, level, role);
}

void begin_string(
	struct event *event, const struct string *name, uint32_t type, uint32_t level, int role)
{
	(void)name;
	make(event, type, level, role);
}

void begin_strings(struct event *event, const struct string *name, const struct string *attribute,
	uint32_t type, uint32_t level, int role)
{
	(void)name;
	printf("attribute %s\n", attribute->text);
	make(event, type, level, role);
}

void end_event(struct event *event)
{
	if (event->magic != MAGIC) {
		puts("an event that was not made");
	}
}

bool is_enabled(void)
{
	return false;
}

void tell_memory(
	void *event, const void *address, const struct place *place, size_t nr_bytes, uint32_t type)
{
	(void)event;
	nr_memory_bytes += nr_bytes + (uintptr_t)address + type + (uint64_t)place->device;
}
#endif

#if defined(FAKE_PROGRAM)
enum {
	OPERATOR = 0,
	USER = 7,
	INNER = 8,
	OPTIMIZATION = 11,
	PYTHON_USER = 14,
	LAUNCH = 15,
	STRANGE = 77
};

struct batch read_next(void *reader)
{
	return (struct batch){{(uintptr_t)reader, 2, 3}};
}

static void run(const char *name, uint32_t type)
{
	struct event event;

	begin_text(&event, name, type, 1, 0);
	end_event(&event);
}

/* With its stages, as Paddle makes them; an exception leaves the last one. */
static void run_operator(const char *name, const char *stage, const char *launch, bool fails)
{
	static struct event stages[2];
	struct event event;

	begin_text(&event, name, OPERATOR, 1, 0);
	if (is_enabled()) {
		begin_text(&stages[0], stage, INNER, 1, 0);
		if (!fails) {
			end_event(&stages[0]);
			begin_text(&stages[1], launch, LAUNCH, 1, 0);
			end_event(&stages[1]);
		}
	}
	end_event(&event);
}

static void run_backward(void)
{
	struct event backward, node;
	struct string name = {name.room, 11, "Global_Grad"};

	begin_text(&backward, "backward", USER, 1, 0);
	begin_string(&node, &name, OPERATOR, 1, 0);
	memset(name.room, '?', sizeof(name.room));
	end_event(&node);
	end_event(&backward);
}

#if defined(FAKE_MARKED)
/* As Paddle's own profiler marks an optimizer in Python, and what that calls for each parameter. */
static void update(void)
{
	struct event step, call;

	begin_text(&step, "Optimization Step", OPTIMIZATION, 1, 0);
	for (int i = 0; i < 2; i++) {
		begin_text(&call, "adam_ pybind_imperative_func", USER, 1, 0);
		run_operator("adam_ dygraph", "adam_ infer_meta", "adam kernel launch", false);
		end_event(&call);
	}
	end_event(&step);
}
#else
static void update(void)
{
	run("sgd_ dygraph", OPERATOR);
	run_operator("sgd_ dygraph", "sgd_ infer_meta", "sgd kernel launch", false);
	run("scale dygraph", OPERATOR); /* for the other parameters */
	run("sgd_ dygraph", OPERATOR);
}
#endif

static void run_step(void)
{
	struct event twice, detail;
	struct batch batch = read_next((void *)1);

	begin_text(&twice, "twice", PYTHON_USER, 1, 0);
	run_operator("matmul dygraph", "matmul infer_meta", "matmul kernel launch", false);
	run_operator("fails dygraph", "fails infer_meta", NULL, true);
	end_event(&twice);
	run_backward();
	end_event(&twice);
	update();
	begin_text(&detail, "detail", INNER, 4, 0);
	end_event(&detail);
	printf("batch %d %d %d\n", (int)batch.words[0], (int)batch.words[1], (int)batch.words[2]);
}

static void run_memory(void)
{
	static const struct place cuda = {3, 2}, last = {127, 2}, other = {35, 2}, cpu = {0, 1},
				  strange = {0, 99};
	char event;

	tell_memory(&event, (void *)0x100000, &cuda, 4096, 2);
	tell_memory(&event, (void *)0x1000, &cuda, 512, 0);
	tell_memory(&event, (void *)0x2000, &cuda, 1024, 0);
	tell_memory(&event, (void *)0x3000, &cpu, 64, 0);
	tell_memory(&event, (void *)0x1000, &cuda, 512, 1);
	tell_memory(&event, (void *)0x6000, &other, 32, 0);
	tell_memory(&event, (void *)0x7000, &last, 16, 0);
	tell_memory(&event, (void *)0x4000, &strange, 64, 0);
	tell_memory(&event, (void *)0x5000, &cuda, 64, 0);
	printf("memory %llu\n", (unsigned long long)nr_memory_bytes);
}

static void *end_elsewhere(void *event)
{
	end_event(event);
	return NULL;
}

static void run_elsewhere(void)
{
	struct event event;
	pthread_t thread;
	struct string name = {name.room, 9, "elsewhere"}, attribute = {attribute.room, 1, "a"};

	begin_strings(&event, &name, &attribute, PYTHON_USER, 1, 0);
	if (!pthread_create(&thread, NULL, end_elsewhere, &event)) {
		pthread_join(thread, NULL);
	}
}

#define NR_STATIC_RUNS 3

static pthread_barrier_t barrier;

static void *run_operators(void *unused)
{
	(void)unused;
	for (unsigned int i = 0; i < NR_STATIC_RUNS; i++) {
		pthread_barrier_wait(&barrier);
		run("pd_op.matmul", OPERATOR);
		run("pd_op.matmul_grad", OPERATOR);
		run("pd_op.sgd_", OPERATOR);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

/* An executor, whose thread runs the operators. */
static void run_static(void)
{
	struct event event;
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&thread, NULL, run_operators, NULL)) {
		return;
	}
	for (unsigned int i = 0; i < NR_STATIC_RUNS; i++) {
		begin_text(&event, "StandaloneExecutor::run", USER, 1, 0);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		end_event(&event);
	}
	pthread_join(thread, NULL);
}

static void run_names(unsigned int nr_names)
{
	char name[32];

	for (unsigned int i = 0; i < nr_names; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		run(name, PYTHON_USER);
	}
}

static void run_nested(unsigned int depth)
{
	struct event event;

	begin_text(&event, "nested", PYTHON_USER, 1, 0);
	if (depth > 1) {
		run_nested(depth - 1);
	}
	end_event(&event);
}

/*
 * Runs up to 100 steps, up to 1000 nested ranges (twice), or a larger number of different names. 0
 * runs a static program three times.
 */
void fake_ops(unsigned int nr_steps)
{
	run_memory();
	run_elsewhere();
	for (unsigned int i = 0; i < nr_steps && nr_steps <= 100; i++) {
		run_step(); /* the last one ends with the process */
	}
	if (!nr_steps) {
		run_static();
	}
	if (nr_steps > 100 && nr_steps <= 1000) {
		run_nested(nr_steps);
		run_nested(nr_steps);
	}
	if (nr_steps > 1000) {
		run_names(nr_steps);
	}
#if defined(FAKE_STRANGE)
	run("strange", STRANGE);
	run("later", OPERATOR);
#endif
}
#endif
