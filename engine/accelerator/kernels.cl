// SPDX-License-Identifier: Apache-2.0
// The kernels of all workloads on accelerators, in what OpenCL C, CUDA C++ and C++ have in common. Before it stands a
// prelude of each: KERNEL, GLOBAL, INDEX, COUNT, u64, pair64, double2 and HAS_FP64 (opencl.cpp, scripts/kernels.py,
// tests/engine/fake_cuda.cpp). kernels.ptx is made of it: `.venv/bin/python scripts/kernels.py`.

KERNEL void add(GLOBAL u64* numbers, u64 more) { numbers[INDEX] += more; }

KERNEL void stream_read(const GLOBAL pair64* a, GLOBAL u64* sums, u64 each) {
  u64 sum = 0;
  for (u64 i = 0; i < each; ++i) {
    pair64 v = a[INDEX + i * COUNT];
    sum += v.x + v.y;
  }
  sums[INDEX] += sum;
}

KERNEL void stream_write(GLOBAL pair64* a, u64 s) {
  pair64 v;
  v.x = s;
  v.y = s;
  a[INDEX] = v;
}

KERNEL void stream_copy(GLOBAL pair64* a, const GLOBAL pair64* b) { a[INDEX] = b[INDEX]; }

// Eight chains of multiply-adds that go to and fro, 16 steps a round.
#define STEP(y) \
  a = fma(m, y, a); \
  b = fma(m, y, b); \
  c = fma(m, y, c); \
  d = fma(m, y, d); \
  e = fma(m, y, e); \
  f = fma(m, y, f); \
  g = fma(m, y, g); \
  h = fma(m, y, h);
#define STEPS STEP(there) STEP(back) STEP(there) STEP(back)
#define MULTIPLY_ADD(name, real) \
  KERNEL void name(GLOBAL real* sums, real m, real there, real back, u64 rounds) { \
    real a = (real)(INDEX % 32), b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7; \
    for (u64 i = 0; i < rounds; ++i) { \
      STEPS STEPS STEPS STEPS \
    } \
    sums[INDEX] = ((a + b) + (c + d)) + ((e + f) + (g + h)); \
  }

MULTIPLY_ADD(multiply_add_fp32, float)

#ifdef HAS_FP64
MULTIPLY_ADD(multiply_add_fp64, double)

KERNEL void stream_triad(GLOBAL double2* a, const GLOBAL double2* b, const GLOBAL double2* c, double s) {
  double2 v = b[INDEX], w = c[INDEX];
  v.x += s * w.x;
  v.y += s * w.y;
  a[INDEX] = v;
}
#endif
