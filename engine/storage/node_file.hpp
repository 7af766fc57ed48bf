// SPDX-License-Identifier: Apache-2.0
// An anonymous file (memfd) of a node's first rank that the node's other ranks have open as well, and mappings of it.
// It has no name outside of the processes, so nothing is left of it, however they end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "mpi/comm.hpp"

namespace ullage {

/// A shared mapping of part of such a file. Unmaps itself.
class SharedMemory final {
 public:
  SharedMemory() = default;
  /// Or an errno.
  [[nodiscard]] static OrErrno<SharedMemory> map(const Descriptor& file, std::uint64_t offset_bytes,
                                                 std::uint64_t bytes);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  explicit SharedMemory(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_;
};

/// Says in which process the file is open, and by what it is known. In a container of its own a rank may find any
/// other file under that process and number.
struct NodeFilePlace {
  std::int64_t process = -1;
  std::int64_t descriptor = -1;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  std::array<char, 32> key{};  // random; the file begins with it
};

struct NewNodeFile {
  Descriptor file;
  NodeFilePlace place;
};

/// A new file of `bytes` >= 32, all zeros but for the key. `name` is what /proc shows of it.
[[nodiscard]] Result<NewNodeFile> make_node_file(const std::string& name, std::uint64_t bytes);

/// Opens for reading and writing what stands at `place`, once it has proved to be that file. Nothing else is opened for
/// writing, changed or waited for, be it a file, a FIFO or a device.
[[nodiscard]] Result<Descriptor> open_node_file(const std::string& name, const NodeFilePlace& place);

/// Collective over `node`: all of its ranks have a new file of zeros open, or all get an error.
[[nodiscard]] Result<Descriptor> share_node_file(const mpi::Comm& node, const std::string& name, std::uint64_t bytes);

}  // namespace ullage
