// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/parameters.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"

namespace ullage::mpi {

/// Hints for MPI-IO: an MPI_Info that frees itself.
class Info final {
 public:
  /// No hints. No MPI call is made.
  Info();
  Info(Info&&) noexcept;
  Info& operator=(Info&&) noexcept;
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  ~Info();

  /// Error where a key or a value is longer than the library takes.
  [[nodiscard]] static Result<Info> from(const Map& hints);
  [[nodiscard]] Map to_map() const;

  struct Handle;  // holds the MPI_Info; defined in mpi/io_handles.hpp, included inside mpi/ only
  [[nodiscard]] const Handle& handle() const { return *handle_; }
  explicit Info(std::unique_ptr<Handle> handle);

 private:
  std::unique_ptr<Handle> handle_;
};

// MPI's handles for libraries that are found at run time and take them: only mpi/ knows their types.

/// Calls `function` of another library, which is an `int (*)(std::int64_t, MPI_Comm, MPI_Info)` of this MPI, and
/// returns what it returned.
[[nodiscard]] int call_foreign(void (*function)(), std::int64_t id, const Comm& comm, const Info& hints);

/// The hints in use of a file that another library has open: `file` points to its MPI_File.
[[nodiscard]] Map hints_of_foreign(const void* file);

}  // namespace ullage::mpi
