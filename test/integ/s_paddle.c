/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training loop as Paddle's libraries mark it while Paddle's own profiler runs, on the simulator:
 *
 *	s_paddle STEPS
 *
 * Each step fetches a batch, runs a layer, its backward with an all-reduce on a stream of its own
 * beside it, and an optimizer. Events are those of fake_paddle.c, their names those of Paddle 3.
 */
#include "test/prog/prog.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum {
	OPERATOR = 0,
	DATALOADER = 1,
	USER = 7,
	INNER = 8,
	FORWARD = 9,
	BACKWARD = 10,
	OPTIMIZATION = 11,
	COMMUNICATION = 12,
	PYTHON_USER = 14,
	LAUNCH_KERNEL = 15,
};

struct event {
	uint64_t magic;
	uint32_t type, level;
	int role;
};

struct place {
	int8_t device, kind;
};

struct batch {
	uint64_t words[3];
};

void begin_text(struct event *event, const char *name, uint32_t type, uint32_t level,
	int role) __asm__("_ZN3phi11RecordEventC1EPKcNS_15TracerEventTypeEjNS_9EventRoleE");
void end_event(struct event *event) __asm__("_ZN3phi11RecordEvent3EndEv");
struct batch read_next(void *reader) __asm__(
	"_ZN6paddle6pybind21MultiDeviceFeedReaderINS_9operators6reader"
	"24DenseTensorBlockingQueueEE12ReadNextListEv");

void tell_memory(void *event, const void *address, const struct place *place, size_t nr_bytes,
	uint32_t type) __asm__("_ZN6paddle8platform14RecordMemEventC1EPKvRKN3phi5PlaceEmNS4_"
			       "18TracerMemEventTypeE");

enum { N = 256, NR_BYTES = 65536 };
enum { ALLOCATE = 0, FREE = 1 };

KERNEL2(volta_h884gemm_64x128_ldg8_nn, int *, x, int, by)
{
	x[index] += by;
}

KERNEL2(volta_h884gemm_256x64_ldg8_tn, int *, x, int, by)
{
	x[index] -= by;
}

KERNEL2(SGDDenseKernel, int *, x, int, by)
{
	x[index] += by;
}

KERNEL2(ncclDevKernel_AllReduce_Sum_f32_RING_LL, int *, x, int, by)
{
	x[index] += 0 * by;
}

static int *data, *copy, host[NR_BYTES / sizeof(int)], one = 1;
static cudaStream_t compute, communication;

/* The events that are open, one in the other. */
static struct event events[8], *innermost = events;

static void begin(const char *name, uint32_t type)
{
	begin_text(innermost++, name, type, 1, 0);
}

static void end(void)
{
	end_event(--innermost);
}

static void work_us(unsigned int us)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

/* What Paddle's allocator reports of a block on the GPU. */
static void report_block(uint32_t type)
{
	static const struct place gpu = {0, 2};
	char event;

	tell_memory(&event, (void *)0x1000, &gpu, 4096, type);
}

/* A stage of an operator that takes so long. */
static void run_stage(const char *name, unsigned int us)
{
	begin(name, INNER);
	work_us(us);
	end();
}

static void fetch(void)
{
	begin("_DataLoaderIterSingleProcess", DATALOADER);
	read_next((void *)1);
	usleep(300);
	end();
	begin("BufferedReader:MemoryCopy", USER);
	CHECK(cudaMemcpy(data, host, NR_BYTES, cudaMemcpyHostToDevice));
	end();
}

static void run_forward(void)
{
	begin("my forward", PYTHON_USER);
	begin("Linear", FORWARD);
	begin("matmul pybind_imperative_func", USER);
	begin("matmul dygraph", OPERATOR);
	run_stage("matmul infer_meta", 20);
	begin("matmul kernel launch", LAUNCH_KERNEL);
	report_block(ALLOCATE);
	LAUNCH(volta_h884gemm_64x128_ldg8_nn, 2, N / 2, compute, &data, &one);
	end();
	run_stage("matmul node_creation", 10);
	end();
	end();
	end();
	end();
}

static void run_backward(void)
{
	begin("Gradient Backward", BACKWARD);
	begin("backward", USER);
	begin("full kernel launch", LAUNCH_KERNEL); /* in no operator */
	CHECK(cudaMemsetAsync(copy, 0, NR_BYTES, compute));
	end();
	report_block(FREE);
	begin("Global_MatmulGradNode", OPERATOR);
	begin("Local_MatmulGradNode", INNER);
	run_stage("matmul_grad infer_meta", 15);
	begin("matmul_grad kernel launch", LAUNCH_KERNEL);
	LAUNCH(volta_h884gemm_256x64_ldg8_tn, 2, N / 2, compute, &data, &one);
	LAUNCH(volta_h884gemm_64x128_ldg8_nn, 2, N / 2, compute, &data, &one);
	end();
	end();
	end();
	begin("ProcessGroupNCCL::AllReduce", COMMUNICATION);
	LAUNCH(ncclDevKernel_AllReduce_Sum_f32_RING_LL, 2, N / 2, communication, &copy, &one);
	end();
	end();
	end();
}

static void optimize(void)
{
	begin("Optimization Step", OPTIMIZATION);
	begin("sgd_ dygraph", OPERATOR);
	begin("sgd kernel launch", LAUNCH_KERNEL);
	LAUNCH(SGDDenseKernel, 2, N / 2, compute, &data, &one);
	end();
	end();
	begin("GpuMemcpyAsync(same_gpu):GPU->GPU", USER);
	CHECK(cudaMemcpyAsync(copy, data, NR_BYTES, cudaMemcpyDeviceToDevice, compute));
	end();
	end();
	CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	int nr_steps = argc > 1 ? atoi(argv[1]) : 1;

	CHECK(cudaMalloc((void **)&data, NR_BYTES));
	CHECK(cudaMalloc((void **)&copy, NR_BYTES));
	CHECK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&communication, cudaStreamNonBlocking));
	for (int step = 0; step < nr_steps; step++) {
		fetch();
		run_forward();
		run_backward();
		optimize();
	}
	CHECK(cudaMemcpy(host, data, NR_BYTES, cudaMemcpyDeviceToHost));
	printf("result %d\n", host[0]);
	return 0;
}
