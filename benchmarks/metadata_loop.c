// SPDX-License-Identifier: Apache-2.0
// The baseline of `metadata_pairs`: the same system calls on the same names, with as much different data, in a bare loop,
// with one clock read before and one after it. Names are made before, data is of one buffer. metadata_loop FOLDER
// PROCESSES ITEMS BYTES prints ns of create, stat, read and unlink.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bare_process.h"

enum { phases = 4, longest_name = 48, most_processes = 64 };

struct shared {
  pthread_barrier_t barrier;
  int64_t start[phases][most_processes];
  int64_t stop[phases][most_processes];
};

static void one(int phase, int folder, const char* name, char* data, size_t bytes) {
  if (phase == 0) {
    const int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    require(file >= 0, "create");
    if (bytes > 0) require(pwrite(file, data, bytes, 0) == (ssize_t)bytes, "write");
    require(close(file) == 0, "close");
  } else if (phase == 1) {
    struct stat status;
    require(fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, "stat");
  } else if (phase == 2) {
    const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    require(file >= 0, "open");
    if (bytes > 0) require(pread(file, data, bytes, 0) == (ssize_t)bytes, "read");
    require(close(file) == 0, "close");
  } else {
    require(unlinkat(folder, name, 0) == 0, "unlink");
  }
}

static void work(struct shared* shared, const char* path, int process, int items, size_t bytes) {
  be_as_an_mpi_process(process);
  char own[4096];
  snprintf(own, sizeof own, "%s/own.%d", path, process);
  require(mkdir(own, 0700) == 0, own);
  const int folder = open(own, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  require(folder >= 0, own);
  char(*names)[longest_name] = malloc((size_t)items * longest_name);
  char* data = malloc(bytes + 1);
  require(names != NULL && data != NULL, "malloc");
  memset(data, 7, bytes + 1);
  for (int i = 0; i < items; ++i) snprintf(names[i], longest_name, "file.mdtest.%d.%d", process, i);
  for (int phase = 0; phase < phases; ++phase) {
    pthread_barrier_wait(&shared->barrier);
    shared->start[phase][process] = now();
    for (int i = 0; i < items; ++i) one(phase, folder, names[i], data, bytes);
    shared->stop[phase][process] = now();
  }
  close(folder);
  rmdir(own);
}

int main(int count, char** words) {
  if (count != 5) return 2;
  const int processes = atoi(words[2]);
  if (processes < 1 || processes > most_processes) return 2;
  struct shared* shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(shared != MAP_FAILED, "mmap");
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &attributes, (unsigned)processes);
  for (int p = 0; p < processes; ++p)
    if (fork() == 0) {
      work(shared, words[1], p, atoi(words[3]), (size_t)atol(words[4]));
      return 0;
    }
  int failed = 0;
  for (int p = 0, status = 0; p < processes; ++p) failed |= wait(&status) < 0 || status != 0;
  if (failed) return 1;
  for (int phase = 0; phase < phases; ++phase) {
    int64_t first = shared->start[phase][0], last = shared->stop[phase][0];
    for (int p = 1; p < processes; ++p) {
      if (shared->start[phase][p] < first) first = shared->start[phase][p];
      if (shared->stop[phase][p] > last) last = shared->stop[phase][p];
    }
    printf("%lld\n", (long long)(last - first));
  }
  return 0;
}
