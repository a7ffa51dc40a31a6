"""jax_steps.py N: N training steps of a small network by JAX, each in a StepTraceAnnotation. Prints the milliseconds of a
step last."""

import os
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
import jax.numpy as jnp


def loss(weights, inputs):
    for weight in weights:
        inputs = jnp.tanh(inputs @ weight)
    return jnp.mean(jnp.square(inputs))


@jax.jit
def step(weights, inputs):
    value, gradients = jax.value_and_grad(loss)(weights, inputs)
    return [weight - 0.01 * gradient for weight, gradient in zip(weights, gradients)], value


def main():
    keys = jax.random.split(jax.random.key(0), 5)
    weights = [0.05 * jax.random.normal(key, (512, 512)) for key in keys[1:]]
    inputs = jax.random.normal(keys[0], (1024, 512))
    weights, value = step(weights, inputs)
    value.block_until_ready()
    begin = time.perf_counter()
    count = int(sys.argv[1])
    for number in range(count):
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            weights, value = step(weights, inputs)
    value.block_until_ready()
    print(1000 * (time.perf_counter() - begin) / count)


if __name__ == "__main__":
    main()
