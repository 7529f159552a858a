/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's side of libgprof-os.so (os/os.h): which calls are the program's, which are events,
 * and what their descriptors mean.
 *
 * A file gets a number when its descriptor is in an event for the first time, and that row has its
 * name. To learn it costs one system call, or three for a socket; the number stays until the
 * descriptor closes. So most events of a file cost none.
 *
 * CPython's lock (GIL) is two condition variables with their mutexes. They are members of
 * _PyRuntime, the variable with all of the interpreter's state, and nothing else in there is what a
 * thread can wait for (3.8 to 3.15). So the address shows that a thread waits for the GIL.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "collector/ring/os_counts.h"
#include "collector/util/log.h"
#include "collector/util/target.h"
#include "preload/base/modules.h"
#include "preload/hook/hook.h"
#include "preload/hooks.h"
#include "preload/os/os.h"

/* The numbers of files are remembered for so many descriptors; later ones are named in each row. */
#define MAX_FDS 65536
/* A signal handler may have no larger stack than 2 KB. */
#define NAME_BYTES 512u
/* Linux takes ports from here on for clients. */
#define FIRST_CLIENT_PORT 32768u

static struct os_state {
	_Atomic uint32_t files[MAX_FDS];
	_Atomic uint32_t nr_files;
} state;

/* _PyRuntime; 0 bytes: there is no Python. */
static struct {
	_Atomic uint64_t address, nr_bytes;
} python_runtime;

/* ---- names ---- */

static size_t port_name(char *name, const char *host, unsigned int peer, unsigned int own)
{
	/* The port of a client is another one each time. */
	if (own && own < FIRST_CLIENT_PORT && peer >= FIRST_CLIENT_PORT) {
		return log_format(name, NAME_BYTES, "client %s of port %u", host, own);
	}
	return log_format(name, NAME_BYTES, "%s:%u", host, peer);
}

static void ipv4_text(char *text, size_t nr_bytes, const uint8_t *address)
{
	log_format(text, nr_bytes, "%u.%u.%u.%u", address[0], address[1], address[2], address[3]);
}

static void ipv6_text(char *text, size_t nr_bytes, const uint8_t *address)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	size_t at = 0;

	if (!memcmp(address, mapped, sizeof(mapped))) {
		ipv4_text(text, nr_bytes, address + sizeof(mapped));
		return;
	}
	for (unsigned int i = 0; i < 16; i += 2) {
		at += log_format(text + at, nr_bytes - at, "%s%x", i ? ":" : "[",
			(unsigned int)(address[i] << 8 | address[i + 1]));
	}
	log_format(text + at, nr_bytes - at, "]");
}

union any_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

static size_t local_name(char *name, const union any_address *address, socklen_t nr_bytes)
{
	const char *path = address->local.sun_path;
	size_t length = nr_bytes > offsetof(struct sockaddr_un, sun_path)
				? nr_bytes - offsetof(struct sockaddr_un, sun_path)
				: 0;

	if (length && !*path) { /* an abstract one */
		return log_format(name, NAME_BYTES, "unix:@%.*s", (int)length - 1, path + 1);
	}
	return log_format(name, NAME_BYTES, "unix:%.*s", (int)length, path);
}

static unsigned int port_of(const union any_address *address)
{
	return ntohs(
		address->any.sa_family == AF_INET6 ? address->v6.sin6_port : address->v4.sin_port);
}

static size_t address_name(
	char *name, const union any_address *peer, socklen_t nr_bytes, unsigned int own_port)
{
	char host[48];

	switch (peer->any.sa_family) {
	case AF_UNIX:
		return local_name(name, peer, nr_bytes);
	case AF_INET:
		ipv4_text(host, sizeof(host), (const uint8_t *)&peer->v4.sin_addr);
		break;
	case AF_INET6:
		ipv6_text(host, sizeof(host), (const uint8_t *)&peer->v6.sin6_addr);
		break;
	default:
		return 0;
	}
	return port_name(name, host, port_of(peer), own_port);
}

/* Without a peer, what the socket waits at. Returns 0 if neither is known. */
static size_t socket_name(char *name, int fd)
{
	union any_address peer, own;
	socklen_t peer_bytes = sizeof(peer), own_bytes = sizeof(own);
	bool has_own = !syscall(SYS_getsockname, (long)fd, &own, &own_bytes);
	unsigned int own_port = 0;

	if (has_own && own.any.sa_family != AF_UNIX) {
		own_port = port_of(&own);
	}
	if (!syscall(SYS_getpeername, (long)fd, &peer, &peer_bytes)) {
		/* The other end of a Unix socket often has no name, and this one has. */
		if (peer.any.sa_family != AF_UNIX || !has_own ||
			peer_bytes > offsetof(struct sockaddr_un, sun_path)) {
			return address_name(name, &peer, peer_bytes, own_port);
		}
	}
	return has_own ? address_name(name, &own, own_bytes, 0) : 0;
}

/* Writes the kernel's name of a descriptor, cut to fit. Returns its length; 0 if it is unknown. */
static size_t fd_name(char *name, int fd)
{
	char link[40];
	size_t nr_bytes;
	long length;

	log_format(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = syscall(SYS_readlinkat, (long)AT_FDCWD, link, name, (long)NAME_BYTES);
	if (length <= 0) {
		return 0;
	}
	nr_bytes = (size_t)length;
	loss_add(LOSS_OS_NAME, nr_bytes == NAME_BYTES); /* the kernel cuts it */
	if (nr_bytes > 7 && !memcmp(name, "socket:", 7)) {
		size_t better = socket_name(name, fd);

		/* The name of the link has a number that means nothing. */
		nr_bytes = better ? better : log_format(name, NAME_BYTES, "socket");
	}
	return nr_bytes;
}

static size_t path_name(char *name, const char *path)
{
	size_t nr_bytes = strnlen(path, NAME_BYTES);

	loss_add(LOSS_OS_NAME, nr_bytes == NAME_BYTES);
	memcpy(name, path, nr_bytes);
	return nr_bytes;
}

/* These errors may come before anybody reads the path, which may then be no address at all. */
static bool has_read_path(int error)
{
	return error != EFAULT && error != EINVAL && error != ENOMEM && error != EAGAIN;
}

/*
 * The number of the file; *nr_bytes: of its name, which the row must have. A path counts where
 * there is no descriptor, and where /proc does not say what it means.
 */
static uint32_t find_file(const struct os_call *call, char *name, size_t *nr_bytes)
{
	bool is_remembered = call->fd >= 0 && call->fd < MAX_FDS;
	uint32_t file = is_remembered ? atomic_load(&state.files[call->fd]) : call->file;

	if (file) {
		return file;
	}
	*nr_bytes = call->fd >= 0 ? fd_name(name, call->fd) : 0;
	if (!*nr_bytes && call->path && has_read_path(call->error)) {
		*nr_bytes = path_name(name, call->path);
	}
	if (*nr_bytes && is_remembered) {
		file = atomic_fetch_add(&state.nr_files, 1) + 1;
		atomic_store(&state.files[call->fd], file);
	}
	return file;
}

/* ---- a call ---- */

/* Returns what the call counts as: the function, or a wait for the GIL. */
static enum os_id id_of(const struct os_call *call)
{
	uint64_t nr_bytes = atomic_load_explicit(&python_runtime.nr_bytes, memory_order_acquire);
	uint64_t address = atomic_load_explicit(&python_runtime.address, memory_order_relaxed);

	return call->object - address < nr_bytes ? OS_python_gil : (enum os_id)call->call;
}

static void write_row(const struct os_call *call, uint64_t end)
{
	struct gprof_row_os_call row = {.begin = call->begin,
		.dur = end,
		.thread = ring_tls.id,
		.call = (uint16_t)(os_counts_first_call() + id_of(call)),
		.result = call->error,
		.returned = call->result,
		.bytes = call->bytes,
		.object = call->object};
	char name[NAME_BYTES];
	size_t nr_bytes = 0;

	row.file = find_file(call, name, &nr_bytes);
	ring_emit(&row, GPROF_TABLE_os_call, name, nr_bytes);
}

static void record(const struct os_call *call, uint64_t end)
{
	struct ring_tls *self = &ring_tls;
	struct ring_mark mark;
	TARGET_KEEP_ERRNO;

	/* Calls from here are gprof's own. */
	ring_enter_profiler(self, &mark);
	if ((hook_mode() & COLLECTOR_RECORD) && ring_enter(self)) {
		write_row(call, end);
	}
	ring_leave_profiler(self, &mark);
}

/*
 * Calls of gprof are not the program's; those that a call of CUDA or NCCL makes are a part of that.
 * A mark below the stack's end is one that the thread has left.
 */
static uint64_t begin_call(void)
{
	return ring_tls.frame > RING_STACK ? 0 : clock_raw();
}

static void end_call(const struct os_call *call)
{
	uint64_t end = clock_raw();

	if (end - call->begin < atomic_load_explicit(&os_counts_min_raw, memory_order_relaxed)) {
		os_counts_add(id_of(call), call->bytes);
	} else {
		record(call, end);
	}
}

static uint32_t forget_file(int first, int last)
{
	uint32_t file = 0;

	for (int fd = first < 0 ? 0 : first; fd <= last && fd < MAX_FDS; fd++) {
		uint32_t before = atomic_load_explicit(&state.files[fd], memory_order_relaxed);

		if (before) {
			atomic_store_explicit(&state.files[fd], 0, memory_order_relaxed);
		}
		file = fd == first ? before : file;
	}
	return file;
}

/* A forked child has a stream of its own, in which no file has a name. */
void hooks_os_forget(void)
{
	forget_file(0, MAX_FDS - 1);
}

static bool look_for_python(const struct module *module, void *unused)
{
	uint64_t nr_bytes;
	void *runtime = module->has_symbols
				? elf_find_variable(&module->elf, "_PyRuntime", &nr_bytes)
				: NULL;

	(void)unused;
	if (!runtime) {
		return false;
	}
	atomic_store_explicit(&python_runtime.address, (uintptr_t)runtime, memory_order_relaxed);
	atomic_store_explicit(&python_runtime.nr_bytes, nr_bytes, memory_order_release);
	return true;
}

void hooks_os_init(void)
{
	if (&gprof_os_library) {
		os_counts_want();
		modules_each(look_for_python, NULL);
	}
}

HOOK_EXPORT const struct os_recorder gprof_os_recorder = {.size = sizeof(gprof_os_recorder),
	.nr_calls = OS_NR,
	.mode = &collector_mode,
	.begin = begin_call,
	.end = end_call,
	.forget = forget_file};
