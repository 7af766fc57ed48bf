// SPDX-License-Identifier: Apache-2.0
// The baseline of `metadata_pairs`: the same system calls on the same names, with as much different data, in a bare
// loop, with one clock read before and one after it. Names are made before, data is of one buffer. metadata_loop FOLDER
// PROCESSES ITEMS BYTES prints ns of create, stat, read and unlink.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bare_process.h"

enum { phases = 4, longest_name = 48 };

struct job {
  const char* folder;
  int items;
  size_t bytes;
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

static void work(struct stamps* stamps, int process, const void* given) {
  const struct job* job = given;
  const size_t bytes = job->bytes;
  char own[4096];
  snprintf(own, sizeof own, "%s/own.%d", job->folder, process);
  require(mkdir(own, 0700) == 0, own);
  const int folder = open(own, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  require(folder >= 0, own);
  char (*names)[longest_name] = malloc((size_t)job->items * longest_name);
  char* data = malloc(bytes + 1);
  require(names != NULL && data != NULL, "malloc");
  memset(data, 7, bytes + 1);
  for (int i = 0; i < job->items; ++i) snprintf(names[i], longest_name, "file.mdtest.%d.%d", process, i);
  for (int phase = 0; phase < phases; ++phase) {
    pthread_barrier_wait(&stamps->barrier);
    stamps->start[phase][process] = now();
    for (int i = 0; i < job->items; ++i) one(phase, folder, names[i], data, bytes);
    stamps->stop[phase][process] = now();
  }
  close(folder);
  rmdir(own);
}

int main(int count, char** words) {
  if (count != 5) return 2;
  const struct job job = {.folder = words[1], .items = atoi(words[3]), .bytes = (size_t)atol(words[4])};
  return run_processes(atoi(words[2]), phases, work, &job);
}
