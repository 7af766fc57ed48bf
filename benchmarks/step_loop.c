// SPDX-License-Identifier: Apache-2.0
// The baseline of `step_pairs`: states written and read again by the calls that backend posix makes, under names as
// long and as deep, from as many buffers in turn, a process for each rank, with one clock read before the first call
// and one after the last. As in an application, buffers hold new data whenever they are written again. The clock stands
// still while it is made, as the engine's does. step_loop files|log STATE_BYTES STEPS TIMES FOLDER RANKS prints ns of the writing and of the
// reading of each time, in turn.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bare_files.h"

enum { own_cache_bytes = 256 << 10, page_bytes = 4096 };  // as the engine's buffers of small states

static const char* const dataset = "c-0123456789abcdef";  // as the engine names the directory of a case

struct job {
  int log, steps, times, folder;
  size_t bytes;
};

// From one buffer to the next.
static size_t stride(const struct job* job) { return (job->bytes + page_bytes - 1) / page_bytes * page_bytes; }

static size_t buffers(const struct job* job) {
  const size_t fit = own_cache_bytes / stride(job);
  return fit < 1 ? 1 : fit < (size_t)job->steps ? fit : (size_t)job->steps;
}

static void name_directory(char* name, size_t room, int process) { snprintf(name, room, "%s/r.%d", dataset, process); }

static void name_state(char* name, size_t room, int process, int step) {
  snprintf(name, room, "%s/r.%d/s.%d.%d", dataset, process, process, step);
}

static void name_log(char* name, size_t room, int process) { snprintf(name, room, "%s/log.%d", dataset, process); }

static int64_t paused_ns;

// New data for the states that follow, as many as there are buffers.
static void renew(const struct job* job, char* data, int step) {
  const int64_t from = now();
  const uint64_t change = (uint64_t)(step + 1) * 0x9e3779b97f4a7c15ULL;
  for (size_t i = 0; i + sizeof change <= buffers(job) * stride(job); i += sizeof change) {
    uint64_t word;
    memcpy(&word, data + i, sizeof word);
    word ^= change;
    memcpy(data + i, &word, sizeof word);
  }
  paused_ns += now() - from;
}

static void move_files(const struct job* job, int process, int writes, char* data) {
  char name[64];
  for (int i = 0; i < job->steps; ++i) {
    if (writes && (size_t)i % buffers(job) == 0) renew(job, data, i);
    name_state(name, sizeof name, process, writes ? i : job->steps - 1 - i);
    const int file = open_below(job->folder, name, writes ? O_WRONLY | O_CREAT | O_EXCL : O_RDONLY);
    move(file, writes, data + (size_t)i % buffers(job) * stride(job), job->bytes, 0);
    require(close(file) == 0, "close");
  }
}

static void move_log(const struct job* job, int process, int writes, char* data) {
  char name[64];
  name_log(name, sizeof name, process);
  const int file = open_below(job->folder, name, writes ? O_WRONLY | O_CREAT | O_EXCL : O_RDONLY);
  for (int i = 0; i < job->steps; ++i) {
    if (writes && (size_t)i % buffers(job) == 0) renew(job, data, i);
    move(file, writes, data + (size_t)i % buffers(job) * stride(job), job->bytes,
         (off_t)job->bytes * (writes ? i : job->steps - 1 - i));
  }
  require(close(file) == 0, "close");
}

static void clear(const struct job* job, int process) {
  char name[64];
  name_log(name, sizeof name, process);
  unlinkat(job->folder, name, 0);
  for (int i = 0; i < job->steps; ++i) {
    name_state(name, sizeof name, process, i);
    unlinkat(job->folder, name, 0);
  }
  name_directory(name, sizeof name, process);
  unlinkat(job->folder, name, AT_REMOVEDIR);
}

static void work(struct stamps* stamps, int process, const void* given) {
  const struct job* job = given;
  char* data = one_buffer(buffers(job) * stride(job), 1);
  require(data != NULL, "memory");
  char name[64];
  name_directory(name, sizeof name, process);
  require(mkdirat(job->folder, dataset, 0700) == 0 || errno == EEXIST, dataset);
  for (int i = 0; i < job->times; ++i) {
    clear(job, process);
    require(mkdirat(job->folder, name, 0700) == 0, name);
    for (int reads = 0; reads < 2; ++reads) {
      paused_ns = 0;
      pthread_barrier_wait(&stamps->barrier);
      stamps->start[2 * i + reads][process] = now();
      (job->log ? move_log : move_files)(job, process, !reads, data);
      stamps->stop[2 * i + reads][process] = now() - paused_ns;
    }
  }
  clear(job, process);
  unlinkat(job->folder, dataset, AT_REMOVEDIR);  // the last process finds it empty
}

int main(int count, char** words) {
  if (count != 7) return 2;
  const struct job job = {.log = strcmp(words[1], "log") == 0,
                          .bytes = (size_t)atol(words[2]),
                          .steps = atoi(words[3]),
                          .times = atoi(words[4]),
                          .folder = open(words[5], O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (job.bytes < 1 || job.steps < 1 || job.folder < 0) return 2;
  return run_processes(atoi(words[6]), 2 * job.times, work, &job);
}
