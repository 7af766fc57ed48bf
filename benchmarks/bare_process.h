// SPDX-License-Identifier: Apache-2.0
// What the bare loops share that start their processes themselves: errors, the conditions of a process of an MPI
// program, and the stretches of time that all processes take together. Include it after _GNU_SOURCE is defined.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bare_loop.h"

enum { most_processes = 64, most_stretches = 64 };

// In memory that all processes share. They begin each stretch together.
struct stamps {
  pthread_barrier_t barrier;
  int64_t start[most_stretches][most_processes];
  int64_t stop[most_stretches][most_processes];
};

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
// the kernel (its table is shared) and in the C library (a thread could be cancelled in them); so it has to be here
// too, and so has the core of its own, where there are enough.
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

// Forks that many processes, waits for them, and prints each stretch's ns from the first one's start to the last one's
// stop. Returns the exit code.
static int run_processes(int processes, int stretches, void (*work)(struct stamps*, int process, const void* job),
                         const void* job) {
  if (processes < 1 || processes > most_processes || stretches < 1 || stretches > most_stretches) return 2;
  struct stamps* stamps = mmap(NULL, sizeof *stamps, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(stamps != MAP_FAILED, "mmap");
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&stamps->barrier, &attributes, (unsigned)processes);
  for (int p = 0; p < processes; ++p)
    if (fork() == 0) {
      be_as_an_mpi_process(p);
      work(stamps, p, job);
      exit(0);
    }
  int failed = 0;
  for (int p = 0, status = 0; p < processes; ++p) failed |= wait(&status) < 0 || status != 0;
  if (failed) return 1;
  for (int i = 0; i < stretches; ++i) {
    int64_t first = stamps->start[i][0], last = stamps->stop[i][0];
    for (int p = 1; p < processes; ++p) {
      if (stamps->start[i][p] < first) first = stamps->start[i][p];
      if (stamps->stop[i][p] > last) last = stamps->stop[i][p];
    }
    printf("%lld\n", (long long)(last - first));
  }
  return 0;
}
