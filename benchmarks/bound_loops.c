// SPDX-License-Identifier: Apache-2.0
// The baseline of `bound_pairs`: what messages within a node cost at least, by two bare processes on CPUs 0 and 1.
// bound_loops copy BYTES BUFFERS | line | unix BLOCK | pipe prints the best of nine: bytes/s of each process that copies
// out of the other's memory, s of a cache line one way, bytes/s of a stream over AF_UNIX, s of a byte there and back.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { times = 9, trips = 20000, chunk = 100 };
typedef struct {
  _Atomic int ready;
  double rate[2];
  _Atomic long line __attribute__((aligned(128)));
} Shared;
static Shared* shared;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) exit(3);
}

static double copies(size_t bytes, size_t buffers) {
  char* theirs[2];
  for (int i = 0; i < 2; ++i) {
    theirs[i] = mmap(NULL, bytes * buffers, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(theirs[i], i + 1, bytes * buffers);
  }
  shared->ready = 0;
  for (int i = 0; i < 2; ++i)
    if (fork() == 0) {
      pin(i);
      char* own = aligned_alloc(4096, (bytes * buffers + 4095) / 4096 * 4096);
      memset(own, 1, bytes * buffers);
      memset(theirs[i], i + 1, bytes * buffers);
      ++shared->ready;
      while (shared->ready < 2) {
      }
      const double begun = now();
      long calls = 0;
      for (; now() - begun < 0.03; ++calls) {
        const size_t place = bytes * ((size_t)calls % buffers);
        memcpy(own + place, theirs[1 - i] + place, bytes);
        __asm__ volatile("" : : "r"(own) : "memory");
      }
      shared->rate[i] = (double)calls * (double)bytes / (now() - begun);
      _exit(0);
    }
  while (wait(NULL) > 0) {
  }
  for (int i = 0; i < 2; ++i) munmap(theirs[i], bytes * buffers);
  return shared->rate[0] < shared->rate[1] ? shared->rate[0] : shared->rate[1];
}

static double line(void) {
  shared->line = 0;
  shared->ready = 0;
  const pid_t other = fork();
  if (other == 0) {
    pin(1);
    shared->ready = 1;
    for (long turn = 1; turn < 2 * trips; turn += 2) {
      while (atomic_load_explicit(&shared->line, memory_order_acquire) != turn) {
      }
      atomic_store_explicit(&shared->line, turn + 1, memory_order_release);
    }
    _exit(0);
  }
  pin(0);
  while (!shared->ready) {
  }
  double least = 1e9;
  for (long turn = 1; turn < 2 * trips;) {
    const double begun = now();
    for (const long end = turn + 2 * chunk; turn < end; turn += 2) {
      atomic_store_explicit(&shared->line, turn, memory_order_release);
      while (atomic_load_explicit(&shared->line, memory_order_acquire) != turn + 1) {
      }
    }
    const double took = now() - begun;
    least = took < least ? took : least;
  }
  waitpid(other, NULL, 0);
  return least / (2.0 * chunk);
}

static double stream(size_t block) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) exit(3);
  char* data = calloc(1, block);
  const pid_t sender = fork();
  if (sender == 0) {
    pin(0);
    for (;;)
      if (write(ends[0], data, block) < 0) _exit(1);
  }
  pin(1);
  double bytes = 0;
  const double begun = now();
  while (now() - begun < 0.2) bytes += (double)read(ends[1], data, block);
  const double rate = bytes / (now() - begun);
  kill(sender, SIGKILL);
  waitpid(sender, NULL, 0);
  close(ends[0]);
  close(ends[1]);
  free(data);
  return rate;
}

static double round_trip(void) {
  int there[2], back[2];
  char byte = 0;
  if (pipe(there) != 0 || pipe(back) != 0) exit(3);
  const pid_t other = fork();
  if (other == 0) {
    pin(1);
    for (;;)
      if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1) _exit(0);
  }
  pin(0);
  double least = 1e9;
  for (int i = 0; i < trips / chunk; ++i) {
    const double begun = now();
    for (int trip = 0; trip < chunk; ++trip)
      if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) exit(3);
    const double took = now() - begun;
    least = took < least ? took : least;
  }
  kill(other, SIGKILL);
  waitpid(other, NULL, 0);
  for (int i = 0; i < 2; ++i) close(there[i]), close(back[i]);
  return least / chunk;
}

int main(int count, char** words) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const char* kind = count > 1 ? words[1] : "";
  const int is_rate = strcmp(kind, "copy") == 0 || strcmp(kind, "unix") == 0;
  double best = is_rate ? 0 : 1e9;
  for (int i = 0; i < times; ++i) {
    double value = 0;
    if (strcmp(kind, "copy") == 0 && count == 4) value = copies((size_t)atol(words[2]), (size_t)atol(words[3]));
    else if (strcmp(kind, "line") == 0) value = line();
    else if (strcmp(kind, "unix") == 0 && count == 3) value = stream((size_t)atol(words[2]));
    else if (strcmp(kind, "pipe") == 0) value = round_trip();
    else return 2;
    best = (is_rate ? value > best : value < best) ? value : best;
  }
  printf("%.6g\n", best);
  return 0;
}
