// SPDX-License-Identifier: Apache-2.0
// What the library says about a file that it has open: what it granted, not what was asked for.
#pragma once

#include <cstdint>
#include <string>

#include "base/parameters.hpp"
#include "storage/hdf5_library.hpp"

namespace ullage {

// What <hdf5.h> says by numbers of transfers and of property lists, as words. A number that no word is known for is
// itself.

/// Names the answer of H5Pget_mpio_actual_io_mode.
[[nodiscard]] std::string hdf5_mode_text(int mode);
/// Names the answer of H5Pget_mpio_no_collective_cause: why a transfer was not collective.
[[nodiscard]] std::string hdf5_cause_text(std::uint32_t causes);
/// Names the answer of H5Pget_layout.
[[nodiscard]] std::string hdf5_layout_text(int layout);
/// Names the answer of H5Pget_fill_time.
[[nodiscard]] std::string hdf5_fill_text(int when);
/// Names the answer of H5Pget_alloc_time.
[[nodiscard]] std::string hdf5_allocation_text(int when);
/// Names the answer of H5Pget_libver_bounds: the oldest format that is used.
[[nodiscard]] std::string hdf5_format_text(int lowest);

struct Hdf5Asked {
  const Hdf5Calls& calls;
  HdfId file = -1;
  HdfId dataset = -1;   // below 0: there is none
  HdfId transfer = -1;  // the list by which data was moved last
};

/// Version, layout, fill values, alignment, metadata, buffers and the last transfer, each under a key that begins with
/// `hdf5.`. What the library does not say has no key.
[[nodiscard]] Map hdf5_facts(const Hdf5Asked& asked);

}  // namespace ullage
