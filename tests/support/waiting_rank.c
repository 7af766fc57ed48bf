// SPDX-License-Identifier: Apache-2.0
// Preloaded into what end-to-end tests start: a rank that has waited for others for a millisecond sleeps before it
// looks again. By sched_yield alone (Linux 6.18) it takes nearly its whole share of a core, which other tests need.
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  SAME_WAIT_NS = 20 * 1000,  // Whoever does not yield for so long has something to do.
  AWAKE_NS = 1000 * 1000,
  SHORT_WAIT_NS = 20 * 1000 * 1000,
  SHORT_SLEEP_NS = 100 * 1000,
  LONG_SLEEP_NS = 1000 * 1000,
};

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int sched_yield(void) {
  static _Thread_local int64_t began_ns, last_ns;
  const int64_t called_ns = now_ns();
  if (called_ns - last_ns > SAME_WAIT_NS) began_ns = called_ns;
  const int64_t waited_ns = called_ns - began_ns;
  if (waited_ns < AWAKE_NS) {
    syscall(SYS_sched_yield);
  } else {
    nanosleep(&(struct timespec){.tv_nsec = waited_ns < SHORT_WAIT_NS ? SHORT_SLEEP_NS : LONG_SLEEP_NS}, NULL);
  }
  last_ns = now_ns();
  return 0;
}
