// SPDX-License-Identifier: Apache-2.0
// Preloaded into ranks: one of them (ULLAGE_HANGING_RANK) never returns when it asks for so much memory that the others
// get (from ULLAGE_HANGING_BYTES, less than four times as much), as where the system cannot give it any more.
#define _GNU_SOURCE
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_hanging_rank(void) {
  const char *hanging = getenv("ULLAGE_HANGING_RANK");
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL) rank = getenv("PMI_RANK");
  return hanging != NULL && rank != NULL && strcmp(rank, hanging) == 0;
}

void *mmap(void *place, size_t bytes, int protection, int flags, int file, off_t offset) {
  const char *from = getenv("ULLAGE_HANGING_BYTES");
  const size_t least = from == NULL ? 0 : strtoull(from, NULL, 10);
  if (least > 0 && bytes >= least && bytes < 4 * least && is_hanging_rank())
    for (;;) pause();
  return (void *)syscall(SYS_mmap, place, bytes, protection, flags, file, offset);
}
