// SPDX-License-Identifier: Apache-2.0
// Loads that wait for each other, each from another line of 1 GiB in no order, in pages of a kind: huge (asked for), or
// any (as a program gets them). Prints loads a second.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { LINES = 1 << 24, LINE = 64, HUGE = 2 << 20, AT_ONCE = 1 << 16 };

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

int main(int argc, char** argv) {
  unsigned char* memory = aligned_alloc(HUGE, (size_t)LINES * LINE);
  if (argc > 1 && strcmp(argv[1], "huge") == 0) madvise(memory, (size_t)LINES * LINE, MADV_HUGEPAGE);
  // A generator of full period (Hull and Dobell) visits each line once.
  for (unsigned line = 0; line < LINES; ++line) {
    const unsigned next = (line * 1664525U + 1013904223U) % LINES;
    memcpy(memory + (size_t)line * LINE, &next, sizeof next);
  }
  unsigned at = 0;
  double done = 0;
  const double began = now();
  while (now() - began < 0.6) {
    for (int i = 0; i < AT_ONCE; ++i) memcpy(&at, memory + (size_t)at * LINE, sizeof at);
    done += AT_ONCE;
  }
  printf("%f\n", done / (now() - began) + 1e-30 * at);
  return 0;
}
