/* SPDX-License-Identifier: Apache-2.0 */
/* The least program: also built static, for 32 bits and with musl. Says what it is, and its status.
 */
#include <stdio.h>

int main(int argc, char **argv)
{
	(void)argv;
	printf("tiny %d bits\n", (int)sizeof(void *) * 8);
	return argc + 6;
}
