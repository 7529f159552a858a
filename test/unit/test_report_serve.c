/* SPDX-License-Identifier: Apache-2.0 */
#include "report/serve/request.h"

#include "test/unit/unit.h"

/* A path of the server: '/', the token, and that. */
static enum request_path find(const struct request_address *address, const char *rest)
{
	char path[128] = "/";

	strcpy(path + 1, address->token);
	strcat(path, rest);
	return request_find_path(address, path);
}

START_TEST(only_the_whole_token_opens_a_path)
{
	struct request_address address = {.port = 8000}, other = {0};
	char path[128] = "/";

	ck_assert(request_draw_token(&address) && request_draw_token(&other));
	ck_assert_uint_eq(strlen(address.token), REQUEST_TOKEN_CHARS);
	ck_assert_uint_eq(strspn(address.token, "0123456789abcdef"), REQUEST_TOKEN_CHARS);
	ck_assert_str_ne(address.token, other.token);
	ck_assert_int_eq(find(&address, "/"), REQUEST_PAGE);
	ck_assert_int_eq(find(&address, "/window"), REQUEST_WINDOW);
	ck_assert_int_eq(find(&address, ""), REQUEST_UNKNOWN);
	ck_assert_int_eq(find(&address, "/window/"), REQUEST_UNKNOWN);
	ck_assert_int_eq(find(&address, "/../window"), REQUEST_UNKNOWN);
	ck_assert_int_eq(request_find_path(&address, ""), REQUEST_NO_TOKEN);
	ck_assert_int_eq(request_find_path(&address, "/"), REQUEST_NO_TOKEN);
	ck_assert_int_eq(request_find_path(&other, address.token), REQUEST_NO_TOKEN);
	for (size_t i = 0; i < REQUEST_TOKEN_CHARS; i++) {
		strcpy(path + 1, address.token);
		strcat(path, "/");
		path[1 + i] ^= 1;
		ck_assert_int_eq(request_find_path(&address, path), REQUEST_NO_TOKEN);
		path[1 + i] = '\0';
		ck_assert_int_eq(request_find_path(&address, path), REQUEST_NO_TOKEN);
	}
}
END_TEST

START_TEST(only_names_of_this_machine_are_hosts)
{
	static const char *const bad[] = {"", "127.0.0.1", "localhost", "127.0.0.1:80",
		"127.0.0.1:80000", "127.0.0.1:8000 ", "127.0.0.1:8000.example", "example:8000",
		"localhost.example:8000", "0.0.0.0:8000", "[::1]:8000", "127.0.0.2:8000"};
	const struct request_address address = {.port = 8000};

	ck_assert(request_has_own_host(&address, "127.0.0.1:8000"));
	ck_assert(request_has_own_host(&address, "localhost:8000"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(!request_has_own_host(&address, bad[i]), "'%s'", bad[i]);
	}
}
END_TEST

START_TEST(windows_are_three_plain_numbers)
{
	static const char *const bad[][3] = {{NULL, "0", "1"}, {"1", NULL, "1"}, {"1", "0", NULL},
		{"0", "0", "1"}, {"4", "0", "1"}, {"1", "1", "1"}, {"1", "2", "1"},
		{"1", "-1", "1"}, {"", "0", "1"}, {"1", "", "1"}, {"1", "0", ""}, {"1 ", "0", "1"},
		{"1", "0x1", "9"}, {"1", "0", "1e3"}, {"1", "0", "18446744073709551616"},
		{"1", "0", "9007199254740993"}};
	struct html_window window = {0};

	ck_assert(request_parse_window(&window, "3", "5", "9007199254740992", 3));
	ck_assert_uint_eq(window.process, 2);
	ck_assert_uint_eq(window.begin_ns, 5);
	ck_assert_uint_eq(window.end_ns, 1ull << 53);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(!request_parse_window(&window, bad[i][0], bad[i][1], bad[i][2], 3),
			"%zu", i);
	}
}
END_TEST

UNIT_SUITE("report/serve", only_the_whole_token_opens_a_path, only_names_of_this_machine_are_hosts,
	windows_are_three_plain_numbers)
