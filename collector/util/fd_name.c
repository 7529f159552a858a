/* SPDX-License-Identifier: Apache-2.0 */
/* The link in /proc names a file; a socket is named by its ends. System calls alone. */
#include "collector/util/fd_name.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "collector/util/log.h"

/* Linux takes ports from here on for clients. */
#define FIRST_CLIENT_PORT 32768u

static size_t port_name(char *name, const char *host, unsigned int peer, unsigned int own)
{
	/* The port of a client is another one each time. */
	if (own && own < FIRST_CLIENT_PORT && peer >= FIRST_CLIENT_PORT) {
		return log_format(name, FD_NAME_BYTES, "client %s of port %u", host, own);
	}
	return log_format(name, FD_NAME_BYTES, "%s:%u", host, peer);
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
		return log_format(name, FD_NAME_BYTES, "unix:@%.*s", (int)length - 1, path + 1);
	}
	if (!length) {
		return log_format(name, FD_NAME_BYTES, "unix socket"); /* as of socketpair */
	}
	return log_format(name, FD_NAME_BYTES, "unix:%.*s", (int)length, path);
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

size_t fd_name(char *name, int fd)
{
	char link[40];
	size_t nr_bytes;
	long length;

	log_format(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = syscall(SYS_readlinkat, (long)AT_FDCWD, link, name, (long)FD_NAME_BYTES);
	if (length <= 0) {
		return 0;
	}
	nr_bytes = (size_t)length;
	if (nr_bytes > 7 && !memcmp(name, "socket:", 7)) {
		size_t better = socket_name(name, fd);

		/* The name of the link has a number that means nothing. */
		nr_bytes = better ? better : log_format(name, FD_NAME_BYTES, "socket");
	}
	return nr_bytes;
}
