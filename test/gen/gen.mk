# SPDX-License-Identifier: Apache-2.0
# The generator of streams for tests.

GEN_OBJ := $(addprefix $(B)/test/gen/,gen.o gen_compile.o gen_compile_samples.o gen_compiled.o gen_counted.o gen_cpu.o gen_cpu_wait.o gen_gc.o gen_gil.o gen_graph.o gen_hostile.o gen_measured.o gen_model.o gen_nccl.o gen_nested.o gen_network.o gen_ops.o gen_os.o gen_placement.o gen_python.o gen_sched.o gen_small.o gen_stacks.o gen_hang.o gen_training.o gen_wait.o gen_wild.o) \
	$(B)/collector/format/block.o $(B)/collector/format/rows_to_columns.o $(B)/collector/format/block_tables.o

$(B)/gen_stream: $(B)/test/gen/gen_stream.o $(GEN_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lzstd -lm

tests: $(B)/gen_stream

# How fast the reporter reads the reference stream; see test/bench/bench_report.c.
$(B)/bench_report: $(B)/test/bench/bench_report.o $(GEN_OBJ) $(B)/libgprof-report.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(REPORT_LIBS)

$(B)/bench/run_cost: $(B)/test/bench/run_cost.o
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $<

bench-report: $(B)/bench_report $(B)/bench/run_cost $(B)/gprof-report $(B)/gen_stream
	$(Q)test/bench/bench_report.sh $(B)

bench: bench-report

.PHONY: bench-report
