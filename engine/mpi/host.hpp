// SPDX-License-Identifier: Apache-2.0
// Who this process's machine is.
#pragma once

#include <string>

namespace ullage::mpi {

/// Returns the name as the process sees it: of its UTS namespace.
[[nodiscard]] std::string host_name();

/// Same for processes on the same running kernel, whatever their namespaces call it; the host's name where the kernel
/// does not say.
[[nodiscard]] std::string kernel_identity();

}  // namespace ullage::mpi
