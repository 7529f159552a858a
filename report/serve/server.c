/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `serve` calls server_open() first, as the page has its nonce, then makes the page and calls
 * server_run(). One thread of libmicrohttpd answers all requests, so nothing here needs a lock: the
 * page stays in memory and is sent as it is, and a window of the timeline is read from the streams
 * when a browser asks for it. The main thread only waits for SIGINT or SIGTERM.
 */
#include "report/serve/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef REPORT_HAS_MICROHTTPD

char *server_open(struct server *server, uint16_t port)
{
	(void)port;
	server->fd = -1;
	return mem_text(
		"this gprof-report was built without a server; build it where libmicrohttpd is "
		"installed (Debian: apt-get install libmicrohttpd-dev)");
}

bool server_run(struct server *server, const char *what)
{
	(void)server;
	(void)what;
	return false;
}

#else

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <strings.h>
#include <sys/socket.h>

#include "report/stream/stream.h"
#include "report/timeline/tracks.h"

/* A browser has six; HEADER_BYTES is the memory of one, which holds its whole header. */
#define MAX_CONNECTIONS 256u
#define IDLE_SECONDS	10u
#define HEADER_BYTES	(16u << 10)

/* ---- the library ---- */

#define LIBRARY "libmicrohttpd.so.12"
#define FUNCTIONS(F)                   \
	F(start_daemon)                \
	F(stop_daemon)                 \
	F(create_response_from_buffer) \
	F(add_response_header)         \
	F(queue_response)              \
	F(destroy_response)            \
	F(get_connection_values)       \
	F(lookup_connection_value)

#define POINTER(name) __typeof__(&MHD_##name) name;
static struct {
	FUNCTIONS(POINTER)
} http;
#undef POINTER

static char *load_library(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	struct buf why = {0};
	bool has_all = library != NULL;

#define LOAD(name)                                                   \
	if (has_all) {                                               \
		*(void **)&http.name = dlsym(library, "MHD_" #name); \
		has_all = http.name != NULL;                         \
	}
	FUNCTIONS(LOAD)
#undef LOAD
	if (has_all) {
		return NULL;
	}
	buf_printf(&why, "cannot load " LIBRARY " (Debian: apt-get install libmicrohttpd12): %s%c",
		dlerror(), '\0');
	return why.bytes;
}

/* ---- the socket ---- */

/* Listens for this machine only. A port that was just left may be taken again. */
static int listen_on(struct request_address *address)
{
	struct sockaddr_in own = {.sin_family = AF_INET,
		.sin_port = htons(address->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t nr_bytes = sizeof(own);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1, error;

	if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) &&
		!bind(fd, (struct sockaddr *)&own, sizeof(own)) && !listen(fd, SOMAXCONN) &&
		!getsockname(fd, (struct sockaddr *)&own, &nr_bytes)) {
		address->port = ntohs(own.sin_port);
		return fd;
	}
	error = errno;
	if (fd >= 0) {
		close(fd);
	}
	return -error;
}

char *server_open(struct server *server, uint16_t port)
{
	struct request_address drawn;
	struct buf text = {0};
	char *why;

	server->address.port = port;
	server->fd = -1;
	why = load_library();
	if (why) {
		return why;
	}
	server->fd = listen_on(&server->address);
	if (server->fd < 0) {
		buf_printf(&text, "cannot listen on 127.0.0.1:%u: %s%c", port,
			strerror(-server->fd), '\0');
		return text.bytes;
	}
	if (!request_draw_token(&server->address) || !request_draw_token(&drawn)) {
		return mem_text("the kernel has no random numbers for the address");
	}
	memcpy(server->nonce, drawn.token, HTML_NONCE_CHARS);
	return NULL;
}

/* ---- answers ---- */

struct answer {
	unsigned int status;
	const char *type;
	const char *policy; /* NULL: that of a text */
	struct buf *bytes;  /* NULL: the text */
	const char *text;
};

/* The bytes of the page stay; those of a window are copied. */
static enum MHD_Result send_answer(
	struct MHD_Connection *connection, const struct answer *answer, bool stays)
{
	const char *bytes = answer->bytes ? answer->bytes->bytes : answer->text;
	size_t nr_bytes = answer->bytes ? answer->bytes->nr_bytes : strlen(answer->text);
	struct MHD_Response *response = http.create_response_from_buffer(nr_bytes,
		(void *)(uintptr_t)bytes, stays ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_COPY);
	const char *const headers[][2] = {
		{"Content-Type", answer->type ? answer->type : "text/plain; charset=utf-8"},
		{"Content-Security-Policy", answer->policy
						    ? answer->policy
						    : "default-src 'none'; frame-ancestors 'none'"},
		{"X-Content-Type-Options", "nosniff"},
		{"X-Frame-Options", "DENY"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Referrer-Policy", "no-referrer"},
		{"Cache-Control", "no-store"},
	};
	enum MHD_Result result;

	if (!response) {
		return MHD_NO;
	}
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		http.add_response_header(response, headers[i][0], headers[i][1]);
	}
	if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED) {
		http.add_response_header(response, "Allow", "GET");
	}
	result = http.queue_response(connection, answer->status, response);
	http.destroy_response(response);
	return result;
}

static enum MHD_Result refuse(
	struct MHD_Connection *connection, unsigned int status, const char *text)
{
	return send_answer(connection, &(struct answer){.status = status, .text = text}, true);
}

static enum MHD_Result send_page(const struct server *server, struct MHD_Connection *connection)
{
	struct buf policy = {0};
	enum MHD_Result result;

	html_add_policy(&policy, server->nonce, true);
	buf_text(&policy, "; frame-ancestors 'none'");
	buf_char(&policy, '\0');
	result = send_answer(connection,
		&(struct answer){.status = MHD_HTTP_OK,
			.type = "text/html; charset=utf-8",
			.policy = policy.bytes,
			.bytes = (struct buf *)(uintptr_t)&server->page},
		true);
	buf_fini(&policy);
	return result;
}

/* The queries for a window run in the thread of the library, as everything that answers. */
static enum MHD_Result send_window(struct server *server, struct MHD_Connection *connection)
{
	const struct cmd_input *input = server->input;
	struct html_window window;
	struct buf bytes = {0};
	enum MHD_Result result;

	if (!request_parse_window(&window,
		    http.lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "process"),
		    http.lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "from"),
		    http.lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "to"),
		    input->nr_processes)) {
		return refuse(connection, MHD_HTTP_BAD_REQUEST,
			"A window is process=N (from 1 on), from=NS and to=NS since the start.\n");
	}
	if (!html_timeline_write_window(input, &window, &server->collectives, &bytes)) {
		buf_fini(&bytes);
		return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE,
			"This time has too many events; ask for a shorter one.\n");
	}
	result = send_answer(
		connection, &(struct answer){.status = MHD_HTTP_OK, .bytes = &bytes}, false);
	buf_fini(&bytes);
	return result;
}

/* ---- requests ---- */

/* The Host headers of a request: a site that leads here by a name of its own says that name. */
struct hosts {
	const struct request_address *address;
	unsigned int nr, nr_own;
};

static enum MHD_Result on_header(
	void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct hosts *hosts = context;

	(void)kind;
	if (strcasecmp(key, "Host") == 0) {
		hosts->nr++;
		hosts->nr_own += value && request_has_own_host(hosts->address, value);
	}
	return MHD_YES;
}

static enum MHD_Result answer(
	struct server *server, struct MHD_Connection *connection, const char *path)
{
	struct hosts hosts = {.address = &server->address};

	http.get_connection_values(connection, MHD_HEADER_KIND, on_header, &hosts);
	if (hosts.nr != 1 || hosts.nr_own != 1) {
		return refuse(connection, MHD_HTTP_FORBIDDEN,
			"This server answers at 127.0.0.1 and localhost only.\n");
	}
	switch (request_find_path(&server->address, path)) {
	case REQUEST_PAGE:
		return send_page(server, connection);
	case REQUEST_WINDOW:
		return send_window(server, connection);
	case REQUEST_NO_TOKEN:
		return refuse(connection, MHD_HTTP_FORBIDDEN,
			"Open the whole address that gprof-report serve printed.\n");
	default:
		return refuse(connection, MHD_HTTP_NOT_FOUND, "There is no such page.\n");
	}
}

/* Called once the header is read, and again once the whole request is. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *upload, size_t *nr_upload,
	void **state)
{
	static char is_known;

	(void)version;
	(void)upload;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0) {
		return refuse(
			connection, MHD_HTTP_METHOD_NOT_ALLOWED, "This server answers GET only.\n");
	}
	if (!*state) {
		*state = &is_known;
		return MHD_YES;
	}
	return *nr_upload ? MHD_NO : answer(context, connection, url);
}

/* Paths and numbers are plain: an escaped one is not decoded, so it is unknown. */
static size_t keep_escaped(void *context, struct MHD_Connection *connection, char *text)
{
	(void)context;
	(void)connection;
	return strlen(text);
}

bool server_run(struct server *server, const char *what)
{
	struct MHD_Daemon *daemon;
	sigset_t ends;
	int number;

	tracks_collectives_read(
		&server->collectives, server->input->processes, server->input->nr_processes);
	/* Before the address is out, and in all threads: those of the library inherit it. */
	stream_end_threads();
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	signal(SIGINT, SIG_DFL); /* a shell's background jobs ignore it */
	signal(SIGPIPE, SIG_IGN);
	daemon = http.start_daemon(MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, on_request, server,
		MHD_OPTION_LISTEN_SOCKET, server->fd, MHD_OPTION_CONNECTION_LIMIT, MAX_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)HEADER_BYTES, MHD_OPTION_UNESCAPE_CALLBACK, keep_escaped, NULL,
		MHD_OPTION_END);
	if (!daemon) {
		return false;
	}
	server->fd = -1; /* the daemon closes it */
	printf("%s: http://127.0.0.1:%u/%s/ (Ctrl-C ends)\n", what, server->address.port,
		server->address.token);
	fflush(stdout);
	while (sigwait(&ends, &number)) {
	}
	http.stop_daemon(daemon);
	return true;
}

#endif

void server_close(struct server *server)
{
	if (server->fd >= 0) {
		close(server->fd);
	}
	buf_fini(&server->page);
	nccl_ops_fini(&server->collectives);
}
