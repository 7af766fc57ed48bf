// SPDX-License-Identifier: Apache-2.0
// The baseline of `transfer_pairs`: pread or pwrite of one buffer, or memcpy from or to a mapping of the file, in a
// bare loop, a process for each file, with one clock read before the open and one after the close. transfer_loop
// write|read cached|direct|mapped small|huge TRANSFER VOLUME TIMES FILE... prints ns of each time, from the first
// process's open to the last one's close. What is written is made anew each time, and stays the last time.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bare_process.h"

struct job {
  int writes, direct, mapped, huge, times;
  size_t transfer, volume;
  char** paths;
};

static void move_all(const struct job* job, const char* path, char* data) {
  const int direct = job->direct ? O_DIRECT : 0;
  const int file = job->writes ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | direct, 0600)
                               : open(path, O_RDONLY | O_CLOEXEC | direct);
  require(file >= 0, path);
  for (size_t at = 0; at < job->volume; at += job->transfer) {
    const ssize_t moved =
        job->writes ? pwrite(file, data, job->transfer, (off_t)at) : pread(file, data, job->transfer, (off_t)at);
    require(moved == (ssize_t)job->transfer, "transfer");
  }
  require(close(file) == 0, "close");
}

static void copy_all(const struct job* job, const char* path, char* data) {
  const int file =
      job->writes ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : open(path, O_RDONLY | O_CLOEXEC);
  require(file >= 0, path);
  if (job->writes) require(ftruncate(file, (off_t)job->volume) == 0, "extend");
  char* mapped = mmap(NULL, job->volume, job->writes ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file, 0);
  require(mapped != MAP_FAILED, "map");
  for (size_t at = 0; at < job->volume; at += job->transfer) {
    if (job->writes)
      memcpy(mapped + at, data, job->transfer);
    else
      memcpy(data, mapped + at, job->transfer);
    // What is read is used by nobody: the copy has to be made all the same.
    __asm__ volatile("" : : "r"(data) : "memory");
  }
  require(munmap(mapped, job->volume) == 0 && close(file) == 0, "close");
}

static void work(struct stamps* stamps, int process, const void* given) {
  const struct job* job = given;
  const char* path = job->paths[process];
  char* data = one_buffer(job->transfer, job->huge);
  require(data != NULL, "memory");
  for (int i = 0; i < job->times; ++i) {
    if (job->writes) unlink(path);
    pthread_barrier_wait(&stamps->barrier);
    stamps->start[i][process] = now();
    (job->mapped ? copy_all : move_all)(job, path, data);
    stamps->stop[i][process] = now();
  }
}

int main(int count, char** words) {
  if (count < 8) return 2;
  const struct job job = {.writes = strcmp(words[1], "write") == 0,
                          .direct = strcmp(words[2], "direct") == 0,
                          .mapped = strcmp(words[2], "mapped") == 0,
                          .huge = strcmp(words[3], "huge") == 0,
                          .times = atoi(words[6]),
                          .transfer = (size_t)atol(words[4]),
                          .volume = (size_t)atol(words[5]),
                          .paths = words + 7};
  if (job.transfer < 1) return 2;
  return run_processes(count - 7, job.times, work, &job);
}
