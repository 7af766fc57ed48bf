// SPDX-License-Identifier: Apache-2.0
// One rank's part in a case of workload `b-eff-io`, as its phases share it.
#pragma once

#include "base/clock.hpp"
#include "storage/viewed_file.hpp"
#include "storage/workloads/b_eff_io/b_eff_io.hpp"
#include "storage/workloads/b_eff_io/dataset.hpp"
#include "storage/workloads/b_eff_io/loop.hpp"
#include "storage/workloads/b_eff_io/patterns.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

// Where the calls of a pattern lie in a file, and the view through which a rank makes them. Pure.

/// Holds what all calls of a type have in common on one rank.
struct BEffIoFileShape {
  BEffIoType type = BEffIoType::scatter;
  bool shared_pointer = true;  // of type shared; false: it is done as scatter is
  std::uint64_t ranks = 1;
  std::uint64_t rank = 0;
  std::uint64_t segment_bytes = 0;  // of the segmented types

  /// The ranks' chunks alternate; else a rank's calls follow each other, in its own file or segment.
  [[nodiscard]] bool alternates() const { return type == BEffIoType::scatter || type == BEffIoType::shared; }
  [[nodiscard]] bool has_strided_view() const {
    return type == BEffIoType::scatter || (type == BEffIoType::shared && !shared_pointer);
  }

  [[nodiscard]] Pointer pointer() const {
    if (type == BEffIoType::shared && shared_pointer) return Pointer::ordered;
    return is_collective(type) ? Pointer::together : Pointer::individual;
  }
};

/// The calls of one pattern, all of the same length.
struct BEffIoPlace {
  BEffIoFileShape shape;
  std::uint64_t displacement_bytes = 0;  // where the pattern begins: in the file, or in the segment
  std::uint64_t chunk_bytes = 0;
  std::uint64_t call_bytes = 0;  // a multiple of the chunk; of types but scatter the chunk itself

  /// Returns where byte `byte` of this rank's call number `call` lies in the file.
  [[nodiscard]] std::uint64_t offset_bytes(std::uint64_t call, std::uint64_t byte = 0) const {
    if (!shape.alternates()) return shape.rank * shape.segment_bytes + displacement_bytes + call * call_bytes + byte;
    const std::uint64_t chunk = call * (call_bytes / chunk_bytes) + byte / chunk_bytes;
    return displacement_bytes + (chunk * shape.ranks + shape.rank) * chunk_bytes + byte % chunk_bytes;
  }

  /// So many calls of every rank take this much of the file, or of the segment: the next pattern begins after it.
  [[nodiscard]] std::uint64_t extent_bytes(std::uint64_t calls) const {
    return calls * call_bytes * (shape.alternates() ? shape.ranks : 1);
  }

  [[nodiscard]] FileView view() const {
    if (shape.has_strided_view())
      return {displacement_bytes, chunk_bytes, static_cast<int>(shape.rank), static_cast<int>(shape.ranks)};
    const std::uint64_t own_part = is_segmented(shape.type) ? shape.rank * shape.segment_bytes : 0;
    return {own_part + displacement_bytes, 0, 0, 1};
  }
};

/// One pattern of the case: what is known of it before it begins.
struct BEffIoTask {
  BEffIoPattern pattern;
  std::optional<std::uint64_t> wanted;  // repetitions; none: time decides
  BEffIoMade made;                      // by the accesses before this one; of a first write its displacement, if fixed
  double scheduled_until_s = 0;         // of the case's patterns up to and with this one
};

/// Says what all ranks did of a pattern: the same on each of them.
struct BEffIoDone {
  std::uint64_t least = 0;  // repetitions of the rank that did fewest
  std::uint64_t most = 0;
  double took_s = 0;  // accounted, of the rank that took longest
};

/// Its file is open from the first pattern to the last. What is collective has to be called by every rank.
class BEffIoRun final {
 public:
  BEffIoRun(BEffIoParameters parameters, const StorageContext& context)
      : parameters_(std::move(parameters)), context_(context) {
    const auto ranks = static_cast<std::uint64_t>(context.world->size());
    shape_ = {parameters_.type, parameters_.shared_pointer, ranks, static_cast<std::uint64_t>(context.world->rank()),
              0};
    entry_ = parameters_.type == BEffIoType::separated ? dataset_of(context, ranks) : shared_file_of(context);
    entry_.side_files = true;
    dataset_.key = context.run_key;
  }

  /// Finds the dataset, or makes an empty one.
  [[nodiscard]] LocalSteps begin() {
    LocalSteps steps{{"find patterns", [this] { return find_tasks(); }}};
    if (parameters_.access != BEffIoAccess::write) return steps;
    if (!context_.dataset.empty()) steps.push_back(step_to_remove_facts(context_));
    if (makes_files()) append(steps, steps_to_make_tree(context_, entry_));
    return steps;
  }

  /// Enters what was made, or removes it.
  [[nodiscard]] LocalSteps end(bool whole) {
    // Where a pattern failed the file is still open, on all ranks.
    LocalSteps steps{{"close file", [this] {
                        BEffIoTimes of_nothing;
                        return close(of_nothing);
                      }}};
    if (!context_.dataset.empty() && parameters_.writes()) {
      steps.push_back(whole ? LocalStep{"enter facts", [this] { return enter(); }} : step_to_remove_facts(context_));
      if (whole) return steps;
    }
    if (!context_.keep && makes_files()) append(steps, steps_to_remove_tree(context_, entry_));
    return steps;
  }

  /// Before the first pattern's timer.
  [[nodiscard]] Status ready_open() const { return context_.backend->ready_open(open_request()); }

  /// Collective, within the timer of the first pattern.
  [[nodiscard]] Status open(BEffIoTimes& times) {
    const OpenRequest request = open_request();
    const std::int64_t begun = now_ns();
    auto file = context_.backend->open_viewed(request, parameters_.hints_of("on_open"));
    times.open = now_ns() - begun;
    if (!file) return fail(file.error());
    file_ = std::move(*file);
    stands_at_.reset();
    return {};
  }

  /// Collective: the pointers of all ranks go to where the pattern begins, and its hints are given.
  [[nodiscard]] Status set_out(const BEffIoTask& task, BEffIoTimes& times) {
    const BEffIoPlace place = place_of(task);
    const Map hints = parameters_.hints_of(task.pattern.hint_chunk());
    Status status;
    const std::int64_t begun = now_ns();
    if (shape_.has_strided_view() || stands_at_ != place.displacement_bytes)
      status = file_->set_view(place.view(), hints);
    else if (!hints.empty())
      status = file_->set_hints(hints);
    times.view = now_ns() - begun;
    return status;
  }

  [[nodiscard]] Status close(BEffIoTimes& times) {
    if (!file_) return {};
    const std::int64_t begun = now_ns();
    const Status status = file_->close();
    times.close = now_ns() - begun;
    file_.reset();
    return status;
  }

  /// After a pattern, before the next one's set_out().
  void finished(const BEffIoTask& task, const BEffIoDone& done) {
    const BEffIoPlace place = place_of(task);
    const std::uint64_t end = place.displacement_bytes + place.extent_bytes(done.least);
    stands_at_ = done.least == done.most ? std::optional(end) : std::nullopt;
    ends_at_ = end;
    took_s_ += done.took_s;
    BEffIoMade& made = dataset_.patterns[task.pattern.number];
    if (parameters_.access == BEffIoAccess::write) {
      made = {done.least, place.displacement_bytes, 0, 0};
    } else if (parameters_.access == BEffIoAccess::rewrite) {
      made.rewritten = done.least;
      made.rewritten_by_some = done.most;
    }
  }

  /// Collective: what is cached of the dataset is dropped, where parameters want it.
  [[nodiscard]] Status control_cache() const {
    Status status;
    const bool drops = parameters_.cache == AdviseCache::advise && holds_data();
    if (drops && (entry_.per_process || context_.world->topology().leader()))
      status = context_.backend->drop_cached(file_name());
    everyone().barrier();
    return status;
  }

  [[nodiscard]] const std::vector<BEffIoTask>& tasks() const { return tasks_; }
  [[nodiscard]] const BEffIoParameters& parameters() const { return parameters_; }
  [[nodiscard]] const StorageContext& context() const { return context_; }
  [[nodiscard]] const mpi::Comm& everyone() const { return context_.world->all(); }
  [[nodiscard]] ViewedFile* file() const { return file_.get(); }
  [[nodiscard]] std::string file_name() const { return entry_.file_name(entry_.per_process ? shape_.rank : 0); }
  [[nodiscard]] bool holds_data() const { return context_.backend->capabilities().data; }

  [[nodiscard]] BEffIoPlace place_of(const BEffIoTask& task) const {
    const std::uint64_t displacement = has_fixed_places() ? task.made.displacement_bytes : ends_at_;
    const std::uint64_t call_bytes =
        b_eff_io_call_bytes(task.pattern, parameters_.lmax_bytes, displacement, shape_.segment_bytes);
    const std::uint64_t chunk_bytes =
        task.pattern.size == BEffIoSize::fill_up ? call_bytes : task.pattern.chunk_bytes(parameters_.lmax_bytes);
    return {shape_, displacement, chunk_bytes, call_bytes};
  }

  [[nodiscard]] BEffIoContents contents_of(const BEffIoTask& task) const {
    return {dataset_.key, task.pattern.number, place_of(task).call_bytes,
            shape_.rank,  task.made.rewritten, task.made.rewritten_by_some};
  }

  /// Returns what a pattern of fixed repetitions may take; infinite: any time.
  [[nodiscard]] double allowance_s(const BEffIoTask& task) const {
    if (parameters_.overtime == 0) return std::numeric_limits<double>::infinity();
    return parameters_.overtime * task.scheduled_until_s - took_s_;
  }

  [[nodiscard]] Map hints_given(const BEffIoTask& task) const {
    Map hints = context_.backend->hints_given();
    for (const auto& [key, value] : parameters_.hints_of("on_open")) hints[key] = value;
    for (const auto& [key, value] : parameters_.hints_of(task.pattern.hint_chunk())) hints[key] = value;
    return hints;
  }

 private:
  [[nodiscard]] OpenRequest open_request() const {
    return {.name = file_name(),
            .mode = parameters_.access == BEffIoAccess::write     ? OpenMode::create
                    : parameters_.access == BEffIoAccess::rewrite ? OpenMode::overwrite
                                                                  : OpenMode::read,
            .shared = !entry_.per_process,
            .expected_bytes = is_segmented(parameters_.type) ? shape_.segment_bytes * shape_.ranks : 0,
            .unique = parameters_.unique_open};
  }

  [[nodiscard]] bool makes_files() const {
    return parameters_.access == BEffIoAccess::write && holds_data() && context_.folder != nullptr;
  }
  [[nodiscard]] bool has_fixed_places() const { return !parameters_.is_time_driven(); }

  [[nodiscard]] Status find_tasks() {
    if (parameters_.access != BEffIoAccess::write) return find_made();
    if (is_segmented(parameters_.type)) return find_segment();
    for (const BEffIoPattern& pattern : b_eff_io_patterns(parameters_.type))
      add_task(pattern, pattern.units == 0 ? std::optional<std::uint64_t>(1) : std::nullopt, {});
    return {};
  }

  [[nodiscard]] Status find_made() {
    const auto facts = facts_of_dataset(context_, b_eff_io_layout(parameters_, context_.world->size()));
    if (!facts) return fail(facts.error());
    dataset_ = BEffIoDataset::from(*facts);
    shape_.segment_bytes = dataset_.segment_bytes;
    for (const BEffIoPattern& pattern : b_eff_io_patterns(parameters_.type))
      if (const auto made = dataset_.patterns.find(pattern.number); made != dataset_.patterns.end())
        add_task(pattern, made->second.count, made->second);
    return {};
  }

  /// A pattern that is skipped leaves its part of the segment empty.
  [[nodiscard]] Status find_segment() {
    const auto made = b_eff_io_first_writes(*context_.datasets, parameters_, context_.world->size());
    if (!made) return fail(made.error());
    BEffIoCounts most;
    for (const BEffIoPattern& pattern : b_eff_io_patterns(parameters_.type))
      most[pattern.size] = b_eff_io_most_calls(pattern, parameters_.lmax_bytes, shape_.ranks, parameters_.most_bytes);
    const BEffIoSegment segment = b_eff_io_segment(parameters_.lmax_bytes, *made, most);
    shape_.segment_bytes = dataset_.segment_bytes = segment.bytes;
    std::uint64_t displacement = 0;
    for (const BEffIoPattern& pattern : b_eff_io_patterns(parameters_.type)) {
      const std::uint64_t count = segment.counts.at(pattern.size);
      if (count > 0) add_task(pattern, count, {count, displacement, 0, 0});
      displacement += count * b_eff_io_call_bytes(pattern, parameters_.lmax_bytes, displacement, segment.bytes);
    }
    return {};
  }

  void add_task(const BEffIoPattern& pattern, std::optional<std::uint64_t> wanted, const BEffIoMade& made) {
    if (parameters_.skips(pattern.number)) return;
    const double before_s = tasks_.empty() ? 0 : tasks_.back().scheduled_until_s;
    tasks_.push_back({pattern, wanted, made, before_s + pattern.units * parameters_.unit_s});
  }

  [[nodiscard]] Status enter() const {
    return context_.datasets->enter(context_.dataset,
                                    dataset_.facts(b_eff_io_layout(parameters_, context_.world->size())));
  }

  BEffIoParameters parameters_;
  StorageContext context_;
  DatasetEntry entry_;
  BEffIoFileShape shape_;
  BEffIoDataset dataset_;
  std::vector<BEffIoTask> tasks_;
  std::unique_ptr<ViewedFile> file_;
  std::optional<std::uint64_t> stands_at_;  // where every rank's pointer is, as BEffIoPlace counts
  std::uint64_t ends_at_ = 0;               // of what was written so far
  double took_s_ = 0;                       // accounted, of the patterns so far
};

[[nodiscard]] std::unique_ptr<PhaseWork> make_b_eff_io_phase(BEffIoRun& run, std::size_t index);

}  // namespace ullage
