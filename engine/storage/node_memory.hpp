// SPDX-License-Identifier: Apache-2.0
// Memory that the ranks of a node share under names, without any file system: nothing of it has a name outside of the
// processes, so nothing is left when they end, however they do.
#pragma once

#include "base/result.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"
#include "mpi/node_file.hpp"

namespace ullage {

/// One file of the node: a table of names, then what they name. Used by one thread of each rank.
class NodeMemory final {
 public:
  /// Collective over `node`, whose ranks have to see each other's processes (/proc).
  [[nodiscard]] static Result<NodeMemory> make(const mpi::Comm& node);

  /// A new name for `bytes` >= 1 of zeros. EEXIST where there is one of that name.
  [[nodiscard]] Result<SharedMemory> create(const std::string& name, std::uint64_t bytes) const;
  /// All of what any rank has created. ENOENT where there is nothing of that name.
  [[nodiscard]] Result<SharedMemory> open(const std::string& name) const;
  /// The memory goes back at once: nobody may have it open. ENOENT as above.
  [[nodiscard]] Status remove(const std::string& name) const;

  static constexpr std::size_t most_names = 16384;
  static constexpr std::size_t longest_name = 103;

 private:
  struct Table;
  NodeMemory(Descriptor file, SharedMemory table) : file_(std::move(file)), table_memory_(std::move(table)) {}
  [[nodiscard]] Table& table() const;

  Descriptor file_;
  SharedMemory table_memory_;
};

}  // namespace ullage
