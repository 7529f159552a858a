/* SPDX-License-Identifier: Apache-2.0 */
/* Short names of kernels. */
#include <string.h>

#include "report/table/kernel_name.h"
#include "test/unit/unit.h"

static const char *form_of(const char *name, enum kernel_name_form form)
{
	static char text[1024];
	struct buf out = {0};

	kernel_name_add(&out, name, strlen(name), form);
	buf_char(&out, '\0');
	ck_assert_uint_le(out.nr_bytes, sizeof(text));
	memcpy(text, out.bytes, out.nr_bytes);
	buf_fini(&out);
	return text;
}

START_TEST(templates_are_named_by_their_operation)
{
	static const char *const names[][2] = {
		{"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<"
		 "float>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>)",
			"elementwise<add>"},
		{"void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<"
		 "float, float, float, at::native::binary_internal::MulFunctor<float> >, "
		 "at::detail::Array<char*, 2> >(int)",
			"elementwise<mul>"},
		{"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<"
		 "at::native::(anonymous namespace)::direct_copy_kernel_cuda(at::TensorIteratorBase"
		 "&)::{lambda()#2}::operator()() const::{lambda(float)#1}>(at::"
		 "TensorIteratorBase&)::{lambda(int)#1}>(int)",
			"elementwise<direct_copy>"},
		{"void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
		 "namespace)::launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar)::{lambda()"
		 "#1}::operator()() const::{lambda(float)#1}, at::detail::Array<char*, 2> >(int)",
			"elementwise<clamp_scalar>"},
		{"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
		 "at::native::MeanOps<float, float, float, float>, unsigned int, float, 4> >(int)",
			"reduce<mean>"},
		{"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::("
		 "anonymous namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::"
		 "BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float>(int)",
			"multi_tensor_apply<add>"},
		{"void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 128, true, 1>(float)",
			"bn_bw_1C11_kernel_new"},
		{"std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::"
		 "type vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)",
			"fused_add_rms_norm"},
		{"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
			"ncclDevKernel_AllGather_RING_LL"},
		{"matmul(float const*, int)", "matmul"},
		/* Numba's names */
		{"__main__::added[abi:v4][abi:cw51cXTLSUwv1sDUaKthq_3d_3d](Array<float, 1, C, "
		 "mutable, aligned>)",
			"added"},
		{"numba::reduction::_3clocals_3e::gpu_reduce[abi:v19](Array<float, 1, C>)",
			"gpu_reduce"},
		{"wide[abi:cxx11]<std::string[abi:cxx11]>(int)", "wide"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_str_eq(form_of(names[i][0], KERNEL_NAME_SHORT), names[i][1]);
		ck_assert_str_eq(form_of(names[i][0], KERNEL_NAME_FULL), names[i][0]);
	}
	ck_assert_str_eq(form_of(names[0][0], KERNEL_NAME_VARIANT),
		"vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, Array<char*, 3>>");
}
END_TEST

START_TEST(matrix_kernels_are_named_by_type_and_tile)
{
	static const char *const names[][3] = {
		{"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", "gemm bf16 128x64",
			"gemm bf16 128x64 tn"},
		{"ampere_fp16_s16816gemm_fp16_256x128_ldg8_relu_f2f_stages_32x3_nn",
			"gemm f16 256x128", "gemm f16 256x128 nn"},
		{"volta_sgemm_64x64_nt", "gemm f32 64x64", "gemm f32 64x64 nt"},
		{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_"
		 "execute_segment_k_off_kernel__5x_cublas",
			"gemm bf16 128x128", "gemm bf16 128x128 tn"},
		{"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x64x32_stage3",
			"gemm tf32 128x64", "gemm tf32 128x64 nn"},
		{"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4>("
		 "cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4::Params)",
			"gemm tf32 128x64", "gemm tf32 128x64 nn"},
		{"nvjet_hsh_192x8_64x8_4x1_v_bz_TNT", "gemm f16 192x8", "gemm f16 192x8 TNT"},
		{"cudnn_infer_volta_scudnn_128x64_relu_small_nn_v1", "conv f32 128x64",
			"conv f32 128x64 nn"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_str_eq(form_of(names[i][0], KERNEL_NAME_SHORT), names[i][1]);
		ck_assert_str_eq(form_of(names[i][0], KERNEL_NAME_TYPED), names[i][2]);
		ck_assert_str_eq(form_of(names[i][0], KERNEL_NAME_FULL), names[i][0]);
	}
}
END_TEST

/* As an H200 ran them, by PyTorch 2.11. */
START_TEST(longer_forms_tell_apart_what_the_short_one_does_not)
{
#define LAMBDA(type, nr) "::{lambda()#2}::operator()() const::{lambda(" type ")#" #nr "}"
	static const struct {
		enum kernel_name_form form;
		const char *name, *text;
	} names[] = {
		{KERNEL_NAME_TYPED,
			"void at::native::vectorized_elementwise_kernel<4, at::native::"
			"AUnaryFunctor<float, float, float, at::native::binary_internal::"
			"MulFunctor<float> >, std::array<char*, 2ul> >(int)",
			"elementwise<mul f32 scalar first>"},
		{KERNEL_NAME_TYPED,
			"void at::native::vectorized_elementwise_kernel<8, at::native::"
			"BUnaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::"
			"binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >(int)",
			"elementwise<mul bf16 scalar>"},
		{KERNEL_NAME_STYLED,
			"void at::native::unrolled_elementwise_kernel<at::native::CUDAFunctor_add<"
			"float>, std::array<char*, 3ul>, 4, TrivialOffsetCalculator<2, unsigned "
			"int>, at::native::memory::LoadWithCast<2> >(int)",
			"elementwise<add f32> unrolled"},
		{KERNEL_NAME_STYLED,
			"void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
			"namespace)::pow_tensor_scalar_kernel_impl<float, float>(at::"
			"TensorIteratorBase&, float)::{lambda(float)#2}, std::array<char*, 2ul> >"
			"(int)",
			"elementwise<pow_tensor_scalar f32> vectorized 4 #2"},
		{KERNEL_NAME_SHORT,
			"void at::native::vectorized_elementwise_kernel<4, at::native::"
			"GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, "
			"at::native::GeluType)" LAMBDA(
				"float, float", 1) ", std::array<char*, 3ul> >(int)",
			"elementwise<gelu_backward>"},
		{KERNEL_NAME_SHORT,
			"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::"
			"native::(anonymous namespace)::TensorListMetadata<3>, at::native::("
			"anonymous namespace)::PointwiseOpScalarFunctor<float, 3, 3, 0>, std::"
			"multiplies<float>, float>(int)",
			"multi_tensor_apply<addcmul>"},
		{KERNEL_NAME_TYPED,
			"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::"
			"native::(anonymous namespace)::TensorListScalarListMetadata<float, 1>, "
			"at::native::(anonymous namespace)::BinaryOpScalarListFunctor<float, 1, 1, "
			"0>, std::divides<float> >(int)",
			"multi_tensor_apply<div f32 scalars>"},
		{KERNEL_NAME_SHORT,
			"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::"
			"native::(anonymous namespace)::TensorListMetadata<2>, at::native::("
			"anonymous namespace)::UnaryOpFunctor<float, 2, 1, 1>, at::native::Sqrt<"
			"float> >(int)",
			"multi_tensor_apply<sqrt>"},
		{KERNEL_NAME_TYPED,
			"sm90_xmma_wgrad_indexed_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_"
			"tilesize128x64x64_warpgroupsize1x1x1_g1_execute_segment_k_on_kernel__5x_"
			"cudnn",
			"conv wgrad bf16 128x64"},
		{KERNEL_NAME_STYLED,
			"sm90_xmma_wgrad_indexed_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_"
			"tilesize128x64x64_warpgroupsize1x1x1_g1_execute_segment_k_on_kernel__5x_"
			"cudnn",
			"conv wgrad bf16 128x64x64 segment_k_on"},
		{KERNEL_NAME_STYLED,
			"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4>("
			"cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4::Params)",
			"gemm tf32 64x64 32x6 align4 tn"},
		{KERNEL_NAME_VARIANT,
			"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4>("
			"cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4::Params)",
			"cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4"},
		{KERNEL_NAME_STYLED,
			"void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, "
			"at::native::func_wrapper_t<float, at::native::sum_functor<float, float, "
			"float>::operator()(at::TensorIterator&)" LAMBDA(
				"float, float", 1) ">, unsigned int, float, 4> >(int)",
			"reduce<sum f32> 128, 4"},
		{KERNEL_NAME_STYLED, "void cutlass::Kernel<>(int)", "Kernel"},
		{KERNEL_NAME_SHORT, "nvjet_sm90_tst_128x160_64x5_2x4_h_bz_NTT",
			"gemm bf16 128x160"},
		{KERNEL_NAME_STYLED, "nvjet_sm90_tst_128x160_64x5_2x4_h_bz_NTT",
			"gemm bf16 128x160 64x5 2x4 NTT"},
		{KERNEL_NAME_TYPED,
			"_ZN17cutlass__5x_cudnn6KernelINS_"
			"4conv6kernel23ImplicitGemmConvolutionINS1_"
			"11threadblock22ImplicitGemmMultistageINS_4gemm9GemmShapeILi64ELi128ELi32"
			"EEENS4_52Conv2dWgradOutputGradientTileAccessIteratorOptimizedINS_10bfloat"
			"16_tE",
			"conv wgrad bf16 64x128"},
		{KERNEL_NAME_SHORT,
			"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_"
			"64x64x64_1x4x1_cga1x1x1_kernel0_0",
			"attention backward 64x64"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_str_eq(form_of(names[i].name, names[i].form), names[i].text);
	}
}
END_TEST

START_TEST(other_names_stay)
{
	static const char *const names[] = {"", "(", "<", ">", "::", "Memset (Device)",
		"Memcpy HtoD (Pinned -> Device)", "triton_poi_fused_add_0", "aten::add_",
		"ProfilerStep#5", "gemm", "x(", "_Z3foov"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], "x(") != 0) {
			ck_assert_str_eq(form_of(names[i], KERNEL_NAME_SHORT), names[i]);
		}
	}
	ck_assert_str_eq(form_of("x(", KERNEL_NAME_SHORT), "x");
}
END_TEST

/* No form reads or writes beyond its text: the sanitizers see it. */
START_TEST(random_names_have_all_forms)
{
	static const char *const pieces[] = {"a", "<", ">", "(", ")", "::", "{lambda", "gemm",
		"_kernel", "128x", "64", "_tn", " ", "Functor", "(anonymous namespace)", "Kernel<",
		"void ", "> >"};
	uint64_t seed = 7;

	for (int i = 0; i < 20000; i++) {
		char text[512] = "";

		for (uint64_t nr = unit_random(&seed) % 14; nr; nr--) {
			strcat(text, pieces[unit_random(&seed) % 18]);
		}
		form_of(text, KERNEL_NAME_SHORT);
		form_of(text, KERNEL_NAME_TYPED);
		form_of(text, KERNEL_NAME_STYLED);
		form_of(text, KERNEL_NAME_VARIANT);
		ck_assert_str_eq(form_of(text, KERNEL_NAME_FULL), text);
	}
}
END_TEST

UNIT_SUITE("report/kernel_name", templates_are_named_by_their_operation,
	matrix_kernels_are_named_by_type_and_tile,
	longer_forms_tell_apart_what_the_short_one_does_not, other_names_stay,
	random_names_have_all_forms)
