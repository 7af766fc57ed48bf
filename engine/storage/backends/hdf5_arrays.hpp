// SPDX-License-Identifier: Apache-2.0
// A file of parallel HDF5 with its datasets, as an ArrayFile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpi/comm.hpp"
#include "mpi/info.hpp"
#include "storage/array_file.hpp"
#include "storage/backend.hpp"
#include "storage/backends/hdf5_types.hpp"
#include "storage/backends/mpi_path.hpp"
#include "storage/hdf5_library.hpp"

namespace ullage {

struct Hdf5Parameters {
  bool collective = false;
  bool collective_metadata = false;
  std::uint64_t chunk_bytes = 0;
  std::uint64_t alignment_bytes = 1;
  std::uint64_t alignment_from_bytes = 1;
  std::uint64_t page_buffer_bytes = 0;
  std::uint64_t page_bytes = 4096;
  bool evict_on_close = false;
  bool fill = false;
  bool new_format = false;
  Map hints;
};

/// Says how a file is to be opened.
struct Hdf5Opening {
  const Hdf5Calls* calls = nullptr;
  const Hdf5Parameters* parameters = nullptr;
  HdfId creation = 0;
  HdfId access = 0;
  OpenMode mode = OpenMode::create;
  std::string library_path;                // as the library is told it
  std::string path;                        // as people are told it
  const mpi::Comm* everyone = nullptr;     // the ranks that open it together, null for a file of this rank
  std::span<const ArraySpec> arrays = {};  // an array of no rows takes its rows from the file
};

/// Collective over `everyone`, also for a rank in error: all have it open or none.
[[nodiscard]] Result<std::unique_ptr<ArrayFile>> open_hdf5_arrays(const Hdf5Opening& opening);

/// Bytes [offset_bytes, offset_bytes + length_bytes) of a file.
struct DataRange {
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
};
/// Returns where the data of a dataset of bytes lies in its file, which this rank opens alone. A dataset in chunks has
/// one dimension; an error where it has more.
[[nodiscard]] Result<std::vector<DataRange>> find_hdf5_data(const Hdf5Calls& calls, const std::string& path,
                                                            const std::string& dataset);

}  // namespace ullage
