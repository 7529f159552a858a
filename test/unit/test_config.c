/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/util/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "test/unit/unit.h"

static char said[4096];
static int nr_said;

static void say(const char *sentence)
{
	nr_said++;
	strncat(said, sentence, sizeof(said) - strlen(said) - 2);
	strcat(said, "\n");
}

/* A new name for a file of settings, in GPROF_CONFIG. */
static const char *name_file(void)
{
	static char path[4200];

	snprintf(path, sizeof(path), "%s/profiler.env", unit_temp_dir());
	setenv("GPROF_CONFIG", path, 1);
	return path;
}

static void write_bytes(const char *bytes, size_t nr_bytes)
{
	FILE *file = fopen(name_file(), "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, nr_bytes, file), nr_bytes);
	fclose(file);
}

static void write_file(const char *text)
{
	write_bytes(text, strlen(text));
}

/* The one sentence that config_load leaves has the file's name and says this. */
static void must_complain(int rc, const char *what)
{
	config_init();
	ck_assert_int_eq(config_load(), rc);
	config_complain(say);
	ck_assert_int_eq(nr_said, 1);
	ck_assert_msg(strstr(said, "GPROF_CONFIG=/") && strstr(said, "/profiler.env ") &&
			      strstr(said, what),
		"%s", said);
}

START_TEST(defaults_hold_without_an_environment)
{
	config_init();
	config_complain(say);
	ck_assert_int_eq(nr_said, 0);
	ck_assert(config_flag(CONFIG_ENABLE));
	ck_assert_str_eq(config_text(CONFIG_DIR), "gprof-dump");
	ck_assert_uint_eq(config_number(CONFIG_BUFFER_MB), 64);
	ck_assert_uint_eq(config_number(CONFIG_GRAPH), GRAPH_NODE);
	ck_assert_uint_eq(config_number(CONFIG_CAPTURE), CAPTURE_NONE);
	ck_assert_str_eq(config_full_name(CONFIG_MAX_MB), "GPROF_MAX_MB");
}
END_TEST

START_TEST(misspelt_variables_are_named_with_the_right_one)
{
	setenv("GPROF_SCHEDUL", "3", 1);
	setenv("GPROF_CUPTI_PAHT", "x", 1);
	/* Of other programs, perhaps. */
	setenv("GPROF_API_KEY", "x", 1);
	setenv("GPROF_BIG", "x", 1);
	setenv("GPROF_", "x", 1);
	setenv("GPROF_A_NAME_THAT_IS_LONGER_THAN_ANY_OF_GPROF", "x", 1);
	config_init();
	config_complain(say);
	ck_assert_int_eq(nr_said, 2);
	ck_assert_ptr_nonnull(strstr(said, "GPROF_SCHEDUL is no variable of gprof and is ignored; "
					   "did you mean GPROF_SCHEDULE?\n"));
	ck_assert_ptr_nonnull(strstr(said, "GPROF_CUPTI_PAHT is no variable of gprof and is "
					   "ignored; did you mean GPROF_CUPTI_PATH?\n"));
	ck_assert_str_eq(config_text(CONFIG_SCHEDULE), "all");
}
END_TEST

START_TEST(defaults_lie_within_their_own_ranges)
{
	config_init();
	for (int i = 0; i < CONFIG_NR; i++) {
		char before[1024];

		snprintf(before, sizeof(before), "%s", config_text((enum config_name)i));
		ck_assert_msg(!config_set(config_full_name((enum config_name)i), before), "%s",
			config_full_name((enum config_name)i));
	}
}
END_TEST

START_TEST(environment_sets_each_type)
{
	setenv("GPROF_ENABLE", "0", 1);
	setenv("GPROF_BUFFER_MB", "8", 1);
	setenv("GPROF_GRAPH", "graph", 1);
	setenv("GPROF_DIR", "/some/where", 1);
	setenv("CUDA_HOME", "/opt/cuda", 1);
	config_init();
	ck_assert(!config_flag(CONFIG_ENABLE));
	ck_assert_uint_eq(config_number(CONFIG_BUFFER_MB), 8);
	ck_assert_uint_eq(config_number(CONFIG_GRAPH), GRAPH_GRAPH);
	ck_assert_str_eq(config_text(CONFIG_DIR), "/some/where");
	ck_assert_str_eq(config_cuda_home(), "/opt/cuda");
}
END_TEST

START_TEST(wrong_values_keep_the_default_and_name_variable_value_and_what_is_allowed)
{
	setenv("GPROF_BUFFER_MB", "7", 1);
	setenv("GPROF_FLUSH_MS", "60001", 1);
	setenv("GPROF_ENABLE", "yes", 1);
	setenv("GPROF_GRAPH", "nod", 1);
	setenv("GPROF_MAX_MB", "99999999999999999999999999", 1);
	config_init();
	config_complain(say);
	ck_assert_int_eq(nr_said, 5);
	ck_assert_uint_eq(config_number(CONFIG_BUFFER_MB), 64);
	ck_assert_uint_eq(config_number(CONFIG_FLUSH_MS), 1000);
	ck_assert(config_flag(CONFIG_ENABLE));
	ck_assert_uint_eq(config_number(CONFIG_GRAPH), GRAPH_NODE);
	ck_assert_uint_eq(config_number(CONFIG_MAX_MB), 0);
	ck_assert_ptr_nonnull(
		strstr(said, "GPROF_BUFFER_MB=7 is not allowed (allowed: 8 to 65536); "
			     "the default is used\n"));
	ck_assert_ptr_nonnull(strstr(said, "GPROF_GRAPH=nod is not allowed (allowed: node|graph)"));
	config_complain(say);
	ck_assert_int_eq(nr_said, 5);
}
END_TEST

START_TEST(of_many_wrong_values_the_rest_is_counted)
{
	config_init();
	for (int i = 0; i < 11; i++) {
		ck_assert_int_eq(config_set("GPROF_BUFFER_MB", "x"), -EINVAL);
	}
	config_complain(say);
	ck_assert_int_eq(nr_said, 9);
	ck_assert_msg(strstr(said, "3 more settings are wrong and not listed"), "%s", said);
}
END_TEST

START_TEST(numbers_at_their_bounds_are_taken_and_signs_blanks_and_hex_are_not)
{
	static const char *const wrong[] = {"", "-1", "+8", " 8", "8 ", "0x10", "8.0", "1e3"};

	config_init();
	ck_assert_int_eq(config_set("GPROF_BUFFER_MB", "8"), 0);
	ck_assert_int_eq(config_set("GPROF_BUFFER_MB", "65536"), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_msg(config_set("GPROF_BUFFER_MB", wrong[i]) == -EINVAL, "'%s'", wrong[i]);
	}
	ck_assert_uint_eq(config_number(CONFIG_BUFFER_MB), 65536);
}
END_TEST

START_TEST(lists_are_bits_of_the_words)
{
	static const char *const wrong[] = {
		"", ",", "stacks,", "stack", "stacks,,off", "stacks off"};

	config_init();
	ck_assert_uint_eq(config_number(CONFIG_PYTHON), 1u << PYTHON_OFF);
	ck_assert_int_eq(config_set("GPROF_PYTHON", "stacks"), 0);
	ck_assert_uint_eq(config_number(CONFIG_PYTHON), 1u << PYTHON_STACKS);
	ck_assert_int_eq(config_set("GPROF_PYTHON", "modules,stacks"), 0);
	ck_assert_uint_eq(config_number(CONFIG_PYTHON), 1u << PYTHON_MODULES | 1u << PYTHON_STACKS);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_msg(config_set("GPROF_PYTHON", wrong[i]) == -EINVAL, "'%s'", wrong[i]);
	}
}
END_TEST

START_TEST(one_variable_is_known_early)
{
	ck_assert_uint_eq(config_early(CONFIG_PYTHON), 1u << PYTHON_OFF);
	setenv("GPROF_PYTHON", "stacks", 1);
	ck_assert_uint_eq(config_early(CONFIG_PYTHON), 1u << PYTHON_STACKS);
	setenv("GPROF_PYTHON", "stakcs", 1);
	ck_assert_uint_eq(config_early(CONFIG_PYTHON), 1u << PYTHON_OFF);
	config_complain(say);
	ck_assert_int_eq(nr_said, 0); /* that waits for config_init */
}
END_TEST

START_TEST(unknown_variable_is_named)
{
	config_init();
	ck_assert_int_eq(config_set("GPROF_BUFER_MB", "8"), -EINVAL);
	config_complain(say);
	ck_assert_str_eq(said,
		"GPROF_BUFER_MB is no variable of gprof and is ignored; did you mean "
		"GPROF_BUFFER_MB?\n");
}
END_TEST

START_TEST(file_is_read_with_comments_quotes_and_export)
{
	write_file("# a comment\n"
		   "\n"
		   "GPROF_BUFFER_MB=16   # behind a value\n"
		   "  export GPROF_DIR=\"/a dir/with # in it\"\n"
		   "GPROF_STEP='nvtx:my step'\n"
		   "GPROF_GRAPH=graph\r\n"
		   "PATH=/not/ours\n"
		   "GPROF_FLUSH_MS=50");
	config_init();
	ck_assert_int_eq(config_load(), 0);
	config_complain(say);
	ck_assert_str_eq(said, "");
	ck_assert_uint_eq(config_number(CONFIG_BUFFER_MB), 16);
	ck_assert_str_eq(config_text(CONFIG_DIR), "/a dir/with # in it");
	ck_assert_str_eq(config_text(CONFIG_STEP), "nvtx:my step");
	ck_assert_uint_eq(config_number(CONFIG_GRAPH), GRAPH_GRAPH);
	ck_assert_uint_eq(config_number(CONFIG_FLUSH_MS), 50);
}
END_TEST

START_TEST(environment_wins_over_the_file)
{
	write_file("GPROF_BUFFER_MB=16\nGPROF_MAX_MB=5\n");
	setenv("GPROF_BUFFER_MB", "32", 1);
	config_init();
	ck_assert_int_eq(config_load(), 0);
	ck_assert_uint_eq(config_number(CONFIG_BUFFER_MB), 32);
	ck_assert_uint_eq(config_number(CONFIG_MAX_MB), 5);
}
END_TEST

START_TEST(wrong_lines_of_the_file_are_told_and_the_rest_is_used)
{
	write_file("GPROF_NONSENSE=1\nGPROF_BUFFER_MB=lots\nGPROF_MAX_MB=5\n");
	config_init();
	ck_assert_int_eq(config_load(), 0);
	config_complain(say);
	ck_assert_int_eq(nr_said, 2);
	ck_assert_uint_eq(config_number(CONFIG_MAX_MB), 5);
}
END_TEST

START_TEST(what_is_no_regular_file_is_not_opened_and_told)
{
	static const char *const sentences[] = {"is not a regular file but a pipe, a socket or a "
						"device: none of its settings are used",
		"is a directory: none of its settings are used", "is empty (its size is 0)",
		"cannot be read (error 2, there is no such file): none"};
	static const int codes[] = {-EINVAL, -EISDIR, -ENODATA, -ENOENT};
	const char *path = name_file();

	ck_assert_int_eq(_i == 0   ? mkfifo(path, 0600)
			 : _i == 1 ? mkdir(path, 0700)
			 : _i == 2 ? mknod(path, S_IFREG | 0600, 0)
				   : 0,
		0);
	must_complain(codes[_i], sentences[_i]);
}
END_TEST

/* Of which a process with the right to would take the messages of the kernel away, or wait. */
START_TEST(files_of_the_kernel_are_not_read)
{
	setenv("GPROF_CONFIG", "/proc/kmsg", 1);
	config_init();
	ck_assert_int_eq(config_load(), -ENODATA);
	config_complain(say);
	ck_assert_ptr_nonnull(strstr(said, "GPROF_CONFIG=/proc/kmsg is empty"));
}
END_TEST

START_TEST(binary_file_is_told_and_nothing_of_it_is_used)
{
	static const char bytes[] = "GPROF_BUFFER_MB=16\nGPROF_MAX_MB=5\0\nGPROF_FLUSH_MS=50\n";

	write_bytes(bytes, sizeof(bytes) - 1);
	must_complain(-EINVAL, "is not text (line 2 contains a zero byte)");
	ck_assert_uint_eq(config_number(CONFIG_BUFFER_MB), 64);
	ck_assert_uint_eq(config_number(CONFIG_FLUSH_MS), 1000);
}
END_TEST

START_TEST(byte_order_mark_does_not_hide_the_first_line)
{
	write_file("\xef\xbb\xbfGPROF_BUFFER_MB=16\r\nGPROF_MAX_MB=5\r\n");
	config_init();
	ck_assert_int_eq(config_load(), 0);
	config_complain(say);
	ck_assert_str_eq(said, "");
	ck_assert_uint_eq(config_number(CONFIG_BUFFER_MB), 16);
	ck_assert_uint_eq(config_number(CONFIG_MAX_MB), 5);
}
END_TEST

/* A value that is cut in its middle would be another value. */
START_TEST(oversized_file_is_used_up_to_its_last_whole_line)
{
	static char text[40000];
	size_t n = 0;

	n += (size_t)sprintf(text, "GPROF_BUFFER_MB=16\n");
	for (; n < 32768 - 15; n++) {
		text[n] = n % 100 && n < 32768 - 16 ? '#' : '\n';
	}
	n += (size_t)sprintf(text + n, "GPROF_MAX_MB=500\nGPROF_FLUSH_MS=50\n");
	write_bytes(text, n);
	must_complain(-EFBIG, "is longer than 32768 bytes: its settings after line ");
	ck_assert_uint_eq(config_number(CONFIG_BUFFER_MB), 16);
	ck_assert_uint_eq(config_number(CONFIG_MAX_MB), 0);
	ck_assert_uint_eq(config_number(CONFIG_FLUSH_MS), 1000);
}
END_TEST

START_TEST(file_that_just_fits_is_used_wholly)
{
	static char text[32768];
	size_t n = sizeof(text) - strlen("\nGPROF_MAX_MB=500");

	memset(text, '#', sizeof(text));
	memcpy(text + n, "\nGPROF_MAX_MB=500", sizeof(text) - n);
	write_bytes(text, sizeof(text));
	config_init();
	ck_assert_int_eq(config_load(), 0);
	ck_assert_uint_eq(config_number(CONFIG_MAX_MB), 500);
}
END_TEST

START_TEST(line_without_a_value_is_told)
{
	write_file("GPROF_BUFFER_MB 16\nPATH\nGPROF_MAX_MB=5\n");
	config_init();
	ck_assert_int_eq(config_load(), 0);
	config_complain(say);
	ck_assert_str_eq(said, "GPROF_BUFFER_MB 16 in the file of GPROF_CONFIG has no value; write "
			       "NAME=value\n");
	ck_assert_uint_eq(config_number(CONFIG_MAX_MB), 5);
}
END_TEST

START_TEST(endless_text_is_refused)
{
	static char text[5000];

	memset(text, 'd', sizeof(text) - 1);
	setenv("GPROF_DIR", text, 1);
	config_init();
	config_complain(say);
	ck_assert_int_eq(nr_said, 1);
	ck_assert_str_eq(config_text(CONFIG_DIR), "gprof-dump");
}
END_TEST

START_TEST(preset_wins_over_the_environment)
{
	setenv("GPROF_BUFFER_MB", "8", 1);
	setenv("GPROF_MAX_MB", "3", 1);
	ck_assert_int_eq(config_preset("GPROF_BUFFER_MB=16\nGPROF_PYTHON=stacks,modules"), 0);
	ck_assert(config_is_asked(CONFIG_PYTHON));
	ck_assert_uint_eq(config_early(CONFIG_PYTHON), 1u << PYTHON_STACKS | 1u << PYTHON_MODULES);
	config_init();
	ck_assert_uint_eq(config_number(CONFIG_BUFFER_MB), 16);
	ck_assert_uint_eq(config_number(CONFIG_MAX_MB), 3);
	ck_assert_int_eq(config_preset(""), 0);
	config_init();
	ck_assert_uint_eq(config_number(CONFIG_BUFFER_MB), 8);
}
END_TEST

START_TEST(wrong_preset_changes_nothing)
{
	static char text[5000] = "GPROF_DIR=";
	static const char *const wrong[] = {"GPROF_BUFFER_MB=16\nGPROF_GRAPH=none",
		"GPROF_BUFFER_MB=16\nGPROF_COLOUR=red", "GPROF_BUFFER_MB", "BUFFER_MB=16",
		"GPROF_BUFFER_MB=-1"};

	config_init();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_int_eq(config_preset(wrong[i]), -EINVAL);
		ck_assert_uint_eq(config_number(CONFIG_BUFFER_MB), 64);
	}
	memset(text + strlen(text), 'd', sizeof(text) - 1 - strlen(text));
	ck_assert_int_eq(config_preset(text), -E2BIG);
	config_init();
	ck_assert_uint_eq(config_number(CONFIG_BUFFER_MB), 64);
	ck_assert_str_eq(config_text(CONFIG_DIR), "gprof-dump");
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {defaults_hold_without_an_environment,
		misspelt_variables_are_named_with_the_right_one,
		defaults_lie_within_their_own_ranges, environment_sets_each_type,
		wrong_values_keep_the_default_and_name_variable_value_and_what_is_allowed,
		of_many_wrong_values_the_rest_is_counted,
		numbers_at_their_bounds_are_taken_and_signs_blanks_and_hex_are_not,
		lists_are_bits_of_the_words, one_variable_is_known_early, unknown_variable_is_named,
		file_is_read_with_comments_quotes_and_export, environment_wins_over_the_file,
		wrong_lines_of_the_file_are_told_and_the_rest_is_used,
		files_of_the_kernel_are_not_read, binary_file_is_told_and_nothing_of_it_is_used,
		byte_order_mark_does_not_hide_the_first_line,
		oversized_file_is_used_up_to_its_last_whole_line,
		file_that_just_fits_is_used_wholly, line_without_a_value_is_told,
		endless_text_is_refused, preset_wins_over_the_environment,
		wrong_preset_changes_nothing};
	Suite *suite = unit_make("config", tests, sizeof(tests) / sizeof(tests[0]));

	unit_loop(suite, what_is_no_regular_file_is_not_opened_and_told, 4);
	return suite;
}
