/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of NVTX version 3's injection interface that we read, in our own declarations; the ABI
 * test compares them with the real headers. A loader inside each library that embeds NVTX opens
 * NVTX_INJECTION64_PATH and hands InitializeInjectionNvtx2 a function that gives out tables of
 * slots; a tool stores its functions there.
 */
#ifndef PRELOAD_ABI_NVTX_ABI_H
#define PRELOAD_ABI_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

struct nvtx_attributes {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t color_type; /* 0 none, 1 ARGB */
	uint32_t color;
	int32_t payload_type;
	int32_t reserved;
	uint64_t payload;
	int32_t message_type; /* enum nvtx_message */
	const void *message;
};

enum nvtx_message {
	NVTX_MESSAGE_NONE = 0,
	NVTX_MESSAGE_ASCII = 1,
	NVTX_MESSAGE_UNICODE = 2, /* wchar_t */
	NVTX_MESSAGE_REGISTERED = 3,
};

/* Others: no number, or none of which we know what it is. */
enum nvtx_payload {
	NVTX_PAYLOAD_UINT64 = 1,
	NVTX_PAYLOAD_INT64 = 2,
	NVTX_PAYLOAD_DOUBLE = 3,
	NVTX_PAYLOAD_UINT32 = 4,
	NVTX_PAYLOAD_INT32 = 5,
	NVTX_PAYLOAD_FLOAT = 6,
};

/* The payload is the address of struct nvtx_payload_data, `reserved` of them in a row. */
#define NVTX_PAYLOAD_EXTENDED ((int32_t)0xdfbd0009u)

enum nvtx_module {
	NVTX_MODULE_CORE = 1,
	NVTX_MODULE_CORE2 = 5,
	NVTX_MODULE_EXTENDED = 256, /* our number for the extension with payloads */
};

/* Slots of the two tables. */
enum nvtx_core {
	NVTX_CORE_MARK_EX = 1,
	NVTX_CORE_MARK_A = 2,
	NVTX_CORE_MARK_W = 3,
	NVTX_CORE_RANGE_START_EX = 4,
	NVTX_CORE_RANGE_START_A = 5,
	NVTX_CORE_RANGE_START_W = 6,
	NVTX_CORE_RANGE_END = 7,
	NVTX_CORE_RANGE_PUSH_EX = 8,
	NVTX_CORE_RANGE_PUSH_A = 9,
	NVTX_CORE_RANGE_PUSH_W = 10,
	NVTX_CORE_RANGE_POP = 11,
	NVTX_CORE_NAME_CATEGORY_A = 12,
	NVTX_CORE_NAME_CATEGORY_W = 13,
	NVTX_CORE_NAME_THREAD_A = 14,
	NVTX_CORE_NAME_THREAD_W = 15,
};

enum nvtx_core2 {
	NVTX_CORE2_MARK_EX = 1,
	NVTX_CORE2_RANGE_START_EX = 2,
	NVTX_CORE2_RANGE_END = 3,
	NVTX_CORE2_RANGE_PUSH_EX = 4,
	NVTX_CORE2_RANGE_POP = 5,
	NVTX_CORE2_RESOURCE_CREATE = 6,
	NVTX_CORE2_RESOURCE_DESTROY = 7,
	NVTX_CORE2_NAME_CATEGORY_A = 8,
	NVTX_CORE2_NAME_CATEGORY_W = 9,
	NVTX_CORE2_REGISTER_STRING_A = 10,
	NVTX_CORE2_REGISTER_STRING_W = 11,
	NVTX_CORE2_DOMAIN_CREATE_A = 12,
	NVTX_CORE2_DOMAIN_CREATE_W = 13,
	NVTX_CORE2_DOMAIN_DESTROY = 14,
	NVTX_CORE2_INITIALIZE = 15,
};

/* A table is an array of addresses of the function pointers to be set; entry 0 is unused. */
typedef void (**nvtx_slot)(void);

struct nvtx_callbacks {
	size_t size;
	int (*get_table)(uint32_t module, nvtx_slot **table, uint32_t *nr_slots);
};

/* The function that the loader hands over; for id 1 it returns struct nvtx_callbacks. */
typedef const void *(*nvtx_get_export)(uint32_t id);
#define NVTX_EXPORT_CALLBACKS 1u

/* Extensions come one by one, each with its tables; a slot is 0 until a tool sets it. */
struct nvtx_segment {
	size_t id;
	size_t nr_slots;
	intptr_t *slots;
};

struct nvtx_extension {
	uint16_t version, size;
	uint16_t id;
	uint16_t compatible_id;
	size_t nr_segments;
	struct nvtx_segment *segments;
};

#define NVTX_EXTENSION_PAYLOAD 2u

/* Its slots: the description of payloads, and calls with a payload instead of attributes. */
enum nvtx_extended {
	NVTX_EXTENDED_SCHEMA_REGISTER = 0,
	NVTX_EXTENDED_MARK = 2,
	NVTX_EXTENDED_RANGE_PUSH = 3,
	NVTX_EXTENDED_RANGE_POP = 4,
	NVTX_EXTENDED_RANGE_START = 5,
	NVTX_EXTENDED_RANGE_END = 6,
};

struct nvtx_payload_data {
	uint64_t schema;
	size_t size;
	const void *bytes;
};

/* Types of entries that we read; from NVTX_ENTRY_OWN on they are the domain's own, by their ids. */
enum nvtx_entry_type {
	NVTX_ENTRY_INT = 5,
	NVTX_ENTRY_UINT64 = 18,
	NVTX_ENTRY_SIZE = 22,
	NVTX_ENTRY_OWN = 1 << 24,
};

struct nvtx_schema_entry {
	uint64_t flags; /* 0: a plain value */
	uint64_t type;
	const char *name;
	const char *description;
	uint64_t detail;
	uint64_t offset;
	const void *semantics, *reserved;
};

/* Bits of nvtx_schema.fields, without which these hold nothing. */
#define NVTX_SCHEMA_HAS_ENTRIES (3u << 4)
#define NVTX_SCHEMA_HAS_ID	(1u << 8)

struct nvtx_schema {
	uint64_t fields;
	const char *name;
	uint64_t type, flags;
	const struct nvtx_schema_entry *entries;
	size_t nr_entries;
	size_t static_size, align;
	uint64_t id;
	void *extension;
};

#endif
