/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/kernel_class.h"

#include <string.h>

#include "report/util/string_pool.h"
#include "test/unit/unit.h"

static uint32_t name_of(const char *text)
{
	return string_pool_intern(text, strlen(text));
}

static const struct {
	const char *name;
	bool is_communication;
} classes[] = {
	{"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", true},
	{"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", true},
	{"_Z36ncclKernel_AllReduce_RING_LL_Sum_f3211ncclDevCommmP8ncclWork", true},
	{"hcclAllReduce", true},
	{"void deep_ep::intranode::dispatch<8, 768>(int4*)", true},
	{"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)", true},
	{"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(int)", true},
	{"void tensorrt_llm::kernels::ar_fusion::allreduce_fusion_kernel_oneshot_lamport<float>()",
		true},
	{"nvshmemi_transfer_amo_nonfetch_kernel", true},
	{"void nccl_ep::internode_ll::dispatch<false, false, 7168>(void*)", true},
	{"void paddle::distributed::ep::internode::combine<int>(int4*)", true},
	{"void uccl::intranode::notify_dispatch<8>(int const*)", true},
	{"void uccl::internode::cached_notify<true>(int)", true},
	{"void mori::moe::EpDispatchIntraNodeKernel<float>(int)", true},
	{"void hybrid_ep::combine_kernel<int>(int)", true},
	{"void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*)", true},
	{"void multimem_all_gather_kernel<16>(char*)", true},
	{"void c10d::nvshmem_extension::allToAllV(void*)", true},
	{"c10d::symmetric_memory::barrier_kernel(unsigned int**)", true},
	{"triton_red_fused_rms_norm_symm_mem_one_shot_all_reduce_0", true},
	{"void trtllm::mnnvl::rmsNormLamport<float>(float*)", true},
	{"void moe::dispatch_kernel<float>(float*)", false},
	{"void flash::flash_fwd_splitkv_mla_combine_kernel<int>(int)", false},
	{"void thrust::InternalNodes<int>(int)", false},
	{"void mscclpp::allreduce6<float>(float*)", true},
	{"void quickreduce::allreduce_prototype<int>(int)", true},
	{"void oneflow::SoftmaxWarpImpl<WarpAllReduce<float> >(int)", false},
	{"void blockAllReduceSum<float>(float*)", false},
	{"void at::native::reduce_kernel<512, 1, ncclReduceOp<float> >(int)", false},
	{"void gemm<all_reduce_tag>(int)", false},
	{"", false},
};

START_TEST(communication_is_told_by_the_functions_own_name)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		uint32_t name = name_of(classes[i].name);
		bool is_communication = kernel_class_of(name) == KERNEL_COMMUNICATION;

		ck_assert_msg(
			is_communication == classes[i].is_communication, "%s", classes[i].name);
	}
}
END_TEST

static const struct {
	const char *name;
	enum tensor_use use;
} uses[] = {
	{"nvjet_tst_64x16_64x16_2x4_2cta_h_bz_bias_TNT", TENSOR_YES},
	{"void "
	 "cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_64x1_nn_align8>"
	 "(cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_64x1_nn_align8::Params)",
		TENSOR_YES},
	{"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x4_nn_align1>(int)",
		TENSOR_YES},
	{"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(int)", TENSOR_NO},
	{"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int>, "
	 "cutlass::gemm::collective::CollectiveMma<cutlass::gemm::"
	 "MainloopSm90TmaGmmaWarpSpecialized"
	 "<4> > > >(int)",
		TENSOR_YES},
	{"void cutlass::device_kernel<vendor::Thing>(vendor::Thing::Params)", TENSOR_UNKNOWN},
	{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
	 "segment_k_off_kernel__5x_cublas",
		TENSOR_YES},
	{"sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_stage3", TENSOR_YES},
	{"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_simt", TENSOR_NO},
	{"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16",
		TENSOR_YES},
	{"sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize32x32x8",
		TENSOR_NO},
	{"volta_h884gemm_128x128_ldg8_nn", TENSOR_YES},
	{"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", TENSOR_YES},
	{"turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1", TENSOR_YES},
	{"volta_sgemm_128x32_nt", TENSOR_NO},
	{"ampere_sgemm_32x32_sliced1x4_nn", TENSOR_NO},
	{"volta_scudnn_128x64_stridedB_interior_nn_v1", TENSOR_NO},
	{"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64> >(int)",
		TENSOR_YES},
	{"void pytorch_flash::flash_bwd_dot_do_o_kernel<true>(int)", TENSOR_NO},
	{"void flash::flash_fwd_splitkv_combine_kernel<int>(int)", TENSOR_NO},
	{"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_kernel0_0",
		TENSOR_YES},
	{"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_swiGlu_dynBatch_sm100f",
		TENSOR_YES},
	{"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128", TENSOR_YES},
	{"fmha_cutlassF_f16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::Params)", TENSOR_YES},
	{"fmha_cutlassF_f32_aligned_64x64_rf_sm75(PyTorchMemEffAttention::Params)", TENSOR_NO},
	{"triton_mm", TENSOR_UNKNOWN},
	{"triton_tem_fused_addmm_12", TENSOR_UNKNOWN},
	{"triton_poi_fused_add_bitwise_and_0", TENSOR_NO},
	{"triton_red_fused_mean_mm_pow_1", TENSOR_NO},
	{"my_own_thing(int)", TENSOR_UNKNOWN},
	{"matmul(float const*)", TENSOR_UNKNOWN},
	{"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >()",
		TENSOR_NO},
	{"void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, float>()",
		TENSOR_NO},
	{"void at::native::tinygemm_m16n8k16_chunk_kernel<int>()", TENSOR_YES},
	{"void at::native::tensor_kernel_scan_innermost_dim<cummax>()", TENSOR_NO},
	{"void cub::DeviceReduceByKeyKernel<int>()", TENSOR_NO},
	{"std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
	 "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(int)",
		TENSOR_NO},
	{"void fbgemm_gpu::permute_2D_data_kernel<int>()", TENSOR_NO},
	{"void splitKreduce_kernel<32, 16, int, float>(int)", TENSOR_NO},
	{"void cudnn::cnn::im2col4d_kernel<float, long>(int)", TENSOR_NO},
	{"ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", TENSOR_NO},
	{"", TENSOR_UNKNOWN},
};

START_TEST(tensor_cores_are_told_or_not_or_unknown)
{
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		enum tensor_use use = tensor_use_of(name_of(uses[i].name));

		ck_assert_msg(use == uses[i].use, "%s is %s", uses[i].name, tensor_use_names[use]);
	}
}
END_TEST

/* No name is an argument for reading or writing elsewhere. */
START_TEST(hostile_names_have_a_class)
{
	char text[4096];

	ck_assert(kernel_class_of(UINT32_MAX) == KERNEL_COMPUTATION);
	for (uint32_t round = 0; round < 64; round++) {
		for (uint32_t i = 0; i < sizeof(text); i++) {
			text[i] = "<>() nac(:"[(i * 7 + round * round + i / 9) % 10];
		}
		ck_assert(tensor_use_of(string_pool_intern(text, sizeof(text))) < NR_TENSOR_USES);
	}
}
END_TEST

UNIT_SUITE("report/kernel_class", communication_is_told_by_the_functions_own_name,
	tensor_cores_are_told_or_not_or_unknown, hostile_names_have_a_class)
