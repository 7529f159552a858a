/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layout of a kernel's file: "Making kernels for Jupyter" of jupyter_client's manual. Jupyter looks
 * for it in kernels/ of JUPYTER_DATA_DIR, of share/jupyter of the environment, and of the user's
 * ~/.local/share/jupyter.
 */
#include "report/launch/jupyter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/util/buf.h"
#include "report/util/err.h"
#include "report/util/text.h"

/* Nothing is recorded between the cells that ask for it. */
#define CAPTURE	      "GPROF_CAPTURE"
#define CAPTURE_VALUE "cudaprofiler"

/* Returns memory of the caller, or NULL if no variable names a folder. */
static char *kernel_folder(void)
{
	static const struct {
		const char *variable, *below;
	} places[] = {{"JUPYTER_DATA_DIR", ""}, {"VIRTUAL_ENV", "/share/jupyter"},
		{"CONDA_PREFIX", "/share/jupyter"}, {"HOME", "/.local/share/jupyter"}};
	char *folder = NULL;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *root = getenv(places[i].variable);

		if (root && *root) {
			return asprintf(&folder, "%s%s/kernels/gprof", root, places[i].below) < 0
				       ? NULL
				       : folder;
		}
	}
	return NULL;
}

/* Makes the folder and those above it. Returns 0 or -errno. */
static int make_folders(char *path)
{
	for (char *at = path + 1; *at; at++) {
		if (*at == '/') {
			*at = '\0';
			mkdir(path, 0777); /* the last one says whether they are there */
			*at = '/';
		}
	}
	return mkdir(path, 0777) && errno != EEXIST ? -errno : 0;
}

static void add_member(struct buf *out, const char *name, const char *value)
{
	buf_text(out, ",\n  ");
	text_add_json(out, name, strlen(name));
	buf_text(out, ": ");
	text_add_json(out, value, strlen(value));
}

static void add_kernel(
	struct buf *out, const char *python, const char *preload, const char *const *values)
{
	const struct variable *variables = variables_all();

	buf_text(out, "{\n \"argv\": [");
	text_add_json(out, python, strlen(python));
	buf_text(out, ", \"-m\", \"ipykernel_launcher\", \"-f\", \"{connection_file}\"],\n"
		      " \"display_name\": \"Python 3 (gprof)\",\n \"language\": \"python\",\n"
		      " \"metadata\": {\"debugger\": true},\n \"env\": {\n  \"LD_PRELOAD\": ");
	text_add_json(out, preload, strlen(preload));
	add_member(out, CAPTURE, CAPTURE_VALUE);
	for (int i = 0; variables[i].name; i++) {
		if (values[i] && strcmp(variables[i].name, CAPTURE) != 0) {
			add_member(out, variables[i].name, values[i]);
		}
	}
	buf_text(out, "\n }\n}\n");
}

static int write_file(const char *folder, const struct buf *text)
{
	char *path = NULL;
	FILE *file = NULL;
	int rc = 0;

	if (asprintf(&path, "%s/kernel.json", folder) >= 0) {
		file = fopen(path, "w");
	}
	if (!file || fwrite(text->bytes, 1, text->nr_bytes, file) != text->nr_bytes) {
		rc = -errno;
	}
	if (file && fclose(file) && !rc) {
		rc = -errno;
	}
	free(path);
	return rc;
}

int jupyter_install(const char *python, const char *preload, const char *const *values)
{
	char *folder = kernel_folder();
	struct buf text = {0};
	int rc;

	if (!folder) {
		return err_set(-ENOENT, "there is no place for a kernel of Jupyter; set HOME or "
					"JUPYTER_DATA_DIR");
	}
	add_kernel(&text, python, preload, values);
	rc = make_folders(folder);
	rc = rc ? rc : write_file(folder, &text);
	if (rc) {
		err_set(rc, "cannot write '%s/kernel.json': %s", folder, strerror(-rc));
	} else {
		printf("%s/kernel.json\nIn Jupyter, choose the kernel \"Python 3 (gprof)\"; "
		       "%%load_ext gprof, and %%%%gprof at the begin of a cell, record that "
		       "cell.\n",
			folder);
	}
	buf_fini(&text);
	free(folder);
	return rc;
}
