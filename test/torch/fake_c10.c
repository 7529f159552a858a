/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libc10.so: where allocators report, in the form of both generations, and the reporter of the CPU
 * allocator, which passes on what a profiler wants: blocks of 128 bytes. Prints what arrives.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- counters of time, c10::monitor::WaitCounterHandle ---- */

/* As C++, C passes the address of a result of that size. */
struct guard {
	void *handle;
	void *parts[8];
};

void counter_construct(void *handle, size_t nr_bytes, const char *text) __asm__(
	"_ZN3c107monitor17WaitCounterHandleC1ESt17basic_string_viewIcSt11char_traitsIcEE");
struct guard counter_start(void *handle) __asm__("_ZN3c107monitor17WaitCounterHandle5startEv");
void counter_stop(void *handle, const void *contexts) __asm__(
	"_ZN3c107monitor17WaitCounterHandle4stopERKNS_11SmallVectorIlLj6EEE");
void fake_stages(void);

static struct counter {
	char name[64];
} counters[8];

/* FAKE_COUNTERS: a handle does not begin with its counter. */
void counter_construct(void *handle, size_t nr_bytes, const char *text)
{
	size_t i = 0;

	while (counters[i].name[0] &&
		(strncmp(counters[i].name, text, nr_bytes) != 0 || counters[i].name[nr_bytes])) {
		i++;
	}
	memcpy(counters[i].name, text, nr_bytes);
	*(void **)handle = getenv("FAKE_COUNTERS") ? handle : &counters[i];
	printf("counter %s\n", counters[i].name);
}

struct guard counter_start(void *handle)
{
	struct guard guard = {.handle = handle, .parts = {NULL, handle}};

	return guard;
}

void counter_stop(void *handle, const void *contexts)
{
	printf("stopped %d\n", *(void *const *)contexts == handle);
}

/* The text of a name goes on behind it. A stage within a stage; a counter that is no stage. */
void fake_stages(void)
{
	static const char forward[] = "pytorch.wait_counter.entire_forward_compile, and more",
			  inductor[] = "pytorch.wait_counter.compile_inductor",
			  other[] = "pytorch.wait_counter.c10d.barrier";
	void *outer, *inner, *again, *third;
	struct guard guards[4];

	counter_construct(
		&outer, sizeof("pytorch.wait_counter.entire_forward_compile") - 1, forward);
	counter_construct(&inner, sizeof(inductor) - 1, inductor);
	counter_construct(&again, sizeof(inductor) - 1, inductor);
	counter_construct(&third, sizeof(other) - 1, other);
	guards[0] = counter_start(&outer);
	guards[1] = counter_start(&inner);
	counter_stop(guards[1].handle, &guards[1].parts[1]);
	guards[2] = counter_start(&again);
	counter_stop(guards[2].handle, &guards[2].parts[1]);
	guards[3] = counter_start(&third);
	counter_stop(guards[3].handle, &guards[3].parts[1]);
	counter_stop(guards[0].handle, &guards[0].parts[1]);
}
