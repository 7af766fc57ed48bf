// SPDX-License-Identifier: Apache-2.0
// Memory that other ranks write and read without the owner's help: MPI's one-sided operations.
#pragma once

#include "base/result.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"

namespace ullage::mpi {

/// Memory of each rank, allocated by MPI. What stands in a span given to put, get or accumulate is MPI's until the next
/// call that ends the operation: unlock, flush or fence.
class Window final {
 public:
  /// Collective; each rank may give a size of its own. `comm` outlives it. An error, shared by all ranks, where the
  /// library says that it has no memory; it maps that of all ranks of a node in each of them, for which the caller
  /// makes sure that there is room.
  [[nodiscard]] static Result<Window> make(const Comm& comm, std::size_t bytes, CallSite site = CallSite::current());
  Window(Window&&) noexcept;
  Window& operator=(Window&&) = delete;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  /// Collective, after every epoch has ended.
  ~Window();

  /// This rank's part. To be touched between lock() and unlock() of the own rank, or after fence_last().
  [[nodiscard]] std::span<std::byte> own() const noexcept { return own_; }

  /// Others may hold it, too.
  void lock(int rank);
  void unlock(int rank);
  void lock_all();
  void unlock_all();
  /// Ends this rank's operations at `rank`; inside lock_all().
  void flush(int rank);
  /// Collective: ends what was begun, and begins what follows.
  void fence();
  /// Collective: ends what was begun; no fence() needs to have come before it.
  void fence_last();

  void put(std::span<const std::byte> data, int rank, std::size_t place);
  void get(std::span<std::byte> data, int rank, std::size_t place);
  /// Adds each number to the one that stands there.
  void accumulate(std::span<const std::int64_t> numbers, int rank, std::size_t place);

 private:
  struct Handle;  // holds the MPI_Win; defined in windows.cpp
  Window(std::unique_ptr<Handle> handle, std::span<std::byte> own);
  std::unique_ptr<Handle> handle_;
  std::span<std::byte> own_;
};

}  // namespace ullage::mpi
