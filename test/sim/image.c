/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cubin is an ELF file: the kernel NAME is its section .text.NAME, with its shared memory in
 * .nv.shared.NAME, and a variable is a symbol of type OBJECT. PTX is text with ".entry NAME".
 */
#include "test/sim/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { FAT_BINARY = 0x50, FAT_BINARY_WRAPPER = 0xb1 };

static bool add(
	struct sim_image *image, const char *name, size_t length, bool is_kernel, uint64_t bytes)
{
	struct sim_image_symbol *symbols =
		realloc(image->symbols, (image->nr + 1) * sizeof(*symbols));
	char *copy = strndup(name, length);

	image->symbols = symbols ? symbols : image->symbols;
	if (!symbols || !copy) {
		free(copy);
		return false;
	}
	symbols[image->nr++] = (struct sim_image_symbol){copy, is_kernel, bytes};
	return true;
}

static uint64_t shared_bytes(
	const Elf64_Shdr *sections, size_t nr, const char *names, const char *kernel)
{
	static const char prefix[] = ".nv.shared.";

	for (size_t i = 0; i < nr; i++) {
		const char *name = names + sections[i].sh_name;

		if (strncmp(name, prefix, strlen(prefix)) == 0 &&
			strcmp(name + strlen(prefix), kernel) == 0) {
			return sections[i].sh_size;
		}
	}
	return 0;
}

/* The caller gives no length, as with the driver; what it gives is a compiler's own output. */
static bool read_elf(struct sim_image *image, const char *bytes)
{
	static const char prefix[] = ".text.";
	const Elf64_Ehdr *header = (const void *)bytes;
	const Elf64_Shdr *sections = (const void *)(bytes + header->e_shoff);
	const char *names = bytes + sections[header->e_shstrndx].sh_offset;
	bool is_ok = header->e_ident[EI_CLASS] == ELFCLASS64;

	for (size_t i = 0; is_ok && i < header->e_shnum; i++) {
		const Elf64_Shdr *s = &sections[i];
		const char *name = names + s->sh_name;

		if (strncmp(name, prefix, strlen(prefix)) == 0) {
			name += strlen(prefix);
			is_ok = add(image, name, strlen(name), true,
				shared_bytes(sections, header->e_shnum, names, name));
		}
		if (s->sh_type != SHT_SYMTAB) {
			continue;
		}
		const Elf64_Sym *symbols = (const void *)(bytes + s->sh_offset);
		const char *strings = bytes + sections[s->sh_link].sh_offset;

		for (size_t k = 0; is_ok && k < s->sh_size / sizeof(*symbols); k++) {
			if (ELF64_ST_TYPE(symbols[k].st_info) == STT_OBJECT &&
				symbols[k].st_shndx != SHN_UNDEF) {
				name = strings + symbols[k].st_name;
				is_ok = add(image, name, strlen(name), false, symbols[k].st_size);
			}
		}
	}
	return is_ok;
}

static bool read_ptx(struct sim_image *image, const char *text)
{
	static const char word[] = ".entry";
	bool is_ok = true;

	for (const char *p = strstr(text, word); is_ok && p; p = strstr(p, word)) {
		p += strlen(word);
		p += strspn(p, " \t\n");
		size_t length = strcspn(p, " \t\r\n(");

		is_ok = add(image, p, length, true, 0);
	}
	return is_ok;
}

bool sim_image_read(struct sim_image *image, const void *bytes)
{
	const unsigned char first = *(const unsigned char *)bytes;
	bool is_ok = true;

	*image =
		(struct sim_image){.is_opaque = first == FAT_BINARY || first == FAT_BINARY_WRAPPER};
	if (memcmp(bytes, ELFMAG, 1) == 0) {
		is_ok = read_elf(image, bytes);
	} else if (!image->is_opaque) {
		is_ok = read_ptx(image, bytes);
	}
	if (!is_ok) {
		sim_image_free(image);
	}
	return is_ok;
}

void sim_image_free(struct sim_image *image)
{
	for (size_t i = 0; i < image->nr; i++) {
		free(image->symbols[i].name);
	}
	free(image->symbols);
	*image = (struct sim_image){0};
}

const struct sim_image_symbol *sim_image_find(
	const struct sim_image *image, const char *name, bool is_kernel)
{
	for (size_t i = 0; i < image->nr; i++) {
		if (image->symbols[i].is_kernel == is_kernel &&
			strcmp(image->symbols[i].name, name) == 0) {
			return &image->symbols[i];
		}
	}
	return NULL;
}
