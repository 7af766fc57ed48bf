// SPDX-License-Identifier: Apache-2.0
// What all bare loops share: the clock, and the buffer of those that move data. Include it after _GNU_SOURCE is
// defined.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { huge_page = 2 << 20 };

static inline int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Numbers all over, as an application writes its results.
static inline void fill_with_numbers(char* data, size_t bytes) {
  static uint64_t value = 0x9e3779b97f4a7c15ULL;
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    value = value * 6364136223846793005ULL + 1442695040888963407ULL;
    memcpy(data + i, &value, 8);
  }
}

// Room for one transfer, full of numbers, in huge pages or not; NULL when there is no memory.
static inline char* one_buffer(size_t transfer, int huge) {
  char* data = NULL;
  const size_t whole = (transfer + huge_page - 1) / huge_page * huge_page;
  if (posix_memalign((void**)&data, huge_page, whole) != 0) return NULL;
  madvise(data, whole, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  fill_with_numbers(data, whole);
  return data;
}
