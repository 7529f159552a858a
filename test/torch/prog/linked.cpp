// SPDX-License-Identifier: Apache-2.0
// A C++ program that is linked with PyTorch: no Python, no dlopen, no thread.
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#include <cstdio>

int main()
{
	for (int i = 0; i < 5; i++) {
		at::Tensor x = at::ones({2, 3});

		std::printf("%.4f\n", x.sinh().sum().item<float>());
	}
}
