/* SPDX-License-Identifier: Apache-2.0 */
#include "test/integ/training.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* As at::RecordScope has them. */
enum { FUNCTION = 0, BACKWARD = 1, USER = 7 };

struct range {
	const char *name;
	uint8_t scope;
};

/* One around the other. A batch is made elsewhere. */
static const struct {
	const char *name;
	struct range outer, inner;
} parts[NR_TRAINING_PARTS] = {
	[TRAINING_LOADER] = {"loader",
		{"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", USER}, {NULL, 0}},
	[TRAINING_FORWARD] = {"forward", {"DistributedDataParallel.forward", USER},
		{"aten::linear", FUNCTION}},
	[TRAINING_BACKWARD] = {"backward",
		{"autograd::engine::evaluate_function: AddmmBackward0", FUNCTION},
		{"AddmmBackward0", BACKWARD}},
	[TRAINING_OPTIMIZER] = {"optimizer", {"Optimizer.step#SGD.step", USER},
		{"aten::_foreach_add_", FUNCTION}},
};

struct run {
	enum training_part part;
	void (*body)(void *context);
	void *context;
};

static struct {
	void *(*begin)(const char *name, uint8_t scope);
	void (*end)(void *range);
	pid_t worker;
	int ask_fd, batch_fd;
} training;

static void must(int is_right, const char *what)
{
	if (!is_right) {
		fprintf(stderr, "training: %s\n", what);
		exit(1);
	}
}

enum training_part training_open(const char *part)
{
	void *library = dlopen("libtorch_cpu.so", RTLD_NOW);
	unsigned int i = 0;

	must(library != NULL, "no libtorch_cpu.so");
	*(void **)&training.begin = dlsym(library, "fake_begin");
	*(void **)&training.end = dlsym(library, "fake_end");
	must(training.begin && training.end, "not the libtorch_cpu.so of the tests");
	while (i < NR_TRAINING_PARTS && strcmp(parts[i].name, part) != 0) {
		i++;
	}
	must(i < NR_TRAINING_PARTS, "no such part");
	return (enum training_part)i;
}

static void *run_here(void *context)
{
	struct run *run = context;
	const struct range *outer = &parts[run->part].outer, *inner = &parts[run->part].inner;
	void *range = training.begin(outer->name, outer->scope);
	void *op = inner->name ? training.begin(inner->name, inner->scope) : NULL;

	run->body(run->context);
	if (op) {
		training.end(op);
	}
	training.end(range);
	return NULL;
}

/* Of the loop. */
static void fetch(void *unused)
{
	char batch;

	(void)unused;
	must(write(training.ask_fd, "", 1) == 1 && read(training.batch_fd, &batch, 1) == 1,
		"no worker");
}

void training_run(enum training_part part, void (*body)(void *context), void *context)
{
	struct run run = {part, part == TRAINING_LOADER ? fetch : body, context};
	pthread_t thread;

	if (part != TRAINING_BACKWARD) {
		run_here(&run);
		return;
	}
	must(!pthread_create(&thread, NULL, run_here, &run), "no thread");
	pthread_join(thread, NULL);
}

static void work(int asked_fd, int made_fd, void (*body)(void *context), void *context)
{
	char asked;

	while (read(asked_fd, &asked, 1) == 1) {
		void *op = training.begin("aten::stack", FUNCTION);

		body(context);
		training.end(op);
		must(write(made_fd, "", 1) == 1, "no loop");
	}
	_exit(0);
}

void training_start_worker(void (*body)(void *context), void *context)
{
	int ask[2], batch[2];

	must(pipe(ask) == 0 && pipe(batch) == 0, "no pipe");
	training.worker = fork();
	if (training.worker == 0) {
		close(ask[1]);
		work(ask[0], batch[1], body, context);
	}
	close(ask[0]);
	close(batch[1]);
	training.ask_fd = ask[1];
	training.batch_fd = batch[0];
}

void training_stop_worker(void)
{
	int status;

	close(training.ask_fd);
	must(waitpid(training.worker, &status, 0) == training.worker && status == 0,
		"the worker failed");
	close(training.batch_fd);
}
