// SPDX-License-Identifier: Apache-2.0
// The baseline of `transfer_pairs`: pread or pwrite of one buffer, or copies from or to a mapping of the file or memory
// of the process, in a bare loop, a process for each file, with one clock read before the open and one after the close.
// transfer_loop write|read cached|direct|mapped|memory|persist|nodrain|nontemporal small|huge whole|loop BUFFERS
// TRANSFER VOLUME TIMES FILE... prints ns of each time, from the first process's open to the last one's close; with
// `loop` of the copies alone, all pages being mapped before. What is written is made anew each time, and stays the last
// time. The last three ways write by pmem_memcpy of libpmem. Transfers go through BUFFERS bytes in turn, or one buffer.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bare_process.h"

struct job {
  int writes, direct, mapped, memory, huge, loop, times;
  void* (*store)(void*, const void*, size_t, unsigned);  // of libpmem, with these flags; NULL: memcpy
  unsigned flags;
  size_t transfer, volume, buffers;
  char** paths;
};

// The buffer of the transfer after the one at `now`.
static inline char* next_buffer(const struct job* job, char* data, char* now) {
  now += job->transfer;
  return now + job->transfer > data + job->buffers ? data : now;
}

static void move_all(const struct job* job, const char* path, char* data) {
  const int direct = job->direct ? O_DIRECT : 0;
  const int file = job->writes ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | direct, 0600)
                               : open(path, O_RDONLY | O_CLOEXEC | direct);
  require(file >= 0, path);
  char* own = data;
  for (size_t at = 0; at < job->volume; at += job->transfer) {
    const ssize_t moved =
        job->writes ? pwrite(file, own, job->transfer, (off_t)at) : pread(file, own, job->transfer, (off_t)at);
    require(moved == (ssize_t)job->transfer, "transfer");
    own = next_buffer(job, data, own);
  }
  require(close(file) == 0, "close");
}

static void copy_by_memcpy(const struct job* job, char* there, char* data) {
  char* own = data;
  for (size_t at = 0; at < job->volume; at += job->transfer) {
    if (job->writes)
      memcpy(there + at, own, job->transfer);
    else
      memcpy(own, there + at, job->transfer);
    // What is read is used by nobody: the copy has to be made all the same.
    __asm__ volatile("" : : "r"(own) : "memory");
    own = next_buffer(job, data, own);
  }
}

static void copy_by_pmem(const struct job* job, char* there, char* data) {
  char* own = data;
  for (size_t at = 0; at < job->volume; at += job->transfer) {
    job->store(there + at, own, job->transfer, job->flags);
    own = next_buffer(job, data, own);
  }
}

static void copy_alone(const struct job* job, char* there, char* data) {
  if (job->writes && job->store != NULL)
    copy_by_pmem(job, there, data);
  else
    copy_by_memcpy(job, there, data);
}

// Memory that is read, or copied to with nothing but copies in the time, was written before it.
static char* own_memory(const struct job* job) {
  char* own = mmap(NULL, job->volume, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(own != MAP_FAILED, "memory");
  if (!job->writes || job->loop) memset(own, 1, job->volume);
  return own;
}

// With `loop` the file is there, and the stamps are taken around the copies.
static void copy_all(const struct job* job, const char* path, char* data, int64_t* start, int64_t* stop) {
  const int create = job->loop ? 0 : O_CREAT | O_EXCL;
  const int file = job->writes ? open(path, O_RDWR | create | O_CLOEXEC, 0600) : open(path, O_RDONLY | O_CLOEXEC);
  require(file >= 0, path);
  if (job->writes && !job->loop) require(ftruncate(file, (off_t)job->volume) == 0, "extend");
  const int access = job->writes ? PROT_READ | PROT_WRITE : PROT_READ;
  char* mapped = mmap(NULL, job->volume, access, MAP_SHARED | (job->loop ? MAP_POPULATE : 0), file, 0);
  require(mapped != MAP_FAILED, "map");
  if (job->loop && job->writes) memset(mapped, 1, job->volume);
  if (job->loop) *start = now();
  copy_alone(job, mapped, data);
  if (job->loop) *stop = now();
  require(munmap(mapped, job->volume) == 0 && close(file) == 0, "close");
}

// A file of that length, all of which is there.
static void make_whole(const struct job* job, const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  require(file >= 0 && posix_fallocate(file, 0, (off_t)job->volume) == 0 && close(file) == 0, path);
}

static void work(struct stamps* stamps, int process, const void* given) {
  const struct job* job = given;
  const char* path = job->paths[process];
  char* data = one_buffer(job->buffers, job->huge);
  require(data != NULL, "memory");
  for (int i = 0; i < job->times; ++i) {
    int64_t* const start = &stamps->start[i][process];
    int64_t* const stop = &stamps->stop[i][process];
    // With `loop` all times write the same file, as ours do: pages that are new each time take longer.
    const int makes = job->writes && !job->memory && (i == 0 || !job->loop);
    if (makes) unlink(path);
    if (makes && job->loop) make_whole(job, path);
    char* const own = job->memory ? own_memory(job) : NULL;
    pthread_barrier_wait(&stamps->barrier);
    *start = now();
    if (job->memory) copy_by_memcpy(job, own, data);
    if (job->mapped) copy_all(job, path, data, start, stop);
    if (!job->memory && !job->mapped) move_all(job, path, data);
    if (!job->loop || !job->mapped) *stop = now();
    if (own != NULL) munmap(own, job->volume);
  }
}

// The flags of <libpmem.h> that the way is called by; -1: none.
static int flags_of(const char* way) {
  if (strcmp(way, "persist") == 0) return 0;
  if (strcmp(way, "nodrain") == 0) return 1;
  return strcmp(way, "nontemporal") == 0 ? 1 | 2 : -1;
}

int main(int count, char** words) {
  if (count < 10) return 2;
  const int flags = flags_of(words[2]);
  void* const library = flags < 0 ? NULL : dlopen("libpmem.so.1", RTLD_NOW);
  if (flags >= 0 && library == NULL) return 2;
  const size_t transfer = (size_t)atol(words[6]), buffers = (size_t)atol(words[5]);
  const struct job job = {.store = library == NULL ? NULL : dlsym(library, "pmem_memcpy"),
                          .flags = (unsigned)flags,
                          .memory = strcmp(words[2], "memory") == 0,
                          .writes = strcmp(words[1], "write") == 0,
                          .direct = strcmp(words[2], "direct") == 0,
                          .mapped = strcmp(words[2], "mapped") == 0 || library != NULL,
                          .huge = strcmp(words[3], "huge") == 0,
                          .loop = strcmp(words[4], "loop") == 0,
                          .times = atoi(words[8]),
                          .transfer = transfer,
                          .buffers = buffers < transfer ? transfer : buffers,
                          .volume = (size_t)atol(words[7]),
                          .paths = words + 9};
  if (job.transfer < 1) return 2;
  return run_processes(count - 9, job.times, work, &job);
}
