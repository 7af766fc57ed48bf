// SPDX-License-Identifier: Apache-2.0
// The baseline of `pio_pairs`: strided patterns written and read again by the calls of MPI-IO that workload `pio` makes
// through views, from one buffer, with one clock read before the open and one after the close. pio_loop
// simple|nested|random alone|together REQUEST REQUESTS TIMES FILE prints ns of the writing and of the reading of each
// time, in turn, from the first rank's open to the last one's close. The last request that was read is compared with
// what was written, outside the time.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bare_loop.h"

enum { inner = 4, gap = 1 };  // of nested strides, as the engine has them

struct job {
  int nested, random, together, requests, rank, ranks;
  size_t bytes, longest;
  // For random strides: the bytes of each request, and the pieces of the view, which are runs of them.
  int *lengths, *words_of_piece, pieces;
  MPI_Aint* places;
  MPI_Offset begin;
};

static void require(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "%s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static uint64_t mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

// Where request `turn` of all ranks begins, as the engine draws it with seed 1.
static MPI_Offset boundary(const struct job* job, uint64_t turn) {
  const uint64_t jitter = (job->bytes / 8 - 1) / 2;
  if (turn == 0 || turn == (uint64_t)job->requests * (uint64_t)job->ranks) return (MPI_Offset)(turn * job->bytes);
  const uint64_t drawn = ((mixed(mixed(1) ^ turn) >> 32) * (2 * jitter + 1)) >> 32;
  return (MPI_Offset)(turn * job->bytes + drawn * 8 - jitter * 8);
}

static void draw_lengths(struct job* job) {
  const size_t count = (size_t)job->requests;
  job->lengths = malloc(count * sizeof(int));
  job->words_of_piece = malloc(count * sizeof(int));
  job->places = malloc(count * sizeof(MPI_Aint));
  require(job->lengths && job->words_of_piece && job->places, "memory");
  job->begin = boundary(job, (uint64_t)job->rank);
  MPI_Offset end = -1;
  for (int i = 0; i < job->requests; ++i) {
    const uint64_t turn = (uint64_t)i * (uint64_t)job->ranks + (uint64_t)job->rank;
    const MPI_Offset at = boundary(job, turn);
    job->lengths[i] = (int)(boundary(job, turn + 1) - at);
    if (at != end) {
      job->places[job->pieces] = (MPI_Aint)(at - job->begin);
      job->words_of_piece[job->pieces++] = 0;
    }
    job->words_of_piece[job->pieces - 1] += job->lengths[i] / 8;
    end = at + job->lengths[i];
  }
}

static MPI_Datatype random_type(const struct job* job) {
  MPI_Datatype once, type;
  MPI_Type_create_hindexed(job->pieces, job->words_of_piece, job->places, MPI_DOUBLE, &once);
  MPI_Type_create_resized(once, 0, (MPI_Aint)job->bytes * job->requests * job->ranks, &type);
  MPI_Type_free(&once);
  return type;
}

// Every `ranks`-th request is this rank's.
static MPI_Datatype simple_type(const struct job* job) {
  MPI_Datatype chunk, type;
  const int block = MPI_DISTRIBUTE_BLOCK, even = MPI_DISTRIBUTE_DFLT_DARG;
  MPI_Type_contiguous((int)(job->bytes / 8), MPI_DOUBLE, &chunk);
  MPI_Type_create_darray(job->ranks, job->rank, 1, &job->ranks, &block, &even, &job->ranks, MPI_ORDER_C, chunk, &type);
  MPI_Type_free(&chunk);
  return type;
}

static MPI_Datatype nested_type(const struct job* job) {
  int lengths[inner];
  MPI_Aint places[inner];
  for (int i = 0; i < inner; ++i) {
    lengths[i] = (int)(job->bytes / 8);
    places[i] = (MPI_Aint)i * job->ranks * (MPI_Aint)job->bytes;
  }
  MPI_Datatype once, type;
  MPI_Type_create_hindexed(inner, lengths, places, MPI_DOUBLE, &once);
  MPI_Type_create_resized(once, 0, ((MPI_Aint)inner * job->ranks + gap) * (MPI_Aint)job->bytes, &type);
  MPI_Type_free(&once);
  return type;
}

static void move_all(const struct job* job, int writes, const char* path, char* data) {
  MPI_File file;
  const int mode = writes ? MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL : MPI_MODE_RDONLY;
  require(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS, path);
  MPI_Datatype type = job->random ? random_type(job) : job->nested ? nested_type(job) : simple_type(job);
  MPI_Type_commit(&type);
  const MPI_Offset begin = job->random ? job->begin : job->nested ? (MPI_Offset)job->rank * (MPI_Offset)job->bytes : 0;
  require(MPI_File_set_view(file, begin, MPI_DOUBLE, type, "native", MPI_INFO_NULL) == MPI_SUCCESS, "view");
  MPI_Type_free(&type);
  for (int i = 0; i < job->requests; ++i) {
    const int count = (int)((job->random ? (size_t)job->lengths[i] : job->bytes) / 8);
    MPI_Status status;
    int done;
    if (job->together)
      done = writes ? MPI_File_write_all(file, data, count, MPI_DOUBLE, &status)
                    : MPI_File_read_all(file, data, count, MPI_DOUBLE, &status);
    else
      done = writes ? MPI_File_write(file, data, count, MPI_DOUBLE, &status)
                    : MPI_File_read(file, data, count, MPI_DOUBLE, &status);
    int moved = 0;
    MPI_Get_count(&status, MPI_DOUBLE, &moved);
    require(done == MPI_SUCCESS && moved == count, "transfer");
  }
  require(MPI_File_close(&file) == MPI_SUCCESS, "close");
}

static void measure(const struct job* job, int writes, const char* path, char* data, const char* kept) {
  if (writes && job->rank == 0) unlink(path);
  if (!writes) memset(data, 0xa5, job->longest);
  MPI_Barrier(MPI_COMM_WORLD);
  const int64_t start = now();
  move_all(job, writes, path, data);
  const int64_t stop = now();
  const size_t last_bytes = job->random ? (size_t)job->lengths[job->requests - 1] : job->bytes;
  require(memcmp(data, kept, last_bytes) == 0, "what was read differs from what was written");
  int64_t first = 0, last = 0;
  MPI_Reduce(&start, &first, 1, MPI_INT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Reduce(&stop, &last, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
  if (job->rank == 0) printf("%lld\n", (long long)(last - first));
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  require(count == 7, "pio_loop simple|nested|random alone|together REQUEST REQUESTS TIMES FILE");
  struct job job = {.nested = strcmp(words[1], "nested") == 0,
                    .random = strcmp(words[1], "random") == 0,
                    .together = strcmp(words[2], "together") == 0,
                    .bytes = (size_t)atol(words[3]),
                    .requests = atoi(words[4])};
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  if (job.random) draw_lengths(&job);
  job.longest = job.random ? 2 * job.bytes : job.bytes;
  char* data = one_buffer(job.longest, 1);
  char* kept = malloc(job.longest);
  require(data != NULL && kept != NULL, "memory");
  data[0] = (char)job.rank;  // so that ranks differ
  memcpy(kept, data, job.longest);
  for (int i = 0; i < atoi(words[5]); ++i)
    for (int reads = 0; reads < 2; ++reads) measure(&job, !reads, words[6], data, kept);
  MPI_Barrier(MPI_COMM_WORLD);
  if (job.rank == 0) unlink(words[6]);
  MPI_Finalize();
  return 0;
}
