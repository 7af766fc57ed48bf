// SPDX-License-Identifier: Apache-2.0
// Adds two arrays of 128 MiB into a third (STREAM's triad) in pages of a kind: huge (asked for), or any (as a program
// gets them). Prints bytes a second.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { COUNT = 16 << 20, HUGE = 2 << 20, BYTES = COUNT * (int)sizeof(double) };

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static double* array(int huge) {
  double* made = aligned_alloc(HUGE, BYTES);
  if (huge) madvise(made, BYTES, MADV_HUGEPAGE);
  for (int i = 0; i < COUNT; ++i) made[i] = i;
  return made;
}

int main(int argc, char** argv) {
  const int huge = argc > 1 && strcmp(argv[1], "huge") == 0;
  double *a = array(huge), *b = array(huge), *c = array(huge), done = 0;
  const double began = now();
  while (now() - began < 0.6) {
    for (int i = 0; i < COUNT; ++i) a[i] = b[i] + 3.0 * c[i];
    done += 3.0 * BYTES;
  }
  printf("%f\n", done / (now() - began) + 1e-30 * a[7]);
  return 0;
}
