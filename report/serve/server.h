/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server of `serve`: gives out the page and windows of its timeline to browsers of this
 * machine, by libmicrohttpd. It listens on 127.0.0.1 only, answers only GET, and reads nothing
 * but the streams that the command opened. The library is loaded when the server starts, since it
 * costs other commands more than they do themselves.
 */
#ifndef REPORT_SERVE_SERVER_H
#define REPORT_SERVE_SERVER_H

#include "report/serve/request.h"

struct server {
	const struct cmd_input *input;
	char nonce[HTML_NONCE_CHARS + 1]; /* of the page */
	struct buf page;
	struct request_address address;
	int fd;
	struct nccl_ops collectives; /* of windows */
};

/*
 * Loads the library, listens on a port (0: the system chooses one), and draws the token and the
 * nonce. Returns NULL, or the reason why there is no server, which the caller frees. server_close
 * ends it in any case.
 */
char *server_open(struct server *server, uint16_t port);

/*
 * Prints the address after `what`, and answers until SIGINT or SIGTERM. The caller has set input
 * and page. False if the server cannot start.
 */
bool server_run(struct server *server, const char *what);

void server_close(struct server *server);

#endif
