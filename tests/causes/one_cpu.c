// SPDX-License-Identifier: Apache-2.0
// A false topology: preloaded, it binds to CPU 0 whatever asks for CPU 0 or 1, so that these two share a core.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

static size_t changed(const cpu_set_t* asked, size_t size, cpu_set_t* out) {
  memset(out, 0, sizeof *out);
  memcpy(out, asked, size < sizeof *out ? size : sizeof *out);
  if (CPU_COUNT(out) == 1 && CPU_ISSET(1, out)) CPU_CLR(1, out), CPU_SET(0, out);
  return size < sizeof *out ? size : sizeof *out;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t* asked) {
  cpu_set_t own;
  int (*real)(pid_t, size_t, const cpu_set_t*) = dlsym(RTLD_NEXT, "sched_setaffinity");
  return real(pid, changed(asked, size, &own), &own);
}

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t* asked) {
  cpu_set_t own;
  int (*real)(pthread_t, size_t, const cpu_set_t*) = dlsym(RTLD_NEXT, "pthread_setaffinity_np");
  return real(thread, changed(asked, size, &own), &own);
}
