/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides what a request to `serve` gets. Its address is http://127.0.0.1:PORT/TOKEN/: whoever does
 * not know the token gets nothing. Paths are words of a fixed list; none is ever a file.
 */
#ifndef REPORT_SERVE_REQUEST_H
#define REPORT_SERVE_REQUEST_H

#include "report/html/html.h"
#include "report/html/timeline_data.h"

/* 256 bits in hexadecimal. */
#define REQUEST_TOKEN_CHARS 64u

struct request_address {
	uint16_t port;
	char token[REQUEST_TOKEN_CHARS + 1];
};

/* Draws a token. False: the kernel has no random numbers. */
bool request_draw_token(struct request_address *address);

/* Is it the name by which this machine's own browser calls us? Other names are those of sites that
 * lead here. */
bool request_has_own_host(const struct request_address *address, const char *host);

enum request_path { REQUEST_NO_TOKEN, REQUEST_UNKNOWN, REQUEST_PAGE, REQUEST_WINDOW };

/* path: as sent, not decoded. Takes the same time for all wrong tokens. */
enum request_path request_find_path(const struct request_address *address, const char *path);

/*
 * Parses a window: its process, counting from 1, and times in ns since time 0. False if one of them
 * is missing (NULL), is not a plain number, or there is no such process or no such time.
 */
bool request_parse_window(struct html_window *window, const char *process, const char *from,
	const char *to, size_t nr_processes);

#endif
