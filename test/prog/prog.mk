# SPDX-License-Identifier: Apache-2.0
# Small CUDA programs, built by gcc for the simulator, and by nvcc too where there is one.

PROG_SRC  := $(wildcard test/prog/*.c)
PROG_NAME := $(basename $(notdir $(PROG_SRC)))
PROG_BIN  := $(addprefix $(B)/prog/,$(PROG_NAME))
NVCC      ?= $(firstword $(wildcard $(CUDA_HOME)/bin/nvcc /usr/local/cuda/bin/nvcc) $(shell command -v nvcc))
PROG_LINK := $(B)/sim/libcudart.so.13 -ldl -lpthread

prog: $(PROG_BIN)

$(B)/prog/%: test/prog/%.c test/prog/prog.h $(B)/sim/libcudart.so.13 | sim
	$(call say,PROG,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fvisibility=default $(LDFLAGS) -o $@ $< $(PROG_LINK)

.PHONY: prog
