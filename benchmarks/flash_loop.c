// SPDX-License-Identifier: Apache-2.0
// The baseline of `flash_pairs`: the calls of workload `flash` for a checkpoint in the raw format, in a bare loop of
// MPI-IO. flash_loop independent|collective CELLS BLOCKS TIMES FILE prints for each time the ns of writing (with header
// and sync) and of reading again, from the first rank's open to the last one's close.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bare_loop.h"

enum { header_bytes = 4096, described = 6, unknowns = 24 };

static void require(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "%s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void move(MPI_File file, int writes, int collective, MPI_Offset offset, char* data, size_t bytes) {
  MPI_Status status;
  const int done = collective ? (writes ? MPI_File_write_at_all(file, offset, data, (int)bytes, MPI_BYTE, &status)
                                        : MPI_File_read_at_all(file, offset, data, (int)bytes, MPI_BYTE, &status))
                              : (writes ? MPI_File_write_at(file, offset, data, (int)bytes, MPI_BYTE, &status)
                                        : MPI_File_read_at(file, offset, data, (int)bytes, MPI_BYTE, &status));
  int moved = 0;
  MPI_Get_count(&status, MPI_BYTE, &moved);
  require(done == MPI_SUCCESS && moved == (int)bytes, "transfer");
}

static void move_file(int writes, int collective, const char* path, char* data, int rank, int ranks, long cells,
                      long blocks) {
  const size_t of_row[described] = {4, 4, 60, 24, 24, 48};
  MPI_File file;
  const int mode = writes ? MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL : MPI_MODE_RDONLY;
  require(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS, path);
  if (!writes || rank == 0 || collective)
    move(file, writes, collective, 0, data, writes && rank != 0 ? 0 : header_bytes);
  MPI_Offset begin = header_bytes;
  char* next = data;
  for (int array = 0; array < described + unknowns; ++array) {
    const size_t row = array < described ? of_row[array] : (size_t)(cells * cells * cells) * 8;
    const size_t own = row * (size_t)blocks;
    move(file, writes, collective, begin + (MPI_Offset)own * rank, next, own);
    next += own;
    begin += (MPI_Offset)own * ranks;
  }
  if (writes) require(MPI_File_sync(file) == MPI_SUCCESS, "sync");
  require(MPI_File_close(&file) == MPI_SUCCESS, "close");
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  require(count == 6, "flash_loop independent|collective CELLS BLOCKS TIMES FILE");
  const int collective = strcmp(words[1], "collective") == 0;
  const long cells = atol(words[2]), blocks = atol(words[3]);
  const size_t bytes = (size_t)blocks * (size_t)(164 + unknowns * cells * cells * cells * 8);
  char* data = one_buffer(bytes > header_bytes ? bytes : header_bytes, 1);
  require(data != NULL, "memory");
  for (int i = 0; i < 2 * atoi(words[4]); ++i) {
    const int writes = i % 2 == 0;
    if (writes && rank == 0) unlink(words[5]);
    MPI_Barrier(MPI_COMM_WORLD);
    const int64_t start = now();
    move_file(writes, collective, words[5], data, rank, ranks, cells, blocks);
    const int64_t stop = now();
    int64_t first = 0, last = 0;
    MPI_Reduce(&start, &first, 1, MPI_INT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&stop, &last, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%lld\n", (long long)(last - first));
  }
  if (rank == 0) unlink(words[5]);
  MPI_Finalize();
  return 0;
}
