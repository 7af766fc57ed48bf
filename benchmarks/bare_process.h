// SPDX-License-Identifier: Apache-2.0
// What the bare loops share that start their processes themselves: the clock, errors, and the conditions of a process of
// an MPI program. Include it after _GNU_SOURCE is defined.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void require(int good, const char* what) {
  if (good) return;
  perror(what);
  exit(1);
}

static void* sleep_for_ever(void* unused) {
  pause();
  return unused;
}

// Every process of an MPI program has threads of MPI's own. Their being there makes calls with a descriptor dearer, in
// the kernel (its table is shared) and in the C library (a thread could be cancelled in them); so it has to be here too,
// and so has the core of its own, where there are enough.
static void be_as_an_mpi_process(int process) {
  pthread_t thread;
  require(pthread_create(&thread, NULL, sleep_for_ever, NULL) == 0, "thread");
  pthread_detach(thread);
  cpu_set_t allowed, own;
  require(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "affinity");
  const int wanted = process % CPU_COUNT(&allowed);
  CPU_ZERO(&own);
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed) && seen++ == wanted) CPU_SET(cpu, &own);
  sched_setaffinity(0, sizeof own, &own);
}
