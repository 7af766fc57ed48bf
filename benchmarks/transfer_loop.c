// SPDX-License-Identifier: Apache-2.0
// The baseline of `transfer_pairs`: pread or pwrite of one buffer in a bare loop, a process for each file, with one clock
// read before the open and one after the close. transfer_loop write|read cached|direct small|huge TRANSFER VOLUME TIMES
// FILE... prints ns of each time, from the first process's open to the last one's close. What is written is made anew
// each time, and stays the last time.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bare_process.h"

enum { most_processes = 64, most_times = 64, huge_page = 2 << 20 };

struct shared {
  pthread_barrier_t barrier;
  int64_t start[most_times][most_processes];
  int64_t stop[most_times][most_processes];
};

struct job {
  int writes, direct, huge, times;
  size_t transfer, volume;
};

static char* one_buffer(const struct job* job) {
  char* data = NULL;
  const size_t whole = (job->transfer + huge_page - 1) / huge_page * huge_page;
  require(posix_memalign((void**)&data, huge_page, whole) == 0, "memory");
  madvise(data, whole, job->huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  uint64_t value = 0x9e3779b97f4a7c15ULL;
  for (size_t i = 0; i + 8 <= whole; i += 8) {
    value = value * 6364136223846793005ULL + 1442695040888963407ULL;
    memcpy(data + i, &value, 8);
  }
  return data;
}

static void move_all(const struct job* job, const char* path, char* data) {
  const int direct = job->direct ? O_DIRECT : 0;
  const int file = job->writes ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | direct, 0600)
                               : open(path, O_RDONLY | O_CLOEXEC | direct);
  require(file >= 0, path);
  for (size_t at = 0; at < job->volume; at += job->transfer) {
    const ssize_t moved = job->writes ? pwrite(file, data, job->transfer, (off_t)at)
                                      : pread(file, data, job->transfer, (off_t)at);
    require(moved == (ssize_t)job->transfer, "transfer");
  }
  require(close(file) == 0, "close");
}

static void work(struct shared* shared, const struct job* job, int process, const char* path) {
  be_as_an_mpi_process(process);
  char* data = one_buffer(job);
  for (int i = 0; i < job->times; ++i) {
    if (job->writes) unlink(path);
    pthread_barrier_wait(&shared->barrier);
    shared->start[i][process] = now();
    move_all(job, path, data);
    shared->stop[i][process] = now();
  }
}

int main(int count, char** words) {
  if (count < 8) return 2;
  const int processes = count - 7;
  const struct job job = {.writes = strcmp(words[1], "write") == 0,
                          .direct = strcmp(words[2], "direct") == 0,
                          .huge = strcmp(words[3], "huge") == 0,
                          .times = atoi(words[6]),
                          .transfer = (size_t)atol(words[4]),
                          .volume = (size_t)atol(words[5])};
  if (processes > most_processes || job.times < 1 || job.times > most_times || job.transfer < 1) return 2;
  struct shared* shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(shared != MAP_FAILED, "mmap");
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &attributes, (unsigned)processes);
  for (int p = 0; p < processes; ++p)
    if (fork() == 0) {
      work(shared, &job, p, words[7 + p]);
      return 0;
    }
  int failed = 0;
  for (int p = 0, status = 0; p < processes; ++p) failed |= wait(&status) < 0 || status != 0;
  if (failed) return 1;
  for (int i = 0; i < job.times; ++i) {
    int64_t first = shared->start[i][0], last = shared->stop[i][0];
    for (int p = 1; p < processes; ++p) {
      if (shared->start[i][p] < first) first = shared->start[i][p];
      if (shared->stop[i][p] > last) last = shared->stop[i][p];
    }
    printf("%lld\n", (long long)(last - first));
  }
  return 0;
}
