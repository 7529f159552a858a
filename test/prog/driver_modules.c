/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a driver gives by name: the form of a function that belongs to a version of CUDA, and the
 * kernels and variables of a module. The module is a cubin's outline, made here: ELF sections and
 * symbols without code.
 */
#include <elf.h>
#include <string.h>

#include "test/prog/driver.h"

static void *driver;

static void print_form(const char *name, int version, uint64_t flags)
{
	static const char *const suffixes[] = {
		"", "_v2", "_v3", "_v4", "_ptsz", "_v2_ptsz", "_v2_ptds"};
	char export[64];
	int status = -1;
	void *p = driver_function(driver, name, version, flags, &status);

	printf("%s at %d:", name, version);
	for (size_t i = 0; p && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(export, sizeof(export), "%s%s", name, suffixes[i]);
		if (dlsym(driver, export) == p) {
			printf(" %s", export);
		}
	}
	printf(" status %d\n", status);
}

/* The sections and symbols of a cubin with the kernel "first", the variable "table" and nothing
 * else. */
struct cubin {
	Elf64_Ehdr header;
	Elf64_Shdr sections[5];
	Elf64_Sym symbols[3];
	char names[64];
	char strings[32];
};

static void make_cubin(struct cubin *c)
{
	static const char names[] = "\0.text.first\0.nv.shared.first\0.symtab\0.names\0";
	static const char strings[] = "\0first\0table\0away\0";

	*c = (struct cubin){.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					       ELFDATA2LSB, EV_CURRENT},
				    .e_machine = 190,
				    .e_shoff = offsetof(struct cubin, sections),
				    .e_shentsize = sizeof(Elf64_Shdr),
				    .e_shnum = 5,
				    .e_shstrndx = 4}};
	memcpy(c->names, names, sizeof(names));
	memcpy(c->strings, strings, sizeof(strings));
	c->sections[0] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct cubin, strings),
		.sh_size = sizeof(strings)};
	c->sections[1] = (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_PROGBITS};
	c->sections[2] = (Elf64_Shdr){.sh_name = 13, .sh_type = SHT_NOBITS, .sh_size = 256};
	c->sections[3] = (Elf64_Shdr){.sh_name = 30,
		.sh_type = SHT_SYMTAB,
		.sh_offset = offsetof(struct cubin, symbols),
		.sh_size = sizeof(c->symbols),
		.sh_entsize = sizeof(Elf64_Sym)};
	c->sections[4] = (Elf64_Shdr){.sh_name = 38,
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct cubin, names),
		.sh_size = sizeof(names)};
	c->symbols[0] = (Elf64_Sym){
		.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1};
	c->symbols[1] = (Elf64_Sym){.st_name = 7,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
		.st_shndx = 2,
		.st_size = 148};
	c->symbols[2] = (Elf64_Sym){.st_name = 13, /* defined elsewhere */
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
		.st_size = 8};
}

static void use_module(void)
{
	cu_result (*load)(cu_module *, const void *), (*load_file)(cu_module *, const char *);
	cu_result (*get_function)(cu_function *, cu_module, const char *);
	cu_result (*get_attribute)(int *, int, cu_function);
	cu_result (*get_global)(cu_deviceptr *, size_t *, cu_module, const char *);
	cu_result (*to_device)(cu_deviceptr, const void *, size_t),
		(*to_host)(void *, cu_deviceptr, size_t);
	struct cubin cubin;
	cu_module module;
	cu_function f;
	cu_deviceptr address;
	size_t bytes = 0;
	char table[148] = "kept", back[148] = "";
	int shared = 0;

	*(void **)&load = driver_function(driver, "cuModuleLoadData", 12000, 0, NULL);
	*(void **)&load_file = driver_function(driver, "cuModuleLoad", 12000, 0, NULL);
	*(void **)&get_function = driver_function(driver, "cuModuleGetFunction", 12000, 0, NULL);
	*(void **)&get_attribute = driver_function(driver, "cuFuncGetAttribute", 12000, 0, NULL);
	*(void **)&get_global = driver_function(driver, "cuModuleGetGlobal", 12000, 0, NULL);
	*(void **)&to_device = driver_function(driver, "cuMemcpyHtoD", 12000, 0, NULL);
	*(void **)&to_host = driver_function(driver, "cuMemcpyDtoH", 12000, 0, NULL);
	make_cubin(&cubin);
	CHECK(load(&module, &cubin));
	CHECK(get_function(&f, module, "first"));
	CHECK(get_attribute(&shared, 1, f));
	printf("kernel first: %d bytes of shared memory\n", shared);
	printf("kernel second: %d\n", get_function(&f, module, "second"));
	printf("kernel table: %d\n", get_function(&f, module, "table"));
	CHECK(get_global(&address, &bytes, module, "table"));
	printf("variable table: %zu bytes\n", bytes);
	CHECK(to_device(address, table, sizeof(table)));
	CHECK(to_host(back, address, sizeof(back)));
	printf("variable table: %s\n", back);
	printf("variable away: %d\n", get_global(&address, &bytes, module, "away"));
	printf("variable first: %d\n", get_global(&address, &bytes, module, "first"));
	printf("module of no file: %d\n", load_file(&module, "/nonexistent/module.cubin"));
}

int main(void)
{
	cu_result (*init)(unsigned int), (*retain)(cu_context *, cu_device),
		(*set_current)(cu_context);
	cu_result (*device_of_current)(cu_device *), (*device_of)(cu_device *, cu_context);
	cu_context context;
	cu_device device = -1;

	driver = driver_open();
	*(void **)&init = driver_function(driver, "cuInit", 2000, 0, NULL);
	*(void **)&retain = driver_function(driver, "cuDevicePrimaryCtxRetain", 7000, 0, NULL);
	*(void **)&set_current = driver_function(driver, "cuCtxSetCurrent", 4000, 0, NULL);
	CHECK(init(0));
	CHECK(retain(&context, 0));
	CHECK(set_current(context));
	print_form("cuCtxGetDevice", 1000, 0);
	print_form("cuCtxGetDevice", 2000, 0);
	print_form("cuCtxGetDevice", 12090, 0);
	print_form("cuCtxGetDevice", 13000, 0);
	print_form("cuCtxCreate", 12000, 0);
	print_form("cuStreamGetCaptureInfo", 11080, 2);
	print_form("cuLaunchKernel", 12000, 2);
	print_form("cuNoSuchFunction", 12000, 0);
	*(void **)&device_of_current = driver_function(driver, "cuCtxGetDevice", 12000, 0, NULL);
	*(void **)&device_of = driver_function(driver, "cuCtxGetDevice", 13000, 0, NULL);
	CHECK(device_of_current(&device));
	printf("device of the current context %d\n", device);
	CHECK(device_of(&device, context));
	printf("device of a context %d\n", device);
	use_module();
	return 0;
}
