// SPDX-License-Identifier: Apache-2.0
// The baseline of `transfer_pairs` for MPI-IO: MPI_File_read_at or MPI_File_write_at of one buffer in a bare loop, a
// file for each rank, with one clock read before the open and one after the close. mpiio_loop write|read TRANSFER
// VOLUME TIMES FILE... prints ns of each time, from the first rank's open to the last one's close.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bare_loop.h"

static void require(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "%s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void move_all(int writes, const char* path, char* data, size_t transfer, size_t volume) {
  MPI_File file;
  const int mode = writes ? MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL : MPI_MODE_RDONLY;
  require(MPI_File_open(MPI_COMM_SELF, path, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS, path);
  for (size_t at = 0; at < volume; at += transfer) {
    MPI_Status status;
    const MPI_Offset offset = (MPI_Offset)at;
    const int done = writes ? MPI_File_write_at(file, offset, data, (int)transfer, MPI_BYTE, &status)
                            : MPI_File_read_at(file, offset, data, (int)transfer, MPI_BYTE, &status);
    int moved = 0;
    MPI_Get_count(&status, MPI_BYTE, &moved);
    require(done == MPI_SUCCESS && moved == (int)transfer, "transfer");
  }
  require(MPI_File_close(&file) == MPI_SUCCESS, "close");
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  require(count == 5 + ranks, "mpiio_loop write|read TRANSFER VOLUME TIMES FILE...");
  const int writes = strcmp(words[1], "write") == 0;
  const size_t transfer = (size_t)atol(words[2]), volume = (size_t)atol(words[3]);
  char* data = one_buffer(transfer, 1);
  require(data != NULL, "memory");
  for (int i = 0; i < atoi(words[4]); ++i) {
    if (writes) unlink(words[5 + rank]);
    MPI_Barrier(MPI_COMM_WORLD);
    const int64_t start = now();
    move_all(writes, words[5 + rank], data, transfer, volume);
    const int64_t stop = now();
    int64_t first = 0, last = 0;
    MPI_Reduce(&start, &first, 1, MPI_INT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&stop, &last, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%lld\n", (long long)(last - first));
  }
  MPI_Finalize();
  return 0;
}
