# SPDX-License-Identifier: Apache-2.0
# The reader of test/torch, from the modules of the reporter that open streams.
$(B)/torch/ops: $(B)/test/torch/ops.o $(B)/libgprof-report.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(REPORT_LIBS)

# Libraries that play PyTorch's, each kind in a folder of its own.
FAKE_KINDS := GOOD OTHER LACKS SILENT MOVED SMALL LATE SLOW FRONT WIDE LONG NEWER MARKED
FAKES := $(patsubst %,$(B)/torch/%/libtorch_cpu.so,$(FAKE_KINDS)) $(B)/torch/libc10_cuda.so

$(B)/torch/%/libtorch_cpu.so: test/torch/fake_torch.c
	$(call say,LIB,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -DFAKE_$* -fvisibility=default -Wno-missing-prototypes -fPIC -shared -o $@ $<

$(B)/torch/libc10.so: test/torch/fake_c10.c
	$(call say,LIB,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fvisibility=default -fPIC -shared -Wl,-soname,libc10.so -o $@ $<

$(B)/torch/libc10_cuda.so: test/torch/fake_c10_cuda.c $(B)/torch/libc10.so
	$(call say,LIB,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fvisibility=default -fPIC -shared -o $@ $^ '-Wl,-rpath,$$ORIGIN'

$(B)/torch/fake_host: $(B)/test/torch/fake_host.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< -ldl -pthread

$(B)/torch/fake_linked: $(B)/test/torch/fake_linked.o $(B)/torch/GOOD/libtorch_cpu.so
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< -L$(B)/torch/GOOD -l:libtorch_cpu.so -ldl -pthread

torch-programs: $(B)/torch/ops $(B)/torch/fake_host $(B)/torch/fake_linked $(FAKES)

tests: torch-programs

bench-torch: $(B)/libgprof.so $(B)/bench/hook_calls cold
	$(Q)test/torch/bench.sh $(B)

.PHONY: torch-programs bench-torch
