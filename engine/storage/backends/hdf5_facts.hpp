// SPDX-License-Identifier: Apache-2.0
// What the library says about a file that it has open: what it granted, not what was asked for.
#pragma once

#include "base/parameters.hpp"
#include "storage/hdf5_library.hpp"

namespace ullage {

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
