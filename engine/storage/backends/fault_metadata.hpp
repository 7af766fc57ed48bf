// SPDX-License-Identifier: Apache-2.0
// Work on names of backend `fault`.
#pragma once

#include <memory>
#include <string>

#include "storage/fault_injector.hpp"
#include "storage/metadata.hpp"

namespace ullage {

/// `folder` is what comes before names in errors; the injector outlives what is made.
[[nodiscard]] std::unique_ptr<MetadataApi> make_fault_metadata(std::unique_ptr<MetadataApi> inner,
                                                               FaultInjector& injector, std::string folder);

}  // namespace ullage
