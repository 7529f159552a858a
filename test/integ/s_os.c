/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without CUDA that makes calls of the C library of every kind, some of them slow, and
 * counts them itself. It says what they returned, which must be the same with and without gprof,
 * and with an argument also "count NAME CALLS BYTES" for each function, in that file.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* ---- counts ---- */

/* clang-format off */
#define NAMES(N) \
	N(open) N(openat) N(creat) N(close) N(dup2) N(read) N(pread) N(readv) N(write) \
	N(pwrite) N(writev) N(fsync) N(fdatasync) N(fopen) N(fclose) N(fread) N(fwrite) \
	N(fflush) N(connect) N(accept) N(send) N(sendto) N(sendmsg) N(recv) N(recvfrom) \
	N(recvmsg) N(poll) N(ppoll) N(select) N(pselect) N(epoll_wait) N(epoll_pwait) \
	N(nanosleep) N(clock_nanosleep) N(usleep) N(sleep) N(pthread_mutex_lock) \
	N(pthread_rwlock_rdlock) N(pthread_rwlock_wrlock) N(pthread_cond_wait) \
	N(pthread_cond_timedwait) N(sem_wait) N(sem_timedwait) N(pthread_barrier_wait) \
	N(pthread_join) N(fork) N(vfork) N(posix_spawn) N(system) N(popen) N(pclose) N(execv) \
	N(wait4) N(waitpid) N(waitid)
/* clang-format on */

enum {
#define N(name) NAME_##name,
	NAMES(N)
#undef N
		NR_NAMES,
};
static _Atomic uint64_t calls[NR_NAMES], bytes[NR_NAMES];

/* The call counts when it returns: one that is cancelled does not. */
#define CALL(name, ...)                            \
	({                                         \
		__auto_type r = name(__VA_ARGS__); \
		calls[NAME_##name]++;              \
		r;                                 \
	})
#define MOVE(name, ...)                                                \
	({                                                             \
		ssize_t moved = (ssize_t)CALL(name, __VA_ARGS__);      \
		int error = errno;                                     \
		bytes[NAME_##name] += moved > 0 ? (uint64_t)moved : 0; \
		errno = error;                                         \
		moved;                                                 \
	})

#define SAY(what, value) printf("%s %ld\n", what, (long)(value))

static void write_counts(const char *path)
{
	static const char *const names[] = {
#define N(name) #name,
		NAMES(N)
#undef N
	};
	int fd = CALL(open, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	/* It writes within the C library, where no library stands in for write. */
	for (int i = 0; i < NR_NAMES; i++) {
		dprintf(fd, "count %s %lu %lu\n", names[i], (unsigned long)calls[i],
			(unsigned long)bytes[i]);
	}
}

/* ---- files ---- */

#define NR_SMALL   3000
#define BLOCK_SIZE 4096

static void use_files(void)
{
	static char block[BLOCK_SIZE];
	struct iovec parts[2] = {{block, 100}, {block + 100, 200}};
	struct stat stat;
	int fd = CALL(open, "data.bin", O_RDWR | O_CREAT | O_TRUNC, 0640);

	fstat(fd, &stat);
	SAY("mode", stat.st_mode & 0777);
	for (int i = 0; i < NR_SMALL; i++) {
		MOVE(write, fd, block, sizeof(block));
	}
	SAY("pwrite", MOVE(pwrite, fd, block, 10, 5));
	SAY("writev", MOVE(writev, fd, parts, 2));
	SAY("fsync", CALL(fsync, fd));
	SAY("fdatasync", CALL(fdatasync, fd));
	lseek(fd, 0, SEEK_SET);
	for (int i = 0; i < NR_SMALL; i++) {
		MOVE(read, fd, block, sizeof(block));
	}
	SAY("pread", MOVE(pread, fd, block, 7, 3));
	SAY("readv", MOVE(readv, fd, parts, 2));
	SAY("end", MOVE(read, fd, block, sizeof(block)));
	SAY("close", CALL(close, fd));
	SAY("closed", MOVE(read, fd, block, 1));
	SAY("errno", errno);
	SAY("missing", CALL(open, "no/such?password=hunter2", O_RDONLY));
	SAY("errno", errno);
	fd = CALL(openat, AT_FDCWD, "data.bin", O_RDONLY);
	SAY("dup2", CALL(dup2, fd, 700));
	SAY("again", MOVE(read, 700, block, 5));
	CALL(close, 700);
	CALL(close, fd);
	fd = CALL(creat, "other.bin", 0600);
	CALL(close, fd);
}

static void use_streams(void)
{
	char block[1000] = {0};
	const char *volatile no_address = (const char *)16;
	FILE *file = CALL(fopen, "stream.bin", "w+");

	SAY("fwrite", MOVE(fwrite, block, 1, sizeof(block), file));
	SAY("fflush", CALL(fflush, file));
	rewind(file);
	SAY("fread", MOVE(fread, block, 1, 2000, file));
	SAY("fclose", CALL(fclose, file));
	SAY("no stream", CALL(fopen, "no/such", "r") == NULL);
	/* The mode is refused before anybody reads the path. */
	SAY("no mode", CALL(fopen, no_address, "?") == NULL);
	SAY("errno", errno);
}

/* Waits until the main thread of a process sleeps: on a busy machine a reader may come so late that
 * its read is short. */
static void until_asleep(pid_t process)
{
	char path[32], text[512], *state;
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/stat", process);
	do {
		int fd = open(path, O_RDONLY);

		size = read(fd, text, sizeof(text) - 1);
		close(fd);
		text[size > 0 ? size : 0] = 0;
		state = strrchr(text, ')');
	} while (state && strncmp(state, ") S", 3) != 0 && !sched_yield());
}

/* Another process writes into the pipe, with pauses while its reader waits. */
static void use_fifo(void)
{
	char block[512];
	int fd;
	pid_t child;

	mkfifo("slow.fifo", 0600);
	CALL(fflush, stdout);
	child = CALL(fork);
	if (!child) {
		const struct timespec pause = {0, 5000000};
		int to = open("slow.fifo", O_WRONLY);

		for (int i = 0; i < 20; i++) {
			until_asleep(getppid());
			nanosleep(&pause, NULL);
			if (write(to, block, sizeof(block)) < 0) {
				_exit(1);
			}
		}
		_exit(0);
	}
	fd = CALL(open, "slow.fifo", O_RDONLY);
	for (int i = 0; i < 20; i++) {
		MOVE(read, fd, block, sizeof(block));
	}
	CALL(close, fd);
	SAY("waited", CALL(waitpid, child, NULL, 0) == child);
}

/* ---- threads ---- */

static pthread_mutex_t convoy = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_there;

static void *hold(void *unused)
{
	const struct timespec pause = {0, 2000000};

	CALL(pthread_barrier_wait, &all_there);
	for (int i = 0; i < 5; i++) {
		CALL(pthread_mutex_lock, &convoy);
		CALL(nanosleep, &pause, NULL);
		pthread_mutex_unlock(&convoy);
	}
	return unused;
}

static void use_locks(void)
{
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	pthread_t threads[4];

	pthread_barrier_init(&all_there, NULL, 4);
	for (int i = 0; i < 4; i++) {
		pthread_create(&threads[i], NULL, hold, NULL);
	}
	for (int i = 0; i < 4; i++) {
		CALL(pthread_join, threads[i], NULL);
	}
	for (int i = 0; i < 10000; i++) {
		CALL(pthread_mutex_lock, &convoy);
		pthread_mutex_unlock(&convoy);
	}
	SAY("rdlock", CALL(pthread_rwlock_rdlock, &lock));
	pthread_rwlock_unlock(&lock);
	SAY("wrlock", CALL(pthread_rwlock_wrlock, &lock));
	pthread_rwlock_unlock(&lock);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static bool is_set;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER;
static _Atomic bool is_ready, is_writing, is_waiting;

static void *set(void *unused)
{
	const struct timespec pause = {0, 3000000};

	while (!is_ready) {
	}
	CALL(clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
	CALL(pthread_mutex_lock, &mutex);
	is_set = true;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
	while (!is_waiting) {
	}
	CALL(usleep, 20000);
	sem_post(&semaphore);
	return unused;
}

static struct timespec soon(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_nsec += 2000000;
	now.tv_sec += now.tv_nsec / 1000000000;
	now.tv_nsec %= 1000000000;
	return now;
}

static void *write_for_20_ms(void *unused)
{
	CALL(pthread_rwlock_wrlock, &written);
	is_writing = true;
	CALL(usleep, 20000);
	pthread_rwlock_unlock(&written);
	return unused;
}

static void wait_for_writer(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, write_for_20_ms, NULL);
	while (!is_writing) {
	}
	CALL(pthread_rwlock_rdlock, &written);
	pthread_rwlock_unlock(&written);
	CALL(pthread_join, thread, NULL);
}

static void use_waits(void)
{
	struct timespec until;
	pthread_t thread;

	sem_init(&semaphore, 0, 0);
	pthread_create(&thread, NULL, set, NULL);
	CALL(pthread_mutex_lock, &mutex);
	is_ready = true;
	while (!is_set) {
		CALL(pthread_cond_wait, &changed, &mutex);
	}
	until = soon();
	SAY("timedwait", CALL(pthread_cond_timedwait, &changed, &mutex, &until));
	pthread_mutex_unlock(&mutex);
	is_waiting = true;
	SAY("sem_wait", CALL(sem_wait, &semaphore));
	until = soon();
	SAY("sem_timedwait", CALL(sem_timedwait, &semaphore, &until));
	SAY("errno", errno);
	CALL(pthread_join, thread, NULL);
	wait_for_writer();
}

static int pipe_fds[2];

static void *read_pipe(void *unused)
{
	char byte;

	MOVE(read, pipe_fds[0], &byte, 1);
	return unused;
}

/* The thread is cancelled in the call: it must be a cancellation point still. */
static void cancel_thread(void)
{
	const struct timespec pause = {0, 20000000};
	pthread_t thread;
	void *result;

	if (pipe(pipe_fds)) {
		abort();
	}
	pthread_create(&thread, NULL, read_pipe, NULL);
	CALL(nanosleep, &pause, NULL);
	pthread_cancel(thread);
	CALL(pthread_join, thread, &result);
	SAY("cancelled", result == PTHREAD_CANCELED);
}

/* ---- signals ---- */

static void on_alarm(int number)
{
	(void)number;
	MOVE(write, pipe_fds[1], "x", 1);
}

/* The handler calls a hooked function within a hooked call, which it ends. */
static void interrupt_calls(void)
{
	const struct itimerval after = {.it_value.tv_usec = 10000};
	struct sigaction action = {.sa_handler = on_alarm};
	int other[2];
	char byte;

	sigaction(SIGALRM, &action, NULL);
	if (pipe(other)) {
		abort();
	}
	setitimer(ITIMER_REAL, &after, NULL);
	SAY("interrupted", MOVE(read, other[0], &byte, 1));
	SAY("errno", errno);
	SAY("from the handler", MOVE(read, pipe_fds[0], &byte, 1));
	setitimer(ITIMER_REAL, &after, NULL);
	SAY("poll", CALL(poll, &(struct pollfd){other[0], POLLIN, 0}, 1, -1));
	SAY("errno", errno);
	for (int i = 0; i < 2; i++) {
		CALL(close, other[i]);
	}
}

/* ---- sockets ---- */

static void *serve(void *listener)
{
	char text[64];
	struct iovec part = {text, sizeof(text)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	int fd = CALL(accept, *(int *)listener, NULL, NULL);

	CALL(usleep, 4000);
	MOVE(send, fd, "hello", 5, 0);
	MOVE(recvmsg, fd, &message, 0);
	CALL(close, fd);
	return NULL;
}

static void use_sockets(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	struct iovec part = {"bye", 3};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	pthread_t thread;
	char text[64];

	bind(listener, (struct sockaddr *)&address, size);
	listen(listener, 1);
	getsockname(listener, (struct sockaddr *)&address, &size);
	pthread_create(&thread, NULL, serve, &listener);
	SAY("connect", CALL(connect, fd, (struct sockaddr *)&address, size));
	SAY("recv", MOVE(recv, fd, text, sizeof(text), 0));
	SAY("sendmsg", MOVE(sendmsg, fd, &message, 0));
	CALL(pthread_join, thread, NULL);
	CALL(close, fd);
	CALL(close, listener);
}

static void use_polls(void)
{
	const struct timespec pause = {0, 2000000};
	struct timeval time = {0, 2000};
	struct epoll_event event = {.events = EPOLLIN};
	int pair[2], epoll = epoll_create1(0);
	fd_set set;
	char text[8];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) {
		abort();
	}
	FD_ZERO(&set);
	FD_SET(pair[0], &set);
	SAY("select", CALL(select, pair[0] + 1, &set, NULL, NULL, &time));
	SAY("pselect", CALL(pselect, 0, NULL, NULL, NULL, &pause, NULL));
	SAY("poll", CALL(poll, &(struct pollfd){pair[0], POLLIN, 0}, 1, 2));
	SAY("ppoll", CALL(ppoll, NULL, 0, &pause, NULL));
	epoll_ctl(epoll, EPOLL_CTL_ADD, pair[0], &event);
	SAY("epoll_wait", CALL(epoll_wait, epoll, &event, 1, 2));
	SAY("epoll_pwait", CALL(epoll_pwait, epoll, &event, 1, 2, NULL));
	SAY("sendto", MOVE(sendto, pair[1], "abc", 3, 0, NULL, 0));
	SAY("recvfrom", MOVE(recvfrom, pair[0], text, sizeof(text), 0, NULL, NULL));
	for (int i = 0; i < 2; i++) {
		CALL(close, pair[i]);
	}
	CALL(close, epoll);
}

/* ---- processes ---- */

static void use_processes(void)
{
	char *const arguments[] = {"true", NULL};
	const char *volatile nowhere = (const char *)16;
	siginfo_t info = {0};
	FILE *stream;
	int status;
	pid_t child;

	calls[NAME_vfork]++;
	child = vfork();
	if (!child) {
		calls[NAME_execv]++; /* here, since the child has our memory */
		execv("/bin/true", arguments);
		_exit(1);
	}
	SAY("vfork", CALL(waitpid, child, &status, 0) == child && !status);
	SAY("spawn", CALL(posix_spawn, &child, "/bin/true", NULL, NULL, arguments, environ));
	SAY("wait4", CALL(wait4, child, &status, 0, NULL) == child && !status);
	SAY("no spawn", CALL(posix_spawn, &child, "/no/such", NULL, NULL, arguments, environ));
	SAY("system", CALL(system, "exit 3"));
	SAY("no exec", CALL(execv, "/no/such", arguments));
	SAY("errno", errno);
	SAY("no address", CALL(execv, nowhere, arguments));
	SAY("errno", errno);
	SAY("no exec in PATH", execvp("no-such-program", arguments));
	SAY("errno", errno);
	stream = CALL(popen, "exit 4", "r");
	SAY("popen", CALL(pclose, stream));
	CALL(fflush, stdout);
	child = CALL(fork);
	if (!child) {
		_exit(7);
	}
	SAY("waitid", CALL(waitid, P_PID, (id_t)child, &info, WEXITED));
	SAY("status", info.si_status);
	SAY("none", CALL(waitpid, -1, &status, 0));
	SAY("errno", errno);
}

int main(int argc, char **argv)
{
	int (*start)(const char *settings) = NULL;

	*(void **)&start = dlsym(RTLD_DEFAULT, "gprof_start");
	if (start && start(NULL) < 0) {
		return 1;
	}
	use_files();
	use_streams();
	use_fifo();
	use_locks();
	use_waits();
	cancel_thread();
	interrupt_calls();
	use_sockets();
	use_polls();
	use_processes();
	SAY("sleep", CALL(sleep, 0));
	CALL(fflush, stdout);
	if (argc > 1) {
		write_counts(argv[1]);
	}
	return 0;
}
