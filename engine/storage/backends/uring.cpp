// SPDX-License-Identifier: Apache-2.0
// Backend `uring`: io_uring(7), many operations of one rank under way at once, from memory that the kernel has pinned.
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "base/std.hpp"
#include "storage/backend.hpp"
#include "storage/io_ring.hpp"
#include "storage/kernel_file.hpp"

namespace ullage {
namespace {

constexpr int deepest = 4096;

struct UringParameters : KernelFileParameters {
  bool fixed_buffers = true;
};

Table<UringParameters> uring_table() {
  Table<UringParameters> table = kernel_file_table<UringParameters>();
  table.push_back(flag("fixed_buffers", &UringParameters::fixed_buffers,
                       "Pin the transfer buffers once (registered buffers) instead of at every direct operation."));
  return table;
}

/// Holds what the files of one thread share.
struct ThreadRing {
  IoRing ring;
  std::size_t depth;
  std::size_t window;  // see Concurrency
  std::string memory;  // whether the buffers are pinned, and if not, why
};

class UringFile final : public File, public NonblockingTransfers {
 public:
  UringFile(KernelFile file, unsigned number, ThreadRing& thread_ring)
      : file_(std::move(file)), number_(number), thread_ring_(thread_ring), under_way_(thread_ring.depth) {
    free_.reserve(thread_ring.depth);
    for (std::size_t i = thread_ring.depth; i > 0; --i) free_.push_back(i - 1);
  }
  ~UringFile() override { release(); }

  [[nodiscard]] Status transfer(Direction direction, std::span<const Extent> extents, Meter& meter) override {
    failure_.reset();
    goes_on_ = true;
    oldest_ = 0;
    std::size_t next = 0;
    while (true) {
      for (; goes_on_ && next < extents.size() && !free_.empty() && may_begin(extents, next); ++next)
        begin(direction, extents[next], meter.last_ns());
      if (free_.size() == under_way_.size()) break;
      if (const auto waited = thread_ring_.ring.wait(); !waited) {
        give_up(file_.failed(direction, waited.error(), 0));
        drain();
        break;
      }
      while (const auto completion = thread_ring_.ring.next_completion()) end(direction, *completion, meter);
    }
    return failure_ ? fail(*failure_) : Status{};
  }

  [[nodiscard]] NonblockingTransfers* nonblocking() override { return this; }

  void start(Direction direction, std::span<const Extent> extents) override {
    failure_.reset();
    direction_ = direction;
    for (const Extent& extent : extents) begin(direction, extent, 0);
    if (const auto handed = thread_ring_.ring.submit(); !handed) give_up(file_.failed(direction, handed.error(), 0));
  }

  void test() override {
    if (const auto asked = thread_ring_.ring.poll(); !asked) return give_up(file_.failed(direction_, asked.error(), 0));
    while (const auto completion = thread_ring_.ring.next_completion()) (void)settle(direction_, *completion);
  }

  [[nodiscard]] Status wait() override {
    while (free_.size() < under_way_.size()) {
      while (const auto completion = thread_ring_.ring.next_completion()) (void)settle(direction_, *completion);
      if (free_.size() == under_way_.size()) break;
      if (const auto waited = thread_ring_.ring.wait(); !waited) {
        give_up(file_.failed(direction_, waited.error(), 0));
        drain();
      }
    }
    return failure_ ? fail(*std::exchange(failure_, std::nullopt)) : Status{};
  }

  [[nodiscard]] Status sync() override { return file_.sync(); }
  [[nodiscard]] Status close() override {
    release();
    return file_.close();
  }
  [[nodiscard]] Map hints_granted() const override { return {{"fixed_buffers", thread_ring_.memory}}; }

 private:
  struct UnderWay {
    const Extent* extent = nullptr;
    std::size_t done = 0;
    std::int64_t begun_ns = 0;
  };

  /// Not while one that has the same memory is under way. Those are looked for only when the last one that was found
  /// could be such a one.
  [[nodiscard]] bool may_begin(std::span<const Extent> extents, std::size_t next) {
    if (thread_ring_.window == 0 || next < oldest_ + thread_ring_.window) return true;
    oldest_ = next;
    for (const UnderWay& operation : under_way_)
      if (operation.extent != nullptr)
        oldest_ = std::min(oldest_, static_cast<std::size_t>(operation.extent - extents.data()));
    return next < oldest_ + thread_ring_.window;
  }

  /// For a transfer(), the clock was read when the one before it ended, which is when there was room for this one.
  void begin(Direction direction, const Extent& extent, std::int64_t begun_ns) {
    const std::size_t slot = free_.back();
    free_.pop_back();
    under_way_[slot] = {&extent, 0, begun_ns};
    queue(direction, slot);
  }

  void queue(Direction direction, std::size_t slot) {
    const auto& [extent, done, begun_ns] = under_way_[slot];
    const IoRequest request{direction == Direction::write, extent->data + done, extent->length_bytes - done,
                            extent->offset_bytes + done, slot};
    if (const auto queued = thread_ring_.ring.queue(*number_, request); !queued)
      give_up(file_.failed(direction, queued.error(), request.offset_bytes));
  }

  void end(Direction direction, const IoCompletion& completion, Meter& meter) {
    const UnderWay operation = under_way_[completion.tag];
    if (settle(direction, completion) && !meter.completed_since(operation.begun_ns, operation.extent->length_bytes))
      goes_on_ = false;
  }

  /// Returns whether the operation is whole now; one that is not goes on, or fails.
  [[nodiscard]] bool settle(Direction direction, const IoCompletion& completion) {
    const std::size_t slot = completion.tag;
    UnderWay& operation = under_way_[slot];
    if (completion.result > 0) operation.done += static_cast<std::size_t>(completion.result);
    const std::uint64_t at = operation.extent->offset_bytes + operation.done;
    const bool whole = operation.done == operation.extent->length_bytes;
    if (!whole && (completion.result > 0 || completion.result == -EINTR || completion.result == -EAGAIN)) {
      queue(direction, slot);
      return false;
    }
    if (!whole)
      give_up(completion.result == 0 ? file_.nothing_moved(direction, at)
                                     : file_.failed(direction, -completion.result, at));
    forget(slot);
    return whole;
  }

  /// What is under way ends first: its memory is the caller's.
  void give_up(Error error) {
    if (!failure_) failure_ = std::move(error);
    goes_on_ = false;
  }

  /// Where the ring does not let us wait, and for what nobody has waited for: stays until nothing is under way that has
  /// the caller's memory, or that a later call would take for its own. A device that never answers is the watchdog's.
  void drain() {
    constexpr std::chrono::milliseconds look_again{1};
    if (free_.size() == under_way_.size()) return;  // the ring's other files may have something
    while (const auto taken_back = thread_ring_.ring.take_back()) forget(*taken_back);
    while (free_.size() < under_way_.size()) {
      (void)thread_ring_.ring.poll();
      auto completion = thread_ring_.ring.next_completion();
      if (!completion) std::this_thread::sleep_for(look_again);
      for (; completion; completion = thread_ring_.ring.next_completion()) forget(completion->tag);
    }
  }

  void forget(std::size_t slot) {
    under_way_[slot].extent = nullptr;
    free_.push_back(slot);
  }

  void release() {
    drain();
    if (number_) thread_ring_.ring.unregister_file(*std::exchange(number_, std::nullopt));
  }

  KernelFile file_;
  std::optional<unsigned> number_;  // the ring's name for it
  ThreadRing& thread_ring_;
  std::vector<UnderWay> under_way_;
  std::vector<std::size_t> free_;  // slots of it
  std::optional<Error> failure_;
  bool goes_on_ = true;
  Direction direction_ = Direction::write;  // of the batch that was started
  std::size_t oldest_ = 0;                  // extent that is under way, or was when it was looked for
};

constexpr Capabilities uring_capabilities{
    .metadata = true, .queue_depth = deepest, .file_threads = 256, .thread_files = true, .nonblocking = deepest};

class UringBackend final : public KernelFileBackend {
 public:
  UringBackend(const UringParameters& parameters, const BackendContext& context, std::size_t alignment_bytes)
      : KernelFileBackend(uring_capabilities, parameters, context, alignment_bytes),
        fixed_buffers_(parameters.fixed_buffers) {}

  [[nodiscard]] Status make_ready(std::span<std::byte> memory, const Concurrency& wanted) override {
    const std::scoped_lock lock(mutex_);
    thread_rings_.clear();
    memory_ = memory;
    wanted_ = wanted;
    const auto own = own_ring();
    return own ? Status{} : fail(own.error());
  }

  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    auto file = open_file(request);
    if (!file) return fail(file.error());
    const std::scoped_lock lock(mutex_);
    const auto thread_ring = own_ring();
    if (!thread_ring) return fail(thread_ring.error());
    const auto number = (*thread_ring)->ring.register_file(file->get());
    if (!number) return fail(errno_error(number.error(), "open", folder().path() + "/" + request.name));
    return std::make_unique<UringFile>(std::move(*file), *number, **thread_ring);
  }

 private:
  /// That of the calling thread, made when its first file is opened. Under the lock.
  [[nodiscard]] Result<ThreadRing*> own_ring() {
    std::unique_ptr<ThreadRing>& own = thread_rings_[std::this_thread::get_id()];
    if (own) return own.get();
    const auto depth = static_cast<unsigned>(wanted_.queue_depth);
    auto ring = IoRing::make(depth);
    if (!ring) return fail(errno_error(ring.error(), "io_uring_setup", folder().path()));
    own = std::make_unique<ThreadRing>(std::move(*ring), depth, wanted_.window, "not asked for");
    if (!fixed_buffers_) return own.get();
    const auto kept = own->ring.register_buffers(memory_);
    own->memory = kept ? "yes" : std::string("no: ") + std::strerror(kept.error());
    return own.get();
  }

  bool fixed_buffers_;
  std::mutex mutex_;
  // Guarded by mutex_, as are the next two. What they name is of one thread each.
  std::map<std::thread::id, std::unique_ptr<ThreadRing>> thread_rings_;
  std::span<std::byte> memory_;
  Concurrency wanted_;
};

Result<std::unique_ptr<Backend>> make_uring(const Values& values, const BackendContext& context) {
  const auto parameters = bind_parameters(uring_table(), values);
  const auto alignment_bytes = alignment_for(parameters, context, "uring");
  if (!alignment_bytes) return fail(alignment_bytes.error());
  return std::make_unique<UringBackend>(parameters, context, *alignment_bytes);
}

const Registered<BackendEntry> registered_uring{{
    .description = {.name = "uring",
                    .doc = "Reads and writes files by io_uring. A rank can have many operations in flight at once.",
                    .parameters = specs_of(uring_table()),
                    .missing = IoRing::missing},
    .capabilities = uring_capabilities,
    .make = make_uring,
}};

}  // namespace
}  // namespace ullage
