/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL as its profiler plugin sees it: opens the plugin as NCCL does, takes one version of its
 * interface, and plays events.
 *
 *	s_nccl_plugin VERSION WAY [NUMBER]
 *
 * For each WAY it prints what the plugin must have recorded: lines "NAME NUMBER".
 */
#include "test/prog/prog.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/nccl_host.h"

struct comm;
void *cost_operation(struct comm *comm);
void cost_kernel(struct comm *comm, void *coll);
void cost_transfer(struct comm *comm, void *coll);
void cost_requests(struct comm *comm, void *step);

enum { NR_OPS = 20, NR_CHANNELS = 4, NR_STEPS = 10, NR_THREADS = 8, COUNT = 1000, FLOAT = 7 };

/* Memory like NCCL's communicator, with the plugin's context somewhere inside. */
struct comm {
	char before[1000];
	void *context;
	uint64_t sequence;
};

static struct nccl_host host;

/* Totals that the plugin must have recorded. */
static struct {
	uint64_t ops, kernels, sends, receives, steps, bytes, gpu_ns;
} wanted;

/* ---- the plugin ---- */

static int open_comm(struct comm *comm, uint64_t hash, const char *name)
{
	memset(comm, 0, sizeof(*comm));
	return nccl_host_init(&host, &comm->context, hash, name, 4, 1);
}

static int mask_now(void)
{
	return nccl_host_mask(&host);
}

/* The recorder's thread changes it soon. */
static void wait_for_mask(int is_on)
{
	for (int i = 0; i < 3000 && !mask_now() != !is_on; i++) {
		usleep(10000);
	}
}

static void *start(void *context, struct nccl_host_event *event, uint64_t type, void *parent)
{
	return nccl_host_start(&host, context, event, type, parent);
}

static void state(void *handle, int changed, uint64_t number)
{
	nccl_host_change(&host, handle, changed, number);
}

static void stop(void *handle)
{
	host.functions.stop(handle);
}

static void count(uint64_t *what, uint64_t by)
{
	__atomic_fetch_add(what, by, __ATOMIC_RELAXED);
}

/* ---- one operation ---- */

static void *start_coll(struct comm *comm, void *parent)
{
	const struct nccl_host_op op = {
		.sequence = __atomic_fetch_add(&comm->sequence, 1, __ATOMIC_RELAXED),
		.hash = 77,
		.function = "AllReduce",
		.function_number = 4,
		.datatype = "ncclFloat32",
		.datatype_number = FLOAT,
		.algorithm = "RING",
		.algorithm_number = 1,
		.protocol = "LL128",
		.protocol_number = 1,
		.count = COUNT,
		.peer = 3,
		.nr_channels = NR_CHANNELS,
		.nr_warps = 8};

	return nccl_host_start_coll(&host, comm->context, &op, parent);
}

static void *start_p2p(struct comm *comm, void *parent)
{
	const struct nccl_host_op op = {.hash = 77,
		.function = "Send",
		.function_number = 6,
		.datatype = "ncclFloat32",
		.datatype_number = FLOAT,
		.count = 10,
		.peer = 2,
		.nr_channels = 2};

	return nccl_host_start_p2p(&host, comm->context, &op, parent);
}

static void *start_kernel(struct comm *comm, void *parent, int channel, uint64_t gpu_ns)
{
	struct nccl_host_event event = {.kernel = {.channel = (uint8_t)channel, .gpu_ns = gpu_ns}};

	return start(comm->context, &event, NCCL_PROFILE_KERNEL_CH, parent);
}

static void kernel(struct comm *comm, void *parent, int channel)
{
	uint64_t gpu_ns = 1000000 + (uint64_t)channel * 10;
	void *handle = start_kernel(comm, parent, channel, gpu_ns);

	state(handle, NCCL_STATE_KERNEL_STOP, gpu_ns + 500 + (uint64_t)channel);
	stop(handle);
	count(&wanted.kernels, 1);
	count(&wanted.gpu_ns, host.version >= 4 ? 500 + (uint64_t)channel : 0);
}

static void *start_transfer(struct comm *comm, void *parent, int channel, bool is_send, int pid)
{
	struct nccl_host_event event = {.transfer = {.pid = pid,
						.channel = (uint8_t)channel,
						.peer = 2,
						.nr_steps = NR_STEPS,
						.chunk_bytes = 4096,
						.is_send = is_send}};

	return start(comm->context, &event, NCCL_PROFILE_PROXY_OP, parent);
}

/* As many at a time as NCCL has, which is why two steps share a number modulo 8. */
static void transfer(struct comm *comm, void *parent, int channel, bool is_send)
{
	static const int sends[] = {
		NCCL_STATE_SEND_GPU_WAIT, NCCL_STATE_SEND_PEER_WAIT, NCCL_STATE_SEND_WAIT};
	static const int receives[] = {
		NCCL_STATE_RECV_WAIT, NCCL_STATE_RECV_FLUSH_WAIT, NCCL_STATE_RECV_GPU_WAIT};
	void *handle = start_transfer(comm, parent, channel, is_send, getpid());

	for (int i = 0; i < NR_STEPS; i++) {
		struct nccl_host_event event = {.step = {.step = i}};
		void *step = start(comm->context, &event, NCCL_PROFILE_PROXY_STEP, handle);

		for (int k = 0; k < 3; k++) {
			state(step, is_send ? sends[k] : receives[k], 100);
		}
		stop(step);
	}
	stop(handle);
	count(is_send ? &wanted.sends : &wanted.receives, 1);
	count(&wanted.steps, NR_STEPS);
	count(&wanted.bytes, host.version >= 4 ? 100 * NR_STEPS : 0);
}

static void operation(struct comm *comm)
{
	struct nccl_host_event api = {.coll_api = {.function = "AllReduce"}};
	struct nccl_host_event ce = {.ce = {.sequence = 1,
					     .function = "AllGather",
					     .count = COUNT,
					     .datatype = "ncclFloat32"}};
	struct nccl_host_event none = {0};
	void *called = NULL, *group, *coll, *p2p;

	group = start(comm->context, &none, NCCL_PROFILE_GROUP, NULL);
	if (host.version >= 5) {
		called = start(comm->context, &api, NCCL_PROFILE_COLL_API, NULL);
		stop(called);
	}
	coll = start_coll(comm, host.version >= 5 ? called : group);
	p2p = start_p2p(comm, host.version >= 5 ? called : group);
	stop(p2p);
	stop(coll); /* the GPU begins only now */
	for (int i = 0; i < NR_CHANNELS; i++) {
		if (host.version >= 3) {
			kernel(comm, coll, i);
		}
		transfer(comm, coll, i, true);
		transfer(comm, coll, i, false);
	}
	if (host.version >= 6) {
		stop(start(comm->context, &ce, NCCL_PROFILE_CE_COLL, called));
		count(&wanted.ops, 1);
	}
	count(&wanted.ops, 2);
	stop(group);
}

static void operations(struct comm *comm)
{
	for (int i = 0; i < NR_OPS; i++) {
		operation(comm);
	}
}

/* ---- ways ---- */

static void by_play(int number)
{
	struct comm comms[2];

	(void)number;
	for (int i = 0; i < 2; i++) {
		open_comm(&comms[i], 77 + (uint64_t)i, i ? "second" : NULL);
	}
	wait_for_mask(1);
	printf("mask %d\n", mask_now());
	operations(&comms[0]);
	operations(&comms[1]);
	for (int i = 0; i < 2; i++) {
		host.functions.finalize(comms[i].context);
	}
}

static void garbage(struct comm *comm)
{
	static const uint64_t handles[] = {0, 1, 2, 3, 7, 0x5555, UINT64_MAX, UINT64_MAX - 1,
		0x7fff00000003, 0x677000000001, 0x100000003, 0xffffffff00000043};
	struct nccl_host_event event = {0};

	for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) {
		void *handle = (void *)(uintptr_t)handles[i];

		stop(handle);
		state(handle, NCCL_STATE_KERNEL_STOP, 1);
		state(handle, NCCL_STATE_SEND_WAIT, 1);
		state(handle, 12345, 1);
		host.functions.record(handle, NCCL_STATE_SEND_WAIT, NULL);
		for (int bit = 0; bit < 16; bit++) {
			start(handle, &event, 1u << bit, handle);
			start(comm->context, &event,
				(1u << bit) & ~(uint64_t)(NCCL_PROFILE_COLL | NCCL_PROFILE_P2P |
							  NCCL_PROFILE_CE_COLL),
				handle);
		}
		host.functions.finalize(handle);
	}
}

/* Nothing of this may leave a row, but for one operation. */
static void by_hostile(int number)
{
	struct comm comm, closed;
	void *coll, *first, *again;

	(void)number;
	open_comm(&closed, 5,
		"a name that is longer than any name that somebody gives to a "
		"communicator of some ranks");
	open_comm(&comm, 6, "");
	wait_for_mask(1);
	host.functions.finalize(closed.context);
	host.functions.finalize(closed.context);
	garbage(&comm);
	garbage(&closed);
	operation(&closed);
	memset(&wanted, 0, sizeof(wanted));
	/* Two starts with one end each, an end twice, and a state after the end. */
	coll = start_coll(&comm, (void *)(uintptr_t)0x1234560);
	count(&wanted.ops, 1);
	first = start_kernel(&comm, coll, 0, 10);
	again = start_kernel(&comm, coll, 0, 20);
	count(&wanted.kernels, first && again ? 2 : 0);
	stop(first);
	stop(first);
	state(first, NCCL_STATE_KERNEL_STOP, 1000);
	stop(again);
	stop(again);
	/* Children whose parent is none, or of another kind. */
	stop(start_kernel(&comm, NULL, 0, 10));
	stop(start_kernel(&comm, again, 0, 10));
	stop(start_transfer(&comm, NULL, 0, true, getpid()));
	{
		struct nccl_host_event event = {.step = {.step = -5}};
		void *handle = start_transfer(&comm, coll, 1, false, getpid());
		void *step = start(comm.context, &event, NCCL_PROFILE_PROXY_STEP, handle);

		state(step, 12345, 1);
		state(step, NCCL_STATE_RECV_WAIT, 1);
		state(step, NCCL_STATE_RECV_WAIT, 1);
		stop(step);
		stop(step);
		start(comm.context, &event, NCCL_PROFILE_PROXY_STEP, step); /* of a step */
		stop(handle);
		stop(step);
		count(&wanted.receives, 1);
		count(&wanted.steps, 1);
	}
	/* Of another process, whose handles mean nothing here. */
	stop(start_transfer(&closed, coll, 1, true, 1));
	count(&wanted.sends, 1);
	host.functions.finalize(comm.context);
	stop(start_coll(&comm, NULL));
	garbage(&comm);
}

static void *thread(void *own)
{
	struct comm comm, *shared = own;

	if (shared) {
		operations(shared);
		return NULL;
	}
	open_comm(&comm, 9, "own");
	operations(&comm);
	host.functions.finalize(comm.context);
	return NULL;
}

/* Half of them on one communicator. */
static void by_threads(int number)
{
	pthread_t threads[NR_THREADS];
	struct comm comm;

	(void)number;
	open_comm(&comm, 8, "shared");
	wait_for_mask(1);
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_create(&threads[i], NULL, thread, i % 2 ? &comm : NULL);
	}
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	host.functions.finalize(comm.context);
}

/* The child has its parent's communicators and handles, which are worth nothing there. */
static void by_fork(int number)
{
	struct comm comm;
	void *coll, *handle;
	int status = -1;
	pid_t child;

	(void)number;
	open_comm(&comm, 10, "forked");
	wait_for_mask(1);
	operation(&comm);
	coll = start_coll(&comm, NULL);
	handle = start_kernel(&comm, coll, 0, 10);
	fflush(stdout);
	child = fork();
	if (!child) {
		stop(handle);
		operation(&comm);
		host.functions.finalize(comm.context);
		_exit(mask_now() ? 2 : 3);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
	stop(handle);
	count(&wanted.ops, 1);
	count(&wanted.kernels, handle != NULL);
	operation(&comm);
	host.functions.finalize(comm.context);
}

/* The window closes and opens. What NCCL sends then nevertheless is not recorded. */
static void by_window(int number)
{
	int (*begin)(const char *) = NULL, (*end)(void) = NULL;
	struct comm comm, other;

	(void)number;
	*(void **)&begin = dlsym(RTLD_DEFAULT, "gprof_start");
	*(void **)&end = dlsym(RTLD_DEFAULT, "gprof_stop");
	open_comm(&comm, 11, "window");
	wait_for_mask(1);
	operation(&comm);
	end();
	wait_for_mask(0);
	printf("closed %d\n", mask_now());
	open_comm(&other, 12, "made while it is closed");
	printf("closed %d\n", mask_now());
	{
		struct comm ignored = comm;

		printf("handle %p\n", start_coll(&ignored, NULL));
	}
	begin(NULL);
	wait_for_mask(1);
	printf("open %d\n", mask_now() != 0);
	operation(&other);
	host.functions.finalize(comm.context);
	host.functions.finalize(other.context);
}

/* More kernels at a time than the pool has room for. */
static void by_many(int number)
{
	void **handles = calloc((size_t)number, sizeof(*handles));
	struct comm comm;
	void *coll;
	uint64_t lost = 0;

	open_comm(&comm, 13, "many");
	wait_for_mask(1);
	coll = start_coll(&comm, NULL);
	count(&wanted.ops, 1);
	for (int i = 0; i < number; i++) {
		handles[i] = start_kernel(&comm, coll, i % 64, 10);
		count(handles[i] ? &wanted.kernels : &lost, 1);
	}
	for (int i = 0; i < number; i++) {
		stop(handles[i]);
	}
	kernel(&comm, coll, 5);
	wanted.gpu_ns = host.version >= 4 ? 505 : 0;
	host.functions.finalize(comm.context);
	printf("lost %llu\n", (unsigned long long)lost);
	free(handles);
}

/* More communicators at a time than there is room for; those that are left still work. */
static void by_comms(int number)
{
	struct comm *comms = calloc((size_t)number, sizeof(*comms));

	for (int i = 0; i < number; i++) {
		open_comm(&comms[i], 100 + (uint64_t)i, NULL);
	}
	wait_for_mask(1);
	start_coll(&comms[number - 1], NULL);
	for (int i = 0; i < number; i++) {
		host.functions.finalize(comms[i].context);
	}
	for (int i = 0; i < 3; i++) {
		open_comm(&comms[i], 100 + (uint64_t)i, NULL);
		start_coll(&comms[i], NULL);
		count(&wanted.ops, 1);
	}
	free(comms);
}

/* A kernel whose operation began more events ago than a plugin behind gprof can have parents. */
static void by_old(int number)
{
	struct comm comm;
	void *coll;

	open_comm(&comm, 77, "old");
	wait_for_mask(1);
	coll = start_coll(&comm, NULL);
	stop(coll);
	for (int i = 0; i < number; i++) {
		stop(start_coll(&comm, NULL));
	}
	stop(start_kernel(&comm, coll, 0, 10));
	host.functions.finalize(comm.context);
}

/* What the program does for an operation, and NCCL's thread for a channel: somebody counts. */
__attribute__((noinline)) void *cost_operation(struct comm *comm)
{
	struct nccl_host_event api = {.coll_api = {.function = "AllReduce"}};
	void *called = start(comm->context, &api, NCCL_PROFILE_COLL_API, NULL), *coll;

	stop(called);
	coll = start_coll(comm, called);
	stop(coll);
	return coll;
}

__attribute__((noinline)) void cost_kernel(struct comm *comm, void *coll)
{
	kernel(comm, coll, 3);
}

__attribute__((noinline)) void cost_transfer(struct comm *comm, void *coll)
{
	transfer(comm, coll, 3, true);
}

/* ---- requests to network devices ---- */

static void *start_ib(struct comm *comm, void *step, int device, size_t length)
{
	struct nccl_net_ib_v1 data = {.type = NCCL_NET_REQUEST,
		.request = {.device = device, .queue_pair = 1000 + device, .length = length}};
	struct nccl_host_event event = {.net = {NCCL_NET_IB_V1, &data}};

	return start(comm->context, &event, NCCL_PROFILE_NET, step);
}

static void *start_socket(struct comm *comm, void *step, int fd, size_t length)
{
	struct nccl_net_socket_v1 data = {
		.type = NCCL_NET_REQUEST, .request = {.fd = fd, .length = length}};
	struct nccl_host_event event = {.net = {NCCL_NET_SOCKET_V1, &data}};

	return start(comm->context, &event, NCCL_PROFILE_NET, step);
}

static void *start_step(struct comm *comm, void *transfer, int number)
{
	struct nccl_host_event event = {.step = {.step = number}};

	return start(comm->context, &event, NCCL_PROFILE_PROXY_STEP, transfer);
}

/* A send or receive of two steps over two devices, of which the second takes 2 ms for each. */
static void play_devices(struct comm *comm, void *coll, int channel, bool is_send, bool is_slow)
{
	void *transfer = start_transfer(comm, coll, channel, is_send, getpid());

	for (int i = 0; i < 2; i++) {
		void *step = start_step(comm, transfer, i);

		for (int device = 0; device < 2; device++) {
			void *request = start_ib(comm, step, device, is_send ? 1 << 20 : 0);

			usleep(is_slow && device ? 2000 : 0);
			stop(request);
			stop(request); /* NCCL ends those of InfiniBand twice */
		}
		stop(step);
	}
	stop(transfer);
	count(is_send ? &wanted.sends : &wanted.receives, 1);
	count(&wanted.steps, 2);
}

static void by_devices(int number)
{
	struct comm comm;

	(void)number;
	open_comm(&comm, 16, "devices");
	wait_for_mask(1);
	for (int i = 0; i < NR_OPS; i++) {
		void *coll = start_coll(&comm, NULL);

		count(&wanted.ops, 1);
		for (int channel = 0; channel < 2; channel++) {
			play_devices(&comm, coll, channel, true, channel);
			play_devices(&comm, coll, channel, false, false);
		}
	}
	host.functions.finalize(comm.context);
}

struct socket_work {
	struct comm *comm;
	void *step;
	int fd;
};

/* NCCL's helper threads move the parts of a request over their own sockets. */
static void *move(void *context)
{
	const struct socket_work *work = context;

	for (int i = 0; i < 1000; i++) {
		stop(start_socket(work->comm, work->step, work->fd, 1000));
	}
	return NULL;
}

static void by_sockets(int number)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct socket_work work[NR_THREADS];
	pthread_t threads[NR_THREADS];
	struct comm comm;
	void *coll, *transfer, *step;

	(void)number;
	open_comm(&comm, 17, "sockets");
	wait_for_mask(1);
	coll = start_coll(&comm, NULL);
	transfer = start_transfer(&comm, coll, 5, true, getpid());
	step = start_step(&comm, transfer, 0);
	for (int i = 0; i < NR_THREADS; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (bind(fd, (struct sockaddr *)&address, sizeof(address))) {
			printf("bind has failed\n");
		}
		work[i] = (struct socket_work){&comm, step, fd};
		pthread_create(&threads[i], NULL, move, &work[i]);
	}
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	stop(step);
	stop(transfer);
	count(&wanted.ops, 1);
	count(&wanted.sends, 1);
	count(&wanted.steps, 1);
	host.functions.finalize(comm.context);
}

/* Data of plugins, versions and types that gprof does not know must not be read. */
static void start_unknown(struct comm *comm, void *step)
{
	static const int64_t ids[] = {0, 1, 1 << 16, 1 << 16 | 2, 2 << 16, 2 << 16 | 2, 3 << 16 | 1,
		-1, INT64_MIN, INT64_MAX, (int64_t)1 << 32 | NCCL_NET_IB_V1};
	struct nccl_net_ib_v1 other = {.type = 2};
	struct nccl_host_event event = {.net = {NCCL_NET_IB_V1, NULL}};
	int nr = 0;

	nr += !start(comm->context, &event, NCCL_PROFILE_NET, step);
	event.net.id = NCCL_NET_SOCKET_V1;
	nr += !start(comm->context, &event, NCCL_PROFILE_NET, step);
	event.net = (struct nccl_event_net){NCCL_NET_IB_V1, &other};
	nr += !start(comm->context, &event, NCCL_PROFILE_NET, step);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		event.net = (struct nccl_event_net){ids[i], (void *)(uintptr_t)8};
		nr += !start(comm->context, &event, NCCL_PROFILE_NET, step);
	}
	printf("unknown %d\n", nr);
}

/* One request has a row with 7 bytes, one of a transfer for another process one with 9. */
static void by_hostile_devices(int number)
{
	struct comm comm;
	void *coll, *transfer, *step, *request, *late, *relayed;

	(void)number;
	open_comm(&comm, 18, "hostile");
	wait_for_mask(1);
	coll = start_coll(&comm, NULL);
	transfer = start_transfer(&comm, coll, 1, true, getpid());
	step = start_step(&comm, transfer, 3);
	start_unknown(&comm, step);
	/* Parents that are no step. */
	stop(start_ib(&comm, NULL, 0, 1));
	stop(start_ib(&comm, coll, 0, 1));
	stop(start_ib(&comm, transfer, 0, 1));
	request = start_ib(&comm, step, INT32_MIN, 7);
	stop(start_ib(&comm, request, 0, 1));
	state(request, NCCL_STATE_NET_UPDATE, 0);
	host.functions.record(request, NCCL_STATE_NET_UPDATE, NULL);
	stop(request);
	state(request, NCCL_STATE_SEND_WAIT, 100);
	stop(request);
	stop((char *)request + (1ull << 33)); /* of a later generation */
	stop((char *)request + (1 << 16));    /* of a place that never was in use */
	/* Devices beyond the room for them; one request that never ends, and one that ends late. */
	for (int device = 0; device < 3; device++) {
		start_ib(&comm, step, device, 100);
	}
	printf("beyond %d\n", !start_ib(&comm, step, 3, 1) + !start_socket(&comm, step, -1, 1));
	late = start_ib(&comm, step, 0, 5);
	relayed = start_transfer(&comm, coll, 1, true, 1);
	host.functions.finalize(comm.context);
	stop(step);
	stop(transfer);
	stop(late);
	step = start_step(&comm, relayed, 0);
	stop(start_ib(&comm, step, 0, 9));
	stop(step);
	stop(relayed);
	stop(start_ib(&comm, step, 0, 1));
	count(&wanted.ops, 1);
	count(&wanted.sends, 2);
	count(&wanted.steps, 2);
}

/* More requests under way than there is room for. */
static void by_many_requests(int number)
{
	void **requests = calloc((size_t)number, sizeof(*requests));
	struct comm comm;
	void *coll, *transfer, *step;
	int lost = 0;

	open_comm(&comm, 19, "many");
	wait_for_mask(1);
	coll = start_coll(&comm, NULL);
	transfer = start_transfer(&comm, coll, 0, true, getpid());
	step = start_step(&comm, transfer, 0);
	for (int i = 0; i < number; i++) {
		requests[i] = start_ib(&comm, step, 0, 10);
		lost += !requests[i];
	}
	for (int i = 0; i < number; i++) {
		stop(requests[i]);
	}
	stop(start_ib(&comm, step, 0, 10));
	stop(step);
	stop(transfer);
	host.functions.finalize(comm.context);
	printf("lost %d\n", lost);
	count(&wanted.ops, 1);
	count(&wanted.sends, 1);
	count(&wanted.steps, 1);
	free(requests);
}

/* Ten, as a transfer of ten steps over one device has them. */
__attribute__((noinline)) void cost_requests(struct comm *comm, void *step)
{
	for (int i = 0; i < NR_STEPS; i++) {
		stop(start_ib(comm, step, 0, 4096));
	}
}

static void cost_of_requests(struct comm *comm, void *coll)
{
	void *handle = start_transfer(comm, coll, 3, true, getpid());
	void *step = start_step(comm, handle, 0);

	cost_requests(comm, step);
	stop(step);
	stop(handle);
}

static void by_cost(int number)
{
	struct comm comm;

	open_comm(&comm, 14, "cost");
	wait_for_mask(1);
	for (int i = 0; i < number; i++) {
		void *coll = cost_operation(&comm);

		cost_kernel(&comm, coll);
		cost_transfer(&comm, coll);
		cost_of_requests(&comm, coll);
		count(&wanted.ops, 1);
	}
	host.functions.finalize(comm.context);
}

/* Passes the step on to one state after the other. */
static void pass(void *step, const int *states, int nr)
{
	for (int i = 0; i < nr; i++) {
		state(step, states[i], 100);
	}
}

/*
 * The other side comes 30 ms after the transfer, and pauses for 20 ms before step 6. A send's data
 * are there 10 ms after the transfer has begun; then one step at a time waits for the other side.
 */
static void play_late(struct comm *comm, void *coll, bool is_send)
{
	static const int states[] = {NCCL_STATE_SEND_GPU_WAIT, NCCL_STATE_SEND_PEER_WAIT,
		NCCL_STATE_SEND_WAIT, NCCL_STATE_RECV_WAIT, NCCL_STATE_RECV_FLUSH_WAIT,
		NCCL_STATE_RECV_GPU_WAIT};
	void *handle = start_transfer(comm, coll, 0, is_send, getpid()), *steps[8];

	for (int i = 0; i < 8; i++) {
		struct nccl_host_event event = {.step = {.step = i}};

		steps[i] = start(comm->context, &event, NCCL_PROFILE_PROXY_STEP, handle);
		pass(steps[i], is_send ? states : states + 3, 1);
	}
	usleep(is_send ? 10000 : 0);
	for (int i = 0; i < 8; i++) {
		pass(steps[i], states + 1, is_send ? 1 : 0);
		usleep(i == 0 ? 30000 : i == 6 ? 20000 : 0);
		pass(steps[i], is_send ? states + 2 : states + 4, is_send ? 1 : 2);
		stop(steps[i]);
	}
	stop(handle);
	count(is_send ? &wanted.sends : &wanted.receives, 1);
	count(&wanted.steps, 8);
	count(&wanted.bytes, host.version >= 4 ? 800 : 0);
}

static void by_late(int number)
{
	struct comm comm;
	void *coll;

	(void)number;
	open_comm(&comm, 15, "late");
	wait_for_mask(1);
	coll = start_coll(&comm, NULL);
	count(&wanted.ops, 1);
	play_late(&comm, coll, true);
	play_late(&comm, coll, false);
	host.functions.finalize(comm.context);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*play)(int number);
	} ways[] = {{"play", by_play}, {"hostile", by_hostile}, {"threads", by_threads},
		{"fork", by_fork}, {"window", by_window}, {"many", by_many}, {"comms", by_comms},
		{"old", by_old}, {"cost", by_cost}, {"late", by_late}, {"devices", by_devices},
		{"sockets", by_sockets}, {"hostile-devices", by_hostile_devices},
		{"many-requests", by_many_requests}};
	int device;

	if (argc < 3) {
		return 2;
	}
	CHECK(cudaGetDeviceCount(&device)); /* the recorder starts */
	CHECK(cudaDeviceSynchronize());
	if (!nccl_host_find(&host, atoi(argv[1]))) {
		printf("no plugin\n");
		return 0;
	}
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (!strcmp(argv[2], ways[i].name)) {
			ways[i].play(argc > 3 ? atoi(argv[3]) : 0);
		}
	}
	printf("ops %llu\nkernels %llu\nsends %llu\nreceives %llu\nsteps %llu\nbytes %llu\n"
	       "gpu_ns %llu\n",
		(unsigned long long)wanted.ops, (unsigned long long)wanted.kernels,
		(unsigned long long)wanted.sends, (unsigned long long)wanted.receives,
		(unsigned long long)wanted.steps, (unsigned long long)wanted.bytes,
		(unsigned long long)wanted.gpu_ns);
	return 0;
}
