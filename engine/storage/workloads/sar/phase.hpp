// SPDX-License-Identifier: Apache-2.0
// What all phases of workload `sar` have in common on one rank: buffers, contents, the account of calls, and checks.
#pragma once

#include <set>

#include "base/count.hpp"
#include "base/meter.hpp"
#include "base/permutation.hpp"
#include "mpi/agreement.hpp"
#include "storage/buffer_ring.hpp"
#include "storage/position_contents.hpp"
#include "storage/workloads/sar/sar.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

// The calls of one operation of workload `sar`, timed apart.

enum class SarPart { open, transfer, subimages, write, sync, close };
inline constexpr std::size_t sar_part_count = 6;

[[nodiscard]] inline std::string word(SarPart part) {
  static constexpr std::array<const char*, sar_part_count> words{"open",  "transfer", "subimages",
                                                                 "write", "sync",     "close"};
  return words.at(static_cast<std::size_t>(part));
}

/// One reading of the clock ends each call. begin(), calls, done(); an operation with an error has no done().
class SarCalls final {
 public:
  /// `parts`: those that operations have, as the meter numbers them.
  SarCalls(Backend& backend, std::vector<SarPart> parts)
      : backend_(backend), parts_(std::move(parts)), ticked_(std::make_unique<Meter>()) {
    ticked_->only_count();
    ticked_->start(ticked_->clock_ns());
  }

  [[nodiscard]] std::vector<std::string> part_names() const {
    std::vector<std::string> names;
    names.reserve(parts_.size());
    for (const SarPart part : parts_) names.push_back(word(part));
    return names;
  }

  void begin(Meter& meter) noexcept {
    meter_ = &meter;
    last_ns_ = meter.last_ns();
    took_ns_.fill(0);
  }

  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) {
    auto file = backend_.open(request);
    if (file) ++files_;
    took(SarPart::open);
    return file;
  }

  [[nodiscard]] Status move(File& file, Direction direction, std::span<const Extent> extents, SarPart part) {
    ticked_->resume(last_ns_);
    Status status = file.transfer(direction, extents, *ticked_);
    took(part);
    return status;
  }

  [[nodiscard]] Status sync(File& file) {
    Status status = file.sync();
    took(SarPart::sync);
    return status;
  }

  [[nodiscard]] Status close(File& file) {
    Status status = file.close();
    took(SarPart::close);
    return status;
  }

  /// Adds what each part took to the meter.
  void done() noexcept {
    for (std::size_t i = 0; i < parts_.size(); ++i) meter_->add_part(i, took_ns_[static_cast<std::size_t>(parts_[i])]);
  }

  /// Is for transfers besides those of operations.
  [[nodiscard]] Meter& ticked() noexcept { return *ticked_; }

  /// Files that were opened or made.
  [[nodiscard]] std::uint64_t files() const noexcept { return files_; }

 private:
  void took(SarPart part) noexcept {
    const std::int64_t now = meter_->clock_ns();
    took_ns_[static_cast<std::size_t>(part)] += now - last_ns_;
    last_ns_ = now;
  }

  Backend& backend_;
  std::vector<SarPart> parts_;
  std::array<std::int64_t, sar_part_count> took_ns_{};
  std::unique_ptr<Meter> ticked_;  // by transfers, whose extents are no operations of the phase
  Meter* meter_ = nullptr;
  std::int64_t last_ns_ = 0;
  std::uint64_t files_ = 0;
};

// What the files of workload `sar` hold: every piece can be told from all others, whoever has moved it.

enum class SarData { raw, templates, images, records };

inline PositionContents contents_of(std::uint64_t run_key, SarData kind) {
  return PositionContents(mix64(run_key + static_cast<std::uint64_t>(kind)));
}

/// Pure. All pieces of a kind lie one behind the other; a position is a place among them.
class SarContents final {
 public:
  explicit SarContents(std::uint64_t run_key)
      : contents_{contents_of(run_key, SarData::raw), contents_of(run_key, SarData::templates),
                  contents_of(run_key, SarData::images), contents_of(run_key, SarData::records)} {}

  void fill(SarData kind, std::span<std::byte> bytes, std::uint64_t position_bytes) const {
    contents_.at(static_cast<std::size_t>(kind)).fill(bytes, position_bytes);
  }

  /// The place of the first bad byte is a position.
  [[nodiscard]] Payload::Check check(SarData kind, std::span<const std::byte> bytes,
                                     std::uint64_t position_bytes) const {
    return contents_.at(static_cast<std::size_t>(kind)).check(bytes, position_bytes);
  }

 private:
  std::array<PositionContents, 4> contents_;
};

/// Says what sets a phase apart.
struct SarPhaseTraits {
  std::string name;
  Access access = Access::none;
  std::vector<SarPart> parts;
  std::uint64_t operations = 0;
  std::size_t slot_bytes = 0;   // that an operation moves
  std::size_t extra_bytes = 0;  // besides the slots
};

/// Operations are readied in batches, of as many as a core's own cache keeps, or one. An operation has a slot of
/// memory. What was read is checked after the timer: the last batch in its slots, all before it by reading it once
/// more. So no rank leaves the target to the others while it checks.
class SarPhase : public PhaseWork {
 public:
  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info{.name = traits_.name,
                   .access = traits_.access,
                   .clock_stops = true,
                   .bytes_at_once = traits_.slot_bytes,
                   .parts = calls_.part_names()};
    if (!reads()) return info;
    info.cache_control = state_.parameters.cache == DropCache::drop ? "drop" : "none";
    info.data_of = state_.source.data_of;
    return info;
  }

  /// Reading begins with buffers that nothing was read into.
  [[nodiscard]] Status before() override {
    if (operations() == 0) return {};
    Backend& backend = *state_.context.backend;
    if (auto status = backend.make_ready(state_.context.buffer->bytes(), {}); !status) return status;
    if (!reads()) return {};
    if (verifies()) slots_.poison();
    if (state_.parameters.cache == DropCache::none) return {};
    const std::vector<std::string> files = files_read();
    for (const std::string& name : std::set<std::string>(files.begin(), files.end()))
      if (auto status = backend.drop_cached(name); !status) return status;
    return {};
  }

  [[nodiscard]] std::uint64_t operations() const override { return traits_.operations; }

  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override {
    first_ = first;
    in_slots_ = 0;
    prepared_ = std::min(most, slots_.count());
    for (std::uint64_t i = 0; i < prepared_; ++i) ready(first + i, static_cast<std::size_t>(i));
    return prepared_;
  }

  [[nodiscard]] Status execute(Meter& meter) override {
    for (std::uint64_t i = 0; i < prepared_; ++i) {
      calls_.begin(meter);
      const auto moved = operate(static_cast<std::size_t>(i));
      if (!moved) return fail(moved.error());
      calls_.done();
      ++in_slots_;
      if (!meter.completed(*moved + std::exchange(uncounted_bytes_, 0))) break;
    }
    return {};
  }

  [[nodiscard]] Verification after(std::uint64_t /*executed*/, Meter& progress) override {
    if (!verifies() || operations() == 0) return {};
    counted_ = counters();
    check_slots();
    const Status again = check_again(progress);
    if (!again && !verification_.first) verification_.first = again.error();
    return verification_;
  }

  /// images: that were stored or read. files: that were made or opened. written_bytes: of a phase that reads, besides.
  [[nodiscard]] Counters counters() const override {
    if (counted_) return *counted_;
    return {{"images", images_},
            {"subimages", subimages_},
            {"files", calls_.files() + files_besides_},
            {"written_bytes", written_bytes_}};
  }

  void add_facts(Json& facts) const override {
    const SarShape& shape = state_.shape;
    facts = {{"locations", shape.locations()},
             {"images", shape.images()},
             {"pairs", shape.locations() * shape.pairs_of_location()},
             {"image_bytes", shape.image_bytes()},
             {"raw_bytes", shape.raw_bytes()},
             {"group_bytes", shape.group_bytes()},
             {"layout", word_of(state_.parameters.layout)},
             {"raw", word_of(state_.parameters.raw)},
             {"sync", word_of(state_.parameters.sync)}};
  }

  [[nodiscard]] Map hints_given() const override { return state_.context.backend->hints_given(); }
  [[nodiscard]] Map hints_granted() const override { return state_.context.backend->hints_granted(); }

 protected:
  SarPhase(const SarState& state, SarPhaseTraits traits)
      : state_(state),
        contents_(state.context.run_key),
        calls_(*state.context.backend, traits.parts),
        traits_(std::move(traits)),
        slots_(*state.context.buffer, traits_.slot_bytes) {
    if (operations() > 0) slots_.allocate(slots_.count_in(cached_bytes, operations()), traits_.extra_bytes);
  }

  /// Names, extents and contents of an operation.
  virtual void ready(std::uint64_t operation, std::size_t slot) = 0;
  /// The measured calls; how many bytes they moved in the direction of the phase.
  [[nodiscard]] virtual Result<std::uint64_t> operate(std::size_t slot) = 0;
  /// Does the reads of an operation once more, outside of the timer, between open_again() and close_again().
  [[nodiscard]] virtual Status read_again(std::size_t slot) {
    (void)slot;
    return {};
  }
  [[nodiscard]] virtual Status open_again() { return {}; }
  [[nodiscard]] virtual Status close_again() { return {}; }
  /// Checks what was read and is in the slot.
  virtual void check(std::uint64_t operation, std::size_t slot) {
    (void)operation;
    (void)slot;
  }
  /// The files that the phase reads, some perhaps more than once.
  [[nodiscard]] virtual std::vector<std::string> files_read() const { return {}; }

  [[nodiscard]] bool reads() const { return traits_.access == Access::read; }
  [[nodiscard]] bool verifies() const { return reads() && state_.parameters.verify == Verify::full; }
  [[nodiscard]] std::span<std::byte> slot_at(std::size_t slot) const { return slots_[slot]; }
  [[nodiscard]] std::span<std::byte> extra() const { return slots_.behind().first(traits_.extra_bytes); }
  /// Checks `bytes`, which lie at `offset_bytes` of file `name`, and notes what is wrong.
  struct Place {
    SarData kind;
    std::uint64_t position_bytes;
    std::string name;
    std::uint64_t offset_bytes;
  };

  void check_bytes(std::span<std::byte> bytes, const Place& place) {
    Payload::Check found = contents_.check(place.kind, bytes, place.position_bytes);
    if (found.first) found.first->offset_bytes += place.offset_bytes - place.position_bytes;
    add_check(verification_, bytes.size(), found,
              [&](const Mismatch& wrong) { return wrong_data(state_.context, place.name, wrong); });
  }

  [[nodiscard]] OpenRequest request_of(const std::string& path, OpenMode mode, std::uint64_t bytes) const {
    return {.name = state_.in_dataset(path), .mode = mode, .expected_bytes = bytes};
  }

  const SarState& state_;
  SarContents contents_;
  SarCalls calls_;
  Verification verification_;
  std::uint64_t images_ = 0;
  std::uint64_t subimages_ = 0;
  std::uint64_t files_besides_ = 0;  // that were opened outside of operations
  std::uint64_t written_bytes_ = 0;
  std::uint64_t uncounted_bytes_ = 0;  // moved before the first operation, which counts them

 private:
  void check_slots() {
    for (std::uint64_t i = 0; i < in_slots_; ++i) check(first_ + i, static_cast<std::size_t>(i));
  }

  /// The operations before the last batch, whose slots were used again.
  [[nodiscard]] Status check_again(Meter& progress) {
    if (first_ == 0) return {};
    if (auto status = open_again(); !status) return status;
    for (std::uint64_t operation = 0; operation < first_; ++operation) {
      ready(operation, 0);
      Payload::poison(slot_at(0));
      calls_.begin(progress);
      if (auto status = read_again(0); !status) return status;
      check(operation, 0);
      progress.report_alive();
    }
    return close_again();
  }

  SarPhaseTraits traits_;
  BufferRing slots_;
  std::uint64_t in_slots_ = 0;       // operations of the last batch that were done
  std::optional<Counters> counted_;  // when the timer had stopped
};

}  // namespace ullage
