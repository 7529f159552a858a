/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes traces that Kineto did not write, and says what they are: see foreign.h. */
#include "report/import/kineto/foreign.h"

#include <string.h>

#include "report/util/text.h"

static const char viztracer[] =
	"it is a trace of VizTracer, which gprof-report does not read; gprof records Python "
	"itself: gprof-record --python functions";
static const char tensorflow[] =
	"it is a timeline of TensorFlow 1, which gprof-report does not read; it reads .xplane.pb "
	"of TensorFlow 2's profiler";
static const char rocprof[] =
	"it is a result of rocprofv3 in its own JSON format, which gprof-report does not read; "
	"pass the trace of torch.profiler of the same run";
static const char mxnet[] = "it is a trace of MXNet's profiler, which gprof-report does not read";
static const char merged[] =
	"it holds the traces of several processes, whose correlation IDs are not told apart; pass "
	"the trace of each rank as a file of its own, or the folder that has them";

void kineto_foreign_see_member(struct kineto_foreign *foreign, const char *key, size_t nr_key)
{
	if (text_is(key, nr_key, "viztracer_metadata")) {
		foreign->sentence = viztracer;
	} else if (text_is(key, nr_key, "rocprofiler-sdk-tool")) {
		foreign->sentence = rocprof;
	}
}

/* "gpu/0" or "cpu/0" */
static bool is_mxnet(const char *text, size_t nr_bytes)
{
	return nr_bytes >= 5 && (!memcmp(text, "gpu/", 4) || !memcmp(text, "cpu/", 4)) &&
	       text[4] >= '0' && text[4] <= '9';
}

/* "/job:localhost/replica:0/task:0/device:GPU:0 Compute" */
static bool is_tensorflow(const char *text, size_t nr_bytes)
{
	static const char prefix[] = "/job:";

	return nr_bytes >= sizeof(prefix) - 1 && !memcmp(text, prefix, sizeof(prefix) - 1);
}

void kineto_foreign_see_event(
	struct kineto_foreign *foreign, struct kineto_json *json, const struct kineto_event *event)
{
	const char *text;
	size_t nr_bytes;

	if (event->phase != 'M' || !event->name || !event->label ||
		!kineto_json_is(json, event->name, "process_name", 12)) {
		return;
	}
	text = kineto_json_text(json, event->label, &nr_bytes);
	if (is_tensorflow(text, nr_bytes)) {
		foreign->sentence = tensorflow;
	} else if (is_mxnet(text, nr_bytes)) {
		foreign->sentence = mxnet;
	}
}

void kineto_foreign_see_call(struct kineto_foreign *foreign, uint64_t pid)
{
	if (foreign->has_pid && foreign->pid != pid) {
		foreign->sentence = merged;
	}
	foreign->pid = pid;
	foreign->has_pid = true;
}
