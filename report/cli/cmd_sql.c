/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `sql`: runs the statements of a query one after the other in a database over the open
 * processes (sql/database.c), and prints a table for each result. --schema needs no streams.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/session/common_options.h"
#include "report/session/options.h"
#include "report/sql/database.h"

#define MAX_SQL (1u << 20) /* bytes of a file of SQL */

struct request {
	struct common_options asked;
	const char *file; /* of SQL; NULL: the first argument is SQL */
	bool is_schema;
	const char *table; /* of --schema, NULL: all */
};

static const struct option_line options[] = {
	OPTION("file", 'q', "FILE",
		"read the queries from FILE (-: stdin); all arguments are paths", .letter = 'f'),
	OPTION("schema", 's', NULL,
		"list the tables and columns with their meaning, or those of\n"
		"one table: --schema=kernel",
		.is_joined = true),
	OPTION("format", 'f', "FORMAT", "text (default), csv, json, markdown",
		.words = common_options_formats),
	OPTION("wide", 'w', NULL, "print full texts", .hidden_letter = 'w'),
	OPTION("color", 'c', "WHEN", "colours: auto (default: on a terminal), always, never",
		.words = terminal_colors),
	COMMON_OPTIONS_OUTPUT_OPTION,
	COMMON_OPTIONS_SELECTION,
	{0},
};

static int take_option(struct request *request, int option)
{
	switch (option) {
	case 'q':
		request->file = optarg;
		return 0;
	case 's':
		request->is_schema = true;
		request->table = optarg;
		return 0;
	default:
		return common_options_take(&request->asked, option);
	}
}

/* ".schema" and ".schema TABLE", as in SQLite's shell. */
static bool take_schema_line(struct request *request, const char *text)
{
	static const char word[] = ".schema";
	const char *rest = text + sizeof(word) - 1;

	if (strncmp(text, word, sizeof(word) - 1) != 0 || (*rest && *rest != ' ')) {
		return false;
	}
	rest += strspn(rest, " ");
	request->is_schema = true;
	request->table = *rest ? rest : NULL;
	return true;
}

/* Reads the text of a file, "-" for stdin. Returns it, to be freed, or NULL after saying why. */
static char *read_file(const char *path)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	char *text = mem_zeroed(MAX_SQL + 1, 1);
	size_t nr_bytes;

	if (!file) {
		cmd_error("cannot read '%s': %s", path, strerror(errno));
		free(text);
		return NULL;
	}
	nr_bytes = fread(text, 1, MAX_SQL + 1, file);
	if (ferror(file)) {
		cmd_error("cannot read '%s': %s", path, strerror(errno));
	} else if (nr_bytes > MAX_SQL) {
		cmd_error("'%s' has more than %u bytes", path, MAX_SQL);
	} else if (memchr(text, '\0', nr_bytes)) {
		cmd_error("'%s' is not text: it contains a zero byte", path);
	} else {
		nr_bytes = 0; /* it is good */
	}
	if (nr_bytes) {
		free(text);
		text = NULL;
	}
	if (file != stdin) {
		fclose(file);
	}
	return text;
}

static void print_table(
	const struct request *request, const struct table *table, size_t place, struct buf *out)
{
	struct table_style style = request->asked.table;

	style.is_plain = !place; /* mostly the only one: other programs read it as it is */
	if (place) {
		buf_text(out, style.format == TABLE_JSON  ? ",\n"
			      : style.format == TABLE_CSV ? "\n"
							  : "");
	}
	table_print(table, &style, out);
}

/* Runs all statements. Returns what is wrong, to be freed, or NULL. */
static char *print_results(
	const struct request *request, struct database *database, const char *sql, struct buf *out)
{
	struct result *result;
	size_t at = 0, nr_results = 0;
	char *why;

	while ((result = database_run(database, sql, &at, &why))) {
		struct buf key = {0}, title = {0};
		struct table *table;

		buf_printf(&key, nr_results ? "result_%zu" : "result", nr_results + 1);
		buf_char(&key, '\0');
		buf_printf(&title, nr_results ? "Result %zu" : "Result", nr_results + 1);
		buf_char(&title, '\0');
		table = result_table(result, key.bytes, title.bytes);
		print_table(request, table, nr_results++, out);
		table_destroy(table);
		buf_flush(out);
		buf_fini(&key);
		buf_fini(&title);
	}
	if (!why && !nr_results) {
		why = mem_text("the query has no statement");
	}
	return why;
}

static char *print_schema(const struct request *request, struct database *database, struct buf *out)
{
	char *why = NULL;
	struct table *table = database_schema(database, request->table, &why);

	if (table) {
		print_table(request, table, 0, out);
		table_destroy(table);
	}
	return why;
}

/* Prints the results of statements on open processes, or the schema, for which there are none. */
static int print(const struct request *request, struct process **processes, size_t nr_processes,
	const char *sql)
{
	bool is_json = request->asked.table.format == TABLE_JSON;
	struct cmd_output output;
	struct database *database;
	struct buf out;
	char *why = NULL;
	int status;

	database = database_open(processes, nr_processes, &why);
	if (!database) {
		cmd_error("%s", why);
		free(why);
		return CMD_FAILED;
	}
	cmd_output_init(&output, &out, request->asked.output);
	if (is_json) {
		buf_printf(&out, "{\n  \"gprof_report\": \"%s\",\n", GPROF_VERSION);
	}
	why = sql ? print_results(request, database, sql, &out)
		  : print_schema(request, database, &out);
	if (is_json) {
		buf_text(&out, "\n}\n");
	}
	status = why ? CMD_USAGE : CMD_GOOD;
	if (why) {
		cmd_error("%s", why);
	}
	/* Nothing of a statement that failed, but what those before it gave. */
	if (why && !out.nr_flushed) {
		buf_fini(&out);
	} else {
		int end = (int)cmd_output_end(&output, &out);

		status = status ? status : end;
		buf_fini(&out);
	}
	free(why);
	database_close(database);
	return status;
}

static int query(const struct request *request, const char *sql, char *const *paths, int nr_paths)
{
	struct cmd_input input;
	int status = (int)common_options_open(&request->asked, &input, paths, nr_paths);

	if (!status) {
		enum cmd_exit losses;

		status = print(request, input.processes, input.nr_processes, sql);
		/* Said even if the output could not be written. */
		if (status != CMD_USAGE) {
			losses = cmd_warn_inconsistent(
				&input, &request->asked.filter, cmd_warn_losses(&input));
			status = status ? status : (int)losses;
		}
	}
	common_options_close(&input);
	return status;
}

static int run_request(struct request *request, char **arguments, int nr_arguments)
{
	char *text = NULL;
	int status;

	if (!request->is_schema && !request->file && nr_arguments &&
		take_schema_line(request, arguments[0])) {
		arguments++;
		nr_arguments--;
	}
	if (!database_is_available()) {
		return cmd_usage(&cmd_sql,
			"built without SQLite: install libsqlite3-dev and rebuild, or use "
			"export --format csv");
	}
	terminal_set(&request->asked.table, request->asked.output, request->asked.color);
	if (request->is_schema) {
		return print(request, NULL, 0, NULL);
	}
	if (!request->file && !nr_arguments) {
		return cmd_usage(&cmd_sql, "a query is needed, 'select ...' or -f FILE");
	}
	if (!request->file) {
		return query(request, arguments[0], arguments + 1, nr_arguments - 1);
	}
	text = read_file(request->file);
	status = text ? query(request, text, arguments, nr_arguments) : (int)CMD_FAILED;
	free(text);
	return status;
}

static int run(int argc, char **argv)
{
	struct request request = {.asked = {.command = &cmd_sql, .top = COMMON_OPTIONS_NO_TOP}};
	int option, status = 0;

	while (!status && (option = options_get(&cmd_sql, argc, argv)) >= 0) {
		status = take_option(&request, option);
	}
	if (!status) {
		status = run_request(&request, argv + optind, argc - optind);
	}
	common_options_fini(&request.asked);
	return status == COMMON_OPTIONS_HELP ? CMD_GOOD : status;
}

const struct command cmd_sql = {
	.name = "sql",
	.arguments = "[OPTION]... QUERY [PATH]...",
	.help = "query every event of dumps and traces with SQL",
	.options = options,
	.run = run,
};
