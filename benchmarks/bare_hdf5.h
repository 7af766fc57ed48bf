// SPDX-License-Identifier: Apache-2.0
// The file of a bare loop of HDF5, opened by all ranks with the property lists that backend hdf5 has by default.
#pragma once
#include <hdf5.h>
#include <mpi.h>

typedef struct {
  hid_t file, creation, links, transfer;
} Hdf5;

// `file` is negative where the library refuses.
static Hdf5 open_hdf5(const char* path, int writes, int collective) {
  Hdf5 all = {.creation = H5Pcreate(H5P_DATASET_CREATE),
              .links = H5Pcreate(H5P_LINK_CREATE),
              .transfer = H5Pcreate(H5P_DATASET_XFER)};
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  H5Pset_fill_time(all.creation, H5D_FILL_TIME_NEVER);
  H5Pset_alloc_time(all.creation, H5D_ALLOC_TIME_EARLY);
  H5Pset_create_intermediate_group(all.links, 1);
  H5Pset_dxpl_mpio(all.transfer, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
  all.file = writes ? H5Fcreate(path, H5F_ACC_EXCL, H5P_DEFAULT, access) : H5Fopen(path, H5F_ACC_RDONLY, access);
  return all;
}
