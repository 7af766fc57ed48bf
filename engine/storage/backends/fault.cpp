// SPDX-License-Identifier: Apache-2.0
// Backend `fault`: any other backend, with chosen calls going wrong.
#include <cstring>

#include "base/aligned_buffer.hpp"
#include "base/std.hpp"
#include "mpi/agreement.hpp"
#include "storage/backends/fault_arrays.hpp"
#include "storage/backends/fault_calls.hpp"
#include "storage/backends/fault_metadata.hpp"
#include "storage/backends/fault_viewed_file.hpp"
#include "storage/fault_injector.hpp"
#include "storage/forwarding_backend.hpp"
#include "storage/text_values.hpp"

namespace ullage {
namespace {

class FaultFile final : public File, public NonblockingTransfers {
 public:
  /// `collective`: the ranks' operations on this file wait for each other.
  FaultFile(std::unique_ptr<File> inner, FaultInjector& injector, std::string name, bool collective,
            std::size_t alignment_bytes)
      : inner_(std::move(inner)),
        injector_(injector),
        name_(std::move(name)),
        collective_(collective),
        alignment_bytes_(alignment_bytes) {}

  [[nodiscard]] Status transfer(Direction direction, std::span<const Extent> extents, Meter& meter) override {
    while (!extents.empty()) {
      const std::uint64_t done_before = meter.operations();
      const auto part = next_part(direction, extents);
      const Status status = move_part(direction, part, meter);
      if (!status && !collective_) return status;
      if (!status && !failure_) failure_ = status.error();
      if (!failure_ && (meter.operations() - done_before < part.size() || !meter.goes_on())) break;
      extents = extents.subspan(part.size());
    }
    return failure_ ? fail(*failure_) : Status{};
  }

  [[nodiscard]] NonblockingTransfers* nonblocking() override {
    return inner_->nonblocking() != nullptr ? this : nullptr;
  }

  /// What is to go wrong is held back, and goes wrong when the batch is waited for.
  void start(Direction direction, std::span<const Extent> extents) override {
    direction_ = direction;
    started_.clear();
    held_back_.clear();
    for (const Extent& extent : extents) {
      const bool goes_wrong = injector_.next_is_chosen(faults::operation_of(direction)) && injector_.mine();
      (goes_wrong ? held_back_ : started_).push_back(extent);
    }
    inner_->nonblocking()->start(direction, started_);
  }

  void test() override { inner_->nonblocking()->test(); }

  [[nodiscard]] Status wait() override {
    Status first = inner_->nonblocking()->wait();
    for (const Extent& extent : held_back_) {
      const Status own = faults::uncounted([&](Meter& meter) { return go_wrong(direction_, extent, meter); });
      if (first && !own) first = own;
    }
    held_back_.clear();
    return first;
  }

  [[nodiscard]] Status transfer_scattered(Direction direction, std::span<const ScatteredExtent> extents,
                                          Meter& meter) override {
    for (const ScatteredExtent& extent : extents) {
      const std::uint64_t before = meter.operations();
      const Status status = move_scattered(direction, extent, meter);
      if (!status && !failure_) failure_ = status.error();
      if (failure_ ? !collective_ : meter.operations() == before || !meter.goes_on()) break;
    }
    return failure_ ? fail(*failure_) : Status{};
  }

  [[nodiscard]] Status sync() override { return faults::sync(injector_, *inner_, name_); }

  [[nodiscard]] Status close() override { return faults::close(injector_, *inner_, name_); }

  [[nodiscard]] Map hints_granted() const override { return inner_->hints_granted(); }

 private:
  /// All up to the next chosen operation, or that one alone.
  [[nodiscard]] std::span<const Extent> next_part(Direction direction, std::span<const Extent> extents) const {
    const std::uint64_t untouched = injector_.untouched(faults::operation_of(direction));
    return extents.first(static_cast<std::size_t>(std::clamp<std::uint64_t>(untouched, 1, extents.size())));
  }

  [[nodiscard]] Status move_scattered(Direction direction, const ScatteredExtent& extent, Meter& meter) {
    const bool chosen = injector_.next_is_chosen(faults::operation_of(direction)) && injector_.mine();
    if (failure_) return take_part(direction, extent);
    return chosen ? go_wrong(direction, extent, meter) : inner_->transfer_scattered(direction, {&extent, 1}, meter);
  }

  [[nodiscard]] Status move_part(Direction direction, std::span<const Extent> part, Meter& meter) {
    const FaultOperation operation = faults::operation_of(direction);
    const bool chosen = injector_.untouched(operation) == 0;
    const std::uint64_t done_before = meter.operations();
    const Status status = failure_ ? take_part(direction, part, chosen)
                          : chosen ? go_wrong(direction, part.front(), meter)
                                   : inner_->transfer(direction, part, meter);
    // The ranks of a collective file count alike, whatever befell one of them.
    injector_.pass(operation, chosen || collective_ ? part.size() : meter.operations() - done_before);
    return status;
  }

  /// After a failure a collective file's other ranks still wait for this one: with nothing to move, in every operation,
  /// and twice where they make two calls.
  [[nodiscard]] Status take_part(Direction direction, std::span<const Extent> extents, bool chosen) {
    const int calls = chosen && injector_.parameters().kind == FaultKind::short_count ? 2 : 1;
    for (const Extent& extent : extents)
      for (int i = 0; i < calls; ++i) (void)move_uncounted(direction, {extent.offset_bytes, 0, extent.data});
    return fail(*failure_);
  }

  [[nodiscard]] Status move_uncounted(Direction direction, const Extent& extent) {
    return faults::move_uncounted(*inner_, direction, extent);
  }

  [[nodiscard]] Status go_wrong(Direction direction, const Extent& extent, Meter& meter) {
    const FaultParameters& parameters = injector_.parameters();
    if (parameters.kind == FaultKind::short_count && (injector_.mine() || collective_))
      return move_in_two(direction, extent, meter);
    if (!injector_.mine()) return inner_->transfer(direction, {&extent, 1}, meter);
    return faults::go_wrong(
        parameters, [&] { return inner_->transfer(direction, {&extent, 1}, meter); },
        [&] { return direction == Direction::write ? write_flipped(extent, meter) : read_flipped(extent, meter); },
        [&](int errno_value) -> Status {
          if (collective_) (void)move_uncounted(direction, {extent.offset_bytes, 0, extent.data});
          return fail(faults::injected(errno_value, parameters.operation, name_, extent.offset_bytes));
        });
  }

  /// A first call that moves less, and one for the rest. In a collective operation the other ranks make two calls as
  /// well.
  [[nodiscard]] Status move_in_two(Direction direction, const Extent& extent, Meter& meter) {
    const std::size_t wished = std::max<std::size_t>(
        injector_.parameters().short_bytes / alignment_bytes_ * alignment_bytes_, alignment_bytes_);
    const std::size_t first = injector_.mine() ? std::min(wished, extent.length_bytes) : extent.length_bytes;
    Status status = move_uncounted(direction, {extent.offset_bytes, first, extent.data});
    if (status || collective_) {
      const Status rest =
          move_uncounted(direction, {extent.offset_bytes + first, extent.length_bytes - first, extent.data + first});
      if (status) status = rest;
    }
    if (status) (void)meter.completed(extent.length_bytes);
    return status;
  }

  [[nodiscard]] Status take_part(Direction direction, const ScatteredExtent& extent) {
    Meter unused;
    unused.start(now_ns());
    const ScatteredExtent nothing{extent.offset_bytes, extent.memory.part(0, 0)};
    if (collective_) (void)inner_->transfer_scattered(direction, {&nothing, 1}, unused);
    return fail(*failure_);
  }

  /// A short count is an error here: libraries do not go on in the middle of a data type. Bits are flipped in the first
  /// piece, where the caller's payload is flipped back.
  [[nodiscard]] Status go_wrong(Direction direction, const ScatteredExtent& extent, Meter& meter) {
    const FaultParameters& parameters = injector_.parameters();
    const auto transfer = [&] { return inner_->transfer_scattered(direction, {&extent, 1}, meter); };
    return faults::go_wrong(
        parameters, transfer,
        [&] {
          const std::span<std::byte> piece{extent.memory.data, static_cast<std::size_t>(extent.memory.piece_bytes)};
          if (direction == Direction::write) faults::flip(injector_, piece);
          Status status = transfer();
          faults::flip(injector_, piece);
          return status;
        },
        [&](int errno_value) {
          failure_ = faults::injected(errno_value, parameters.operation, name_, extent.offset_bytes);
          return take_part(direction, extent);
        });
  }

  [[nodiscard]] Status read_flipped(const Extent& extent, Meter& meter) {
    auto status = inner_->transfer(Direction::read, {&extent, 1}, meter);
    if (status) faults::flip(injector_, {extent.data, extent.length_bytes});
    return status;
  }

  /// The caller's payload stays as it is.
  [[nodiscard]] Status write_flipped(const Extent& extent, Meter& meter) {
    AlignedBuffer copy(extent.length_bytes, std::max<std::size_t>(alignment_bytes_, 4096));
    std::memcpy(copy.bytes().data(), extent.data, extent.length_bytes);
    faults::flip(injector_, copy.bytes().first(extent.length_bytes));
    const Extent flipped{extent.offset_bytes, extent.length_bytes, copy.bytes().data()};
    return inner_->transfer(Direction::write, {&flipped, 1}, meter);
  }

  std::unique_ptr<File> inner_;
  FaultInjector& injector_;
  std::string name_;
  bool collective_;
  std::size_t alignment_bytes_;
  std::optional<Error> failure_;
  // These are of the batch that was started.
  Direction direction_ = Direction::write;
  std::vector<Extent> started_;
  std::vector<Extent> held_back_;
};

class FaultBackend final : public ForwardingBackend {
 public:
  FaultBackend(std::unique_ptr<Backend> inner, const FaultParameters& parameters, const BackendContext& context)
      : ForwardingBackend(std::move(inner)),
        injector_(parameters, context.world->rank()),
        world_(*context.world),
        folder_(context.folder) {}

  /// Which call is chosen is counted by one thread.
  [[nodiscard]] Capabilities capabilities() const override {
    Capabilities inner = ForwardingBackend::capabilities();
    inner.file_threads = std::min(inner.file_threads, 1);
    return inner;
  }

  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    if (auto status = inject_at_open(request); !status) return fail(status.error());
    auto file = inner().open(request);
    if (!file) return file;
    const Capabilities capabilities = inner().capabilities();
    return std::make_unique<FaultFile>(std::move(*file), injector_, path_of(request.name),
                                       request.shared && capabilities.collective, capabilities.alignment_bytes);
  }

  [[nodiscard]] Result<std::unique_ptr<ViewedFile>> open_viewed(const OpenRequest& request, const Map& hints) override {
    if (auto status = inject_at_open(request); !status) return fail(status.error());
    auto file = inner().open_viewed(request, hints);
    if (!file) return file;
    return std::make_unique<FaultViewedFile>(std::move(*file), injector_, path_of(request.name));
  }

  [[nodiscard]] Result<std::unique_ptr<ArrayFile>> open_arrays(const OpenRequest& request,
                                                               std::span<const ArraySpec> specs) override {
    if (auto status = inject_at_open(request); !status) return fail(status.error());
    auto file = inner().open_arrays(request, specs);
    if (!file) return file;
    const bool collective = request.shared && inner().capabilities().collective;
    return std::make_unique<FaultArrayFile>(std::move(*file), injector_, path_of(request.name), specs, collective);
  }

  [[nodiscard]] Result<std::unique_ptr<MetadataApi>> make_metadata() override {
    auto api = inner().make_metadata();
    if (!api) return api;
    return std::make_unique<FaultMetadata>(std::move(*api), injector_, path_of(""));
  }

  [[nodiscard]] Status make_directory(const std::string& name) override {
    if (auto status = faults::inject_fault(injector_, FaultOperation::mkdir, path_of(name)); !status) return status;
    return inner().make_directory(name);
  }

  [[nodiscard]] Status remove_file(const std::string& name) override {
    if (auto status = faults::inject_fault(injector_, FaultOperation::remove, path_of(name)); !status) return status;
    return inner().remove_file(name);
  }

 private:
  [[nodiscard]] Status inject_at_open(const OpenRequest& request) {
    const Status status = faults::inject_fault(injector_, FaultOperation::open, path_of(request.name));
    // The others must not wait in the inner open for a rank that never comes.
    if (request.shared && injector_.parameters().operation == FaultOperation::open)
      return mpi::share_status(request.among != nullptr ? *request.among : world_.all(), status);
    return status;
  }

  [[nodiscard]] std::string path_of(const std::string& name) const {
    return folder_ == nullptr ? name : folder_->path() + "/" + name;
  }

  FaultInjector injector_;
  const mpi::World& world_;
  const RunFolder* folder_;
};

/// The inner backend with its complete parameters.
struct Inner {
  const BackendEntry* entry = nullptr;
  Values values;
};

Result<Inner> inner_of(const FaultParameters& parameters, const std::string& pointer) {
  const auto* entry = Registry<BackendEntry>::instance().find(parameters.inner);
  if (entry == nullptr || entry->wraps)
    return fail(bad_plan(pointer + "/inner", "no other backend is called '" + parameters.inner + "'"));
  if (const auto reason = entry->description.unavailable())
    return fail(bad_plan(pointer + "/inner", "backend '" + parameters.inner + "' is not available: " + *reason));
  const std::string inner_pointer = pointer + "/inner_parameters";
  const auto given = values_from_text(entry->description.parameters, parameters.inner_parameters, inner_pointer);
  if (!given) return fail(given.error());
  auto values = complete(entry->description.parameters, *given, inner_pointer);
  if (!values) return fail(values.error());
  if (entry->check)
    if (auto status = entry->check(*values, inner_pointer); !status) return fail(status.error());
  return Inner{entry, std::move(*values)};
}

Status check(const Values& values, const std::string& pointer) {
  const auto parameters = bind_parameters(FaultParameters::table(), values);
  if (auto status = check_fault(parameters, pointer); !status) return status;
  const auto inner = inner_of(parameters, pointer);
  return inner ? Status{} : fail(inner.error());
}

Result<std::unique_ptr<Backend>> make_fault(const Values& values, const BackendContext& context) {
  const std::string pointer = "/backend/parameters";
  if (auto status = check(values, pointer); !status) return fail(status.error());
  const auto parameters = bind_parameters(FaultParameters::table(), values);
  const auto inner = inner_of(parameters, pointer);
  if (!inner) return fail(inner.error());
  auto backend = inner->entry->make(inner->values, context);
  if (!backend) return backend;
  return std::make_unique<FaultBackend>(std::move(*backend), parameters, context);
}

constexpr Capabilities fault_capabilities{.metadata = true,
                                          .views = true,
                                          .arrays = true,
                                          .scattered = true,
                                          .file_threads = 1,
                                          .nonblocking = 4096};  // as far as the inner backend has them

const Registered<BackendEntry> registered_fault{{
    .description = {.name = "fault",
                    .doc = "Runs another backend and makes chosen calls go wrong: errors, short counts, delays, hangs, "
                           "flipped bits.",
                    .parameters = specs_of(FaultParameters::table())},
    .capabilities = fault_capabilities,
    .make = make_fault,
    .check = check,
    .wraps = true,
}};

}  // namespace
}  // namespace ullage
