# SPDX-License-Identifier: Apache-2.0
# What a machine with a GPU needs of the build: `make gpu` leaves it in build/gpu, which can be
# carried there. Nothing in it names another folder of the build.

GPU      := $(B)/gpu
GPU_PROG := vector_add copies errors graphs overlap per_thread shared_memory threads
# Machine code for the usual ones and PTX, which the driver translates, for all later ones.
GPU_ARCH ?= -gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=sm_80 \
	-gencode arch=compute_90,code=[sm_90,compute_90]

# The programs in two ways: the runtime as a library, and inside of them, where no hook is called.
# Made by a second make: the first does not know yet whether there is an nvcc while it reads this.
GPU_CUDA := $(foreach kind,shared static,$(addprefix $(GPU)/$(kind)/,$(GPU_PROG) train at_end steps launches)) \
	$(GPU)/lib/libcudart.so

gpu: $(GPU)/libgprof.so $(GPU)/gprof-report $(GPU)/rows $(GPU)/client.so
	$(Q)echo "$(VERSION) $$(git describe --always --dirty 2>/dev/null)" >$(GPU)/version
	$(Q)$(if $(NVCC),$(MAKE) --no-print-directory $(GPU_CUDA),\
		echo 'gpu: no nvcc, so no CUDA programs; PyTorch can be tested' >&2)

$(GPU)/libgprof.so: $(B)/libgprof.so
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $@

# No library of the other machine is asked for.
$(GPU)/gprof-report: $(B)/report/cli/main.o $(B)/report/serve/server_none.o $(B)/libgprof-report.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -static -o $@ $^ $(REPORT_LIBS)

$(GPU)/rows: $(B)/test/gpu/rows.o $(B)/libgprof-report.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -static -o $@ $^ $(REPORT_LIBS)

$(GPU)/shared/per_thread $(GPU)/static/per_thread: GPU_FLAG := -default-stream per-thread

$(GPU)/client.so: test/gpu/client.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -I. -shared -fPIC -o $@ $< -ldl

# $(1): shared or static
gpu_nvcc = mkdir -p $(@D) ; $(NVCC) $(GPU_ARCH) $(GPU_FLAG) -cudart $(1) -x cu -O2 -I. -o $@ $< -ldl -lpthread

$(GPU)/shared/%: test/prog/%.c test/prog/prog.h
	$(call say,NVCC,$@)
	$(Q)$(call gpu_nvcc,shared)
$(GPU)/static/%: test/prog/%.c test/prog/prog.h
	$(call say,NVCC,$@)
	$(Q)$(call gpu_nvcc,static)
$(GPU)/shared/%: test/gpu/%.c test/prog/prog.h
	$(call say,NVCC,$@)
	$(Q)$(call gpu_nvcc,shared)
$(GPU)/static/%: test/gpu/%.c test/prog/prog.h
	$(call say,NVCC,$@)
	$(Q)$(call gpu_nvcc,static)
$(GPU)/shared/%: test/demo/%.c test/prog/prog.h
	$(call say,NVCC,$@)
	$(Q)$(call gpu_nvcc,shared)
$(GPU)/static/%: test/demo/%.c test/prog/prog.h
	$(call say,NVCC,$@)
	$(Q)$(call gpu_nvcc,static)

# The runtime that the shared ones were linked to, for machines without a toolkit.
$(GPU)/lib/libcudart.so:
	$(Q)mkdir -p $(@D)
	$(Q)cp -L $(dir $(NVCC))../lib64/libcudart.so.* $(@D)/
	$(Q)touch $@

.PHONY: gpu
