// SPDX-License-Identifier: Apache-2.0
// What <hdf5.h> says by numbers of transfers and of property lists, as words. A number that no word is known for is
// itself.
#pragma once

#include <cstdint>
#include <string>

namespace ullage {

/// Names a value of H5Pget_mpio_actual_io_mode.
[[nodiscard]] std::string hdf5_mode_text(int mode);
/// Names values of H5Pget_mpio_no_collective_cause: why a transfer was not collective.
[[nodiscard]] std::string hdf5_cause_text(std::uint32_t causes);
/// Names a value of H5Pget_layout.
[[nodiscard]] std::string hdf5_layout_text(int layout);
/// Names a value of H5Pget_fill_time.
[[nodiscard]] std::string hdf5_fill_text(int when);
/// Names a value of H5Pget_alloc_time.
[[nodiscard]] std::string hdf5_allocation_text(int when);
/// Names a value of H5Pget_libver_bounds: the oldest format that is used.
[[nodiscard]] std::string hdf5_format_text(int lowest);

}  // namespace ullage
