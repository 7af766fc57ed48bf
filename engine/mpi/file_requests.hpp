// SPDX-License-Identifier: Apache-2.0
// MPI-IO that goes on after the calls that begin it: MPI_File_iwrite_at and MPI_File_iread_at. What was moved is
// counted at the end of each, since a library that answers MPI_SUCCESS may have moved nothing.
#pragma once

#include "base/result.hpp"
#include "base/std.hpp"
#include "mpi/file.hpp"

namespace ullage::mpi {

/// Transfers of one file that are under way together. They and their memory must not be touched until wait(). The
/// library moves them on when it pleases: in threads of its own, in test(), or in wait() alone.
class FileRequests final {
 public:
  FileRequests();
  FileRequests(FileRequests&&) noexcept;
  FileRequests& operator=(FileRequests&&) noexcept;
  FileRequests(const FileRequests&) = delete;
  FileRequests& operator=(const FileRequests&) = delete;
  /// Waits for those that are under way.
  ~FileRequests();

  /// Room for as many, so that beginning them allocates nothing of ours.
  void reserve(std::size_t transfers);
  /// Begins one more. At most INT_MAX bytes. What failed to begin is not under way.
  [[nodiscard]] Status write_at(const File& file, std::uint64_t offset_bytes, std::span<const std::byte> data);
  [[nodiscard]] Status read_at(const File& file, std::uint64_t offset_bytes, std::span<std::byte> data);

  /// Asks each once (MPI_Test); true when all have ended.
  bool test();
  /// Waits until all have ended (MPI_Waitall); the next ones may be begun then. The bytes really moved by the i-th of
  /// those begun since the last wait() are moved_bytes(i).
  void wait();
  /// After wait(), as File::write_at returns it: fewer than asked for is no error of this call.
  [[nodiscard]] Result<std::size_t> moved_bytes(std::size_t index) const;
  /// Those begun since the last wait(), or before it.
  [[nodiscard]] std::size_t size() const;

 private:
  struct State;  // what MPI wants to be told; defined in file_requests.cpp
  std::unique_ptr<State> state_;
};

}  // namespace ullage::mpi
