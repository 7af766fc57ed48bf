// SPDX-License-Identifier: Apache-2.0
// The baseline of `b_eff_io_pairs`: one pattern type of b_eff_io by bare MPI-IO calls, written and read back, with one
// clock read at either end of a pattern. b_eff_io_loop TYPE FILE SEGMENT_BYTES CHUNK:CALL:COUNT... prints a line a
// pattern: its number among those given, then the seconds of writing (with its MPI_File_sync) and of reading. Types
// scatter, shared and separated meet after every write, as the time-driven loop of the definition does.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_patterns = 16, most_words = most_patterns + 4 };

static int rank, ranks, patterns;
static int chunk[most_patterns], call[most_patterns], count[most_patterns];
static double wrote_s[most_patterns], read_s[most_patterns];
static MPI_Offset segment;
static char* memory;
static enum { scatter, shared, separated, segmented, seg_coll } type;

static void set_view(MPI_File file, MPI_Offset at, int bytes) {
  if (type == scatter) {
    MPI_Datatype tile;
    int sizes[] = {ranks * (bytes / 8)}, kinds[] = {MPI_DISTRIBUTE_BLOCK}, arguments[] = {MPI_DISTRIBUTE_DFLT_DARG},
        grid[] = {ranks};
    MPI_Type_create_darray(ranks, rank, 1, sizes, kinds, arguments, grid, MPI_ORDER_C, MPI_DOUBLE, &tile);
    MPI_Type_commit(&tile);
    MPI_File_set_view(file, at, MPI_DOUBLE, tile, "native", MPI_INFO_NULL);
    MPI_Type_free(&tile);
  } else {
    const MPI_Offset begin = type == segmented || type == seg_coll ? rank * segment : 0;
    MPI_File_set_view(file, begin, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
  }
}

static void move(MPI_File file, int writes, int bytes) {
  const int doubles = bytes / 8;
  MPI_Status status;
  if (type == scatter || type == seg_coll)
    (writes ? (int (*)(MPI_File, void*, int, MPI_Datatype, MPI_Status*))MPI_File_write_all : MPI_File_read_all)(
        file, memory, doubles, MPI_DOUBLE, &status);
  else if (type == shared)
    (writes ? (int (*)(MPI_File, void*, int, MPI_Datatype, MPI_Status*))MPI_File_write_ordered : MPI_File_read_ordered)(
        file, memory, doubles, MPI_DOUBLE, &status);
  else
    (writes ? (int (*)(MPI_File, void*, int, MPI_Datatype, MPI_Status*))MPI_File_write : MPI_File_read)(
        file, memory, doubles, MPI_DOUBLE, &status);
}

static void pass(const char* name, int writes, double* seconds) {
  MPI_File file;
  MPI_File_open(type == separated ? MPI_COMM_SELF : MPI_COMM_WORLD, name,
                writes ? MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN : MPI_MODE_RDONLY | MPI_MODE_UNIQUE_OPEN,
                MPI_INFO_NULL, &file);
  const int meets = writes && type <= separated;
  MPI_Offset at = 0;
  for (int p = 0; p < patterns; ++p) {
    if (type == scatter || p == 0) set_view(file, at, chunk[p]);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    for (int i = 0, goes_on = 1; i < count[p] && goes_on; ++i) {
      if (writes) ((double*)memory)[0] = i, ((double*)memory)[call[p] / 8 - 1] = i;
      move(file, writes, call[p]);
      if (!meets) continue;
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank == 0) goes_on = (MPI_Wtime() - begun) * (i + 2) / (i + 1) <= 1e6;
      MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (writes) MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds[p] = MPI_Wtime() - begun;
    at += (MPI_Offset)count[p] * call[p] * ranks;
  }
  MPI_File_close(&file);
}

int main(int words_count, char** words) {
  MPI_Init(&words_count, &words);
  if (words_count < 5 || words_count > most_words) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* const types[] = {"scatter", "shared", "separated", "segmented", "seg_coll"};
  while (strcmp(types[type], words[1]) != 0) ++type;
  segment = atoll(words[3]);
  patterns = words_count - 4;
  int longest = 0;
  for (int p = 0; p < patterns; ++p) {
    if (sscanf(words[p + 4], "%d:%d:%d", &chunk[p], &call[p], &count[p]) != 3) MPI_Abort(MPI_COMM_WORLD, 2);
    if (call[p] > longest) longest = call[p];
  }
  memory = aligned_alloc(4096, ((size_t)longest + 4095) / 4096 * 4096);
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  memset(memory, 1, (size_t)longest);
  char name[4096];
  snprintf(name, sizeof name, type == separated ? "%s.%d" : "%s", words[2], rank);
  pass(name, 1, wrote_s);
  pass(name, 0, read_s);
  for (int p = 0; rank == 0 && p < patterns; ++p) printf("%d %.9f %.9f\n", p, wrote_s[p], read_s[p]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (type == separated || rank == 0) remove(name);
  MPI_Finalize();
  return 0;
}
