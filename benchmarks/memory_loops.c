// SPDX-License-Identifier: Apache-2.0
// The baseline of `memory_pairs`: STREAM's loops as a compiler makes them, pmbw's unrolled 256-bit read, and a bare
// pointer chase. memory_loops KERNEL BYTES THREADS PASSES HUGE prints the shortest pass in ns (of a chase: 1000 times
// the ns of one load). BYTES: of all arrays together; of a chase, of its cycle.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { most_threads = 256, line = 64 };

struct job {
  double *a, *b, *c;
  size_t length;
  const char* kernel;
  int cpu, passes;
  pthread_barrier_t* barrier;
  int64_t* start;
  int64_t* stop;
};

static volatile double kept;
static void* volatile kept_pointer;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void* room(size_t bytes, int huge) {
  const size_t page = (size_t)2 << 20, whole = (bytes + page - 1) / page * page;
  void* memory = aligned_alloc(page, whole);
  if (memory == NULL) exit(1);
  madvise(memory, whole, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return memory;
}

static void read_256(const double* a, size_t length) {
#if defined(__AVX__)
  const char* at = (const char*)a;
  const char* end = (const char*)(a + length / 64 * 64);
  for (; at < end; at += 512)
    __asm__ volatile(
        ".set i, 0\n.rept 16\nvmovapd i(%0), %%ymm0\n.set i, i + 32\n.endr" ::"r"(at)
        : "ymm0", "memory");
#else
  double sum = 0;
  for (size_t i = 0; i < length; ++i) sum += a[i];
  kept = sum;
#endif
}

static void once(const struct job* j) {
  double *restrict a = j->a, *restrict b = j->b, *restrict c = j->c;
  const double scalar = 3.0;
  if (strcmp(j->kernel, "read") == 0) read_256(a, j->length);
  if (strcmp(j->kernel, "copy") == 0)
    for (size_t i = 0; i < j->length; ++i) c[i] = a[i];
  if (strcmp(j->kernel, "scale") == 0)
    for (size_t i = 0; i < j->length; ++i) b[i] = scalar * c[i];
  if (strcmp(j->kernel, "add") == 0)
    for (size_t i = 0; i < j->length; ++i) c[i] = a[i] + b[i];
  if (strcmp(j->kernel, "triad") == 0)
    for (size_t i = 0; i < j->length; ++i) a[i] = b[i] + scalar * c[i];
}

static void* work(void* given) {
  struct job* j = given;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(j->cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
  for (size_t i = 0; i < j->length; ++i) {
    j->a[i] = 1;
    if (j->b != NULL) j->b[i] = 2;
    if (j->c != NULL) j->c[i] = 0;
  }
  for (int pass = 0; pass < j->passes; ++pass) {
    pthread_barrier_wait(j->barrier);
    j->start[pass] = now();
    once(j);
    j->stop[pass] = now();
  }
  return NULL;
}

static int64_t stream(const char* kernel, size_t bytes, int threads, int passes, int huge) {
  const int arrays = strcmp(kernel, "read") == 0 ? 1 : strcmp(kernel, "copy") == 0 || strcmp(kernel, "scale") == 0 ? 2 : 3;
  const size_t length = bytes / (size_t)arrays / (size_t)threads / 512 * 64;
  static pthread_t thread[most_threads];
  static struct job job[most_threads];
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  for (int t = 0; t < threads; ++t) {
    const size_t size = length * sizeof(double);
    // Copy uses a and c, scale c and b.
    double* a = room(size, huge);
    double* b = arrays == 3 || strcmp(kernel, "scale") == 0 ? room(size, huge) : NULL;
    double* c = arrays > 1 ? room(size, huge) : NULL;
    job[t] = (struct job){a, b, c, length, kernel, t, passes, &barrier, malloc((size_t)passes * 8), malloc((size_t)passes * 8)};
    pthread_create(&thread[t], NULL, work, &job[t]);
  }
  for (int t = 0; t < threads; ++t) pthread_join(thread[t], NULL);
  int64_t best = INT64_MAX;
  for (int pass = 1; pass < passes; ++pass) {
    int64_t first = INT64_MAX, last = 0;
    for (int t = 0; t < threads; ++t) {
      if (job[t].start[pass] < first) first = job[t].start[pass];
      if (job[t].stop[pass] > last) last = job[t].stop[pass];
    }
    if (last - first < best) best = last - first;
  }
  return best;
}

static int64_t chase(size_t bytes, int passes, int huge) {
  const size_t count = bytes / line;
  char* memory = room(bytes, huge);
  size_t* order = malloc(count * sizeof *order);
  for (size_t i = 0; i < count; ++i) order[i] = i;
  srandom(1);
  for (size_t i = count - 1; i > 0; --i) {
    const size_t j = (size_t)random() % (i + 1), kept_order = order[i];
    order[i] = order[j];
    order[j] = kept_order;
  }
  for (size_t i = 0; i < count; ++i) *(void**)(memory + order[i] * line) = memory + order[(i + 1) % count] * line;
  free(order);
  const long loads = 1 << 20;
  void** at = (void**)memory;
  int64_t best = INT64_MAX;
  for (int pass = 0; pass < passes; ++pass) {
    const int64_t begun = now();
    for (long i = 0; i < loads; i += 16) {
      at = *at; at = *at; at = *at; at = *at; at = *at; at = *at; at = *at; at = *at;
      at = *at; at = *at; at = *at; at = *at; at = *at; at = *at; at = *at; at = *at;
    }
    kept_pointer = at;
    const int64_t took = now() - begun;
    if (took < best) best = took;
  }
  return best * 1000 / loads;
}

int main(int count, char** words) {
  if (count != 6) return 2;
  const size_t bytes = (size_t)atoll(words[2]);
  const int threads = atoi(words[3]), passes = atoi(words[4]), huge = atoi(words[5]);
  if (threads < 1 || threads > most_threads || passes < 2) return 2;
  const int64_t best = strcmp(words[1], "chase") == 0 ? chase(bytes, passes, huge) : stream(words[1], bytes, threads, passes, huge);
  printf("%lld\n", (long long)best);
  return 0;
}
