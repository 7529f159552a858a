/* SPDX-License-Identifier: Apache-2.0 */
/* libc10.so: where the allocator reports, in the form of both generations; counts what arrives. */
#include <stdint.h>
#include <stdio.h>

struct device {
	int8_t type;
	int8_t index;
};

typedef void report_fn(void *address, int64_t nr_bytes, uint64_t nr_allocated_bytes,
	uint64_t nr_reserved_bytes, struct device device);

report_fn report_signed __asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE");
report_fn report_unsigned __asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");

void report_signed(void *address, int64_t nr_bytes, uint64_t nr_allocated_bytes,
	uint64_t nr_reserved_bytes, struct device device)
{
	printf("signed %p %ld %ld %ld %d:%d\n", address, (long)nr_bytes, (long)nr_allocated_bytes,
		(long)nr_reserved_bytes, device.type, device.index);
}

void report_unsigned(void *address, int64_t nr_bytes, uint64_t nr_allocated_bytes,
	uint64_t nr_reserved_bytes, struct device device)
{
	printf("unsigned %p %ld %ld %ld %d:%d\n", address, (long)nr_bytes, (long)nr_allocated_bytes,
		(long)nr_reserved_bytes, device.type, device.index);
}
