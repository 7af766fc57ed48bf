// SPDX-License-Identifier: Apache-2.0
// What all phases of workload `sar` have in common on one rank: buffers, contents, the account of calls, and checks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/meter.hpp"
#include "storage/backend.hpp"
#include "storage/buffer_ring.hpp"
#include "storage/manifest.hpp"
#include "storage/position_contents.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/sar/sar.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "work/phase_work.hpp"

namespace ullage {

// The calls of one operation of workload `sar`, timed apart.

enum class SarPart { open, transfer, subimages, write, sync, close };
inline constexpr std::size_t sar_part_count = 6;

[[nodiscard]] std::string word(SarPart part);

/// One reading of the clock ends each call. begin(), calls, done(); an operation with an error has no done().
class SarCalls final {
 public:
  /// `parts`: those that operations have, as the meter numbers them.
  SarCalls(Backend& backend, std::vector<SarPart> parts);

  [[nodiscard]] std::vector<std::string> part_names() const;

  void begin(Meter& meter) noexcept;
  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request);
  [[nodiscard]] Status move(File& file, Direction direction, std::span<const Extent> extents, SarPart part);
  [[nodiscard]] Status sync(File& file);
  [[nodiscard]] Status close(File& file);
  /// Adds what each part took to the meter.
  void done() noexcept;

  /// Is for transfers besides those of operations.
  [[nodiscard]] Meter& ticked() noexcept { return *ticked_; }

  /// Files that were opened or made.
  [[nodiscard]] std::uint64_t files() const noexcept { return files_; }

 private:
  void took(SarPart part) noexcept;

  Backend& backend_;
  std::vector<SarPart> parts_;
  std::array<std::int64_t, sar_part_count> took_ns_{};
  std::unique_ptr<Meter> ticked_;  // by transfers, whose extents are no operations of the phase
  Meter* meter_ = nullptr;
  std::int64_t last_ns_ = 0;
  std::uint64_t files_ = 0;
};

// What the phases of a repetition of workload `sar` share on one rank.

struct SarState {
  SarParameters parameters;
  SarShape shape;
  StorageContext context;
  Capabilities capabilities;
  DatasetEntry dataset;
  DataSource source;               // the rank whose raw data, images and detections this one reads
  std::uint64_t source_owner = 0;  // the rank whose images that one has read, so which those detections are of

  SarState(const SarParameters& given, const StorageContext& bound);

  [[nodiscard]] std::uint64_t rank() const { return static_cast<std::uint64_t>(context.world->rank()); }
  [[nodiscard]] std::uint64_t source_rank() const { return static_cast<std::uint64_t>(source.rank); }
  [[nodiscard]] const ImageGrid& files() const { return *dataset.grid; }
  [[nodiscard]] std::string in_dataset(const std::string& path) const { return dataset.directory + "/" + path; }
  /// Shared things are dealt out to the ranks that share the folder: this rank makes this one.
  [[nodiscard]] bool makes(std::uint64_t number) const {
    return number % static_cast<std::uint64_t>(context.parts) == static_cast<std::uint64_t>(context.part);
  }
};

/// Collective: finds the sources by where the ranks really run.
void find_sources(SarState& state);

// What the files of workload `sar` hold: every piece can be told from all others, whoever has moved it.

enum class SarData { raw, templates, images, records };

/// Pure. All pieces of a kind lie one behind the other; a position is a place among them.
class SarContents final {
 public:
  explicit SarContents(std::uint64_t run_key);

  void fill(SarData kind, std::span<std::byte> bytes, std::uint64_t position_bytes) const;
  /// The place of the first bad byte is a position.
  [[nodiscard]] Payload::Check check(SarData kind, std::span<const std::byte> bytes,
                                     std::uint64_t position_bytes) const;

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
  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override { return traits_.operations; }
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  /// images: that were stored or read. files: that were made or opened. written_bytes: of a phase that reads, besides.
  [[nodiscard]] Counters counters() const override;
  void add_facts(nlohmann::json& facts) const override;
  [[nodiscard]] Map hints_given() const override { return state_.context.backend->hints_given(); }
  [[nodiscard]] Map hints_granted() const override { return state_.context.backend->hints_granted(); }

 protected:
  SarPhase(const SarState& state, SarPhaseTraits traits);

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
  [[nodiscard]] bool verifies() const { return reads() && state_.parameters.verify == SarVerify::full; }
  [[nodiscard]] std::span<std::byte> slot_at(std::size_t slot) const { return slots_[slot]; }
  [[nodiscard]] std::span<std::byte> extra() const { return slots_.behind().first(traits_.extra_bytes); }
  /// Checks `bytes`, which lie at `offset_bytes` of file `name`, and notes what is wrong.
  struct Place {
    SarData kind;
    std::uint64_t position_bytes;
    std::string name;
    std::uint64_t offset_bytes;
  };
  void check_bytes(std::span<std::byte> bytes, const Place& place);
  [[nodiscard]] OpenRequest request_of(const std::string& path, OpenMode mode, std::uint64_t bytes) const;

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
  void check_slots();
  [[nodiscard]] Status check_again(Meter& progress);

  SarPhaseTraits traits_;
  BufferRing slots_;
  std::uint64_t in_slots_ = 0;       // operations of the last batch that were done
  std::optional<Counters> counted_;  // when the timer had stopped
};

}  // namespace ullage
