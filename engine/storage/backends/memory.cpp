// SPDX-License-Identifier: Apache-2.0
// Backend `memory`: files that are memory of the ranks, without any file system: the tier above all storage.
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <variant>

#include "base/resources.hpp"
#include "base/std.hpp"
#include "memory/numa.hpp"
#include "memory/pages.hpp"
#include "mpi/agreement.hpp"
#include "storage/backend.hpp"
#include "storage/extent_run.hpp"
#include "storage/moving_threads.hpp"
#include "storage/node_memory.hpp"

namespace ullage {
namespace {

enum class MemoryPages { heap, shared, huge };

struct MemoryParameters {
  MemoryPages pages = MemoryPages::heap;
  std::int64_t node = -1;
  bool populate = false;
};

Words<MemoryPages> memory_pages_words() {
  return {{MemoryPages::heap, "heap"}, {MemoryPages::shared, "shared"}, {MemoryPages::huge, "huge"}};
}

Table<MemoryParameters> memory_table() {
  using P = MemoryParameters;
  return {
      choice<P, MemoryPages>("pages", &P::pages, memory_pages_words(),
                             "Choose whose memory a file is. heap and huge (huge pages) are a rank's own, which no "
                             "other rank can open. shared is open to all ranks of the node."),
      count("node", &P::node, {-1, 1023},
            "Bind the memory to this NUMA node. -1 leaves it to the system, which takes the node of the rank that "
            "touches a page first."),
      flag("populate", &P::populate, "Touch all pages of a new file when it is opened, not at the first access."),
  };
}

/// The pages of a file, which a rank has made or shares.
struct MemoryPart {
  std::variant<Region, SharedMemory> memory;
  std::uint64_t capacity_bytes = 0;  // of which whole pages are there
  std::uint64_t size_bytes = 0;      // of what was written, as far as this rank knows

  [[nodiscard]] std::span<std::byte> bytes() const {
    return std::visit([](const auto& held) { return held.bytes(); }, memory).first(capacity_bytes);
  }
};

class MemoryFile final : public File {
 public:
  MemoryFile(MemoryPart& part, std::string name, MovingThreads* threads)
      : part_(part), name_(std::move(name)), threads_(threads) {}

  [[nodiscard]] Status transfer(Direction direction, std::span<const Extent> extents, Meter& meter) override {
    const ExtentRun run = run_of(extents);
    const std::uint64_t end = run.end_bytes;
    if (direction == Direction::read) {
      if (end > part_.size_bytes) return fail(beyond(direction, part_.size_bytes, "end of file inside a transfer"));
      return move_all(extents, run, meter, [](std::byte* held, const Extent& extent) {
        std::memcpy(extent.data, held, extent.length_bytes);
      });
    }
    if (end > part_.bytes().size())
      return fail(beyond(direction, part_.bytes().size(), "memory does not grow beyond the file's expected size"));
    part_.size_bytes = std::max(part_.size_bytes, end);
    return move_all(extents, run, meter,
                    [](std::byte* held, const Extent& extent) { std::memcpy(held, extent.data, extent.length_bytes); });
  }
  /// Nothing makes memory durable.
  [[nodiscard]] Status sync() override { return {}; }
  [[nodiscard]] Status close() override { return {}; }

 private:
  template <class Copy>
  [[nodiscard]] Status move_all(std::span<const Extent> extents, const ExtentRun& run, Meter& meter, const Copy& copy) {
    std::byte* const held = part_.bytes().data();
    if (threads_ != nullptr)
      return threads_->run(extents, meter, [&](std::size_t, const Extent& extent) -> Status {
        copy(held + extent.offset_bytes, extent);
        return {};
      });
    return with_extents(extents, run, [&](const auto& extent_at) -> Status {
      (void)meter.each(extents.size(), [=](std::size_t i) -> std::uint64_t {
        const Extent extent = extent_at(i);
        copy(held + extent.offset_bytes, extent);
        return extent.length_bytes;
      });
      return {};
    });
  }

  [[nodiscard]] Error beyond(Direction direction, std::uint64_t offset_bytes, const std::string& text) const {
    Error error =
        errno_error(direction == Direction::read ? EIO : ENOSPC, word_of(direction), "memory:" + name_, offset_bytes);
    error.text = text;
    return error;
  }

  MemoryPart& part_;
  std::string name_;
  MovingThreads* threads_;
};

constexpr Capabilities memory_capabilities{.path = false, .memory = true, .threads = 1024, .file_threads = 1024};

/// What is written lives as long as this: a repetition of a case.
class MemoryBackend final : public Backend {
 public:
  MemoryBackend(const MemoryParameters& parameters, const mpi::World& world, std::optional<NodeMemory> node_memory)
      : parameters_(parameters), world_(world), node_memory_(std::move(node_memory)) {}

  [[nodiscard]] Capabilities capabilities() const override { return memory_capabilities; }
  [[nodiscard]] Status make_ready(std::span<std::byte> /*memory*/, const Concurrency& wanted) override {
    return threads_.make_ready(wanted);
  }

  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    if (!request.shared) return file_of(request, find_or_make(request, request.mode == OpenMode::create));
    const bool creates = request.mode == OpenMode::create && world_.root();
    Status status = may_be_shared();
    if (status && creates) status = status_of(catch_resource_errors([&] { return find_or_make(request, true); }));
    status = mpi::share_status(world_.all(), std::move(status));
    Result<MemoryPart*> part = nullptr;
    if (status) {
      part = catch_resource_errors([&] { return find_or_make(request, false); });
      status = mpi::share_status(world_.all(), status_of(part));
    }
    if (!status) return fail(status.error());
    return file_of(request, part);
  }

  /// Names have no directories.
  [[nodiscard]] Status make_directory(const std::string&) override { return {}; }
  [[nodiscard]] Status remove_directory(const std::string&) override { return {}; }
  [[nodiscard]] Status remove_file(const std::string& name) override {
    const std::scoped_lock lock(mutex_);
    const bool held = parts_.erase(name) > 0;
    if (!node_memory_) return {};
    const Status removed = node_memory_->remove(name);
    const bool is_gone = !removed && removed.error().errno_value == ENOENT;
    return removed || (is_gone && !held) ? Status{} : removed;
  }
  /// Also looks where the pages are that were bound.
  [[nodiscard]] Result<FileExtents> inspect(const std::string& name) override {
    const auto part = find_or_make({.name = name, .mode = OpenMode::read}, false);
    if (!part) return fail(part.error());
    if (parameters_.node >= 0)
      if (auto status = check_nodes((*part)->bytes()); !status) return fail(status.error());
    return FileExtents{(*part)->size_bytes, true};
  }
  /// Memory is its own cache.
  [[nodiscard]] Status drop_cached(const std::string&) override { return {}; }

  [[nodiscard]] Map hints_granted() const override {
    Map hints{{"pages", detail::word_of(memory_pages_words(), parameters_.pages)}};
    std::map<int, std::uint64_t> nodes;
    std::uint64_t huge_bytes = 0;
    for (const auto& [name, part] : parts_) {
      for (const auto& [node, pages] : pages_on_nodes(part.bytes())) nodes[node] += pages;
      if (const auto* region = std::get_if<Region>(&part.memory)) huge_bytes += region->huge_bytes();
    }
    if (parameters_.pages != MemoryPages::shared) hints["huge_bytes"] = std::to_string(huge_bytes);
    std::string& listed = hints["nodes"];
    for (const auto& [node, pages] : nodes) listed += (listed.empty() ? "" : ", ") + std::to_string(node);
    if (listed.empty()) listed = "not available";
    return hints;
  }

 private:
  [[nodiscard]] static Status status_of(const Result<MemoryPart*>& part) {
    return part ? Status{} : fail(part.error());
  }

  [[nodiscard]] Status may_be_shared() const {
    if (parameters_.pages != MemoryPages::shared && world_.size() > 1)
      return fail(unsupported("a file shared by several ranks", "memory of one rank: use pages shared"));
    if (world_.topology().nodes > 1)
      return fail(
          unsupported("a file shared by several nodes", "memory, which is of one node: use a file per process"));
    return {};
  }

  [[nodiscard]] Result<std::unique_ptr<File>> file_of(const OpenRequest& request, const Result<MemoryPart*>& part) {
    if (!part) return fail(part.error());
    return std::make_unique<MemoryFile>(**part, request.name, threads_.threads());
  }

  /// What this rank has open stays mapped until it is removed, so that pages are not mapped anew in each phase.
  [[nodiscard]] Result<MemoryPart*> find_or_make(const OpenRequest& request, bool creates) {
    const std::scoped_lock lock(mutex_);
    const auto held = parts_.find(request.name);
    if (held != parts_.end() && !creates) return &held->second;
    if (held != parts_.end()) return fail(errno_error(EEXIST, "create", "memory:" + request.name));
    auto part = creates ? make_part(request) : open_part(request.name);
    if (!part) return fail(part.error());
    return &parts_.emplace(request.name, std::move(*part)).first->second;
  }

  [[nodiscard]] Result<MemoryPart> open_part(const std::string& name) const {
    if (!node_memory_) {
      Error error = errno_error(ENOENT, "open", "memory:" + name);
      error.text = "this rank has made no such file, and memory of another rank is open to it with pages shared alone";
      return fail(error);
    }
    auto memory = node_memory_->open(name);
    if (!memory) return fail(memory.error());
    const std::uint64_t bytes = memory->bytes().size();
    return MemoryPart{std::move(*memory), bytes, bytes};
  }

  /// All ranks of the node make theirs at the same time, and each would find the same memory free.
  [[nodiscard]] Result<MemoryPart> make_part(const OpenRequest& request) const {
    const std::uint64_t bytes = std::max<std::uint64_t>(request.expected_bytes, 1);
    const int makers = request.shared ? 1 : world_.topology().ranks_on_node;
    if (!is_memory_available(bytes * static_cast<std::uint64_t>(makers)))
      return fail(errno_error(
          ENOMEM, "get " + std::to_string(bytes) + " bytes for each of " + std::to_string(makers) + " ranks for",
          "memory:" + request.name));
    auto part = node_memory_ ? make_shared_part(request.name, bytes) : make_own_part(bytes);
    if (!part || !parameters_.populate) return part;
    std::memset(part->bytes().data(), 0, part->bytes().size());
    return part;
  }

  [[nodiscard]] Result<MemoryPart> make_own_part(std::uint64_t bytes) const {
    const Pages pages = parameters_.pages == MemoryPages::huge ? Pages::huge : Pages::system;
    auto region = Region::map(bytes, pages, static_cast<int>(parameters_.node));
    if (!region) return fail(region.error());
    return MemoryPart{std::move(*region), bytes, 0};
  }

  [[nodiscard]] Result<MemoryPart> make_shared_part(const std::string& name, std::uint64_t bytes) const {
    auto memory = node_memory_->create(name, bytes);
    if (!memory) return fail(memory.error());
    if (parameters_.node >= 0)
      if (auto status = bind_to_node(memory->bytes(), static_cast<int>(parameters_.node)); !status)
        return fail(status.error());
    return MemoryPart{std::move(*memory), bytes, bytes};
  }

  [[nodiscard]] Status check_nodes(std::span<const std::byte> memory) const {
    for (const auto& [node, pages] : pages_on_nodes(memory))
      if (node != parameters_.node)
        return fail(environment_error("node " + std::to_string(parameters_.node),
                                      "pages that were bound to it lie on node " + std::to_string(node)));
    return {};
  }

  MemoryParameters parameters_;
  const mpi::World& world_;
  std::optional<NodeMemory> node_memory_;  // of pages that are shared
  std::mutex mutex_;                       // guards names, not what they name: a part is of one thread at a time
  std::map<std::string, MemoryPart> parts_;
  FileThreads threads_;
};

Result<std::unique_ptr<Backend>> make_memory(const Values& values, const BackendContext& context) {
  const auto parameters = bind_parameters(memory_table(), values);
  if (parameters.pages != MemoryPages::shared)
    return std::make_unique<MemoryBackend>(parameters, *context.world, std::nullopt);
  auto node_memory = NodeMemory::make(context.world->node());
  if (!node_memory) return fail(node_memory.error());
  return std::make_unique<MemoryBackend>(parameters, *context.world, std::move(*node_memory));
}

const Registered<BackendEntry> registered_memory{{
    .description = {.name = "memory",
                    .doc = "Copies from and to memory of the ranks, without any file system. What is written lasts "
                           "until the end of the repetition.",
                    .parameters = specs_of(memory_table())},
    .capabilities = memory_capabilities,
    .make = make_memory,
}};

}  // namespace
}  // namespace ullage
