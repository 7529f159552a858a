#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What JAX, CuPy and Numba show of themselves: they run unharmed, their kernels are recorded, NVTX is a fact.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON
only_real "JAX, CuPy and Numba want a real driver"
cat >"$T/use_jax.py" <<'PY'
import jax, jax.numpy as jnp
assert jax.devices()[0].platform == "gpu"
step = jax.jit(lambda x: jnp.tanh(x @ x).sum())
print(sum(float(step(jnp.ones((256, 256)) * i)) for i in range(20)))
PY
cat >"$T/use_cupy.py" <<'PY'
import cupy
x = cupy.ones((512, 512))
for _ in range(20):
    x = cupy.tanh(x @ x)
print(float(x.sum()))
PY
cat >"$T/use_numba.py" <<'PY'
import numpy
from numba import cuda
@cuda.jit
def double(x):
    x[cuda.grid(1)] *= 2
x = cuda.to_device(numpy.ones(4096, numpy.float32))
for _ in range(20):
    double[32, 128](x)
print(x.copy_to_host().sum())
PY
export XLA_PYTHON_CLIENT_PREALLOCATE=false
nr=0
for framework in jax cupy numba; do
	python3 -c "import $framework" 2>/dev/null || {
		echo "        no $framework"
		continue
	}
	plain python3 "$T/use_$framework.py" || {
		echo "        $framework does not run here: $(tail -1 "$T/plain.err")"
		continue
	}
	nr=$((nr + 1))
	same $framework python3 "$T/use_$framework.py"
	check launches
	check domains
done
[ $nr != 0 ] || skip "none of JAX, CuPy and Numba runs"
finish
