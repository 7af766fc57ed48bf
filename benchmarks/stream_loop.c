// SPDX-License-Identifier: Apache-2.0
// The baseline of `spio_pairs` and `checkpoint_pairs`: streams of calls and tensors in files, written with their fsync
// and read again, by the calls that backend posix makes, a process for each rank, from as many buffers in turn. As in
// an application, a buffer holds new data whenever it is written again; the clock stands still while that is made, as
// the engine's does. Before the first read of a file its pages are dropped, outside of the time. stream_loop
// own|next|shared|tensors CALL_BYTES CALLS TIMES FOLDER RANKS prints ns of three stretches of each time: writing,
// reading, and reading once more. `own`: a file for each rank; `next`: the same, and a rank reads that of the next one;
// `shared`: one file, of which each rank has a contiguous part; `tensors`: a file for each call, each synced.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bare_files.h"

enum { own_cache_bytes = 256 << 10, page_bytes = 4096, stretches_a_time = 3 };  // as the engine's buffers of writes

static const char* const dataset = "c-0123456789abcdef";  // as the engine names the directory of a case

struct job {
  enum { own, next, shared, tensors } way;
  size_t bytes;
  int calls, times, folder, ranks;
};

static int64_t paused_ns;

static size_t stride(const struct job* job) { return (job->bytes + page_bytes - 1) / page_bytes * page_bytes; }

static size_t buffers(const struct job* job) {
  const size_t fit = own_cache_bytes / stride(job);
  return fit < 1 ? 1 : fit < (size_t)job->calls ? fit : (size_t)job->calls;
}

// What the first round writes is made before the time, what follows while the clock stands still.
static void renew(const struct job* job, char* data, int call) {
  const int64_t from = now();
  const uint64_t change = (uint64_t)(call + 1) * 0x9e3779b97f4a7c15ULL;
  for (size_t i = 0; i + sizeof change <= buffers(job) * stride(job); i += sizeof change) {
    uint64_t word;
    memcpy(&word, data + i, sizeof word);
    word ^= change;
    memcpy(data + i, &word, sizeof word);
  }
  paused_ns += now() - from;
}

static void name_file(const struct job* job, char* name, size_t room, int rank, int call) {
  if (job->way == tensors)
    snprintf(name, room, "%s/r.%d/s.%d.%d", dataset, rank, rank, call);
  else
    snprintf(name, room, "%s/data.%08d", dataset, job->way == shared ? 0 : rank);
}

static char* buffer(const struct job* job, char* data, int call) {
  return data + (size_t)call % buffers(job) * stride(job);
}

// The first process makes a shared file, and all others open it when it is there.
static int open_stream(const struct job* job, struct stamps* stamps, const char* name, int rank, int writes) {
  const int creates = O_WRONLY | O_CREAT | O_EXCL;
  if (job->way != shared) return open_below(job->folder, name, writes ? creates : O_RDONLY);
  if (!writes) {
    const int file = open_below(job->folder, name, O_RDONLY);
    pthread_barrier_wait(&stamps->barrier);
    return file;
  }
  int file = rank == 0 ? open_below(job->folder, name, creates) : -1;
  pthread_barrier_wait(&stamps->barrier);
  if (rank != 0) file = open_below(job->folder, name, O_WRONLY);
  pthread_barrier_wait(&stamps->barrier);
  return file;
}

static void move_stream(const struct job* job, struct stamps* stamps, int rank, int writes, char* data) {
  char name[64];
  const int of = !writes && job->way == next ? (rank + 1) % job->ranks : rank;
  name_file(job, name, sizeof name, of, 0);
  const int file = open_stream(job, stamps, name, rank, writes);
  const off_t begin = job->way == shared ? (off_t)job->bytes * job->calls * rank : 0;
  for (int i = 0; i < job->calls; ++i) {
    if (writes && i > 0 && (size_t)i % buffers(job) == 0) renew(job, data, i);
    move(file, writes, buffer(job, data, writes ? i : 0), job->bytes, begin + (off_t)job->bytes * i);
  }
  if (writes) require(fsync(file) == 0, "sync");
  require(close(file) == 0, "close");
}

static void move_tensors(const struct job* job, int rank, int writes, char* data) {
  char name[64];
  for (int i = 0; i < job->calls; ++i) {
    if (writes && i > 0 && (size_t)i % buffers(job) == 0) renew(job, data, i);
    name_file(job, name, sizeof name, rank, i);
    const int file = open_below(job->folder, name, writes ? O_WRONLY | O_CREAT | O_EXCL : O_RDONLY);
    move(file, writes, buffer(job, data, i), job->bytes, 0);
    if (writes) require(fsync(file) == 0, "sync");
    require(close(file) == 0, "close");
  }
}

static int files(const struct job* job) { return job->way == tensors ? job->calls : 1; }

static void drop(const struct job* job, int rank) {
  char name[64];
  for (int i = 0; i < files(job); ++i) {
    name_file(job, name, sizeof name, rank, i);
    const int file = open_below(job->folder, name, O_RDONLY);
    require(fdatasync(file) == 0 && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0 && close(file) == 0, "drop");
  }
}

static void name_directory(char* name, size_t room, int rank) { snprintf(name, room, "%s/r.%d", dataset, rank); }

static void clear(const struct job* job, int rank) {
  char name[64];
  for (int i = 0; i < files(job); ++i) {
    name_file(job, name, sizeof name, rank, i);
    unlinkat(job->folder, name, 0);
  }
  name_directory(name, sizeof name, rank);
  unlinkat(job->folder, name, AT_REMOVEDIR);
}

static void work(struct stamps* stamps, int rank, const void* given) {
  const struct job* job = given;
  char* data = one_buffer(buffers(job) * stride(job), 1);
  require(data != NULL, "memory");
  char name[64];
  name_directory(name, sizeof name, rank);
  require(mkdirat(job->folder, dataset, 0700) == 0 || errno == EEXIST, dataset);
  for (int i = 0; i < job->times; ++i) {
    clear(job, rank);
    if (job->way == tensors) require(mkdirat(job->folder, name, 0700) == 0, name);
    for (int part = 0; part < stretches_a_time; ++part) {
      if (part == 1) drop(job, rank);
      paused_ns = 0;
      pthread_barrier_wait(&stamps->barrier);
      stamps->start[stretches_a_time * i + part][rank] = now();
      if (job->way == tensors)
        move_tensors(job, rank, part == 0, data);
      else
        move_stream(job, stamps, rank, part == 0, data);
      stamps->stop[stretches_a_time * i + part][rank] = now() - paused_ns;
      pthread_barrier_wait(&stamps->barrier);
    }
  }
  clear(job, rank);
  unlinkat(job->folder, dataset, AT_REMOVEDIR);  // the last process finds it empty
}

static int way_of(const char* word) {
  static const char* const words[] = {"own", "next", "shared", "tensors"};
  for (int i = 0; i < 4; ++i)
    if (strcmp(word, words[i]) == 0) return i;
  return -1;
}

int main(int count, char** words) {
  if (count != 7) return 2;
  struct job job = {.bytes = (size_t)atol(words[2]),
                    .calls = atoi(words[3]),
                    .times = atoi(words[4]),
                    .folder = open(words[5], O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                    .ranks = atoi(words[6])};
  const int way = way_of(words[1]);
  if (way < 0 || job.bytes < 1 || job.calls < 1 || job.folder < 0) return 2;
  job.way = way;
  return run_processes(job.ranks, stretches_a_time * job.times, work, &job);
}
