/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX as libraries use it, through NVIDIA's own headers. Built in three ways: as a program with
 * NVTX in itself (version 3), with -DOLD as one that is linked to libnvToolsExt.so.1, and with
 * -DLIBRARY as a library with NVTX in itself; with -DEXTENDED it uses that extension too. The
 * programs use NVTX, let each library that they are given do the same, and print what the calls
 * returned.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef OLD
#include <nvToolsExt.h>
#else
#include <nvtx3/nvToolsExt.h>
#ifdef EXTENDED
#include <nvtx3/nvToolsExtPayload.h>
#endif
#endif

/* NVTX's extended payload: an address, and how many lie there. */
#define ADDRESS ((int32_t)0xDFDB0009)

static nvtxEventAttributes_t attributes(int32_t payload_type)
{
	nvtxEventAttributes_t a;

	memset(&a, 0xa5, sizeof(a)); /* what is not used may be anything */
	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.category = 1;
	a.colorType = NVTX_COLOR_ARGB;
	a.color = 0xff00ff00;
	a.payloadType = payload_type;
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = "numbers";
	return a;
}

/* As NCCL and XLA do: registered strings, and a struct with more about each call. */
static void use_domain(const char *name, const char *range)
{
	const struct {
		uint64_t schema;
		size_t nr_bytes;
		const void *at;
	} payload = {1, sizeof(range), &range};
	nvtxDomainHandle_t domain = nvtxDomainCreateA(name);
	nvtxStringHandle_t string = nvtxDomainRegisterStringA(domain, range);
	nvtxEventAttributes_t a = attributes(ADDRESS);

	printf("%s: domain %d string %d\n", name, domain != NULL, string != NULL);
	nvtxDomainNameCategoryA(domain, 1, "a category");
	a.payload.ullValue = (uintptr_t)&payload;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = string;
	printf("push %d", nvtxDomainRangePushEx(domain, &a));
	printf(", push %d", nvtxDomainRangePushEx(domain, &a));
	printf(", pop %d", nvtxDomainRangePop(domain));
	printf(", pop %d\n", nvtxDomainRangePop(domain));
	nvtxDomainMarkEx(domain, &a);
	nvtxDomainDestroy(domain);
}

static void use_numbers(void)
{
	nvtxEventAttributes_t a = attributes(NVTX_PAYLOAD_TYPE_INT64);

	a.payload.llValue = -5;
	nvtxRangePushEx(&a);
	a = attributes(NVTX_PAYLOAD_TYPE_INT32);
	a.payload.iValue = -6;
	nvtxRangePushEx(&a);
	a = attributes(NVTX_PAYLOAD_TYPE_DOUBLE);
	a.payload.dValue = 0.25;
	nvtxRangePushEx(&a);
	a = attributes(NVTX_PAYLOAD_TYPE_FLOAT);
	a.payload.fValue = 0.5f;
	nvtxMarkEx(&a);
	a = attributes(NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
	a.payload.uiValue = 4000000000u;
	nvtxMarkEx(&a);
	nvtxRangePop();
	nvtxRangePop();
	nvtxRangePop();
}

#ifdef EXTENDED
/* A library may ask whether the domain is wanted, and pop with what it knows only at the end. */
static void use_extension(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("extended");
	nvtxEventAttributes_t a = attributes(NVTX_PAYLOAD_UNKNOWN);
	const uint64_t value = 7;
	nvtxPayloadData_t payload = {NVTX_PAYLOAD_ENTRY_TYPE_UINT64, sizeof(value), &value};

	if (!nvtxDomainIsEnabled(domain)) {
		puts("the domain is off");
		return;
	}
	nvtxDomainRangePushEx(domain, &a);
	nvtxRangePushPayload(domain, &payload, 1);
	nvtxRangePopPayload(domain, &payload, 1);
	nvtxRangePopPayload(domain, &payload, 1);
}
#endif

static void *other_thread(void *range)
{
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "named by NVTX");
	nvtxRangePushW(L"wide \u03bb");
	nvtxRangeEnd(*(nvtxRangeId_t *)range);
	nvtxRangePop();
	return NULL;
}

void use_nvtx(void);

void use_nvtx(void)
{
	nvtxRangeId_t range = nvtxRangeStartA("across");
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		nvtxRangePushA("outer");
		nvtxRangePushA("inner");
		nvtxRangePop();
		nvtxRangePop();
	}
	use_domain("NCCL", "ncclAllReduce");
	use_domain("TSL", "TSL:Thunk:#hlo_op=fusion#");
#ifdef EXTENDED
	use_extension();
#endif
	use_numbers();
	nvtxMarkA("a mark");
	if (!pthread_create(&thread, NULL, other_thread, &range)) {
		pthread_join(thread, NULL);
	}
}

#ifndef LIBRARY
int main(int argc, char **argv)
{
	use_nvtx();
	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		void (*use)(void) = NULL;

		if (library) {
			*(void **)&use = dlsym(library, "use_nvtx");
		}
		if (!use) {
			puts(dlerror());
			return 1;
		}
		use();
	}
	puts("done");
	return 0;
}
#endif
