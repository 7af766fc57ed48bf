// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program: its monotonic clock steps STEP_S ahead AFTER_S after its first reading, as that of a
// virtual machine that was moved.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef AFTER_S
#define AFTER_S 2
#endif
#ifndef STEP_S
#define STEP_S 3
#endif

static atomic_long first_s;

int clock_gettime(clockid_t clock, struct timespec* time) {
  const long failed = syscall(SYS_clock_gettime, clock, time);
  if (failed != 0 || clock != CLOCK_MONOTONIC) return (int)failed;
  long none = 0;
  atomic_compare_exchange_strong(&first_s, &none, time->tv_sec);
  if (time->tv_sec >= atomic_load(&first_s) + AFTER_S) time->tv_sec += STEP_S;
  return 0;
}
