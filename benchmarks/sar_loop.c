// SPDX-License-Identifier: Apache-2.0
// The baseline of `sar_pairs`: the calls of the four kernels as backend posix makes them, under names as long and as
// deep, from one buffer of a rank, a process for each rank, with one clock read before the first call of a kernel and
// one after the last. Locations and sub-images are scattered by multiplication. sar_loop files|containers ROWS COLUMNS
// RAW_COLUMNS GRID DEPTH SUBIMAGES SIDE TEMPLATES TIMES FOLDER RANKS prints ns of K1 to K4 of each time, in turn.
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bare_files.h"

enum { words_wanted = 13, kernels = 4, template_bytes = 4096, record_bytes = 64, page_bytes = 4096, longest_name = 96 };

static const char* const dataset = "c-0123456789abcdef";  // as the engine names the directory of a case

struct job {
  int containers, rows, columns, raw_columns, grid, depth, subimages, side, templates, times, folder, ranks;
};

static size_t image_bytes(const struct job* job) { return (size_t)job->rows * (size_t)job->columns * 4; }
static size_t raw_bytes(const struct job* job) { return (size_t)job->rows * (size_t)job->raw_columns * 8; }
static size_t run_bytes(const struct job* job) { return (size_t)job->side * 4; }
static size_t group_bytes(const struct job* job) { return (size_t)job->subimages * (size_t)job->side * run_bytes(job); }
static size_t whole_pages(size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

static int locations_of(const struct job* job, int owner) {
  const int all = job->grid * job->grid;
  return owner < all ? (all - owner + job->ranks - 1) / job->ranks : 0;
}

// Location `index` of an owner's, in an order that is not theirs: 7919 is prime and no number of locations here.
static int scattered(const struct job* job, int owner, int index) {
  return owner + job->ranks * (int)((long)index * 7919 % locations_of(job, owner));
}

struct name {
  char text[longest_name];
};

__attribute__((format(printf, 1, 2))) static struct name named(const char* form, ...) {
  struct name name;
  va_list numbers;
  va_start(numbers, form);
  const int begun = snprintf(name.text, sizeof name.text, "%s/", dataset);
  vsnprintf(name.text + begun, sizeof name.text - (size_t)begun, form, numbers);
  va_end(numbers);
  return name;
}

static struct name image_name(const struct job* job, int location, int time) {
  return job->containers ? named("c.%d", location) : named("l.%d/i.%d.%d", location, location, time);
}

static off_t image_offset(const struct job* job, int time) {
  return job->containers ? (off_t)image_bytes(job) * time : 0;
}

static void read_whole(const struct job* job, const char* name, char* data, size_t bytes) {
  const int file = open_below(job->folder, name, O_RDONLY);
  move(file, 0, data, bytes, 0);
  require(close(file) == 0, "close");
}

static void form(const struct job* job, int process, char* data) {
  for (int i = 0; i < locations_of(job, process) * job->depth; ++i)
    read_whole(job, named("raw.0.0").text, data, raw_bytes(job));
}

static void store(const struct job* job, int process, char* data) {
  for (int time = 0; time < job->depth; ++time)
    for (int i = 0; i < locations_of(job, process); ++i) {
      const struct name name = image_name(job, scattered(job, process, i), time);
      const int makes = job->containers && time > 0 ? 0 : O_CREAT | O_EXCL;
      const int file = open_below(job->folder, name.text, O_WRONLY | makes);
      move(file, 1, data, image_bytes(job), image_offset(job, time));
      require(close(file) == 0, "close");
    }
}

static void read_rows(const struct job* job, int file, int pair, off_t begins, char* group) {
  for (int number = 0; number < job->subimages; ++number) {
    const unsigned draw = (unsigned)(pair * job->subimages + number) * 2654435761U >> 8;
    const int row = (int)(draw % (unsigned)(job->rows - job->side + 1));
    const int column = (int)(draw / 7 % (unsigned)(job->columns - job->side + 1));
    for (int y = 0; y < job->side; ++y)
      move(file, 0, group + (size_t)(number * job->side + y) * run_bytes(job), run_bytes(job),
           begins + ((off_t)(row + y) * job->columns + column) * 4);
  }
}

static void retrieve(const struct job* job, int process, char* data) {
  const int source = (process + 1) % job->ranks;
  char* const later = data + whole_pages(image_bytes(job));
  char* const group = later + whole_pages(image_bytes(job));
  const int found = open_below(job->folder, named("detections.%d", process).text, O_WRONLY | O_CREAT | O_EXCL);
  for (int i = 0, pair = 0; i < locations_of(job, source); ++i)
    for (int time = 0; time + 1 < job->depth; ++time, ++pair) {
      const int location = scattered(job, source, i);
      int file = open_below(job->folder, image_name(job, location, time).text, O_RDONLY);
      move(file, 0, data, image_bytes(job), image_offset(job, time));
      if (!job->containers) {
        require(close(file) == 0, "close");
        file = open_below(job->folder, image_name(job, location, time + 1).text, O_RDONLY);
      }
      move(file, 0, later, image_bytes(job), image_offset(job, time + 1));
      read_rows(job, file, pair, image_offset(job, time + 1), group);
      require(close(file) == 0, "close");
      move(found, 1, group, group_bytes(job), (off_t)group_bytes(job) * pair);
    }
  require(close(found) == 0, "close");
}

static void detect(const struct job* job, int process, char* data) {
  const int source = (process + 1) % job->ranks;
  char* const records = data + group_bytes(job);
  for (int i = 0; i < job->templates; ++i)
    read_whole(job, named("template.%d", i).text, records + page_bytes + (size_t)i * template_bytes, template_bytes);
  const int found = open_below(job->folder, named("detections.%d", source).text, O_RDONLY);
  const int file = open_below(job->folder, named("records.%d", process).text, O_WRONLY | O_CREAT | O_EXCL);
  const int pairs = locations_of(job, (source + 1) % job->ranks) * (job->depth - 1);
  for (int pair = 0; pair < pairs; ++pair) {
    move(found, 0, data, group_bytes(job), (off_t)group_bytes(job) * pair);
    for (int i = 0; i < job->subimages; ++i)
      move(file, 1, records + i * record_bytes, record_bytes, (off_t)(pair * job->subimages + i) * record_bytes);
  }
  require(close(found) == 0 && close(file) == 0, "close");
}

static void make_file(const struct job* job, const char* name, char* data, size_t bytes) {
  const int file = open_below(job->folder, name, O_WRONLY | O_CREAT | O_EXCL);
  move(file, 1, data, bytes, 0);
  require(close(file) == 0, "close");
}

// The input is of the first process; each makes the directories of its locations.
static void make_input(const struct job* job, int process, char* data) {
  for (int i = 0; !job->containers && i < locations_of(job, process); ++i)
    require(mkdirat(job->folder, named("l.%d", process + i * job->ranks).text, 0700) == 0, "directory");
  if (process != 0) return;
  make_file(job, named("raw.0.0").text, data, raw_bytes(job));
  for (int i = 0; i < job->templates; ++i) make_file(job, named("template.%d", i).text, data, template_bytes);
}

static void clear(const struct job* job, int process) {
  for (int i = 0; i < locations_of(job, process); ++i) {
    const int location = process + i * job->ranks;
    for (int time = 0; time < job->depth; ++time) unlinkat(job->folder, image_name(job, location, time).text, 0);
    unlinkat(job->folder, named("l.%d", location).text, AT_REMOVEDIR);
  }
  unlinkat(job->folder, named("detections.%d", process).text, 0);
  unlinkat(job->folder, named("records.%d", process).text, 0);
  if (process != 0) return;
  unlinkat(job->folder, named("raw.0.0").text, 0);
  for (int i = 0; i < job->templates; ++i) unlinkat(job->folder, named("template.%d", i).text, 0);
}

static void work(struct stamps* stamps, int process, const void* given) {
  static void (*const calls[kernels])(const struct job*, int, char*) = {form, store, retrieve, detect};
  const struct job* job = given;
  const size_t pair = 2 * whole_pages(image_bytes(job)) + group_bytes(job);
  const size_t found = group_bytes(job) + page_bytes + (size_t)job->templates * template_bytes;
  const size_t most = pair > found ? pair : found;
  char* data = one_buffer(most > raw_bytes(job) ? most : raw_bytes(job), 1);
  require(data != NULL, "memory");
  require(mkdirat(job->folder, dataset, 0700) == 0 || errno == EEXIST, dataset);
  for (int i = 0; i < job->times; ++i) {
    clear(job, process);
    pthread_barrier_wait(&stamps->barrier);
    make_input(job, process, data);
    for (int kernel = 0; kernel < kernels; ++kernel) {
      pthread_barrier_wait(&stamps->barrier);
      stamps->start[kernels * i + kernel][process] = now();
      calls[kernel](job, process, data);
      stamps->stop[kernels * i + kernel][process] = now();
    }
    pthread_barrier_wait(&stamps->barrier);
  }
  clear(job, process);
  unlinkat(job->folder, dataset, AT_REMOVEDIR);  // the last process finds it empty
}

int main(int count, char** words) {
  if (count != words_wanted) return 2;
  const struct job job = {.containers = strcmp(words[1], "containers") == 0,
                          .rows = atoi(words[2]),
                          .columns = atoi(words[3]),
                          .raw_columns = atoi(words[4]),
                          .grid = atoi(words[5]),
                          .depth = atoi(words[6]),
                          .subimages = atoi(words[7]),
                          .side = atoi(words[8]),
                          .templates = atoi(words[9]),
                          .times = atoi(words[10]),
                          .folder = open(words[11], O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                          .ranks = atoi(words[12])};
  if (job.side > job.columns || job.side > job.rows || job.folder < 0) return 2;
  return run_processes(job.ranks, kernels * job.times, work, &job);
}
