// SPDX-License-Identifier: Apache-2.0
// create FOLDER: files that two processes make in a second, each in a directory of its own; they are gone afterwards.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 2, MOST = 200000 };
static const double seconds = 0.6;

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static double made_a_second(const char* folder, int process) {
  char name[64];
  if (chdir(folder) != 0) exit(1);
  snprintf(name, sizeof name, "create-%d", process);
  if (mkdir(name, 0700) != 0) exit(1);
  const int directory = open(name, O_RDONLY | O_DIRECTORY);
  const double began = now();
  int made = 0;
  double spent = 0;
  for (; made < MOST && spent < seconds; ++made) {
    char file[16];
    snprintf(file, sizeof file, "%d", made);
    const int opened = openat(directory, file, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (opened < 0) exit(1);
    close(opened);
    spent = now() - began;
  }
  for (int i = 0; i < made; ++i) {
    char file[16];
    snprintf(file, sizeof file, "%d", i);
    unlinkat(directory, file, 0);
  }
  rmdir(name);
  return made / spent;
}

int main(int count, char** words) {
  int ends[2];
  double all = 0;
  if (count != 2 || pipe(ends) != 0) return 1;
  for (int process = 0; process < PROCESSES; ++process)
    if (fork() == 0) {
      const double own = made_a_second(words[1], process);
      return write(ends[1], &own, sizeof own) == sizeof own ? 0 : 1;
    }
  for (int process = 0; process < PROCESSES; ++process) {
    double own = 0;
    int status = 0;
    if (wait(&status) < 0 || status != 0 || read(ends[0], &own, sizeof own) != sizeof own) return 1;
    all += own;
  }
  printf("%f\n", all);
  return 0;
}
