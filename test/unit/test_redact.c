/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/util/redact.h"

#include <string.h>

#include "test/unit/unit.h"

static const char *redacted(const char *name, const char *value)
{
	static char out[512];

	out[redact_value(out, sizeof(out) - 1, name, value, strlen(value))] = 0;
	return out;
}

START_TEST(names_of_secrets_are_known_in_any_form)
{
	static const char *const names[] = {"TOKEN", "HF_TOKEN", "hfToken", "MYTOKEN", "API_KEY",
		"WANDB_API_KEY", "apikey", "--private-key", "PASSWORD", "db.passwd", "PGPASSWORD",
		"DB_PASS", "pass", "CLIENT_SECRET", "AWS_CREDENTIALS", "auth", "Authorization",
		"X-Auth-Token", "SSH_PASSPHRASE", "cookie", "MYSQL_PWD", "AUTH_TOKENS", "DB_PASS_2",
		"pass1"};
	char name[200];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_msg(redact_is_secret(names[i], strlen(names[i])), "%s", names[i]);
	}
	memset(name, 'x', sizeof(name)); /* the word behind what can be looked at */
	memcpy(name + sizeof(name) - 5, "TOKEN", 5);
	ck_assert(redact_is_secret(name, sizeof(name)));
}
END_TEST

START_TEST(names_that_only_sound_like_it_are_left)
{
	static const char *const names[] = {"tokenizer", "--tokenizer-path", "max_tokens",
		"max_new_tokens", "keypoints", "author", "monkey", "bypass", "bypass2", "compass",
		"lr", "RANK", "GPROF_DIR", "passes", "", "k"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_msg(!redact_is_secret(names[i], strlen(names[i])), "%s", names[i]);
	}
}
END_TEST

START_TEST(a_value_under_the_name_of_a_secret_is_masked_whole)
{
	ck_assert_str_eq(redacted("HF_TOKEN", "hf_abc def"), "***");
	ck_assert_str_eq(redacted("HF_TOKEN", ""), "");
	ck_assert_str_eq(redacted("GPROF_DIR", "/data/dump"), "/data/dump");
}
END_TEST

START_TEST(secrets_inside_a_value_are_masked)
{
	static const char *const pairs[][2] = {
		{"https://user:pa:ss@host/x?a=1", "https://***@host/x?a=1"},
		{"https://ghp_abc@github.com/x", "https://***@github.com/x"},
		{"https://host/path@2x", "https://host/path@2x"},
		{"https://h/x?token=abc&n=1", "https://h/x?token=***&n=1"},
		{"a=1,api_key=abc,b=2", "a=1,api_key=***,b=2"},
		{"Authorization: Bearer abc def", "Authorization: ***"},
		{"{\"api_key\": \"a b\", \"n\": 1}", "{\"api_key\": \"***\", \"n\": 1}"},
		{"PASSWORD='a b' ./run", "PASSWORD='***' ./run"},
		{"key = 'abc'; x = 1", "key = '***'; x = 1"},
		{"run --token abc --lr 1", "run --token *** --lr 1"},
		{"run --token --lr 1", "run --token --lr 1"},
		{"the key to it", "the key to it"},
		{"TOKEN=", "TOKEN="},
		{"://@", "://***@"},
		{"=x", "=x"},
		{":", ":"},
		{"if key == 'x'", "if key == '***'"},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		ck_assert_str_eq(redacted("", pairs[i][0]), pairs[i][1]);
	}
}
END_TEST

START_TEST(a_command_is_masked_argument_by_argument)
{
	static const char command[] = "python\0t.py\0--token\0abc\0--lr\0"
				      "1e-3\0API_KEY=x y\0--password=z\0--secret\0--v\0last";
	static const char want[] = "python\0t.py\0--token\0***\0--lr\0"
				   "1e-3\0API_KEY=*** y\0--password=***\0--secret\0--v\0last";
	char out[256];

	ck_assert_uint_eq(
		redact_command(out, sizeof(out), command, sizeof(command) - 1), sizeof(want) - 1);
	ck_assert_mem_eq(out, want, sizeof(want) - 1);
	/* With the 0 behind the last argument it keeps it. */
	ck_assert_uint_eq(redact_command(out, sizeof(out), command, sizeof(command)), sizeof(want));
}
END_TEST

START_TEST(what_does_not_fit_is_cut)
{
	char out[8] = "1234567";

	ck_assert_uint_eq(redact_value(out, 4, "", "abcdef", 6), 4);
	ck_assert_mem_eq(out, "abcd567", 8);
	ck_assert_uint_eq(redact_command(out, 2, "a\0b\0c", 5), 2);
}
END_TEST

START_TEST(any_bytes_are_taken)
{
	static const char alphabet[] = "ab=:/@ -\"'key\0\n&";
	uint64_t seed = 7;

	for (int round = 0; round < 20000; round++) {
		char text[24], out[160];
		size_t n = unit_random(&seed) % sizeof(text);

		for (size_t i = 0; i < n; i++) {
			text[i] = alphabet[unit_random(&seed) % (sizeof(alphabet) - 1)];
		}
		ck_assert_uint_le(redact_value(out, sizeof(out), "", text, n), sizeof(out));
		ck_assert_uint_le(redact_command(out, sizeof(out), text, n), sizeof(out));
	}
}
END_TEST

UNIT_SUITE("redact", names_of_secrets_are_known_in_any_form, names_that_only_sound_like_it_are_left,
	a_value_under_the_name_of_a_secret_is_masked_whole, secrets_inside_a_value_are_masked,
	a_command_is_masked_argument_by_argument, what_does_not_fit_is_cut, any_bytes_are_taken)
