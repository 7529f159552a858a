/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * The meaning of the codes that columns of the stream hold (format.h). Codes travel as numbers, so a
 * number never changes its meaning; new ones are appended. FORMAT.md describes the columns.
 */
#ifndef COLLECTOR_FORMAT_CODES_H
#define COLLECTOR_FORMAT_CODES_H

enum gprof_api {
	GPROF_API_RUNTIME = 0,
	GPROF_API_DRIVER = 1,
	GPROF_API_THREAD = 2,
	GPROF_API_NCCL = 3,
};

/* Each function in os_calls.def is of one of these kinds. */
enum gprof_os_kind {
	GPROF_OS_UNKNOWN = 0, /* not in the list */
	GPROF_OS_OPEN = 1,
	GPROF_OS_CLOSE = 2,
	GPROF_OS_READ = 3,
	GPROF_OS_WRITE = 4,
	GPROF_OS_SYNC = 5,    /* writes what was written to the disk */
	GPROF_OS_CONNECT = 6, /* or accepts */
	GPROF_OS_SEND = 7,
	GPROF_OS_RECEIVE = 8,
	GPROF_OS_POLL = 9, /* waits for descriptors */
	GPROF_OS_SLEEP = 10,
	GPROF_OS_LOCK = 11,
	GPROF_OS_WAIT = 12, /* for what another thread signals */
	GPROF_OS_JOIN = 13, /* waits for the end of a thread */
	GPROF_OS_PROCESS = 14,
	GPROF_OS_GIL = 15, /* waits for Python's lock */
	GPROF_OS_FAULT = 16, /* a page fault, which no function is; in wait_sample */
};

enum gprof_source {
	GPROF_SOURCE_HOOK = 0,
	GPROF_SOURCE_CALLBACK = 1,
};

enum gprof_space {
	GPROF_SPACE_DEVICE = 0,
	GPROF_SPACE_HOST = 1,
	GPROF_SPACE_MANAGED = 2,
	GPROF_SPACE_ARRAY = 3,
	GPROF_SPACE_POOL = 4,
	GPROF_SPACE_VIRTUAL = 5,
};

enum gprof_framework {
	GPROF_FRAMEWORK_TORCH = 0,
	GPROF_FRAMEWORK_PADDLE = 1,
	GPROF_FRAMEWORK_PYTHON = 2,
	GPROF_FRAMEWORK_XLA = 3, /* JAX and TensorFlow; only in streams made of traces */
};

/* Scopes of op rows of GPROF_FRAMEWORK_PYTHON. */
enum gprof_python_scope {
	GPROF_PYTHON_MODULE = 1, /* a call of a torch.nn.Module; depth is of modules alone */
};

/* Scopes of op rows of GPROF_FRAMEWORK_XLA. */
enum gprof_xla_scope {
	GPROF_XLA_STEP = 1, /* a StepTraceAnnotation, which is also a step */
};

/* Metrics of samples, with their units. Of the process, of the host (device 255), or of a GPU. */
enum gprof_metric {
	GPROF_METRIC_PROCESS_CPU_NS = 1,	 /* since its start, all threads */
	GPROF_METRIC_PROCESS_RSS_BYTES = 2,
	GPROF_METRIC_PROCESS_THREADS = 3,
	GPROF_METRIC_PROCESS_SWITCHES = 4,	 /* voluntary, since its start */
	GPROF_METRIC_PROCESS_PREEMPTIONS = 5,	 /* involuntary context switches, since its start */
	GPROF_METRIC_HOST_CPU_BUSY_NS = 6,	 /* since boot, all CPUs */
	GPROF_METRIC_HOST_CPU_ALL_NS = 7,	 /* busy and idle */
	GPROF_METRIC_HOST_CPU_USER_NS = 8,	 /* with nice; part of busy */
	GPROF_METRIC_HOST_CPU_SYSTEM_NS = 9,	 /* with interrupts; part of busy */
	GPROF_METRIC_HOST_CPU_IOWAIT_NS = 10,	 /* idle while I/O is outstanding */
	GPROF_METRIC_PROCESS_USER_NS = 11,	 /* since its start, all threads */
	GPROF_METRIC_PROCESS_SYSTEM_NS = 12,	 /* since its start, all threads */
	GPROF_METRIC_PROCESS_MAJOR_FAULTS = 13,	 /* pages read from disk, since its start */
	GPROF_METRIC_PROCESS_ALLOWED_CPUS = 14,	 /* that its first thread may run on */
	GPROF_METRIC_CGROUP_THROTTLED_NS = 15,	 /* its threads held back by its CPU limit */
	GPROF_METRIC_CGROUP_LIMIT_MILLI_CPUS = 24, /* that limit, in thousandths of a CPU */
	GPROF_METRIC_GPU_BUSY_PERCENT = 16,	 /* NVML's: share of the last period with a kernel */
	GPROF_METRIC_GPU_MEMORY_PERCENT = 17,	 /* NVML's: share with memory traffic */
	GPROF_METRIC_GPU_MEMORY_BYTES = 18,	 /* in use, by everybody */
	GPROF_METRIC_GPU_POWER_MW = 19,
	GPROF_METRIC_GPU_SM_CLOCK_MHZ = 20,
	GPROF_METRIC_GPU_MEMORY_CLOCK_MHZ = 21,
	GPROF_METRIC_GPU_TEMPERATURE_C = 22,
	GPROF_METRIC_GPU_THROTTLE_REASONS = 23,	 /* NVML's bits */
	GPROF_METRIC_GPU_ENERGY_MJ = 25,	 /* used since the driver was loaded */
	/*
	 * Hardware counters. A value is the mean of an interval that ends at the time of the row.
	 * GPU_MEANS_NS is the length of the interval: the last row of the GPU before the counter.
	 * Shares are in thousandths of a percent.
	 */
	GPROF_METRIC_GPU_MEANS_NS = 26,
	GPROF_METRIC_GPU_SM_ACTIVE_MILLI_PERCENT = 27, /* SMs with at least one resident warp */
	GPROF_METRIC_GPU_OCCUPANCY_MILLI_PERCENT = 28, /* resident warps, of the maximum */
	GPROF_METRIC_GPU_TENSOR_MILLI_PERCENT = 29,    /* time in which tensor cores worked */
	GPROF_METRIC_GPU_DRAM_MILLI_PERCENT = 30,      /* memory bandwidth in use, of the peak */
	GPROF_METRIC_GPU_DRAM_READ_MILLI_PERCENT = 31,
	GPROF_METRIC_GPU_DRAM_WRITE_MILLI_PERCENT = 32,
	GPROF_METRIC_GPU_FP64_MILLI_PERCENT = 33, /* time in which these units worked */
	GPROF_METRIC_GPU_FP32_MILLI_PERCENT = 34,
	GPROF_METRIC_GPU_FP16_MILLI_PERCENT = 35,
	GPROF_METRIC_GPU_PCIE_TX_BYTES_PER_S = 36, /* from the GPU */
	GPROF_METRIC_GPU_PCIE_RX_BYTES_PER_S = 37,
	GPROF_METRIC_GPU_NVLINK_TX_BYTES_PER_S = 38, /* sum of all links */
	GPROF_METRIC_GPU_NVLINK_RX_BYTES_PER_S = 39,
	GPROF_METRIC_PROCESS_READ_BYTES = 40,	       /* by calls; with the children it waited for */
	GPROF_METRIC_PROCESS_STORAGE_READ_BYTES = 41, /* that storage had to deliver; without them */
	/* Pages of memory that were looked at; the device is their NUMA node, 255: unknown. */
	GPROF_METRIC_PROCESS_NODE_PAGES = 42,
	GPROF_METRIC_PROCESS_PINNED_NODE_PAGES = 43, /* of pinned memory alone */
};

/* Bits say which columns of a row of thread_cpu are known, beside the times. */
enum gprof_thread_known {
	GPROF_THREAD_CPU_KNOWN = 1, /* with the major faults */
	GPROF_THREAD_MIGRATIONS_KNOWN = 2,
};

/* The state of a thread in a row of thread_state. */
enum gprof_thread_state {
	GPROF_THREAD_RUNNING = 1,  /* on a CPU */
	GPROF_THREAD_RUNNABLE = 2, /* off the CPU, which it lost while it could still run */
	GPROF_THREAD_BLOCKED = 3,  /* off the CPU, which it left to wait */
	GPROF_THREAD_OFF_CPU = 4,  /* why is unknown */
};

/* Bits say which ends of a row of thread_state are switches. */
enum gprof_thread_switch {
	GPROF_THREAD_SWITCHED_AT_BEGIN = 1,
	GPROF_THREAD_SWITCHED_AT_END = 2,
};

enum gprof_thread_what {
	GPROF_THREAD_SEEN = 0,
	GPROF_THREAD_CREATED = 1,
	GPROF_THREAD_NAMED = 2,
	GPROF_THREAD_ENDED = 3,
};

/* Calls of NCCL; those before GPROF_NCCL_SEND are collectives. */
enum gprof_nccl {
	GPROF_NCCL_ALL_REDUCE = 1,
	GPROF_NCCL_REDUCE = 2,
	GPROF_NCCL_BROADCAST = 3,
	GPROF_NCCL_ALL_GATHER = 4,
	GPROF_NCCL_REDUCE_SCATTER = 5,
	GPROF_NCCL_ALL_TO_ALL = 6,
	GPROF_NCCL_GATHER = 7,
	GPROF_NCCL_SCATTER = 8,
	GPROF_NCCL_SEND = 9,
	GPROF_NCCL_RECV = 10,
	GPROF_NCCL_GROUP_END = 11, /* end of the outermost group; it has the correlation IDs of all its calls */
	GPROF_NCCL_INIT = 12,
	GPROF_NCCL_SPLIT = 13,	/* or shrink: comm is the new one */
	GPROF_NCCL_FINALIZE = 14,
	GPROF_NCCL_DESTROY = 15,
	GPROF_NCCL_ABORT = 16,
};

/* Those that NCCL names; 255: one of later versions, or unknown. */
enum gprof_nccl_algorithm {
	GPROF_NCCL_TREE = 0,
	GPROF_NCCL_RING = 1,
	GPROF_NCCL_COLLNET_DIRECT = 2,
	GPROF_NCCL_COLLNET_CHAIN = 3,
	GPROF_NCCL_NVLS = 4,
	GPROF_NCCL_NVLS_TREE = 5,
	GPROF_NCCL_PAT = 6,
	GPROF_NCCL_COPY_ENGINE = 7, /* no kernel */
	GPROF_NCCL_OTHER = 255,
};

enum gprof_nccl_protocol {
	GPROF_NCCL_LL = 0,
	GPROF_NCCL_LL128 = 1,
	GPROF_NCCL_SIMPLE = 2, /* or GPROF_NCCL_OTHER */
};

enum gprof_nccl_channel {
	GPROF_NCCL_CHANNEL_KERNEL = 0,
	GPROF_NCCL_CHANNEL_SEND = 1,
	GPROF_NCCL_CHANNEL_RECV = 2,
};

/* The network of a row of nccl_net. */
enum gprof_nccl_net {
	GPROF_NCCL_NET_IB = 1, /* or RoCE */
	GPROF_NCCL_NET_SOCKET = 2,
};

enum gprof_hang {
	GPROF_HANG_BEGAN = 1,	    /* since: when it last went on; text: what has not come since */
	GPROF_HANG_THREAD = 2,	    /* name: a call that it is in since then, or, if not is_open, has
				       returned from then, "" for none; text: the kernel's view */
	GPROF_HANG_LAUNCHED = 3,   /* the last kernel or graph launched into that stream */
	GPROF_HANG_FINISHED = 4,   /* the last work that ended in that place, at work_end */
	GPROF_HANG_COLLECTIVE = 5, /* the last collective called on that communicator */
	GPROF_HANG_ENDED = 6,	    /* since: as BEGAN; tick: when it was seen to go on again */
	GPROF_HANG_FRAME = 7,	    /* name: a function that the thread is in, at `line` of the file
				       `text`; the innermost first; name "": how many more */
};

enum gprof_nvtx {
	GPROF_NVTX_PUSH = 0,
	GPROF_NVTX_POP = 1,
	GPROF_NVTX_START = 2,
	GPROF_NVTX_END = 3,
	GPROF_NVTX_MARK = 4,
	GPROF_NVTX_DOMAIN = 5,	 /* domain = its new id, name = its name */
	GPROF_NVTX_CATEGORY = 6, /* category = its id, name = its name */
	GPROF_NVTX_STRING = 7,	 /* registered = its new id, name = the text */
	GPROF_NVTX_RESOURCE = 8, /* payload = handle, name = its name */
};

enum gprof_step_rule {
	GPROF_STEP_CALL = 1,	 /* gprof_step() */
	GPROF_STEP_NVTX = 2,
	GPROF_STEP_API = 3,
	GPROF_STEP_KERNEL = 4,
	GPROF_STEP_INTERVAL = 5,
	GPROF_STEP_OPTIMIZER = 6,  /* since 1.2 */
	GPROF_STEP_DATALOADER = 7, /* since 1.2 */
	GPROF_STEP_PERIOD = 8,	   /* since 1.2: of the launches */
};

enum gprof_window_state {
	GPROF_WINDOW_CLOSED = 0,
	GPROF_WINDOW_READY = 1,
	GPROF_WINDOW_RECORD = 2,
};

/* How the process ended, if it or its parent knew; any other fatal signal leaves 0. */
enum gprof_end_kind {
	GPROF_END_UNKNOWN = 0,
	GPROF_END_EXIT = 1,	  /* exit, or return from main */
	GPROF_END_UNDERSCORE_EXIT = 2,	  /* _exit, _Exit */
	GPROF_END_QUICK_EXIT = 3,
	GPROF_END_ABORT = 4,
	GPROF_END_EXEC = 5,	  /* another program took its place */
	GPROF_END_SIGNAL = 6,	  /* a signal's default action */
};

#endif
