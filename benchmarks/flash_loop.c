// SPDX-License-Identifier: Apache-2.0
// The baseline of `flash_pairs`: the calls of workload `flash` in a bare loop of MPI-IO or, built with -DWITH_HDF5, of
// HDF5. flash_loop checkpoint|plot-centred|plot-corner independent|collective CELLS BLOCKS TIMES FILE prints for each
// time the ns of writing (with header and sync) and of reading again, from the first rank's open to the last one's
// close. What was read is compared with what was written, outside the time.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef WITH_HDF5
#include "bare_hdf5.h"
#endif

#include "bare_loop.h"

enum { header_bytes = 4096, described = 6, most_unknowns = 24, most_arrays = described + most_unknowns };

typedef struct {
  const char* name;
  size_t element, elements;  // bytes of an element, elements of a block
  int integers, dimensions;
} Array;

typedef struct {
  Array arrays[most_arrays];
  int count, collective, rank, ranks;
  long cells_along, blocks;
  const char* path;
  char* data;
  size_t bytes;  // of this rank
} Run;

static const char* const unknowns[most_unknowns] = {"dens", "velx", "vely", "velz", "pres", "ener", "temp", "gamc",
                                                    "game", "enuc", "gpot", "sp01", "sp02", "sp03", "sp04", "sp05",
                                                    "sp06", "sp07", "sp08", "sp09", "sp10", "sp11", "sp12", "sp13"};
static const char* const plotted[] = {"dens", "temp", "pres", "sp01"};

static void require(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "%s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void list_arrays(Run* run, const char* file, long cells) {
  const int plot = strcmp(file, "checkpoint") != 0;
  const size_t real = plot ? 4 : 8;
  const Array fixed[described] = {{"refine level", 4, 1, 1, 1},  {"node type", 4, 1, 1, 1},
                                  {"gid", 4, 15, 1, 2},          {"coordinates", real, 3, 0, 2},
                                  {"block size", real, 3, 0, 2}, {"bounding box", real, 6, 0, 2}};
  memcpy(run->arrays, fixed, sizeof fixed);
  run->cells_along = strcmp(file, "plot-corner") == 0 ? cells + 1 : cells;
  const size_t points = (size_t)(run->cells_along * run->cells_along * run->cells_along);
  run->count = described + (plot ? 4 : most_unknowns);
  for (int a = described; a < run->count; ++a) {
    const Array unknown = {plot ? plotted[a - described] : unknowns[a - described], real, points, 0, 4};
    run->arrays[a] = unknown;
  }
  for (int a = 0; a < run->count; ++a)
    run->bytes += run->arrays[a].element * run->arrays[a].elements * (size_t)run->blocks;
}

#ifdef WITH_HDF5

static hid_t type_of(const Array* array) {
  return array->integers ? H5T_NATIVE_INT32 : array->element == 8 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
}

static void move_file(const Run* run, int writes) {
  const Hdf5 opened = open_hdf5(run->path, writes, run->collective);
  const hid_t file = opened.file, creation = opened.creation, links = opened.links, transfer = opened.transfer;
  require(file >= 0, run->path);
  hid_t sets[most_arrays], spaces[most_arrays];
  hsize_t counts[most_arrays][4];
  for (int a = 0; a < run->count; ++a) {
    const Array* array = &run->arrays[a];
    const hsize_t along = (hsize_t)run->cells_along, all = (hsize_t)run->blocks * (hsize_t)run->ranks;
    const hsize_t shape[4] = {all, array->dimensions == 4 ? along : array->elements, along, along};
    memcpy(counts[a], shape, sizeof shape);
    counts[a][0] = (hsize_t)run->blocks;
    spaces[a] = H5Screate_simple(array->dimensions, shape, NULL);
    sets[a] = writes ? H5Dcreate2(file, array->name, type_of(array), spaces[a], links, creation, H5P_DEFAULT)
                     : H5Dopen2(file, array->name, H5P_DEFAULT);
    require(sets[a] >= 0, array->name);
  }
  char* next = run->data;
  for (int a = 0; a < run->count; ++a) {
    const Array* array = &run->arrays[a];
    const hsize_t own = array->elements * (hsize_t)run->blocks;
    const hsize_t first[4] = {(hsize_t)run->blocks * (hsize_t)run->rank, 0, 0, 0};
    const hid_t memory = H5Screate_simple(1, &own, NULL);
    require(H5Sselect_hyperslab(spaces[a], H5S_SELECT_SET, first, NULL, counts[a], NULL) >= 0, "select");
    require((writes ? H5Dwrite(sets[a], type_of(array), memory, spaces[a], transfer, next)
                    : H5Dread(sets[a], type_of(array), memory, spaces[a], transfer, next)) >= 0,
            "transfer");
    next += array->element * own;
  }
  if (writes) require(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0, "sync");
  require(H5Fclose(file) >= 0, "close");
}

#else

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

static void move_file(const Run* run, int writes) {
  MPI_File file;
  const int mode = writes ? MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL : MPI_MODE_RDONLY;
  require(MPI_File_open(MPI_COMM_WORLD, run->path, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS, run->path);
  if (!writes || run->rank == 0 || run->collective)
    move(file, writes, run->collective, 0, run->data, writes && run->rank != 0 ? 0 : header_bytes);
  MPI_Offset begin = header_bytes;
  char* next = run->data;
  for (int a = 0; a < run->count; ++a) {
    const size_t own = run->arrays[a].element * run->arrays[a].elements * (size_t)run->blocks;
    move(file, writes, run->collective, begin + (MPI_Offset)own * run->rank, next, own);
    next += own;
    begin += (MPI_Offset)own * run->ranks;
  }
  if (writes) require(MPI_File_sync(file) == MPI_SUCCESS, "sync");
  require(MPI_File_close(&file) == MPI_SUCCESS, "close");
}

#endif

int main(int count, char** words) {
  MPI_Init(&count, &words);
  require(count == 7, "flash_loop checkpoint|plot-centred|plot-corner independent|collective CELLS BLOCKS TIMES FILE");
  Run run = {.collective = strcmp(words[2], "collective") == 0, .blocks = atol(words[4]), .path = words[6]};
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
  list_arrays(&run, words[1], atol(words[3]));
  const size_t room = run.bytes > header_bytes ? run.bytes : header_bytes;
  run.data = one_buffer(room, 1);
  char* const kept = malloc(room);
  require(run.data != NULL && kept != NULL, "memory");
  run.data[0] = (char)run.rank;  // so that ranks differ
  memcpy(kept, run.data, room);
  for (int i = 0; i < 2 * atoi(words[5]); ++i) {
    const int writes = i % 2 == 0;
    if (writes && run.rank == 0) unlink(run.path);
    if (!writes) memset(run.data, 0xa5, room);
    MPI_Barrier(MPI_COMM_WORLD);
    const int64_t start = now();
    move_file(&run, writes);
    const int64_t stop = now();
    require(memcmp(run.data, kept, run.bytes) == 0, "what was read differs from what was written");
    int64_t first = 0, last = 0;
    MPI_Reduce(&start, &first, 1, MPI_INT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&stop, &last, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (run.rank == 0) printf("%lld\n", (long long)(last - first));
  }
  if (run.rank == 0) unlink(run.path);
  MPI_Finalize();
  return 0;
}
