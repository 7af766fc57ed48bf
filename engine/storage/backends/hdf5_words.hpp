// SPDX-License-Identifier: Apache-2.0
// What <hdf5.h> says by numbers on the way of a transfer, as words.
#pragma once

#include <cstdint>
#include <string>

namespace ullage {

/// Of H5Pget_mpio_actual_io_mode.
[[nodiscard]] std::string hdf5_mode_text(int mode);
/// Of H5Pget_mpio_no_collective_cause: why a transfer was not collective.
[[nodiscard]] std::string hdf5_cause_text(std::uint32_t causes);

}  // namespace ullage
