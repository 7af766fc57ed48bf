// SPDX-License-Identifier: Apache-2.0
// The baseline of `message_pairs`: the same messages by the same calls in a bare loop, with one clock read before and
// one after it. message_loops ping-pong|ring BYTES LOOPS MEASUREMENTS prints the seconds of one message: of the fastest
// measurement, the slowest rank's; of a ring the faster of two MPI_Sendrecv and of four nonblocking calls.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *out, *in;
static int rank, ranks, bytes;

static void ping_pong(int loops) {
  const int other = 1 - rank;
  for (int i = 0; i < loops && rank < 2; ++i) {
    if (rank == 0) {
      MPI_Send(out, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
      MPI_Recv(in, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    }
  }
}

static void ring_sendrecv(int loops) {
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  for (int i = 0; i < loops; ++i) {
    MPI_Sendrecv(out, bytes, MPI_BYTE, right, 0, in, bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out + bytes, bytes, MPI_BYTE, left, 1, in + bytes, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
}

static void ring_nonblocking(int loops) {
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  MPI_Request requests[4];
  for (int i = 0; i < loops; ++i) {
    MPI_Irecv(in, bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + bytes, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, bytes, MPI_BYTE, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out + bytes, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
}

static double timed(void (*loop)(int), int loops) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begun = MPI_Wtime();
  loop(loops);
  return (MPI_Wtime() - begun) / (2.0 * loops);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  if (count != 5) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int is_ring = strcmp(words[1], "ring") == 0;
  bytes = atoi(words[2]);
  const int loops = atoi(words[3]), measurements = atoi(words[4]);
  out = malloc(2 * (size_t)bytes);
  in = malloc(2 * (size_t)bytes);
  if (out == NULL || in == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  memset(out, 7, 2 * (size_t)bytes);
  memset(in, 0, 2 * (size_t)bytes);
  double best = 1e9;
  for (int i = 0; i <= measurements; ++i) {  // the first warms up
    double mine = timed(is_ring ? ring_sendrecv : ping_pong, loops), slowest = 0;
    if (is_ring) {
      const double other = timed(ring_nonblocking, loops);
      if (other < mine) mine = other;
    }
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (i > 0 && slowest < best) best = slowest;
  }
  if (rank == 0) printf("%.12g\n", best);
  MPI_Finalize();
  return 0;
}
