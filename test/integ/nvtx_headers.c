/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges through NVIDIA's own headers, whose loader opens what NVTX_INJECTION64_PATH names. */
#include <stdio.h>

#include <nvtx3/nvToolsExt.h>

int main(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("my domain");
	nvtxStringHandle_t string = nvtxDomainRegisterStringA(domain, "in a domain");
	nvtxEventAttributes_t attributes = {0};
	nvtxRangeId_t range = nvtxRangeStartA("across");

	attributes.version = NVTX_VERSION;
	attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	attributes.message.registered = string;
	attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
	attributes.payload.llValue = -5;
	for (int i = 0; i < 3; i++) {
		nvtxRangePushA("outer");
		nvtxRangePushA("inner");
		nvtxRangePop();
		nvtxRangePop();
	}
	nvtxDomainRangePushEx(domain, &attributes);
	nvtxDomainRangePop(domain);
	nvtxMarkA("a mark");
	nvtxRangeEnd(range);
	nvtxNameOsThreadA(0, "nobody");
	puts("done");
	return 0;
}
