// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "storage/array_file.hpp"
#include "storage/fault_injector.hpp"

namespace ullage {

/// `inner` with chosen calls going wrong. `collective`: the ranks' operations on this file wait for each other.
[[nodiscard]] std::unique_ptr<ArrayFile> make_fault_arrays(std::unique_ptr<ArrayFile> inner, FaultInjector& injector,
                                                           std::string name, std::span<const ArraySpec> arrays,
                                                           bool collective);

}  // namespace ullage
