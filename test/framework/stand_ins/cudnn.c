/* SPDX-License-Identifier: Apache-2.0 */
/* What a stand-in for cuDNN says of itself; programs keep to convolutions of their own. */
enum { MAJOR = 9, MINOR = 26 };

unsigned long cudnnGetVersion(void)
{
	return MAJOR * 10000 + MINOR * 100;
}

int cudnnGetProperty(int property, int *value)
{
	*value = property == 0 ? MAJOR : property == 1 ? MINOR : 0;
	return 0;
}

int cudnnCreate(void **handle)
{
	static int any;

	*handle = &any;
	return 0;
}
