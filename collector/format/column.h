/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the values of a column become small numbers and byte planes (FORMAT.md, codecs). No guard:
 * block.c includes this once for 32-bit and once for 64-bit values, since most columns are narrow
 * and then half the memory is moved. The includer defines
 *
 *     COLUMN_VALUE     the unsigned type
 *     COLUMN(name)     the name of a function for that type
 *     COLUMN_HOT       inlined into each variant of block_encode
 */

static COLUMN_HOT COLUMN_VALUE COLUMN(zigzag)(COLUMN_VALUE difference)
{
	return (difference << 1) ^ -(difference >> (sizeof(difference) * 8 - 1));
}

/*
 * Writes the differences from the previous value, or from its end if there are spans (else NULL).
 * Returns the union of their bits. In 32 bits, values must be below 2^31, or a difference does not
 * fit.
 */
static COLUMN_HOT COLUMN_VALUE COLUMN(delta)(
	COLUMN_VALUE *values, uint32_t n, const COLUMN_VALUE *spans)
{
	COLUMN_VALUE before = values[0];
	COLUMN_VALUE any = 0;

	for (uint32_t i = 0; i < n; i++) {
		COLUMN_VALUE value = values[i];

		values[i] = COLUMN(zigzag)(value - before);
		any |= values[i];
		before = value + (spans ? spans[i] : 0);
	}
	return any;
}

/* Bits in which any value differs from the first, and bits that any value has. */
static COLUMN_HOT COLUMN_VALUE COLUMN(find_difference)(
	const COLUMN_VALUE *values, uint32_t n, COLUMN_VALUE *any)
{
	const COLUMN_VALUE first = values[0];
	COLUMN_VALUE difference = 0;
	COLUMN_VALUE bits = 0;

	for (uint32_t i = 0; i < n; i++) {
		difference |= values[i] ^ first;
		bits |= values[i];
	}
	*any = bits;
	return difference;
}

/* Subtracts the minimum where that may save a plane. */
static COLUMN_HOT COLUMN_VALUE COLUMN(subtract_min)(
	COLUMN_VALUE *values, uint32_t n, COLUMN_VALUE any, uint64_t *base)
{
	COLUMN_VALUE min = values[0];

	*base = 0;
	if (any < 1u << 16) {
		return any;
	}
	for (uint32_t i = 0; i < n; i++) {
		min = values[i] < min ? values[i] : min;
	}
	any = 0;
	for (uint32_t i = 0; i < n; i++) {
		values[i] -= min;
		any |= values[i];
	}
	*base = min;
	return any;
}

/* Bytes for a value with these bits. */
static COLUMN_HOT uint8_t COLUMN(nr_planes)(COLUMN_VALUE any)
{
	return any ? (uint8_t)((71u - (unsigned int)__builtin_clzll(any)) / 8u) : 0;
}

static COLUMN_HOT void COLUMN(split)(
	const COLUMN_VALUE *values, uint32_t n, unsigned int width, unsigned char *out)
{
	for (unsigned int plane = 0; plane < width; plane++) {
		for (uint32_t i = 0; i < n; i++) {
			out[i] = (unsigned char)(values[i] >> (8u * plane));
		}
		out += n;
	}
}
