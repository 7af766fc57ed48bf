// SPDX-License-Identifier: Apache-2.0
// Paths that are handed to an MPI library, which opens them by itself.
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <string>

#include "mpi/comm.hpp"
#include "mpi/file.hpp"
#include "storage/backend.hpp"

namespace ullage {

/// ROMIO takes what stands before a colon for the name of a file system, also in the middle of a path, unless one
/// stands in front.
[[nodiscard]] inline std::string romio_prefix(const RunFolder& folder) {
  if (folder.path().find(':') == std::string::npos || !mpi::mpi_io_component().starts_with("romio")) return {};
  const auto space = RunFolder::space(folder.path());
  if (space && space->file_system.starts_with("nfs")) return "nfs:";
  if (space && space->file_system == "lustre") return "lustre:";
  return "ufs:";
}

/// No symbolic link on the way, and the file there or not there as it has to be: asked here, because ROMIO passes the
/// error of the first rank on as a number that means nothing on the others. Of a shared file by one rank of each node.
[[nodiscard]] inline Status check_before_open(const mpi::World& world, const RunFolder& folder,
                                              const OpenRequest& request) {
  if (request.shared && !world.topology().leader()) return {};
  const std::string path = folder.path() + "/" + request.name;
  if (auto checked = folder.checked_path(request.name); !checked) return fail(checked.error());
  const auto there = folder.open_file(request.name, O_PATH);
  if (!there && there.error().errno_value != ENOENT) return fail(there.error());
  if (there && request.mode == OpenMode::create) return fail(errno_error(EEXIST, "open", path));
  if (!there && request.mode != OpenMode::create) return fail(there.error());
  return {};
}

}  // namespace ullage
