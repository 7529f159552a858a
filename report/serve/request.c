/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c passes the texts of a request; what it may have is decided here from these texts alone,
 * so that tests need no socket. A path must be the token and a name of a fixed list, byte for byte:
 * nothing is decoded or joined.
 */
#include "report/serve/request.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Times in the page are doubles, which are exact up to 2^53. */
#define MAX_NS (1ull << 53)

bool request_draw_token(struct request_address *address)
{
	unsigned char bytes[REQUEST_TOKEN_CHARS / 2];

	if (syscall(SYS_getrandom, bytes, sizeof(bytes), 0) != (long)sizeof(bytes)) {
		return false;
	}
	for (size_t i = 0; i < sizeof(bytes); i++) {
		snprintf(address->token + 2 * i, 3, "%02x", bytes[i]);
	}
	return true;
}

bool request_has_own_host(const struct request_address *address, const char *host)
{
	static const char *const names[] = {"127.0.0.1", "localhost"};
	char own[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(own, sizeof(own), "%s:%u", names[i], address->port);
		if (strcmp(host, own) == 0) {
			return true;
		}
	}
	return false;
}

/* Compares all bytes: the time that this takes says nothing about the token. */
static bool is_same(const char *a, const char *b, size_t nr_bytes)
{
	volatile unsigned char difference = 0;

	for (size_t i = 0; i < nr_bytes; i++) {
		difference = (unsigned char)(difference | (a[i] ^ b[i]));
	}
	return difference == 0;
}

enum request_path request_find_path(const struct request_address *address, const char *path)
{
	static const struct {
		const char *name;
		enum request_path path;
	} paths[] = {{"/", REQUEST_PAGE}, {"/window", REQUEST_WINDOW}};

	if (path[0] != '/' || strlen(path + 1) < REQUEST_TOKEN_CHARS ||
		!is_same(path + 1, address->token, REQUEST_TOKEN_CHARS)) {
		return REQUEST_NO_TOKEN;
	}
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (strcmp(path + 1 + REQUEST_TOKEN_CHARS, paths[i].name) == 0) {
			return paths[i].path;
		}
	}
	return REQUEST_UNKNOWN;
}

bool request_parse_window(struct html_window *window, const char *process, const char *from,
	const char *to, size_t nr_processes)
{
	uint64_t place;

	if (!process || !from || !to || !cmd_number(process, nr_processes, &place) || !place ||
		!cmd_number(from, MAX_NS, &window->begin_ns) ||
		!cmd_number(to, MAX_NS, &window->end_ns)) {
		return false;
	}
	window->process = (size_t)place - 1;
	return window->begin_ns < window->end_ns;
}
