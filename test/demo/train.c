/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small training program as people write them: a two-layer perceptron learns to tell ten clouds
 * of points apart. A loader thread makes the batches; inputs go up through pinned memory on a
 * stream of their own, labels from pageable memory; the loss comes back every step. Compiled by
 * nvcc for a GPU, by gcc for the simulator. It knows nothing of gprof.
 */
#include "test/prog/prog.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>

#include "test/demo/ranges.h"

enum { BATCH = 128, INPUTS = 64, HIDDEN = 96, CLASSES = 10, STEPS = 30, PRINT_EVERY = 5 };

#define RATE 0.35f

/* ---- kernels: what one thread does ---- */

struct product {
	const float *a, *b;
	float *c;
	int n, k;		  /* c is rows x n, the sums run over k */
	int a_row, a_k, b_k, b_n; /* strides */
};

KERNEL2(matmul, struct product, p, int, count)
{
	float sum = 0;
	int row = index / p.n, column = index % p.n;

	if (index >= count) {
		return;
	}
	for (int i = 0; i < p.k; i++) {
		sum += p.a[row * p.a_row + i * p.a_k] * p.b[i * p.b_k + column * p.b_n];
	}
	p.c[index] = sum;
}

struct layer {
	float *values;
	const float *bias;
	int width;
};

KERNEL2(bias_relu, struct layer, l, int, count)
{
	float value;

	if (index < count) {
		value = l.values[index] + l.bias[index % l.width];
		l.values[index] = value > 0 ? value : 0;
	}
}

struct head {
	const float *bias;
	const int *labels;
	float *logits; /* become the gradient */
	float *losses;
};

/* One sample a thread: softmax, cross entropy, and its gradient in place. */
KERNEL2(softmax_loss, struct head, h, int, count)
{
	float *x = h.logits + index * CLASSES;
	float max = -1e30f, sum = 0, logit = 0;

	if (index >= count) {
		return;
	}
	for (int i = 0; i < CLASSES; i++) {
		x[i] += h.bias[i];
		max = x[i] > max ? x[i] : max;
	}
	for (int i = 0; i < CLASSES; i++) {
		sum += expf(x[i] - max);
	}
	logit = x[h.labels[index]];
	h.losses[index] = logf(sum) + max - logit;
	for (int i = 0; i < CLASSES; i++) {
		x[i] = (expf(x[i] - max) / sum - (i == h.labels[index] ? 1.0f : 0.0f)) / BATCH;
	}
}

struct gate {
	float *gradient;
	const float *activation;
};

KERNEL2(relu_backward, struct gate, g, int, count)
{
	if (index < count && g.activation[index] <= 0) {
		g.gradient[index] = 0;
	}
}

struct columns {
	const float *values;
	float *sums;
	int width;
};

KERNEL2(sum_columns, struct columns, c, int, count)
{
	if (index < c.width) {
		for (int row = 0; row < count; row++) {
			c.sums[index] += c.values[row * c.width + index];
		}
	}
}

struct update {
	float *weights;
	const float *gradient;
};

KERNEL2(sgd, struct update, u, int, count)
{
	if (index < count) {
		u.weights[index] -= RATE * u.gradient[index];
	}
}

#define RUN(kernel, args, count, stream) \
	LAUNCH(kernel, ((count) + 127) / 128, 128, stream, &args, &count)

/* ---- the loader ---- */

struct batch {
	float *inputs; /* pinned */
	int labels[BATCH];
	int is_full;
};

static struct loader {
	struct batch batches[2];
	pthread_mutex_t mutex;
	pthread_cond_t changed;
} loader = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static float noise(uint32_t *seed)
{
	float sum = 0;

	for (int i = 0; i < 4; i++) {
		*seed = *seed * 1664525u + 1013904223u;
		sum += (float)(*seed >> 8) / 16777216.0f - 0.5f;
	}
	return sum;
}

static void fill(struct batch *batch, uint32_t *seed)
{
	for (int i = 0; i < BATCH; i++) {
		uint32_t cloud;

		*seed = *seed * 1664525u + 1013904223u;
		cloud = batch->labels[i] = (int)((*seed >> 16) % CLASSES);
		for (int j = 0; j < INPUTS; j++) {
			uint32_t centre = (cloud * INPUTS + (uint32_t)j) * 2654435761u;

			batch->inputs[i * INPUTS + j] =
				((float)(centre >> 16) / 65536.0f - 0.5f) + 0.6f * noise(seed);
		}
	}
}

static void *load(void *unused)
{
	uint32_t seed = 1;

	(void)unused;
	pthread_setname_np(pthread_self(), "loader");
	for (int step = 0; step < STEPS; step++) {
		struct batch *batch = &loader.batches[step % 2];

		pthread_mutex_lock(&loader.mutex);
		while (batch->is_full) {
			pthread_cond_wait(&loader.changed, &loader.mutex);
		}
		pthread_mutex_unlock(&loader.mutex);
		range_push("make batch");
		fill(batch, &seed);
		range_pop();
		pthread_mutex_lock(&loader.mutex);
		batch->is_full = 1;
		pthread_cond_broadcast(&loader.changed);
		pthread_mutex_unlock(&loader.mutex);
	}
	return NULL;
}

static struct batch *wait_for_batch(int step)
{
	struct batch *batch = &loader.batches[step % 2];

	pthread_mutex_lock(&loader.mutex);
	while (!batch->is_full) {
		pthread_cond_wait(&loader.changed, &loader.mutex);
	}
	pthread_mutex_unlock(&loader.mutex);
	return batch;
}

static void give_back(struct batch *batch)
{
	pthread_mutex_lock(&loader.mutex);
	batch->is_full = 0;
	pthread_cond_broadcast(&loader.changed);
	pthread_mutex_unlock(&loader.mutex);
}

/* ---- the model ---- */

static struct model {
	float *w1, *b1, *w2, *b2;     /* weights */
	float *dw1, *db1, *dw2, *db2; /* gradients, one allocation */
	float *inputs, *hidden, *logits, *losses;
	int *labels;
	float *host_losses; /* pinned */
	cudaStream_t compute, copy;
	cudaEvent_t copied, used;
} model;

enum {
	NR_W1 = INPUTS * HIDDEN,
	NR_W2 = HIDDEN * CLASSES,
	NR_GRADIENTS = NR_W1 + HIDDEN + NR_W2 + CLASSES,
};

static float *upload_weights(int n, float scale, uint32_t seed)
{
	float *host = (float *)malloc((size_t)n * sizeof(float));
	float *device;

	for (int i = 0; i < n; i++) {
		host[i] = scale * noise(&seed);
	}
	CHECK(cudaMalloc((void **)&device, (size_t)n * sizeof(float)));
	CHECK(cudaMemcpy(device, host, (size_t)n * sizeof(float), cudaMemcpyHostToDevice));
	free(host);
	return device;
}

static void build(void)
{
	model.w1 = upload_weights(NR_W1, 0.2f, 7);
	model.b1 = upload_weights(HIDDEN, 0, 7);
	model.w2 = upload_weights(NR_W2, 0.2f, 11);
	model.b2 = upload_weights(CLASSES, 0, 7);
	CHECK(cudaMalloc((void **)&model.dw1, NR_GRADIENTS * sizeof(float)));
	model.db1 = model.dw1 + NR_W1;
	model.dw2 = model.db1 + HIDDEN;
	model.db2 = model.dw2 + NR_W2;
	CHECK(cudaMalloc((void **)&model.inputs, BATCH * INPUTS * sizeof(float)));
	CHECK(cudaMalloc((void **)&model.hidden, BATCH * HIDDEN * sizeof(float)));
	CHECK(cudaMalloc((void **)&model.logits, BATCH * CLASSES * sizeof(float)));
	CHECK(cudaMalloc((void **)&model.losses, BATCH * sizeof(float)));
	CHECK(cudaMalloc((void **)&model.labels, BATCH * sizeof(int)));
	CHECK(cudaMallocHost((void **)&model.host_losses, BATCH * sizeof(float)));
	CHECK(cudaStreamCreateWithFlags(&model.compute, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&model.copy, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&model.copied));
	CHECK(cudaEventCreate(&model.used));
}

static void multiply(const float *a, const float *b, float *c, int rows, int n, int k, int a_row,
	int a_k, int b_k, int b_n)
{
	struct product p = {a, b, c, n, k, a_row, a_k, b_k, b_n};
	int count = rows * n;

	RUN(matmul, p, count, model.compute);
}

static void add_up_columns(const float *values, float *sums, int width)
{
	struct columns c = {values, sums, width};
	int rows = BATCH;

	LAUNCH(sum_columns, 1, 128, model.compute, &c, &rows);
}

static void forward(void)
{
	struct layer hidden = {model.hidden, model.b1, HIDDEN};
	struct head head = {model.b2, model.labels, model.logits, model.losses};
	int nr_hidden = BATCH * HIDDEN, nr_samples = BATCH;

	range_push("forward");
	multiply(model.inputs, model.w1, model.hidden, BATCH, HIDDEN, INPUTS, INPUTS, 1, HIDDEN, 1);
	RUN(bias_relu, hidden, nr_hidden, model.compute);
	multiply(model.hidden, model.w2, model.logits, BATCH, CLASSES, HIDDEN, HIDDEN, 1, CLASSES,
		1);
	RUN(softmax_loss, head, nr_samples, model.compute);
	range_pop();
}

static void backward(void)
{
	struct gate gate;
	float *d_hidden;
	int nr_hidden = BATCH * HIDDEN;

	range_push("backward");
	CHECK(cudaMallocAsync((void **)&d_hidden, BATCH * HIDDEN * sizeof(float), model.compute));
	CHECK(cudaMemsetAsync(model.dw1, 0, NR_GRADIENTS * sizeof(float), model.compute));
	multiply(model.hidden, model.logits, model.dw2, HIDDEN, CLASSES, BATCH, 1, HIDDEN, CLASSES,
		1);
	add_up_columns(model.logits, model.db2, CLASSES);
	multiply(model.logits, model.w2, d_hidden, BATCH, HIDDEN, CLASSES, CLASSES, 1, 1, CLASSES);
	gate.gradient = d_hidden;
	gate.activation = model.hidden;
	RUN(relu_backward, gate, nr_hidden, model.compute);
	multiply(model.inputs, d_hidden, model.dw1, INPUTS, HIDDEN, BATCH, 1, INPUTS, HIDDEN, 1);
	add_up_columns(d_hidden, model.db1, HIDDEN);
	CHECK(cudaFreeAsync(d_hidden, model.compute));
	range_pop();
}

static void optimise(void)
{
	struct update updates[] = {{model.w1, model.dw1}, {model.b1, model.db1},
		{model.w2, model.dw2}, {model.b2, model.db2}};
	int counts[] = {NR_W1, HIDDEN, NR_W2, CLASSES};

	range_push("optimizer");
	for (int i = 0; i < 4; i++) {
		RUN(sgd, updates[i], counts[i], model.compute);
	}
	range_pop();
}

static void upload(const struct batch *batch)
{
	range_push("upload");
	CHECK(cudaStreamWaitEvent(model.copy, model.used, 0));
	CHECK(cudaMemcpyAsync(model.inputs, batch->inputs, BATCH * INPUTS * sizeof(float),
		cudaMemcpyHostToDevice, model.copy));
	CHECK(cudaMemcpyAsync(model.labels, batch->labels, sizeof(batch->labels),
		cudaMemcpyHostToDevice, model.copy));
	CHECK(cudaEventRecord(model.copied, model.copy));
	CHECK(cudaStreamWaitEvent(model.compute, model.copied, 0));
	range_pop();
}

static float train_step(int step)
{
	struct batch *batch;
	float sum = 0;

	range_push("step");
	range_push("wait for loader");
	batch = wait_for_batch(step);
	range_pop();
	upload(batch);
	forward();
	backward();
	optimise();
	CHECK(cudaMemcpyAsync(model.host_losses, model.losses, BATCH * sizeof(float),
		cudaMemcpyDeviceToHost, model.compute));
	CHECK(cudaEventRecord(model.used, model.compute));
	CHECK(cudaStreamSynchronize(model.compute));
	give_back(batch);
	for (int i = 0; i < BATCH; i++) {
		sum += model.host_losses[i];
	}
	range_pop();
	return sum / BATCH;
}

int main(void)
{
	static float weights[NR_W2]; /* pageable */
	pthread_t thread;

	ranges_init();
	for (int i = 0; i < 2; i++) {
		CHECK(cudaMallocHost(
			(void **)&loader.batches[i].inputs, BATCH * INPUTS * sizeof(float)));
	}
	build();
	pthread_create(&thread, NULL, load, NULL);
	for (int step = 0; step < STEPS; step++) {
		float loss = train_step(step);

		if ((step + 1) % PRINT_EVERY == 0 || step == 0) {
			printf("step %2d  loss %.6f\n", step + 1, (double)loss);
		}
	}
	pthread_join(thread, NULL);
	CHECK(cudaMemcpy(weights, model.w2, sizeof(weights), cudaMemcpyDeviceToHost));
	printf("first weight %.6f\n", (double)weights[0]);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
