# SPDX-License-Identifier: Apache-2.0
# The simulated CUDA: `make sim` leaves libraries with the real names in build/sim.

SIM     := $(B)/sim
SIM_O   := $(B)/test/sim
SIM_LIB := $(addprefix $(SIM)/, libcuda.so.1 libcudart.so.13 libcudart.so.12 libcudart.so.11.0 \
	libcupti.so.13 libcupti.so.12 libcupti.so.11.8 libnvidia-ml.so.1 libnccl.so.2 libnccl_static.a \
	static/libcudart_static.a)

SIM_DRIVER  := $(addprefix $(SIM_O)/, config.o time.o stream.o op.o event.o memory.o copy.o launch.o \
	device.o core.o graph.o exec.o capture.o driver_export.o driver_memory.o driver_stream.o \
	driver_context.o driver_module.o image.o driver_graph.o driver_pool.o driver_virtual.o driver_extra.o driver_rest.o)
SIM_RUNTIME := $(addprefix $(SIM_O)/, runtime.o runtime_export.o runtime_launch.o runtime_memory.o \
	runtime_copy.o runtime_stream.o runtime_device.o runtime_graph.o runtime_node.o runtime_extra.o \
	runtime_rest.o)
SIM_CUPTI   := $(addprefix $(SIM_O)/, cupti_buffer.o cupti_record.o cupti_trace.o cupti_query.o \
	cupti_export.o cupti_subscribe.o cupti_clock.o cupti_pm.o)

sim: $(SIM_LIB)

$(SIM_O)/%.o: CFLAGS += -fPIC
# Thousands of small functions that pass a call on take -O2 three times as long as -O1.
$(addprefix $(SIM_O)/, driver_export.o runtime_export.o cupti_query.o): OPT := $(if $(SAN),-Og -g1,-O1 -g1)

# A toolkit's headers have the version that each form of a driver function came with.
SIM_INCLUDE := $(patsubst %/cudaTypedefs.h,%,$(firstword $(wildcard \
	$(CUDA_HOME)/include/cudaTypedefs.h /usr/local/cuda/include/cudaTypedefs.h)))

$(SIM_O)/driver_since.def: test/sim/driver_since.sh $(addprefix $(SIM_INCLUDE)/, $(if $(SIM_INCLUDE), cuda.h cudaTypedefs.h))
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)bash $< $(SIM_INCLUDE) > $@

$(SIM_O)/driver_extra.o: CPPFLAGS += -I$(SIM_O)
$(SIM_O)/driver_extra.o: $(SIM_O)/driver_since.def

# Objects that differ by version.
$(SIM_O)/runtime_level-%.o: test/sim/runtime_level.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -DSIM_RUNTIME_LEVEL=$* $(CFLAGS) -c -o $@ $<

$(SIM_O)/cupti_layout-%.o: test/sim/cupti_layout.c test/sim/cupti.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -DSIM_CUPTI_LEVEL=$* $(CFLAGS) -c -o $@ $<

# The real libraries put every symbol into one version node named like the library.
$(SIM_O)/%.map:
	$(Q)mkdir -p $(@D)
	$(Q)printf '%s { global: cuda*; __cuda*; cupti*; sim*; local: *; };\n' '$*' > $@

# $(1): objects  $(2): the rest of the command line
sim_link = $(call say,LD,$@) ; mkdir -p $(@D) ; \
	$(CC) -shared -o $@ $(1) $(LDFLAGS) -Wl,-soname,$(notdir $@) -Wl,-rpath,'$$ORIGIN' \
	-Wl,--no-undefined $(2) -ldl -lpthread -lrt

$(SIM)/libcuda.so.1: $(SIM_DRIVER)
	@$(call sim_link,$^)

$(SIM)/libcudart.so.13: $(SIM_RUNTIME) $(SIM_O)/runtime_level-13000.o $(SIM_O)/libcudart.so.13.map
$(SIM)/libcudart.so.12: $(SIM_RUNTIME) $(SIM_O)/runtime_level-12040.o $(SIM_O)/libcudart.so.12.map
$(SIM)/libcudart.so.11.0: $(SIM_RUNTIME) $(SIM_O)/runtime_level-11080.o $(SIM_O)/libcudart.so.11.0.map
$(SIM)/libcupti.so.13: $(SIM_CUPTI) $(SIM_O)/cupti_layout-13000.o $(SIM_O)/libcupti.so.13.map
$(SIM)/libcupti.so.12: $(SIM_CUPTI) $(SIM_O)/cupti_layout-12040.o $(SIM_O)/libcupti.so.12.map
$(SIM)/libcupti.so.11.8: $(SIM_CUPTI) $(SIM_O)/cupti_layout-11080.o $(SIM_O)/libcupti.so.11.8.map
$(SIM)/libcudart.so.13 $(SIM)/libcudart.so.12 $(SIM)/libcudart.so.11.0 \
$(SIM)/libcupti.so.13 $(SIM)/libcupti.so.12 $(SIM)/libcupti.so.11.8:
	@$(call sim_link,$(filter %.o,$^),-Wl$(comma)-Bsymbolic -Wl$(comma)--version-script=$(filter %.map,$^))

# What nvcc links by default (-cudart static), found by `nvcc -L`. One object, since the exported functions
# refer weakly to the others, and a weak reference takes no member out of an archive.
$(SIM)/static/libcudart_static.a: $(SIM_RUNTIME) $(SIM_O)/runtime_level-13000.o
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(LD) -r -o $(SIM_O)/cudart_static.o $^
	$(Q)rm -f $@ && $(AR) rc $@ $(SIM_O)/cudart_static.o

$(SIM)/libnvidia-ml.so.1: $(SIM_O)/nvml.o
	@$(call sim_link,$^)

SIM_NCCL := $(addprefix $(SIM_O)/, nccl.o nccl_call.o nccl_comm.o nccl_move.o nccl_plugin.o nccl_range.o nccl_rest.o nccl_shared.o)

$(SIM)/libnccl.so.2: $(SIM_NCCL)
	@$(call sim_link,$^)

$(SIM)/libnccl_static.a: $(SIM_NCCL)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rc $@ $^

.PHONY: sim

# For the simulator's own tests: a CUPTI client as an injection library, and a look at any CUPTI.
sim-tests: sim $(B)/test/sim/client.so $(B)/test/sim/strides

$(B)/test/sim/client.so: $(SIM_O)/client.o
	@$(call sim_link,$^)

$(B)/test/sim/strides: $(SIM_O)/strides.o
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -ldl

.PHONY: sim-tests
