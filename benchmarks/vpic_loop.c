// SPDX-License-Identifier: Apache-2.0
// The baseline of `vpic_pairs`: the calls of workload `vpic` in a bare loop of MPI-IO or, built with -DWITH_HDF5, of
// HDF5. vpic_loop LAYOUT independent|collective PARTICLES STEPS TIMES FILE prints for each time the ns of writing (with
// sync) and of reading again what the next rank wrote, from the first rank's open to the last one's close.
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

enum { header_bytes = 4096, variables = 8, value = 4, particle = variables * value };

static const char* const names[variables] = {"x", "y", "z", "px", "py", "pz", "id1", "id2"};

static void require(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "%s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

typedef struct {
  int records_in_memory, records_in_file, collective, rank, ranks;
  long particles, steps;
  const char* path;
  char* data;
} Run;

#ifdef WITH_HDF5

static hid_t number_of(int variable) { return variable < 6 ? H5T_NATIVE_FLOAT : H5T_NATIVE_INT32; }

static hid_t record_of(int first, int count) {
  const hid_t type = H5Tcreate(H5T_COMPOUND, (size_t)(count * value));
  for (int i = 0; i < count; ++i) H5Tinsert(type, names[first + i], (size_t)(i * value), number_of(first + i));
  return type;
}

static void move_file(const Run* run, int writes, int whose) {
  const Hdf5 opened = open_hdf5(run->path, writes, run->collective);
  const hid_t file = opened.file, creation = opened.creation, links = opened.links, transfer = opened.transfer;
  require(file >= 0, run->path);
  const int arrays = run->records_in_file ? 1 : variables,
            calls = run->records_in_file && run->records_in_memory ? 1 : variables;
  const hsize_t all = (hsize_t)run->particles * (hsize_t)run->ranks, own = (hsize_t)run->particles;
  const hsize_t first = own * (hsize_t)whose;
  const hid_t space = H5Screate_simple(1, &all, NULL), memory = H5Screate_simple(1, &own, NULL);
  hid_t* sets = malloc(sizeof *sets * (size_t)(run->steps * arrays));
  hid_t of_memory[variables];
  for (int v = 0; v < variables; ++v)
    of_memory[v] = run->records_in_memory ? record_of(0, variables)
                   : run->records_in_file ? record_of(v, 1)
                                          : number_of(v);
  for (long step = 0; step < run->steps; ++step)
    for (int a = 0; a < arrays; ++a) {
      char name[64];
      snprintf(name, sizeof name, "Timestep_%ld/%s", step, arrays == 1 ? "particles" : names[a]);
      const hid_t type = arrays == 1              ? record_of(0, variables)
                         : run->records_in_memory ? record_of(a, 1)
                                                  : number_of(a);
      sets[step * arrays + a] = writes ? H5Dcreate2(file, name, type, space, links, creation, H5P_DEFAULT)
                                       : H5Dopen2(file, name, H5P_DEFAULT);
      require(sets[step * arrays + a] >= 0, name);
    }
  require(H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &own, NULL) >= 0, "select");
  for (long step = 0; step < run->steps; ++step)
    for (int call = 0; call < calls; ++call) {
      const hid_t set = sets[step * arrays + (arrays == 1 ? 0 : call)];
      char* data = run->data + (run->records_in_memory ? 0 : (size_t)call * own * value);
      require((writes ? H5Dwrite(set, of_memory[call], memory, space, transfer, data)
                      : H5Dread(set, of_memory[call], memory, space, transfer, data)) >= 0,
              "transfer");
    }
  if (writes) require(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0, "sync");
  require(H5Fclose(file) >= 0, "close");
  free(sets);
}

#else

static void move(const Run* run, MPI_File file, int writes, MPI_Offset offset, char* data, long count,
                 MPI_Datatype type, long bytes) {
  MPI_Status status;
  const int done = run->collective ? (writes ? MPI_File_write_at_all(file, offset, data, (int)count, type, &status)
                                             : MPI_File_read_at_all(file, offset, data, (int)count, type, &status))
                                   : (writes ? MPI_File_write_at(file, offset, data, (int)count, type, &status)
                                             : MPI_File_read_at(file, offset, data, (int)count, type, &status));
  int moved = 0;
  MPI_Get_count(&status, MPI_BYTE, &moved);
  require(done == MPI_SUCCESS && moved == bytes, "transfer");
}

// One record in memory: a value of every particle's record, or the values of a particle from all variables.
static MPI_Datatype record_of(const Run* run) {
  MPI_Datatype once, record;
  MPI_Aint places[variables];
  const int pieces = run->records_in_file ? variables : 1;
  for (int v = 0; v < variables; ++v) places[v] = (MPI_Aint)v * run->particles * value;
  MPI_Type_create_hindexed_block(pieces, value, places, MPI_BYTE, &once);
  MPI_Type_create_resized(once, 0, run->records_in_memory ? particle : value, &record);
  MPI_Type_commit(&record);
  MPI_Type_free(&once);
  return record;
}

static void move_file(const Run* run, int writes, int whose) {
  MPI_File file;
  const int mode = writes ? MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL : MPI_MODE_RDONLY;
  require(MPI_File_open(MPI_COMM_WORLD, run->path, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS, run->path);
  if (!writes || run->rank == 0 || run->collective)
    move(run, file, writes, 0, run->data, writes && run->rank != 0 ? 0 : header_bytes, MPI_BYTE,
         writes && run->rank != 0 ? 0 : header_bytes);
  const int converts = run->records_in_memory != run->records_in_file;
  MPI_Datatype record = converts ? record_of(run) : MPI_BYTE;
  const int calls = run->records_in_file ? 1 : variables;
  const long bytes = run->particles * (run->records_in_file ? particle : value);
  MPI_Offset begin = header_bytes;
  for (long step = 0; step < run->steps; ++step)
    for (int call = 0; call < calls; ++call) {
      char* data = run->data + (run->records_in_memory ? (long)call * value : call * run->particles * value);
      move(run, file, writes, begin + (MPI_Offset)bytes * whose, data, converts ? run->particles : bytes, record,
           bytes);
      begin += (MPI_Offset)bytes * run->ranks;
    }
  if (converts) MPI_Type_free(&record);
  if (writes) require(MPI_File_sync(file) == MPI_SUCCESS, "sync");
  require(MPI_File_close(&file) == MPI_SUCCESS, "close");
}

#endif

int main(int count, char** words) {
  MPI_Init(&count, &words);
  require(count == 7, "vpic_loop LAYOUT independent|collective PARTICLES STEPS TIMES FILE");
  Run run = {.records_in_memory = words[1][0] == 'I',
             .records_in_file = words[1][1] == 'I',
             .collective = strcmp(words[2], "collective") == 0,
             .particles = atol(words[3]),
             .steps = atol(words[4]),
             .path = words[6]};
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
  const size_t bytes = (size_t)run.particles * particle;
  run.data = one_buffer(bytes > header_bytes ? bytes : header_bytes, 1);
  require(run.data != NULL, "memory");
  for (int i = 0; i < 2 * atoi(words[5]); ++i) {
    const int writes = i % 2 == 0;
    if (writes && run.rank == 0) unlink(run.path);
    MPI_Barrier(MPI_COMM_WORLD);
    const int64_t start = now();
    move_file(&run, writes, writes ? run.rank : (run.rank + 1) % run.ranks);
    const int64_t stop = now();
    int64_t first = 0, last = 0;
    MPI_Reduce(&start, &first, 1, MPI_INT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&stop, &last, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (run.rank == 0) printf("%lld\n", (long long)(last - first));
  }
  if (run.rank == 0) unlink(run.path);
  MPI_Finalize();
  return 0;
}
