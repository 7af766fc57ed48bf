// SPDX-License-Identifier: Apache-2.0
// The baseline of `tile_pairs`: frames of tiles by the calls that backend mpiio makes through its views, with one clock
// read before the first call and one after the last. tile_loop collective|independent FILE TILES_X TILES_Y TILE_X
// TILE_Y OVERLAP_X OVERLAP_Y ELEMENT_BYTES FRAMES TIMES prints seconds of the writing (with its MPI_File_sync) and of
// the reading of each time, from the first open to the last close.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bare_loop.h"

enum { words_wanted = 12 };

static int rank, collective, tiles[2], tile[2], overlap[2], element, frames;
static char* memory;
static size_t tile_bytes;

static void set_view(MPI_File file) {
  MPI_Datatype one, part;
  const int place[] = {rank / tiles[1], rank % tiles[1]};
  int sizes[2], begins[2];
  for (int i = 0; i < 2; ++i) {
    sizes[i] = tiles[i] * tile[i] - (tiles[i] - 1) * overlap[i];
    begins[i] = place[i] * (tile[i] - overlap[i]);
  }
  MPI_Type_contiguous(element, MPI_BYTE, &one);
  MPI_Type_create_subarray(2, sizes, tile, begins, MPI_ORDER_C, one, &part);
  MPI_Type_free(&one);
  MPI_Type_commit(&part);
  MPI_File_set_view(file, 0, MPI_BYTE, part, "native", MPI_INFO_NULL);
  MPI_Type_free(&part);
}

static void move(MPI_File file, int writes, char* data) {
  const int bytes = (int)tile_bytes;
  MPI_Status status;
  if (writes)
    (collective ? MPI_File_write_all : MPI_File_write)(file, data, bytes, MPI_BYTE, &status);
  else
    (collective ? MPI_File_read_all : MPI_File_read)(file, data, bytes, MPI_BYTE, &status);
}

static double pass(const char* name, int writes) {
  MPI_File file;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begun = MPI_Wtime();
  const int mode = writes ? MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR : MPI_MODE_RDONLY;
  if (MPI_File_open(MPI_COMM_WORLD, name, mode | MPI_MODE_UNIQUE_OPEN, MPI_INFO_NULL, &file) != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 1);
  set_view(file);
  for (int i = 0; i < frames; ++i) move(file, writes, memory + (size_t)i * tile_bytes);
  if (writes) MPI_File_sync(file);
  MPI_File_close(&file);
  const double took = MPI_Wtime() - begun;
  double longest = 0;
  MPI_Allreduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return longest;
}

int main(int words_count, char** words) {
  MPI_Init(&words_count, &words);
  if (words_count != words_wanted) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  collective = strcmp(words[1], "collective") == 0;
  for (int i = 0; i < 2; ++i) {  // words have x first, MPI has it last
    tiles[1 - i] = atoi(words[3 + i]);
    tile[1 - i] = atoi(words[5 + i]);
    overlap[1 - i] = atoi(words[7 + i]);
  }
  element = atoi(words[9]);
  frames = atoi(words[10]);
  tile_bytes = (size_t)tile[0] * (size_t)tile[1] * (size_t)element;
  const size_t all = (tile_bytes * (size_t)frames + 4095) / 4096 * 4096;
  memory = one_buffer(all, 1);
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < atoi(words[11]); ++i) {
    if (rank == 0) remove(words[2]);
    fill_with_numbers(memory, all);
    const double wrote_s = pass(words[2], 1);
    const double read_s = pass(words[2], 0);
    if (rank == 0) printf("%.9f\n%.9f\n", wrote_s, read_s);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) remove(words[2]);
  MPI_Finalize();
  return 0;
}
