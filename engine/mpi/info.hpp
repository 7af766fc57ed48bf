// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/parameters.hpp"
#include "base/result.hpp"

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

}  // namespace ullage::mpi
