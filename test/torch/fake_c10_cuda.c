/* SPDX-License-Identifier: Apache-2.0 */
/* libc10_cuda.so: an allocator that reports to libc10 across libraries. */
#include <stdint.h>

struct device {
	int8_t type;
	int8_t index;
};

typedef void report_fn(void *address, int64_t nr_bytes, uint64_t nr_allocated_bytes,
	uint64_t nr_reserved_bytes, struct device device);

extern report_fn report_signed __asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE");
extern report_fn report_unsigned __asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
void fake_cpu_allocate(void);
void fake_allocate(void);

void fake_allocate(void)
{
	struct device cuda = {1, 3};

	report_unsigned((void *)0x7f0000001000, 512, 512, 2097152, cuda);
	report_unsigned((void *)0x7f0000002000, 1024, 1536, 2097152, cuda);
	report_unsigned((void *)0x7f0000001000, -512, 1024, 2097152, cuda);
	report_signed((void *)0x7f0000003000, 2048, 3072, 2097152, cuda);
	fake_cpu_allocate();
}
