// SPDX-License-Identifier: Apache-2.0
// Two ranks send each other messages of BYTES for half a second; rank 0 prints the bytes a second of both.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int bytes = argc > 1 ? atoi(argv[1]) : 2000000;
  char *out = calloc(1, bytes), *in = calloc(1, bytes);
  double began = 0, seconds = 0;
  long done = 0;
  for (int go_on = 1; go_on; ++done) {
    if (done == 10) began = MPI_Wtime();
    MPI_Sendrecv(out, bytes, MPI_CHAR, 1 - rank, 0, in, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    seconds = done < 10 ? 0 : MPI_Wtime() - began;
    go_on = seconds < 0.5;
    MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%f\n", 2.0 * bytes * (done - 10) / seconds);
  MPI_Finalize();
  return 0;
}
