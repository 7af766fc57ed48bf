// SPDX-License-Identifier: Apache-2.0
// Follows a random cycle of lines through 256 MiB in pages that the arguments ask for (huge, small); prints loads a second.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { LINE = 64 / sizeof(uint64_t), LINES = (256 << 20) / 64, HUGE = 2 << 20 };

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

int main(int argc, char** argv) {
  uint64_t* memory = aligned_alloc(HUGE, (size_t)LINES * 64);
  const int huge = argc < 2 || strcmp(argv[1], "huge") == 0;
  madvise(memory, (size_t)LINES * 64, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  for (uint64_t i = 0; i < LINES; ++i) memory[i * LINE] = i;
  uint64_t state = 88172645463325252u;
  for (uint64_t i = LINES - 1; i > 0; --i) {  // Sattolo: one cycle through all lines
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const uint64_t j = state % i, kept = memory[i * LINE];
    memory[i * LINE] = memory[j * LINE], memory[j * LINE] = kept;
  }
  uint64_t at = 0, done = 0;
  const double began = now();
  while (now() - began < 0.6)
    for (int i = 0; i < 10000; ++i, ++done) at = memory[at * LINE];
  printf("%f\n", (double)done / (now() - began) + 1e-12 * (double)at);
  return 0;
}
