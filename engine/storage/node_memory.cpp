// SPDX-License-Identifier: Apache-2.0
#include "storage/node_memory.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/count.hpp"
#include "mpi/agreement.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t grain_bytes = std::uint64_t{2} << 20;  // a huge page, so that each name may have its own

struct NamedPart {
  std::uint64_t offset_bytes = 0;
  std::uint64_t bytes = 0;  // 0: nobody's
  std::array<char, NodeMemory::longest_name + 1> name{};
};

/// Between processes. Held for a few look-ups only.
class TableLock final {
 public:
  void lock() noexcept {
    while (taken_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_ = false;
};

Error no_memory_name(const std::string& operation, const std::string& name, int code) {
  return errno_error(code, operation, "memory:" + name);
}

Result<SharedMemory> map_shared(const Descriptor& file, std::uint64_t offset_bytes, std::uint64_t bytes,
                                const std::string& name) {
  auto mapped = SharedMemory::map(file, offset_bytes, bytes);
  if (!mapped) return fail(no_memory_name("map", name, mapped.error()));
  return std::move(*mapped);
}

}  // namespace

/// Everything but the lock is guarded by it.
struct NodeMemory::Table {
  TableLock lock;
  std::uint64_t end_bytes = 0;  // of all that was ever given
  std::size_t used = 0;         // parts that ever had a name; of the others no page is touched
  std::array<NamedPart, most_names> parts;

  [[nodiscard]] NamedPart* find(const std::string& name) {
    const auto these = std::span(parts).first(used);
    const auto found =
        std::ranges::find_if(these, [&](const NamedPart& part) { return part.bytes > 0 && name == part.name.data(); });
    return found == these.end() ? nullptr : &*found;
  }
  [[nodiscard]] NamedPart* find_free() {
    const auto these = std::span(parts).first(used);
    const auto found = std::ranges::find(these, 0U, &NamedPart::bytes);
    if (found != these.end()) return &*found;
    return used < parts.size() ? &parts[used++] : nullptr;
  }
};

/// A new file is all zeros, which is an empty table.
Result<NodeMemory> NodeMemory::make(const mpi::Comm& node) {
  constexpr std::uint64_t table_bytes = round_up<std::uint64_t>(sizeof(Table), grain_bytes);
  auto file = share_node_file(node, "ullage-memory", table_bytes);
  if (!file) return fail(file.error());
  auto table = map_shared(*file, 0, table_bytes, "");
  const Status status = mpi::share_status(node, table ? Status() : fail(table.error()));
  if (!status) return fail(status.error());
  NodeMemory memory(std::move(*file), std::move(*table));
  if (node.rank() == 0) memory.table().end_bytes = table_bytes;
  node.barrier();
  return memory;
}

NodeMemory::Table& NodeMemory::table() const { return *reinterpret_cast<Table*>(table_memory_.bytes().data()); }

Result<SharedMemory> NodeMemory::create(const std::string& name, std::uint64_t bytes) const {
  if (name.empty() || name.size() > longest_name) return fail(no_memory_name("create", name, ENAMETOOLONG));
  std::uint64_t offset = 0;
  {
    Table& all = table();
    const std::scoped_lock lock(all.lock);
    if (all.find(name) != nullptr) return fail(no_memory_name("create", name, EEXIST));
    NamedPart* const free = all.find_free();
    if (free == nullptr) return fail(no_memory_name("create", name, ENOSPC));
    // Places are not used again: only pages take memory.
    offset = all.end_bytes;
    const std::uint64_t end = offset + round_up(bytes, grain_bytes);
    if (ftruncate(file_.get(), static_cast<off_t>(end)) != 0) return fail(no_memory_name("create", name, errno));
    all.end_bytes = end;
    *free = {.offset_bytes = offset, .bytes = bytes};
    std::memcpy(free->name.data(), name.data(), name.size());
  }
  return map_shared(file_, offset, bytes, name);
}

Result<SharedMemory> NodeMemory::open(const std::string& name) const {
  NamedPart part;
  {
    Table& all = table();
    const std::scoped_lock lock(all.lock);
    const NamedPart* const found = all.find(name);
    if (found == nullptr) return fail(no_memory_name("open", name, ENOENT));
    part = *found;
  }
  return map_shared(file_, part.offset_bytes, part.bytes, name);
}

Status NodeMemory::remove(const std::string& name) const {
  Table& all = table();
  const std::scoped_lock lock(all.lock);
  NamedPart* const found = all.find(name);
  if (found == nullptr) return fail(no_memory_name("remove", name, ENOENT));
  const auto offset = static_cast<off_t>(found->offset_bytes);
  const auto length = static_cast<off_t>(round_up(found->bytes, grain_bytes));
  found->bytes = 0;
  if (fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length) == 0) return {};
  return fail(no_memory_name("remove", name, errno));
}

}  // namespace ullage
