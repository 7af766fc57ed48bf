// SPDX-License-Identifier: Apache-2.0
// One phase of workload `mixed-metadata` on one rank: sets are filled, worked on, or emptied.
#pragma once

#include <cmath>
#include <cstring>
#include <thread>

#include "base/count.hpp"
#include "base/resources.hpp"
#include "storage/pacer.hpp"
#include "storage/workloads/metadata/batch.hpp"
#include "storage/workloads/metadata/mixed_metadata.hpp"
#include "storage/workloads/metadata/mixed_pattern.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

/// Holds what every phase of a repetition shares on this rank. The sets of all ranks are alike: `objects` files from
/// number `first` on.
struct MixedMetadataState {
  const MixedMetadataParameters* parameters = nullptr;
  const StorageContext* context = nullptr;
  TreeShape tree;
  DatasetEntry dataset;
  std::uint64_t data_key = 0;  // of this dataset
  std::uint64_t first = 0;
  std::uint64_t benches = 0;  // done on this dataset
  bool has_sets = false;
};

inline constexpr std::uint64_t most_mixed_items_a_batch = 1024;
inline constexpr std::uint64_t most_mixed_data_a_batch = std::uint64_t{4} << 20;
inline constexpr std::size_t parts_of_a_call = 3;                       // open, write or read, close
inline constexpr std::int64_t longest_unheeding_pause_ns = 50'000'000;  // between looks at the stop flag

inline MetadataOperation operation_of(MixedMetadataShape::Kind kind) {
  switch (kind) {
    case MixedMetadataShape::stat:
      return MetadataOperation::stat;
    case MixedMetadataShape::read:
      return MetadataOperation::read;
    case MixedMetadataShape::remove:
      return MetadataOperation::unlink;
    case MixedMetadataShape::create:
    case MixedMetadataShape::kinds:
      break;
  }
  return MetadataOperation::create;
}

inline PayloadSpec payload_spec(const MixedMetadataState& state) {
  return {.run_key = state.data_key,
          .transfer_bytes = round_up(std::max<std::uint64_t>(state.parameters->object_bytes, 8), std::uint64_t{8})};
}

class MixedMetadataPhase final : public PhaseWork {
 public:
  MixedMetadataPhase(MixedMetadataState& state, MixedMetadataPhaseKind kind)
      : state_(state),
        kind_(kind),
        pattern_(state.parameters->shape(), static_cast<std::uint64_t>(state.context->world->rank())),
        payload_(payload_spec(state)) {
    calls_.use_parts(parts_of_a_call);
    calls_.use_histogram(false);
    const mpi::World& world = *state_.context->world;
    const mpi::Topology& topology = world.topology();
    source_ = static_cast<std::uint64_t>(world.rank());
    by_node_ = topology.nodes > 1 && topology.most_ranks_on_a_node * topology.nodes == world.size();
    circle_ = static_cast<std::uint64_t>(by_node_ ? topology.nodes : world.size());
    if (benches() && parameters().stride % circle_ != 0) data_of_ = by_node_ ? "other-node" : "other-rank";
  }

  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info{.name = word_of(kind_), .access = Access::metadata, .clock_stops = true};
    if (kind_ == MixedMetadataPhaseKind::precreate && parameters().object_bytes > 0) info.access = Access::write;
    if (kind_ == MixedMetadataPhaseKind::precreate) info.parts = parts_of(MetadataOperation::create);
    if (!benches()) return info;
    info.parts = {"stat", "read", "delete", "create"};
    tell_wall(parameters(), info);
    info.data_of = data_of_;
    if (parameters().stride > 0 && data_of_ != "other-node")
      info.notices.push_back({data_of_ == "own" ? "read-back-own" : "read-back-same-node",
                              data_of_ == "own"
                                  ? "bench: every rank works on its own objects, since there are no others"
                                  : "bench: ranks work on objects of other ranks of the same node",
                              "the caches of this node hold them; use more nodes"});
    return info;
  }

  [[nodiscard]] Status before() override {
    find_source();
    if (auto status = take_into(api_, state_.context->backend->make_metadata()); !status) return status;
    batch_ = std::make_unique<MetadataBatch>(*api_, state_.dataset.directory);
    const mpi::Topology& topology = state_.context->world->topology();
    if (benches() && parameters().waiting_factor > 0)
      pacer_.emplace(topology.ranks_on_node <= static_cast<int>(std::thread::hardware_concurrency()));
    if (kind_ != MixedMetadataPhaseKind::precreate) return {};
    for (std::uint64_t i = 0; i <= parameters().sets; ++i) {
      const std::string path = state_.dataset.directory + "/" + state_.tree.directory_path(source_, i);
      if (auto status = state_.context->backend->make_directory(path); !status) return status;
    }
    return {};
  }

  [[nodiscard]] std::uint64_t operations() const override {
    return benches() ? parameters().rounds * pattern_.operations_a_round() : parameters().sets * parameters().objects;
  }

  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override {
    check_batch();
    const std::size_t needed = batch_size() * slot_bytes();
    AlignedBuffer& buffer = *state_.context->buffer;
    if (buffer.size() < needed) buffer = AlignedBuffer(needed);
    batch_->clear();
    steps_.clear();
    prepared_ = {};
    const std::uint64_t count = std::min(most, batch_size());
    std::optional<MixedMetadataPattern::Walk> walk;
    if (benches()) walk.emplace(pattern_, first);
    std::uint64_t done = 0;
    for (; done < count && prepared_ && (done == 0 || !batch_->full()); ++done)
      prepared_ = add(walk ? walk->next() : step_at(first + done));
    return done;
  }

  [[nodiscard]] Status open() override {
    calls_.start(now_ns());
    return {};
  }

  [[nodiscard]] Status execute(Meter& meter) override {
    if (!prepared_) return prepared_;
    if (benches()) return bench(meter);
    return api_->perform(operation_of(step_at(0).kind), batch_->items(), false, meter);
  }

  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override {
    progress.start(now_ns());
    const Status checked = catch_resource_errors([this] -> Status {
      check_batch();
      return {};
    });
    if (!checked && !verification_.first) verification_.first = checked.error();
    state_.has_sets = kind_ != MixedMetadataPhaseKind::cleanup;
    if (!benches()) return verification_;
    if (const Status settled = settle(executed, progress); !settled && !verification_.first)
      verification_.first = settled.error();
    ++state_.benches;
    return verification_;
  }

  [[nodiscard]] Counters counters() const override {
    if (!benches()) return {};
    return {{"stats", done_[MixedMetadataShape::stat]},
            {"reads", done_[MixedMetadataShape::read]},
            {"deletes", done_[MixedMetadataShape::remove]},
            {"creates", done_[MixedMetadataShape::create]}};
  }

  void add_facts(nlohmann::json& facts) const override {
    if (!benches()) add_new_file_cost(*state_.context, state_.dataset, facts);
  }

 private:
  using Kind = MixedMetadataShape::Kind;
  using Step = MixedMetadataPattern::Step;
  [[nodiscard]] const MixedMetadataParameters& parameters() const { return *state_.parameters; }
  [[nodiscard]] bool benches() const { return kind_ == MixedMetadataPhaseKind::bench; }

  /// Sets have one worker each, so whose they are must be a permutation of the ranks: by true topology where every node
  /// has the same number of them, else by rank. What is in the sets was made by the worker of the bench before.
  void find_source() {
    if (!benches() || parameters().stride == 0) return;
    const std::uint64_t places = parameters().stride * (state_.benches + 1);
    if (by_node_)
      source_ =
          static_cast<std::uint64_t>(state_.context->world->rank_on_other_node(static_cast<int>(places % circle_)));
    else
      source_ = (source_ + places) % circle_;
  }

  [[nodiscard]] std::uint64_t batch_size() const {
    return std::clamp<std::uint64_t>(most_mixed_data_a_batch / slot_bytes(), 1, most_mixed_items_a_batch);
  }

  [[nodiscard]] std::size_t slot_bytes() const { return payload_spec(state_).transfer_bytes; }

  [[nodiscard]] std::span<std::byte> slot(std::size_t index) {
    return state_.context->buffer->bytes().subspan(index * slot_bytes(), slot_bytes());
  }

  [[nodiscard]] std::string directory_of(std::uint64_t set) const {
    return state_.tree.directory_path(source_, state_.tree.first_holding() + set);
  }

  /// The step of a phase that fills or empties one set after the other.
  [[nodiscard]] Step step_at(std::uint64_t operation) const {
    return {kind_ == MixedMetadataPhaseKind::precreate ? MixedMetadataShape::create : MixedMetadataShape::remove,
            operation / parameters().objects, operation % parameters().objects};
  }

  /// Read buffers are poisoned, since an object may be read into the one it was made from.
  [[nodiscard]] Status add(const Step& step) {
    const auto directory = batch_->directory(directory_of(step.set));
    if (!directory) return fail(directory.error());
    std::span<std::byte> data;
    if (step.kind == MixedMetadataShape::read || step.kind == MixedMetadataShape::create) {
      const std::span<std::byte> whole = slot(steps_.size());
      if (step.kind == MixedMetadataShape::create)
        payload_.fill(whole, source_, offset_of(step));
      else
        Payload::poison(whole);
      data = whole.first(parameters().object_bytes);
    }
    batch_->add(*directory, state_.tree.item_name(source_, state_.first + step.object), "", data);
    steps_.push_back(step);
    return {};
  }

  /// Returns where its contents lie, as the payload counts. No number comes twice in a set, so no two objects of a rank
  /// are the same.
  [[nodiscard]] std::uint64_t offset_of(const Step& step) const {
    return ((state_.first + step.object) * parameters().sets + step.set) * slot_bytes();
  }

  /// One operation at a time, since each kind has a histogram of its own.
  [[nodiscard]] Status bench(Meter& meter) {
    const std::span<const MetadataItem> items = batch_->items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Kind kind = steps_[i].kind;
      const std::int64_t begun_ns = meter.last_ns();
      calls_.resume(begun_ns);
      if (auto status = api_->perform(operation_of(kind), items.subspan(i, 1), false, calls_); !status) return status;
      const bool goes_on = meter.completed(items[i].bytes);
      meter.add_part(kind, meter.last_ns() - begun_ns);
      ++done_.at(kind);
      ++batch_done_;
      if (goes_on && pacer_) pause(meter.last_ns() - begun_ns, meter);
      if (!meter.goes_on()) break;
    }
    return {};
  }

  void pause(std::int64_t took_ns, Meter& meter) const {
    const std::int64_t until_ns =
        meter.last_ns() + std::llround(parameters().waiting_factor * static_cast<double>(took_ns));
    while (meter.last_ns() < until_ns && meter.goes_on()) {
      pacer_->wait_until(std::min(until_ns, meter.last_ns() + longest_unheeding_pause_ns));
      meter.resume(now_ns());
    }
  }

  void check_batch() {
    const bool checks = parameters().verify == Verify::full && parameters().object_bytes > 0;
    for (std::size_t i = 0; checks && i < batch_done_; ++i)
      if (steps_[i].kind == MixedMetadataShape::read) check(steps_[i], slot(i).first(parameters().object_bytes));
    batch_done_ = 0;
  }

  /// The payload knows whole transfers: an object is one, but for the last bytes that make it a multiple of 8.
  void check(const Step& step, std::span<const std::byte> found) {
    expected_.resize(slot_bytes());
    payload_.fill(expected_, source_, offset_of(step));
    verification_.verified_bytes += found.size();
    if (std::memcmp(expected_.data(), found.data(), found.size()) == 0) return;
    std::ranges::copy(found, expected_.begin());
    const Payload::Check check = payload_.check(expected_, source_, offset_of(step));
    verification_.bad_blocks += check.bad_blocks;
    if (!verification_.first) verification_.first = wrong_object(step, *check.first);
  }

  [[nodiscard]] Error wrong_object(const Step& step, Mismatch mismatch) const {
    mismatch.offset_bytes -= offset_of(step);
    const std::string name = state_.dataset.directory + "/" + directory_of(step.set) + "/" +
                             state_.tree.item_name(source_, state_.first + step.object);
    return wrong_data(*state_.context, name, mismatch);
  }

  /// A stonewall stops ranks at different places, even in the middle of a visit. The sets go on to the end of the
  /// furthest rank's round, so that they are the same for all again; no more is made than the sets hold.
  [[nodiscard]] Status settle(std::uint64_t executed, Meter& progress) {
    const auto most = static_cast<std::uint64_t>(state_.context->world->all().max(static_cast<std::int64_t>(executed)));
    const std::uint64_t rounds = (most + pattern_.operations_a_round() - 1) / pattern_.operations_a_round();
    const std::uint64_t first = pattern_.live(0, rounds * pattern_.operations_a_round()).first;
    Status status;
    for (std::uint64_t set = 0; set < parameters().sets; ++set) {
      const MixedMetadataPattern::Live live = pattern_.live(set, executed);
      for (std::uint64_t i = live.first; status && i < std::min(live.next, first); ++i)
        status = settle_one({MixedMetadataShape::remove, set, i}, progress);
      for (std::uint64_t i = std::max(live.next, first); status && i < first + parameters().objects; ++i)
        status = settle_one({MixedMetadataShape::create, set, i}, progress);
    }
    state_.first += first;
    return status;
  }

  [[nodiscard]] Status settle_one(const Step& step, Meter& progress) {
    batch_->clear();
    steps_.clear();
    if (auto status = add(step); !status) return status;
    (void)progress.completed(0);
    return api_->perform(operation_of(step.kind), batch_->items(), false, calls_);
  }

  MixedMetadataState& state_;
  MixedMetadataPhaseKind kind_;
  std::uint64_t source_ = 0;  // the rank whose sets this phase works on; from before() on
  bool by_node_ = false;      // ranks move on from node to node, and else from rank to rank
  std::uint64_t circle_ = 1;  // so many of them
  std::string data_of_ = "own";
  MixedMetadataPattern pattern_;
  Payload payload_;
  std::unique_ptr<MetadataApi> api_;
  std::unique_ptr<MetadataBatch> batch_;
  std::optional<Pacer> pacer_;
  Status prepared_;  // what went wrong while a batch was made ready: execute() returns it
  std::vector<Step> steps_;
  std::uint64_t batch_done_ = 0;
  std::array<std::uint64_t, MixedMetadataShape::kinds> done_{};
  Meter calls_;  // of single operations, whose parts are not this phase's parts
  std::vector<std::byte> expected_;
  Verification verification_;
};

}  // namespace ullage
