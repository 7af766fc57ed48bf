// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "storage/fault_injector.hpp"
#include "storage/viewed_file.hpp"

namespace ullage {

/// `inner` with chosen calls going wrong. A short call moves what it is told to and is an error: that is what such a
/// file makes of one. `injector` outlives it.
[[nodiscard]] std::unique_ptr<ViewedFile> make_fault_viewed_file(std::unique_ptr<ViewedFile> inner,
                                                                 FaultInjector& injector, std::string name);

}  // namespace ullage
