/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated CUPTI's answers: version, time, texts, attributes, ids, external correlation. */
#include "test/sim/cupti.h"

#include <stdlib.h>
#include <string.h>

#include "test/sim/graph.h"

CUPTI_SIM_EXPORT(cuptiGetVersion, (uint32_t * version))
{
	int level = cupti_sim_level();

	*version = cupti_sim_is_multi() ? 130303
		   : level >= 13000	? 130001
		   : level >= 12000	? 22
					: 18;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiGetTimestamp, (uint64_t * time_ns))
{
	CUPTI_SIM_CHECK();
	*time_ns = cupti_sim_clock_now();
	return CUPTI_OK;
}

static const struct {
	int code;
	const char *text;
} results[] = {
	{CUPTI_OK, "CUPTI_SUCCESS"},
	{CUPTI_INVALID_PARAMETER, "CUPTI_ERROR_INVALID_PARAMETER"},
	{CUPTI_MAX_LIMIT_REACHED, "CUPTI_ERROR_MAX_LIMIT_REACHED"},
	{CUPTI_NOT_INITIALIZED, "CUPTI_ERROR_NOT_INITIALIZED"},
	{CUPTI_INVALID_KIND, "CUPTI_ERROR_INVALID_KIND"},
	{CUPTI_NOT_SUPPORTED, "CUPTI_ERROR_NOT_SUPPORTED"},
	{CUPTI_VIRTUALIZED_DEVICE, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED"},
	{CUPTI_INSUFFICIENT_PRIVILEGES, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
	{CUPTI_MULTIPLE_SUBSCRIBERS, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
};

CUPTI_SIM_EXPORT(cuptiGetResultString, (int code, const char **text))
{
	*text = "CUPTI_ERROR_UNKNOWN";
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		if (results[i].code == code) {
			*text = results[i].text;
		}
	}
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiGetErrorMessage, (int code, const char **text))
{
	return cuptiGetResultString(code, text);
}

/* Attributes are kept and given back; they change nothing here. */
static uint64_t attributes[11] = {3200000, 8388608, 250, 0, 0, 0, 3, 0, 0, 1, 16777216};

static bool is_byte(int attribute)
{
	return attribute == CUPTI_ATTR_ZEROED_OUT_BUFFER || attribute == CUPTI_ATTR_HOST_PINNED ||
	       attribute == CUPTI_ATTR_PER_THREAD_BUFFER;
}

static int check_attribute(int attribute, const size_t *bytes, const void *value)
{
	int end = cupti_sim_level() >= 13000 ? 11 : cupti_sim_level() >= 12000 ? 10 : 9;

	if (attribute < 0 || attribute >= end || !bytes || !value) {
		return CUPTI_INVALID_PARAMETER;
	}
	return *bytes < (is_byte(attribute) ? 1 : sizeof(size_t)) ? 10 : CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiActivitySetAttribute, (int attribute, size_t *bytes, void *value))
{
	CUPTI_SIM_CHECK();
	int r = check_attribute(attribute, bytes, value);

	if (r == CUPTI_OK && is_byte(attribute)) {
		attributes[attribute] = *(uint8_t *)value;
	} else if (r == CUPTI_OK) {
		memcpy(&attributes[attribute], value, sizeof(size_t));
	}
	return r;
}

CUPTI_SIM_EXPORT(cuptiActivityGetAttribute, (int attribute, size_t *bytes, void *value))
{
	CUPTI_SIM_CHECK();
	int r = check_attribute(attribute, bytes, value);

	if (r == CUPTI_OK) {
		memcpy(value, &attributes[attribute], is_byte(attribute) ? 1 : sizeof(size_t));
	}
	return r;
}

CUPTI_SIM_EXPORT(cuptiSetThreadIdType, (int type))
{
	CUPTI_SIM_CHECK();
	atomic_store(&cupti_sim_thread_id_type, type);
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiActivityEnableLatencyTimestamps, (uint8_t enable))
{
	CUPTI_SIM_CHECK();
	atomic_store(&cupti_sim_latency, enable != 0);
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiActivityEnableLaunchAttributes, (uint8_t enable))
{
	(void)enable;
	CUPTI_SIM_CHECK();
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiActivityEnableAllSyncRecords, (uint8_t enable))
{
	CUPTI_SIM_CHECK();
	atomic_store(&cupti_sim_has_all_syncs, enable != 0);
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiActivityPushExternalCorrelationId, (uint32_t kind, uint64_t id))
{
	struct cupti_sim_external *e = &cupti_sim_external;

	CUPTI_SIM_CHECK();
	if (kind == 0 || kind >= 8 || e->nr[kind] == CUPTI_SIM_EXTERNAL_DEPTH) {
		return CUPTI_INVALID_PARAMETER;
	}
	e->of[kind][e->nr[kind]++] = id;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiActivityPopExternalCorrelationId, (uint32_t kind, uint64_t *last))
{
	struct cupti_sim_external *e = &cupti_sim_external;

	CUPTI_SIM_CHECK();
	if (kind == 0 || kind >= 8) {
		return CUPTI_INVALID_PARAMETER;
	}
	if (e->nr[kind] == 0) {
		return 18; /* the queue is empty */
	}
	e->nr[kind]--;
	if (last) {
		*last = e->of[kind][e->nr[kind]];
	}
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiGetContextId, (void *context, uint32_t *id))
{
	CUPTI_SIM_CHECK();
	*id = ((struct sim_context *)context)->uid;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiGetDeviceId, (void *context, uint32_t *id))
{
	CUPTI_SIM_CHECK();
	*id = (uint32_t)((struct sim_context *)context)->device->index;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(
	cuptiGetStreamIdEx, (void *context, void *stream, uint8_t per_thread, uint32_t *id))
{
	CUPTI_SIM_CHECK();
	(void)context;
	struct sim_stream *s =
		cupti_sim_core()->resolve(per_thread && !stream ? CUDA_STREAM_PER_THREAD : stream);

	if (!s) {
		return 20; /* invalid stream */
	}
	*id = s->id;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiGetStreamId, (void *context, void *stream, uint32_t *id))
{
	return cuptiGetStreamIdEx(context, stream, 0, id);
}

CUPTI_SIM_EXPORT(cuptiGetGraphId, (void *graph, uint32_t *id))
{
	CUPTI_SIM_CHECK();
	*id = ((struct sim_graph *)graph)->id;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiGetGraphExecId, (void *exec, uint32_t *id))
{
	CUPTI_SIM_CHECK();
	*id = ((struct sim_exec *)exec)->graph_id;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiGetGraphNodeId, (void *node, uint64_t *id))
{
	const char *code = getenv("SIM_CUPTI_NODES");

	CUPTI_SIM_CHECK();
	if (code) {
		return atoi(code);
	}
	*id = ((struct sim_node *)node)->id;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiGetCallbackName, (int domain, uint32_t cbid, const char **name))
{
#define RT  CUPTI_DOMAIN_RUNTIME
#define DRV CUPTI_DOMAIN_DRIVER
#define CBID(d, id, n)                       \
	if (domain == (d) && cbid == (id)) { \
		*name = #n;                  \
		return CUPTI_OK;             \
	}
#include "test/sim/sim_cbid.def"
	return CUPTI_INVALID_PARAMETER;
}

CUPTI_SIM_EXPORT(cuptiDeviceSupported, (int device, int *support))
{
	CUPTI_SIM_CHECK();
	*support = cupti_sim_core()->device(device) != NULL;
	return CUPTI_OK;
}

CUPTI_SIM_EXPORT(cuptiGetLastError, (void))
{
	return CUPTI_OK;
}
