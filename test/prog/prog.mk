# SPDX-License-Identifier: Apache-2.0
# Small CUDA programs: `make prog` builds them by gcc for the simulator, `make prog-nvcc` those that
# are also CUDA by nvcc, against the shared runtime, where there is an nvcc.

PROG_NAME := $(basename $(notdir $(wildcard test/prog/*.c)))
PROG_CUDA := $(filter-out driver_api driver_linked driver_modules local_plugin collectives, $(PROG_NAME))
PROG_NCCL := collectives
PROG_DRV  := driver_linked
NVCC      ?= $(firstword $(wildcard $(CUDA_HOME)/bin/nvcc) $(shell command -v nvcc) \
	$(wildcard /usr/local/cuda/bin/nvcc))
NVCCFLAGS ?= -arch=native
PROG_FLAG := -fvisibility=default

prog: $(addprefix $(B)/prog/,$(PROG_NAME) collectives_static plugin-13.so plugin-12.so)

$(B)/prog/%: test/prog/%.c test/prog/prog.h test/prog/driver.h test/prog/must.h test/prog/ranks.h $(B)/sim/libcudart.so.13 | sim
	$(call say,PROG,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(PROG_FLAG) $(LDFLAGS) -o $@ $< \
		$(if $(filter $*,$(PROG_CUDA) $(PROG_NCCL)),$(B)/sim/libcudart.so.13) \
		$(if $(filter $*,$(PROG_NCCL)),$(B)/sim/libnccl.so.2) \
		$(if $(filter $*,$(PROG_DRV)),$(B)/sim/libcuda.so.1) -ldl -lpthread

# The same with NCCL in it, as some frameworks are built: no function of NCCL is called across objects.
$(B)/prog/collectives_static: test/prog/collectives.c test/prog/prog.h test/prog/must.h test/prog/ranks.h \
		$(B)/sim/libcudart.so.13 $(B)/sim/libnccl_static.a | sim
	$(call say,PROG,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(PROG_FLAG) $(LDFLAGS) -o $@ $< \
		$(B)/sim/libcudart.so.13 $(B)/sim/libnccl_static.a -ldl -lpthread -lrt

# Linked against the runtime of the version in its name.
$(B)/prog/plugin-%.so: test/prog/plugin/plugin.c test/prog/prog.h $(B)/sim/libcudart.so.% | sim
	$(call say,PROG,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -fPIC -shared -o $@ $< $(B)/sim/libcudart.so.$* -ldl

# The simulator answers for any architecture; a GPU wants its own.
prog-nvcc: $(addprefix $(B)/prog-nvcc/,$(PROG_CUDA) plugin-12.so)

# What two_runtimes opens; an older runtime than nvcc's own, so from the simulator.
$(B)/prog-nvcc/plugin-12.so: $(B)/prog/plugin-12.so
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $@

$(B)/prog-nvcc/per_thread: PROG_NVCC := -default-stream per-thread
$(B)/prog-nvcc/%: test/prog/%.c test/prog/prog.h
	$(call say,NVCC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(NVCC) $(NVCCFLAGS) $(PROG_NVCC) -cudart shared -x cu -I. -o $@ $< -ldl -lpthread

# Default flags but for the architecture: the runtime is in the program. `-L` finds the simulator's.
prog-static: $(patsubst test/prog/nvcc/%.cu,$(B)/prog-static/%,$(wildcard test/prog/nvcc/*.cu))

$(B)/prog-static/%: test/prog/nvcc/%.cu test/prog/nvcc/event_time.h test/prog/prog.h $(B)/sim/static/libcudart_static.a
	$(call say,NVCC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(NVCC) $(NVCCFLAGS) $(if $(PROG_REAL),,-L$(B)/sim/static) -I. -o $@ $<

.PHONY: prog prog-nvcc prog-static
