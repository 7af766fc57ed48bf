// SPDX-License-Identifier: Apache-2.0
// Shared libraries as files: what one needs is known before it is loaded. A library that belongs to another MPI must
// never be loaded, since two MPIs in one process have the same names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace ullage {

/// The names of the libraries that an ELF file asks the dynamic linker for. Error: it cannot be read, or is none.
[[nodiscard]] Result<std::vector<std::string>> libraries_needed_by(const std::string& path);

/// The file that a name stands for: itself if it is a path, else found in LD_LIBRARY_PATH, in the folders of what this
/// process has loaded and in those of the system.
[[nodiscard]] std::optional<std::string> library_file(const std::string& name);

/// Files of the libraries that this process has loaded.
[[nodiscard]] std::vector<std::string> loaded_libraries();

/// Success where the library at `path` needs the MPI that this process has loaded, and no other.
[[nodiscard]] Status check_mpi_of_library(const std::string& path);

}  // namespace ullage
