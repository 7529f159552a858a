/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's streams, events, capture and graph launches, over the model. */
#include "test/sim/api.h"
#include "test/sim/model.h"

cu_result api_cuCtxSynchronize(void)
{
	return sim_device_sync();
}

cu_result api_cuStreamCreate(cu_stream *out_stream, unsigned int flags)
{
	return sim_stream_create(out_stream, flags, 0);
}

cu_result api_cuStreamCreateWithPriority(cu_stream *out_stream, unsigned int flags, int priority)
{
	return sim_stream_create(out_stream, flags, priority);
}

cu_result api_cuStreamDestroy_v2(cu_stream stream)
{
	return sim_stream_destroy(stream);
}

cu_result api_cuStreamSynchronize(cu_stream stream)
{
	return sim_stream_sync(stream);
}

cu_result api_cuStreamQuery(cu_stream stream)
{
	return sim_stream_query(stream);
}

cu_result api_cuStreamWaitEvent(cu_stream stream, cu_event event, unsigned int flags)
{
	(void)flags;
	return sim_stream_wait(stream, event);
}

cu_result api_cuStreamAddCallback(
	cu_stream stream, cu_stream_callback callback, void *user_data, unsigned int flags)
{
	return flags ? SIM_INVALID_VALUE : sim_stream_callback(stream, callback, user_data);
}

cu_result api_cuStreamGetPriority(cu_stream stream, int *priority)
{
	struct sim_stream *s = sim_resolve(stream);

	if (!s || !priority) {
		return s ? SIM_INVALID_VALUE : SIM_INVALID_HANDLE;
	}
	*priority = s->priority;
	return SIM_OK;
}

cu_result api_cuStreamGetFlags(cu_stream stream, unsigned int *flags)
{
	struct sim_stream *s = sim_resolve(stream);

	if (!s || !flags) {
		return s ? SIM_INVALID_VALUE : SIM_INVALID_HANDLE;
	}
	*flags = s->flags;
	return SIM_OK;
}

cu_result api_cuStreamGetId(cu_stream stream, unsigned long long *stream_id)
{
	struct sim_stream *s = sim_resolve(stream);

	if (!s || !stream_id) {
		return s ? SIM_INVALID_VALUE : SIM_INVALID_HANDLE;
	}
	*stream_id = s->id;
	return SIM_OK;
}

cu_result api_cuStreamGetCtx(cu_stream stream, cu_context *pctx)
{
	struct sim_stream *s = sim_resolve(stream);

	if (!s || !pctx) {
		return s ? SIM_INVALID_VALUE : SIM_INVALID_HANDLE;
	}
	*pctx = s->context;
	return SIM_OK;
}

cu_result api_cuEventCreate(cu_event *out_event, unsigned int flags)
{
	return sim_event_create(out_event, flags);
}

cu_result api_cuEventRecord(cu_event event, cu_stream stream)
{
	return sim_event_record(event, stream);
}

cu_result api_cuEventRecordWithFlags(cu_event event, cu_stream stream, unsigned int flags)
{
	(void)flags;
	return sim_event_record(event, stream);
}

cu_result api_cuEventQuery(cu_event event)
{
	return sim_event_query(event);
}

cu_result api_cuEventSynchronize(cu_event event)
{
	return sim_event_sync(event);
}

cu_result api_cuEventDestroy_v2(cu_event event)
{
	return sim_event_destroy(event);
}

cu_result api_cuEventElapsedTime(float *p_milliseconds, cu_event h_start, cu_event h_end)
{
	return sim_event_elapsed(p_milliseconds, h_start, h_end);
}

cu_result api_cuEventElapsedTime_v2(float *p_milliseconds, cu_event h_start, cu_event h_end)
{
	return sim_event_elapsed(p_milliseconds, h_start, h_end);
}

cu_result api_cuLaunchHostFunc(cu_stream stream, cu_host_fn fn, void *user_data)
{
	return sim_host_func(stream, fn, user_data);
}

cu_result api_cuStreamBeginCapture_v2(cu_stream stream, cu_stream_capture_mode mode)
{
	return sim_capture_begin(stream, mode, NULL);
}

cu_result api_cuStreamEndCapture(cu_stream stream, cu_graph *ph_graph)
{
	return sim_capture_end(stream, ph_graph);
}

cu_result api_cuStreamIsCapturing(cu_stream stream, cu_stream_capture_status *capture_status)
{
	return sim_capture_status(stream, capture_status, NULL, NULL);
}
