// SPDX-License-Identifier: Apache-2.0
// Parallel HDF5, found at run time: that of the MPI in use, or none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace ullage {

/// Are defined so by HDF5 1.10 and later define them.
using HdfId = std::int64_t;
using HdfSize = unsigned long long;

/// The functions of HDF5 that are used here, as <hdf5.h> declares them; those that only some versions have may be null.
struct Hdf5Calls {
  int (*open_library)() = nullptr;
  int (*no_exit_handler)() = nullptr;
  int (*get_version)(unsigned*, unsigned*, unsigned*) = nullptr;

  HdfId (*create_file)(const char* path, unsigned flags, HdfId creation, HdfId access) = nullptr;
  HdfId (*open_file)(const char* path, unsigned flags, HdfId access) = nullptr;
  int (*close_file)(HdfId) = nullptr;
  void* (*forget_id)(HdfId) = nullptr;  // H5I_remove, which is not in <hdf5.h>
  int (*flush_file)(HdfId, int scope) = nullptr;
  int (*get_driver_handle)(HdfId file, HdfId access, void** handle) = nullptr;
  HdfId (*get_access_list)(HdfId file) = nullptr;
  HdfId (*get_creation_list)(HdfId file) = nullptr;

  HdfId (*create_list)(HdfId kind) = nullptr;
  int (*close_list)(HdfId) = nullptr;
  void (*set_mpi_driver)() = nullptr;  // H5Pset_fapl_mpio, called by mpi::call_foreign
  int (*set_collective)(HdfId, int mode) = nullptr;
  int (*set_alignment)(HdfId, HdfSize threshold, HdfSize alignment) = nullptr;
  int (*get_alignment)(HdfId, HdfSize* threshold, HdfSize* alignment) = nullptr;
  int (*set_close_degree)(HdfId, int degree) = nullptr;
  int (*set_collective_metadata_reads)(HdfId, bool) = nullptr;
  int (*set_collective_metadata_writes)(HdfId, bool) = nullptr;
  int (*get_collective_metadata_reads)(HdfId, bool*) = nullptr;
  int (*get_collective_metadata_writes)(HdfId, bool*) = nullptr;
  int (*set_page_buffer)(HdfId, std::size_t bytes, unsigned metadata_percent, unsigned raw_percent) = nullptr;
  int (*get_page_buffer)(HdfId, std::size_t* bytes, unsigned* metadata_percent, unsigned* raw_percent) = nullptr;
  int (*set_evict_on_close)(HdfId, bool) = nullptr;
  int (*get_evict_on_close)(HdfId, bool*) = nullptr;
  int (*set_space_strategy)(HdfId, int strategy, bool persist, HdfSize threshold) = nullptr;
  int (*get_space_strategy)(HdfId, int* strategy, bool* persist, HdfSize* threshold) = nullptr;
  int (*set_space_page)(HdfId, HdfSize bytes) = nullptr;
  int (*get_space_page)(HdfId, HdfSize* bytes) = nullptr;
  int (*set_version_bounds)(HdfId, int low, int high) = nullptr;
  int (*get_version_bounds)(HdfId, int* low, int* high) = nullptr;
  int (*set_chunk)(HdfId, int rank, const HdfSize* dimensions) = nullptr;
  int (*get_chunk)(HdfId, int most, HdfSize* dimensions) = nullptr;
  int (*get_layout)(HdfId) = nullptr;
  int (*set_intermediate_groups)(HdfId, unsigned make) = nullptr;
  int (*set_fill_time)(HdfId, int when) = nullptr;
  int (*get_fill_time)(HdfId, int* when) = nullptr;
  int (*set_allocation_time)(HdfId, int when) = nullptr;
  int (*get_allocation_time)(HdfId, int* when) = nullptr;
  int (*get_io_mode)(HdfId, int* mode) = nullptr;
  int (*get_no_collective_cause)(HdfId, std::uint32_t* local, std::uint32_t* global) = nullptr;

  HdfId (*create_dataset)(HdfId file, const char* name, HdfId type, HdfId space, HdfId link, HdfId creation,
                          HdfId access) = nullptr;
  HdfId (*open_dataset)(HdfId file, const char* name, HdfId access) = nullptr;
  int (*close_dataset)(HdfId) = nullptr;
  int (*write)(HdfId dataset, HdfId type, HdfId memory, HdfId space, HdfId transfer, const void* data) = nullptr;
  int (*read)(HdfId dataset, HdfId type, HdfId memory, HdfId space, HdfId transfer, void* data) = nullptr;
  HdfId (*space_of)(HdfId dataset) = nullptr;
  HdfId (*list_of)(HdfId dataset) = nullptr;
  HdfSize (*offset_of)(HdfId dataset) = nullptr;
  HdfSize (*storage_of)(HdfId dataset) = nullptr;
  int (*count_chunks)(HdfId dataset, HdfId space, HdfSize* count) = nullptr;
  int (*chunk_info)(HdfId dataset, HdfId space, HdfSize index, HdfSize* offset, unsigned* filters, HdfSize* address,
                    HdfSize* bytes) = nullptr;

  HdfId (*create_type)(int class_of_type, std::size_t bytes) = nullptr;
  int (*insert_field)(HdfId record, const char* name, std::size_t offset, HdfId type) = nullptr;
  int (*close_type)(HdfId) = nullptr;

  HdfId (*create_space)(int rank, const HdfSize* dimensions, const HdfSize* most) = nullptr;
  int (*close_space)(HdfId) = nullptr;
  int (*select)(HdfId space, int operation, const HdfSize* start, const HdfSize* stride, const HdfSize* count,
                const HdfSize* block) = nullptr;
  int (*select_none)(HdfId space) = nullptr;
  std::int64_t (*count_elements)(HdfId space) = nullptr;
  int (*count_dimensions)(HdfId space) = nullptr;

  int (*set_error_printer)(HdfId, void*, void*) = nullptr;
  int (*walk_errors)(HdfId, int direction, void* visit, void* data) = nullptr;
  int (*clear_errors)(HdfId) = nullptr;

  // Identifiers that the library has made when it is open.
  const HdfId* file_creation = nullptr;
  const HdfId* file_access = nullptr;
  const HdfId* dataset_creation = nullptr;
  const HdfId* dataset_transfer = nullptr;
  const HdfId* link_creation = nullptr;
  const HdfId* byte_type = nullptr;
  const HdfId* int32_type = nullptr;
  const HdfId* float32_type = nullptr;
  const HdfId* float64_type = nullptr;

  std::string file;  // where it was found
};

/// The environment variable with which people name the library.
inline constexpr const char* hdf5_variable = "ULLAGE_HDF5";

/// The library of that name or path. It is not loaded if it belongs to another MPI.
[[nodiscard]] Result<Hdf5Calls> find_hdf5(const std::string& name);

/// The one of this process, which is found when it is first asked for: that of ULLAGE_HDF5, else the usual ones of
/// this MPI.
[[nodiscard]] const Result<Hdf5Calls>& hdf5_library();

/// Returns the same made ready for calls. MPI is running.
[[nodiscard]] Result<const Hdf5Calls*> open_hdf5();

/// "1.10.8"
[[nodiscard]] std::string hdf5_version(const Hdf5Calls& calls);

/// The library's stack of errors as one line: the call that failed and what it was that failed below. The stack is
/// cleared.
[[nodiscard]] Error hdf5_error(const Hdf5Calls& calls, const std::string& operation, const std::string& path);

}  // namespace ullage
