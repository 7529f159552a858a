/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes files of other programs by name and first bytes: see foreign_file.h. */
#include "report/stream/foreign_file.h"

#include <string.h>
#include <strings.h>

static const char of_nsys[] = "it is a report of Nsight Systems, which only nsys reads; export it: "
			      "nsys export -t sqlite FILE";
static const char of_perfetto[] = "it is a trace of Perfetto, which ui.perfetto.dev shows; "
				  "gprof-report reads traces in Chrome's format (JSON)";

static const struct {
	const char *suffix, *text;
} known[] = {
	{".nsys-rep", of_nsys},
	{".qdrep", of_nsys},
	{".ncu-rep", "it is a report of Nsight Compute, which only ncu reads"},
	{".pftrace", of_perfetto},
	{".perfetto-trace", of_perfetto},
	{".py", "it is a Python program; record it: gprof-record python FILE"},
	{".ipynb", "it is a notebook; record its kernel: gprof-record jupyter execute FILE"},
	{".pt", "it is a file of torch.save; gprof-report reads recordings and traces"},
	{".pickle", "it is a file of pickle; gprof-report reads recordings and traces"},
	{".csv", "it is a table; gprof-report reads recordings and traces"},
};

const char *foreign_file_text(const char *path, const char *bytes, size_t nr_bytes)
{
	size_t length = strlen(path);

	if (nr_bytes >= 2 && (!memcmp(bytes, "\xff\xfe", 2) || !memcmp(bytes, "\xfe\xff", 2))) {
		return "it is text in UTF-16; convert it: iconv -f UTF-16 -t UTF-8 FILE";
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t nr = strlen(known[i].suffix);

		if (length > nr && !strcasecmp(path + length - nr, known[i].suffix)) {
			return known[i].text;
		}
	}
	return "not a gprof stream";
}
