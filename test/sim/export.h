/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exported functions of the simulated runtime and driver, made from hooks.def: one wrapper a
 * function, which gives the trace its frame, applies SIM_FAIL, and calls api_NAME. Where the
 * simulator has no api_NAME (it is a weak reference), the function answers "not supported".
 *
 * The includer defines, before expanding hooks.def:
 *   SIM_DOMAIN        enum cupti_domain
 *   SIM_CORE          pointer to struct sim_core (may be an expression that starts the library)
 *   SIM_DONE(code)    what to do with the result before returning it
 *   SIM_SYMBOL(func)  the kernel's name, for LAUNCH facts
 */
#ifndef GPROF_SIM_EXPORT_H
#define GPROF_SIM_EXPORT_H

#include "test/sim/cupti_abi.h"
#include "test/sim/sim.h"

enum sim_cbid {
#define CBID(domain, id, name) SIM_CBID_##name = (id),
#include "test/sim/sim_cbid.def"
	/* Functions that CUPTI has no id for; id 0 is never asked for. */
	SIM_CBID_cudaEventElapsedTime_v2 = 0,
	SIM_CBID_cudaGetDeviceProperties_v2 = 0,
	SIM_CBID_cudaGraphAddDependencies_v2 = 0,
	SIM_CBID_cudaGraphAddNode_v2 = 0,
	SIM_CBID_cudaGraphRemoveDependencies_v2 = 0,
	SIM_CBID_cudaMemAdvise_v2 = 0,
	SIM_CBID_cudaMemPrefetchAsync_v2 = 0,
	SIM_CBID_cudaMemPrefetchAsync_v2_ptsz = 0,
	SIM_CBID_cudaStreamGetCaptureInfo_v3 = 0,
	SIM_CBID_cudaStreamGetCaptureInfo_v3_ptsz = 0,
	SIM_CBID_cudaStreamUpdateCaptureDependencies_v2 = 0,
	SIM_CBID_cudaStreamUpdateCaptureDependencies_v2_ptsz = 0,
};

/* Applies a macro to each of up to twelve arguments: SIM_EACH(m, a, b) is m(a) m(b). */
#define SIM_EACH(m, ...)   __VA_OPT__(SIM_E1(m, __VA_ARGS__))
#define SIM_E1(m, a, ...)  m(a) __VA_OPT__(SIM_E2(m, __VA_ARGS__))
#define SIM_E2(m, a, ...)  m(a) __VA_OPT__(SIM_E3(m, __VA_ARGS__))
#define SIM_E3(m, a, ...)  m(a) __VA_OPT__(SIM_E4(m, __VA_ARGS__))
#define SIM_E4(m, a, ...)  m(a) __VA_OPT__(SIM_E5(m, __VA_ARGS__))
#define SIM_E5(m, a, ...)  m(a) __VA_OPT__(SIM_E6(m, __VA_ARGS__))
#define SIM_E6(m, a, ...)  m(a) __VA_OPT__(SIM_E7(m, __VA_ARGS__))
#define SIM_E7(m, a, ...)  m(a) __VA_OPT__(SIM_E8(m, __VA_ARGS__))
#define SIM_E8(m, a, ...)  m(a) __VA_OPT__(SIM_E9(m, __VA_ARGS__))
#define SIM_E9(m, a, ...)  m(a) __VA_OPT__(SIM_E10(m, __VA_ARGS__))
#define SIM_E10(m, a, ...) m(a) __VA_OPT__(SIM_E11(m, __VA_ARGS__))
#define SIM_E11(m, a, ...) m(a) __VA_OPT__(SIM_E12(m, __VA_ARGS__))
#define SIM_E12(m, a, ...) m(a)

/* CUPTI shows a callback its call's arguments as a structure of them, in order. */
#define SIM_FIELD(arg)	   __typeof__(arg) field_##arg;
#define SIM_FIELD_SET(arg) .field_##arg = arg,
#define SIM_ARGS(...)	   __VA_ARGS__

#define SIM_SYMBOL_PLAIN	  NULL
#define SIM_SYMBOL_EVENT(...)	  NULL
#define SIM_SYMBOL_COPY(...)	  NULL
#define SIM_SYMBOL_SET(...)	  NULL
#define SIM_SYMBOL_ALLOC(...)	  NULL
#define SIM_SYMBOL_FREE(...)	  NULL
#define SIM_SYMBOL_SYNC(...)	  NULL
#define SIM_SYMBOL_KERNEL(...)	  NULL
#define SIM_SYMBOL_LAUNCH(f, ...) SIM_SYMBOL((const void *)(uintptr_t)(f))

static inline void sim_frame_init(struct sim_frame *frame, const char *name, int domain, int cbid,
	const void *params, void *result, const char *symbol)
{
	frame->name = name;
	frame->domain = (uint8_t)domain;
	frame->cbid = (uint32_t)cbid;
	frame->params = params;
	frame->result = result;
	frame->symbol = symbol;
}

/* Names end in _ so that no parameter of a hooked function can be one of them. */
#define SIM_WRAPPER(ret_, name_, impl_, is_twin_, params_, args_, facts_)                        \
	SIM_EXPORT ret_ name_ params_;                                                           \
	ret_ impl_ params_ __attribute__((weak));                                                \
	SIM_EXPORT ret_ name_ params_                                                            \
	{                                                                                        \
		struct {                                                                         \
			SIM_EACH(SIM_FIELD, SIM_ARGS args_)                                      \
		} fields_ = {SIM_EACH(SIM_FIELD_SET, SIM_ARGS args_)};                           \
		struct sim_core *core_ = SIM_CORE;                                               \
		struct sim_trace *trace_;                                                        \
		struct sim_frame frame_;                                                         \
		ret_ r = SIM_OK;                                                                 \
                                                                                                 \
		if (SIM_UNLIKELY(!core_)) {                                                      \
			return SIM_INSUFFICIENT_DRIVER;                                          \
		}                                                                                \
		trace_ = atomic_load_explicit(&core_->trace, memory_order_acquire);              \
		if (SIM_UNLIKELY(trace_ != NULL)) {                                              \
			sim_frame_init(&frame_, #name_, SIM_DOMAIN, SIM_CBID_##name_, &fields_,  \
				&r, SIM_SYMBOL_##facts_);                                        \
			core_->enter(&frame_);                                                   \
		}                                                                                \
		if (SIM_UNLIKELY(                                                                \
			    atomic_load_explicit(&core_->has_failures, memory_order_relaxed))) { \
			r = core_->fail(#name_);                                                 \
		}                                                                                \
		if (r == SIM_OK && is_twin_) {                                                   \
			struct sim_thread *thread_ = core_->thread();                            \
			bool was_ = thread_->is_ptsz;                                            \
                                                                                                 \
			thread_->is_ptsz = true;                                                 \
			r = impl_ ? impl_ args_ : SIM_NOT_SUPPORTED;                             \
			thread_->is_ptsz = was_;                                                 \
		} else if (r == SIM_OK) {                                                        \
			r = impl_ ? impl_ args_ : SIM_NOT_SUPPORTED;                             \
		}                                                                                \
		SIM_DONE(r);                                                                     \
		if (SIM_UNLIKELY(trace_ != NULL)) {                                              \
			core_->leave(&frame_);                                                   \
		}                                                                                \
		return r;                                                                        \
	}

/* One API's half of the list: the includer defines SIM_RT or SIM_DRV as SIM_WRAPPER or SIM_NONE. */
#define SIM_NONE(...)
#define HOOK(api, need, ret, name, params, args, facts) \
	SIM_##api(ret, name, api_##name, false, params, args, facts)
#define HOOK_TWIN(api, need, ret, name, suffix, params, args, facts, twin_facts) \
	SIM_##api(ret, name, api_##name, false, params, args, facts)             \
		SIM_##api(ret, name##suffix, api_##name, true, params, args, twin_facts)
#define HOOK_MANUAL(api, need, ret, name, params, args)

#endif
