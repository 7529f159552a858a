/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies a kernel by its name alone: no record says that a kernel communicates or uses tensor
 * cores. Views ask once for each kernel row, so the answer is cached in one byte a name. Function
 * names decide about communication, since template arguments name other functions; for tensor cores
 * the whole text comes first, since there the arguments have the instruction. The word lists come
 * from kernels of real libraries; a new library means a new word here, and all views follow.
 */
#include "report/model/kernel_class.h"

#include <string.h>

#include "report/util/buf.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"

const char *const tensor_use_names[NR_TENSOR_USES] = {
	[TENSOR_NO] = "no", [TENSOR_YES] = "yes", [TENSOR_UNKNOWN] = "unknown"};

#define IS_KNOWN	 1u
#define IS_COMMUNICATION 2u
#define TENSOR_SHIFT	 2u

/* Longer names are judged by their first bytes. */
#define FUNCTION_BYTES 512u

static struct {
	uint8_t *flags; /* by name number */
	size_t nr_flags;
} cache;

/*
 * Copies the function's own name with its namespaces, without return type, parameters and template
 * arguments, which name other functions.
 *
 *   void at::native::vectorized_kernel<4, Add<float>, char*>(int, Add)
 *        `--------- kept ------------'`---- angle > 0 -----'`- stop
 *   `dropped at the blank
 *
 * Parentheses inside of angle brackets may contain < and > as operators, so these do not count
 * there.
 */
static void copy_function(const char *text, char *function)
{
	static const char anonymous[] = "(anonymous namespace)";
	uint32_t angle = 0, round = 0;
	size_t nr = 0;

	for (; *text && nr + 1 < FUNCTION_BYTES; text++) {
		if (!angle && strncmp(text, anonymous, sizeof(anonymous) - 1) == 0) {
			text += sizeof(anonymous) - 2;
		} else if (angle && (*text == '(' || *text == ')')) {
			round += *text == '(' ? 1 : round ? -1u : 0;
		} else if (*text == '<' && !round) {
			angle++;
		} else if (*text == '>' && angle && !round) {
			angle--;
		} else if (!angle && *text == '(') {
			break;
		} else if (!angle && *text == ' ') {
			nr = 0; /* that was the return type */
		} else if (!angle) {
			function[nr++] = *text;
		}
	}
	function[nr] = '\0';
}

static bool is_communication(const char *function)
{
	static const char *const begins[] = {"nccl", "rccl", "hccl", "hcom_", NULL};
	/*
	 * DeepEP and its descendants have other namespaces around internode and intranode. Kernels
	 * of symmetric memory that fuse a collective with other work count, too.
	 */
	static const char *const words[] = {"ncclKernel", "ncclDevKernel", "nvshmem",
		"deep_ep::", "hybrid_ep::", "internode", "intranode", "pplx::", "mscclpp", "msccl",
		"ucc_", "cross_device_reduce", "sendrecv", "multimem", "one_shot_", "two_shot_",
		"oneshot_", "twoshot_", "lamport", "userbuffers_", "symm_mem",
		"symmetric_memory::", NULL};
	static const char *const collectives[] = {"allreduce", "all_reduce", "allgather",
		"all_gather", "reducescatter", "reduce_scatter", "alltoall", "all_to_all", NULL};
	/* Within a warp or block, so no device talks to another. */
	static const char *const inner[] = {"warp", "block", "thread", NULL};

	return text_begins_with_any(function, begins) || text_has_any(function, words) ||
	       (text_has_any(function, collectives) && !text_has_any(function, inner));
}

/* ---- tensor cores ---- */

/* Attention of xformers and PyTorch: the name has type and generation. */
static bool is_cutlass_attention(const char *text, enum tensor_use *use)
{
	bool is_half = strstr(text, "f16_") || strstr(text, "bf16_");

	if (!strstr(text, "fmha_cutlass")) {
		return false;
	}
	*use = strstr(text, "_sm80") || (is_half && strstr(text, "_sm7")) ? TENSOR_YES : TENSOR_NO;
	return true;
}

/*
 * The xmma kernels of cuBLAS and cuDNN. Tensor cores have no instruction for plain single
 * precision.
 */
static enum tensor_use of_xmma(const char *text)
{
	return strstr(text, "f32f32_f32f32") ? TENSOR_NO : TENSOR_YES;
}

/* The name says tensor cores, or the kernel exists for them only. */
static bool says_tensor(const char *text)
{
	static const char *const words[] = {"tensorop", "wmma", "gmma", "TmaUmma", "SM100_MMA",
		"hmma", "imma", "dmma", "utcmma", "tcgen05", "h884", "s884", "d884", "i8816",
		"h1688", "s1688", "c1688", "16816", "s161616", "h161616", "m16n8k", "m8n8k", "m64n",
		"nvjet_", "tensor8x8x4", "tensor16x8x", "flash_fwd", "flash_bwd", "FlashAttnFwd",
		"FlashAttnBwd", "fmhaSm90", "fmhaSm100", "fmhaSm120", "fmha_v2_",
		"deep_gemm::", "marlin::Marlin", "PrefillWith", "first_layer_wgrad_kernel",
		"dgrad_1x1_stride_2x2", "conv2d_c1_k1", NULL};
	/* trtllm-gen: "bmm_..._sm100f", "gemm_..._sm100a" */
	bool is_generated = (strncmp(text, "bmm_", 4) == 0 || strncmp(text, "gemm_", 5) == 0) &&
			    strstr(text, "_sm1");

	return is_generated || text_has_any(text, words);
}

static bool says_none(const char *text)
{
	static const char *const words[] = {"simt", "ffma", "_sgemm", "sgemm_", "_dgemm_", "_cgemm",
		"_zgemm", "_hgemm_", "scudnn", "splitKreduce", "splitk_reduce", "flash_bwd_dot_do",
		"flash_bwd_convert", "splitkv_combine", "gemv", "gemmk1_", "gemmSN_", "wgrad_alg0_",
		"wgrad_alg1_", "dgrad_engine", "dgrad2d_", "implicit_convolve_sgemm",
		"explicit_convolve_sgemm", "winograd", "BatchDecodeWith", NULL};

	return text_has_any(text, words);
}

/* It multiplies matrices, but nothing else in its name decides. */
static bool may_multiply(const char *function)
{
	static const char *const words[] = {"gemm", "matmul", "_mm_", "bmm", "conv", "attention",
		"attn", "mha", "_dot", "cutlass", "fused_moe", "triton_tem", "triton_mm", "lstm",
		"gru_", "RNN", NULL};

	return text_has_any(function, words);
}

/* Elementwise kernels, reductions, norms, sorts, copies, optimizers. */
static bool multiplies_nothing(const char *function)
{
	static const char *const words[] = {"at_cuda_detail::", "cub::", "thrust::", "elementwise",
		"reduce", "reduction", "norm", "softmax", "embedding", "embs_",
		"multi_tensor_apply", "gather", "scatter", "copy", "fill", "index", "indices",
		"sort", "scan", "histogram", "rotary", "act_and_mul", "dropout", "adam", "topk",
		"transpose", "permute", "nchwToNhwc", "nhwcToNchw", "bn_fw", "bn_bw", "batchnorm",
		"pooling", "Offsets", "rng", "curand", "quant", "concat", "CatArray", "_fft",
		"fft2d", "cunn_", "Broadcast", "vectorized", "bias_act", "activation",
		"fbgemm_gpu::", "scalePackedTensor", "routing", "finalize", "loss", "im2col",
		"col2im", "reshape", "to_dense", "epilogue::impl::globalKernel", NULL};

	return text_has_any(function, words);
}

/*
 * The order matters: words that exclude tensor cores come first, since such names often contain
 * words of the second list as well ("flash_bwd_convert" and "flash_bwd").
 */
static enum tensor_use find_tensor_use(const char *text, const char *function)
{
	/* PyTorch and Inductor multiply with libraries and templates. */
	static const char *const plain[] = {
		"at::native::", "triton_poi_", "triton_red_", "triton_per_", "triton_for_", NULL};
	enum tensor_use use;

	if (is_cutlass_attention(text, &use)) {
		return use;
	}
	if (says_none(text)) {
		return TENSOR_NO;
	}
	if (says_tensor(text)) {
		return TENSOR_YES;
	}
	if (strstr(text, "xmma_")) {
		return of_xmma(text);
	}
	if (text_begins_with_any(function, plain)) {
		return TENSOR_NO;
	}
	/* FBGEMM's namespace contains kernels of all kinds, so it does not count. */
	if (may_multiply(strncmp(function, "fbgemm_gpu::", 12) ? function : function + 12)) {
		return TENSOR_UNKNOWN;
	}
	return multiplies_nothing(function) ? TENSOR_NO : TENSOR_UNKNOWN;
}

/* Names of PyTorch and Paddle. `whole` must match the whole name: "mm" is part of many others. */
bool tensor_is_eligible(uint32_t operator)
{
	static const char *const whole[] = {"mm", "addmm", "bmm", "baddbmm", "addbmm", "matmul",
		"linear", "mv", "addmv", "addr", "einsum", "chain_matmul", "linalg_multi_dot",
		"_scaled_mm", "_grouped_mm", "_addmm_activation", "prelu", "lstm_cell", "gru_cell",
		"rnn_tanh_cell", "rnn_relu_cell", "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell",
		"_cudnn_rnn", "_cudnn_rnn_backward", "matmul_v2", "fused_gemm_epilogue", NULL};
	static const char *const words[] = {"conv1d", "conv2d", "conv3d", "conv_tbc", "convolution",
		"conv_transpose", "scaled_dot_product", "flash_attention", "efficient_attention",
		NULL};
	const char *name = string_pool_text(operator, NULL);

	if (strncmp(name, "aten::", 6) == 0) {
		name += 6;
	}
	for (size_t i = 0; whole[i]; i++) {
		if (strcmp(name, whole[i]) == 0) {
			return true;
		}
	}
	return text_has_any(name, words);
}

/* ---- the cache ---- */

static uint8_t find_flags(uint32_t name)
{
	const char *text = string_pool_demangled(name, NULL);
	char function[FUNCTION_BYTES];
	enum tensor_use use = TENSOR_NO;
	uint8_t flags = IS_KNOWN;

	copy_function(text, function);
	if (is_communication(function)) {
		flags |= IS_COMMUNICATION;
	} else {
		use = find_tensor_use(text, function);
	}
	return flags | (uint8_t)(use << TENSOR_SHIFT);
}

/* Grows by half more than needed: names are numbered as they come, so the cache grows often. */
static uint8_t remember_flags(uint32_t name)
{
	if (!*string_pool_text(name, NULL)) {
		return find_flags(name); /* not a name; its value does not bound their number */
	}
	if (name >= cache.nr_flags) {
		size_t nr = (size_t)name + 1 + name / 2;

		cache.flags = mem_resize(cache.flags, nr, sizeof(*cache.flags));
		memset(cache.flags + cache.nr_flags, 0, nr - cache.nr_flags);
		cache.nr_flags = nr;
	}
	return cache.flags[name] = find_flags(name);
}

static inline uint8_t flags_of(uint32_t name)
{
	return name < cache.nr_flags && cache.flags[name] ? cache.flags[name]
							  : remember_flags(name);
}

enum kernel_class kernel_class_of(uint32_t name)
{
	return flags_of(name) & IS_COMMUNICATION ? KERNEL_COMMUNICATION : KERNEL_COMPUTATION;
}

enum tensor_use tensor_use_of(uint32_t name)
{
	return (enum tensor_use)(flags_of(name) >> TENSOR_SHIFT);
}
