/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of NVTX against the real headers, where these have payloads; it only compiles.
 */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <stddef.h>

#include "preload/abi/nvtx_abi.h"

#define SIZE(ours, real) _Static_assert(sizeof(struct ours) == sizeof(real), #ours)
#define AT(ours, field, real, real_field)                                                     \
	_Static_assert(                                                                       \
		offsetof(struct ours, field) == offsetof(real, real_field) &&                 \
			sizeof(((struct ours *)0)->field) == sizeof(((real *)0)->real_field), \
		#ours "." #field)
#define VALUE(ours, real) _Static_assert((long long)(ours) == (long long)(real), #ours)

SIZE(nvtx_attributes, nvtxEventAttributes_t);
AT(nvtx_attributes, version, nvtxEventAttributes_t, version);
AT(nvtx_attributes, size, nvtxEventAttributes_t, size);
AT(nvtx_attributes, category, nvtxEventAttributes_t, category);
AT(nvtx_attributes, color_type, nvtxEventAttributes_t, colorType);
AT(nvtx_attributes, color, nvtxEventAttributes_t, color);
AT(nvtx_attributes, payload_type, nvtxEventAttributes_t, payloadType);
AT(nvtx_attributes, reserved, nvtxEventAttributes_t, reserved0);
AT(nvtx_attributes, payload, nvtxEventAttributes_t, payload);
AT(nvtx_attributes, message_type, nvtxEventAttributes_t, messageType);
AT(nvtx_attributes, message, nvtxEventAttributes_t, message);
VALUE(NVTX_MESSAGE_ASCII, NVTX_MESSAGE_TYPE_ASCII);
VALUE(NVTX_MESSAGE_UNICODE, NVTX_MESSAGE_TYPE_UNICODE);
VALUE(NVTX_MESSAGE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
VALUE(NVTX_PAYLOAD_UINT64, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
VALUE(NVTX_PAYLOAD_INT64, NVTX_PAYLOAD_TYPE_INT64);
VALUE(NVTX_PAYLOAD_DOUBLE, NVTX_PAYLOAD_TYPE_DOUBLE);
VALUE(NVTX_PAYLOAD_UINT32, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
VALUE(NVTX_PAYLOAD_INT32, NVTX_PAYLOAD_TYPE_INT32);
VALUE(NVTX_PAYLOAD_FLOAT, NVTX_PAYLOAD_TYPE_FLOAT);
VALUE(NVTX_PAYLOAD_EXTENDED, (int32_t)NVTX_PAYLOAD_TYPE_EXT);

VALUE(NVTX_EXTENDED_SCHEMA_REGISTER, NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
VALUE(NVTX_EXTENDED_MARK, NVTX3EXT_CBID_nvtxMarkPayload);
VALUE(NVTX_EXTENDED_RANGE_PUSH, NVTX3EXT_CBID_nvtxRangePushPayload);
VALUE(NVTX_EXTENDED_RANGE_POP, NVTX3EXT_CBID_nvtxRangePopPayload);
VALUE(NVTX_EXTENDED_RANGE_START, NVTX3EXT_CBID_nvtxRangeStartPayload);
VALUE(NVTX_EXTENDED_RANGE_END, NVTX3EXT_CBID_nvtxRangeEndPayload);

SIZE(nvtx_payload_data, nvtxPayloadData_t);
AT(nvtx_payload_data, schema, nvtxPayloadData_t, schemaId);
AT(nvtx_payload_data, size, nvtxPayloadData_t, size);
AT(nvtx_payload_data, bytes, nvtxPayloadData_t, payload);

SIZE(nvtx_schema_entry, nvtxPayloadSchemaEntry_t);
AT(nvtx_schema_entry, flags, nvtxPayloadSchemaEntry_t, flags);
AT(nvtx_schema_entry, type, nvtxPayloadSchemaEntry_t, type);
AT(nvtx_schema_entry, name, nvtxPayloadSchemaEntry_t, name);
AT(nvtx_schema_entry, offset, nvtxPayloadSchemaEntry_t, offset);
VALUE(NVTX_ENTRY_INT, NVTX_PAYLOAD_ENTRY_TYPE_INT);
VALUE(NVTX_ENTRY_UINT64, NVTX_PAYLOAD_ENTRY_TYPE_UINT64);
VALUE(NVTX_ENTRY_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_SIZE);
VALUE(NVTX_ENTRY_OWN, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);

SIZE(nvtx_schema, nvtxPayloadSchemaAttr_t);
AT(nvtx_schema, fields, nvtxPayloadSchemaAttr_t, fieldMask);
AT(nvtx_schema, type, nvtxPayloadSchemaAttr_t, type);
AT(nvtx_schema, entries, nvtxPayloadSchemaAttr_t, entries);
AT(nvtx_schema, nr_entries, nvtxPayloadSchemaAttr_t, numEntries);
AT(nvtx_schema, static_size, nvtxPayloadSchemaAttr_t, payloadStaticSize);
AT(nvtx_schema, id, nvtxPayloadSchemaAttr_t, schemaId);
VALUE(NVTX_SCHEMA_HAS_ENTRIES,
	NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES);
VALUE(NVTX_SCHEMA_HAS_ID, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
