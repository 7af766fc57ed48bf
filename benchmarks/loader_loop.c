// SPDX-License-Identifier: Apache-2.0
// The baseline of `loader_pairs`: samples in files of their own, written once and then read in shuffled order by the
// calls that backend posix makes, by several threads of one process into as many buffers in turn, with one clock read
// before the first call and one after the last. As in any loader, a consumer sleeps until a batch is complete and gives
// its buffers back: a mutex, two condition variables. No pace, no account.
// loader_loop SAMPLE_BYTES SAMPLES CALL_BYTES THREADS WINDOW TIMES FOLDER BATCH prints ns of each reading of all.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bare_process.h"

enum { page_bytes = 4096, most_threads = 64 };

static const char* const dataset = "c-0123456789abcdef";  // as the engine names the directory of a case

struct job {
  size_t bytes, call;
  int samples, threads, window, times, folder, batch;
};

struct team {
  const struct job* job;
  const int* order;
  char* data;
  size_t stride;
  pthread_mutex_t mutex;
  pthread_cond_t room, ready;
  int next, given_back;
  int* read;  // samples of each batch
};

static void name_sample(char* name, size_t room, int sample) { snprintf(name, room, "%s/data.%08d", dataset, sample); }

static int open_below(int folder, const char* name, int flags) {
  struct open_how how;
  memset(&how, 0, sizeof how);
  how.flags = (unsigned)(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? 0600 : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const int file = (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
  require(file >= 0, name);
  return file;
}

static void move(const struct job* job, int sample, int writes, char* data) {
  char name[64];
  name_sample(name, sizeof name, sample);
  const int file = open_below(job->folder, name, writes ? O_WRONLY | O_CREAT | O_EXCL : O_RDONLY);
  for (size_t done = 0; done < job->bytes;) {
    const size_t length = job->bytes - done < job->call ? job->bytes - done : job->call;
    const ssize_t moved = writes ? pwrite(file, data, length, (off_t)done) : pread(file, data, length, (off_t)done);
    require(moved == (ssize_t)length, "transfer");
    done += length;
  }
  require(close(file) == 0, "close");
}

static int batch_size(const struct job* job, int batch) {
  const int left = job->samples - batch * job->batch;
  return left < job->batch ? left : job->batch;
}

static void* serve(void* given) {
  struct team* team = given;
  const struct job* job = team->job;
  pthread_mutex_lock(&team->mutex);
  while (1) {
    while (team->next < job->samples && team->next >= team->given_back + job->window)
      pthread_cond_wait(&team->room, &team->mutex);
    if (team->next >= job->samples) break;
    const int i = team->next++;
    pthread_mutex_unlock(&team->mutex);
    move(job, team->order[i], 0, team->data + (size_t)(i % job->window) * team->stride);
    pthread_mutex_lock(&team->mutex);
    if (++team->read[i / job->batch] == batch_size(job, i / job->batch)) pthread_cond_signal(&team->ready);
  }
  pthread_mutex_unlock(&team->mutex);
  return NULL;
}

static void consume(struct team* team) {
  const struct job* job = team->job;
  for (int batch = 0; batch * job->batch < job->samples; ++batch) {
    pthread_mutex_lock(&team->mutex);
    while (team->read[batch] < batch_size(job, batch)) pthread_cond_wait(&team->ready, &team->mutex);
    team->given_back += batch_size(job, batch);
    pthread_cond_broadcast(&team->room);
    pthread_mutex_unlock(&team->mutex);
  }
}

static void shuffle(int* order, int count, uint64_t key) {
  for (int i = 0; i < count; ++i) order[i] = i;
  for (int i = count - 1; i > 0; --i) {
    key = key * 6364136223846793005ULL + 1442695040888963407ULL;
    const int other = (int)((key >> 33) % (uint64_t)(i + 1));
    const int kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

static void read_all(struct team* team) {
  pthread_t threads[most_threads];
  team->next = team->given_back = 0;
  memset(team->read, 0, (size_t)team->job->samples * sizeof *team->read);
  for (int i = 0; i < team->job->threads; ++i) require(pthread_create(&threads[i], NULL, serve, team) == 0, "thread");
  consume(team);
  for (int i = 0; i < team->job->threads; ++i) pthread_join(threads[i], NULL);
}

// The threads of a rank may run on all cores.
static void leave_own_core(void) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &all);
  require(sched_setaffinity(0, sizeof all, &all) == 0, "affinity");
}

static void work(struct stamps* stamps, int process, const void* given) {
  const struct job* job = given;
  leave_own_core();
  const size_t call = job->call < job->bytes ? job->call : job->bytes;
  struct team team = {.job = job,
                      .stride = (call + page_bytes - 1) / page_bytes * page_bytes,
                      .mutex = PTHREAD_MUTEX_INITIALIZER,
                      .room = PTHREAD_COND_INITIALIZER,
                      .ready = PTHREAD_COND_INITIALIZER};
  team.data = one_buffer(team.stride * (size_t)job->window, 1);
  int* order = malloc((size_t)job->samples * sizeof *order);
  team.read = malloc((size_t)job->samples * sizeof *team.read);
  require(team.data != NULL && order != NULL && team.read != NULL, "memory");
  team.order = order;
  require(mkdirat(job->folder, dataset, 0700) == 0, dataset);
  for (int i = 0; i < job->samples; ++i) move(job, i, 1, team.data);
  for (int i = 0; i < job->times; ++i) {
    shuffle(order, job->samples, (uint64_t)i + 1);
    pthread_barrier_wait(&stamps->barrier);
    stamps->start[i][process] = now();
    read_all(&team);
    stamps->stop[i][process] = now();
  }
  char name[64];
  for (int i = 0; i < job->samples; ++i) {
    name_sample(name, sizeof name, i);
    unlinkat(job->folder, name, 0);
  }
  unlinkat(job->folder, dataset, AT_REMOVEDIR);
  free(team.read);
  free(order);
}

int main(int count, char** words) {
  if (count != 9) return 2;
  const struct job job = {.bytes = (size_t)atol(words[1]),
                          .samples = atoi(words[2]),
                          .call = (size_t)atol(words[3]),
                          .threads = atoi(words[4]),
                          .window = atoi(words[5]),
                          .times = atoi(words[6]),
                          .batch = atoi(words[8]),
                          .folder = open(words[7], O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (job.bytes < 1 || job.samples < 1 || job.batch < 1 || job.threads > most_threads || job.folder < 0) return 2;
  return run_processes(1, job.times, work, &job);
}
