/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libc10.so: where allocators report, in the form of both generations, and the reporter of the CPU
 * allocator, which passes on what a profiler wants: blocks of 128 bytes. Prints what arrives.
 */
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

void cpu_new(void *reporter, void *address, size_t nr_bytes) __asm__(
	"_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm");
void cpu_delete(void *reporter, void *address) __asm__(
	"_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv");
void fake_cpu_allocate(void);

static const struct device cpu = {0, -1};

void cpu_new(void *reporter, void *address, size_t nr_bytes)
{
	(void)reporter;
	printf("new %p %zu\n", address, nr_bytes);
	if (nr_bytes == 128) {
		report_unsigned(address, 128, 128, 0, cpu);
	}
}

void cpu_delete(void *reporter, void *address)
{
	(void)reporter;
	printf("delete %p\n", address);
}

/* Through the PLT, as the real one. One block is not known, one is shared memory. */
void fake_cpu_allocate(void)
{
	int reporter;

	cpu_new(&reporter, (void *)0x7f0000004000, 64);
	cpu_new(&reporter, (void *)0x7f0000005000, 128);
	cpu_delete(&reporter, (void *)0x7f0000004000);
	cpu_delete(&reporter, (void *)0x7f0000006000);
	cpu_new(&reporter, (void *)0x7f0000004000, 32);
	report_unsigned((void *)0x7f0000007000, 4096, 0, 4096, cpu);
	report_unsigned((void *)0x7f0000007000, -4096, 0, 0, cpu);
	cpu_delete(&reporter, (void *)0x7f0000005000);
}
