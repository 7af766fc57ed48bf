// SPDX-License-Identifier: Apache-2.0
// Workload `stepfile`: a simulation that keeps its state at every step, and an adjoint that needs the states again,
// mostly in reverse.
#include "storage/workloads/stepfile/stepfile.hpp"

#include "storage/workloads/stepfile/phase.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

Table<StepfileParameters> states() {
  using P = StepfileParameters;
  return {
      count("steps", &P::steps, {1, 1e9}, "Compute this many steps forward and as many in the adjoint."),
      bytes("state_bytes", &P::state_bytes, {8, 1e12}, "Let the state of a rank at a step take this many bytes."),
      choice("order", &P::order,
             {{StepOrderKind::reverse, "reverse"},
              {StepOrderKind::forward, "forward"},
              {StepOrderKind::stride, "stride"},
              {StepOrderKind::revolve, "revolve"}},
             "Choose the order in which the adjoint needs the states. With revolve only some are kept, and the others "
             "are computed again from them."),
      count("stride", &P::stride, {1, 1e9}, "With order stride, read the states so many steps apart."),
      count("checkpoints", &P::checkpoints, {1, 1e9}, "With order revolve, keep so many states of a rank at once."),
      choice("layout", &P::layout,
             "Choose where the states lie: each in a file, in directories as the word says, or all of a rank in one "
             "log with an index."),
      count("hash_levels", &P::hash_levels, {1, StepShape::most_levels},
            "With layout hashed, make so many levels of directories, 16 in each."),
  };
}

Table<StepfileParameters> step_conditions() {
  using P = StepfileParameters;
  constexpr double most = StepfileParameters::most_depth;
  return {
      seconds("compute_s", &P::compute_s, {0, 3600}, "Compute for this long at each step; 0 means no computation."),
      number("jitter", &P::jitter, {0, 1}, "Vary the computation evenly by up to this share, up and down."),
      number("imbalance", &P::imbalance, {0, 100}, "Let the last rank compute longer than the first by this share."),
      count("write_behind", &P::write_behind, {0, most},
            "In the forward phase, let threads write up to this many states while the rank computes."),
      count("prefetch", &P::prefetch, {0, most},
            "In the adjoint phase, let threads read up to this many states ahead of the one in use."),
      choice("sync", &P::sync,
             {{StepSync::none, "none"},
              {StepSync::close, "close"},
              {StepSync::fsync, "fsync"},
              {StepSync::every, "every"}},
             "Choose what is synced: nothing, everything once at the end of the forward phase (close), each state "
             "(fsync), or one state in several (every)."),
      count("sync_every", &P::sync_every, {1, 1e9}, "With sync every, sync one state in this many."),
      flag("remove_read", &P::remove_read, "Remove the file of a state when the adjoint has read it."),
      choice("cache", &P::cache,
             "Choose what to do before the adjoint phase: nothing (none), or drop the states from the node's page "
             "cache (drop)."),
      choice("verify", &P::verify, nothing_or_all(), "Choose what to verify of the states read: nothing, or all."),
  };
}

Status check_depths(const StepfileParameters& p, const Capabilities& capabilities, const std::string& pointer) {
  const std::array<std::pair<const char*, std::uint64_t>, 2> depths{
      {{"/write_behind", p.write_behind}, {"/prefetch", p.prefetch}}};
  for (const auto& [name, depth] : depths) {
    if (depth == 0) continue;
    if (p.revolves())
      return fail(bad_plan(pointer + name, "must be 0 with order revolve: what is read next has yet to be written"));
    if (capabilities.file_threads == 0)
      return fail(bad_plan(pointer + name, "must be 0: only the rank's own thread may use files of this backend"));
    if (p.in_log() && capabilities.thread_files)
      return fail(bad_plan(pointer + name, "must be 0: a log of this backend is used by the thread that opened it"));
  }
  return {};
}

class Stepfile final : public Workload {
 public:
  Stepfile(const StepfileParameters& parameters, const StorageContext& context)
      : parameters_(parameters), context_(context) {
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.capabilities = context.backend->capabilities();
    state_.dataset = dataset_of(context);
    state_.dataset.steps = parameters_.shape(static_cast<std::uint64_t>(context.world->size()));
    tiers_.emplace(context_, parameters_.kept(), parameters_.state_bytes);
    state_.tiers = &*tiers_;
    state_.turnaround = &turnaround_;
    if (parameters_.revolves()) revolve_.emplace(parameters_.steps, parameters_.kept());
  }

  [[nodiscard]] LocalSteps begin() override {
    LocalSteps steps{{"check alignment", [this] { return check_alignment(); }},
                     {"check room", [this] { return tiers_->check_room(); }}};
    for (std::size_t tier = 0; makes_tree(context_) && tier < tiers_->size(); ++tier)
      append(steps, steps_at(tiers_->at(tier)));
    return steps;
  }

  [[nodiscard]] std::size_t phases() const override { return 2; }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    RevolveState* const revolve = revolve_ ? &*revolve_ : nullptr;
    if (index == 0) return make_forward_phase(state_, revolve);
    return make_adjoint_phase(state_, revolve);
  }

  [[nodiscard]] LocalSteps end(bool whole) override {
    if (!makes_tree(context_) || (context_.keep && whole)) return {};
    LocalSteps steps;
    for (std::size_t tier = 0; tier < tiers_->size(); ++tier)
      append(steps, steps_to_remove_tree(tiers_->at(tier), state_.dataset));
    return steps;
  }

 private:
  [[nodiscard]] LocalSteps steps_at(const StorageContext& where) const {
    LocalSteps steps = steps_to_make_tree(where, state_.dataset);
    std::uint64_t first = 0;
    for (const std::uint64_t end : state_.shape().directory_ends()) {
      steps.push_back({"make directories", [this, &where, first, end] { return make_directories(where, first, end); }});
      first = end;
    }
    return steps;
  }

  /// A wrong size is refused, not rounded.
  [[nodiscard]] Status check_alignment() const {
    for (std::size_t tier = 0; tier < tiers_->size(); ++tier)
      if (auto status =
              check_direct_size("state_bytes", parameters_.state_bytes, tiers_->at(tier).backend->capabilities());
          !status)
        return status;
    return {};
  }

  /// A rank makes its own directory; others are dealt out to the ranks that share the folder.
  [[nodiscard]] Status make_directories(const StorageContext& where, std::uint64_t first, std::uint64_t end) const {
    const bool own = parameters_.layout == StepLayout::dir_per_rank;
    const std::uint64_t parts = own ? end : static_cast<std::uint64_t>(where.parts);
    const auto part = own ? state_.rank() : static_cast<std::uint64_t>(where.part);
    for (std::uint64_t index = first + part; index < end; index += parts) {
      const std::string name = state_.dataset.directory + "/" + state_.shape().directory_path(index);
      if (auto status = where.backend->make_directory(name); !status) return status;
    }
    return {};
  }

  StepfileParameters parameters_;
  StorageContext context_;
  StepfileState state_;
  std::optional<StepTiers> tiers_;
  Turnaround turnaround_;
  std::optional<RevolveState> revolve_;
};

const Registered<WorkloadEntry> registered_stepfile{on_storage<StepfileParameters>({
    .name = "stepfile",
    .doc = "Keeps the state of a simulation at every step and reads the states again for its adjoint, "
           "with computation in between.",
    .check = on_any_layout(check_stepfile),
    .needs = needs_of_stepfile,
    .make = workload_of<Stepfile>,
    .check_spill =
        [](const StepfileParameters& p, const std::string& pointer) {
          if (!p.in_log()) return Status{};
          return Status{fail(bad_plan(pointer + "/spill", "must be empty: with layout log a rank has one file"))};
        },
})};

}  // namespace

Table<StepfileParameters> StepfileParameters::table() {
  return joined<StepfileParameters>(states(), step_conditions());
}

Status check_stepfile(const StepfileParameters& p, const Capabilities& capabilities, const std::string& pointer) {
  if (p.state_bytes % 8 != 0) return fail(bad_plan(pointer + "/state_bytes", "must be a multiple of 8"));
  if (auto status = check_depths(p, capabilities, pointer); !status) return status;
  if (p.revolves() && p.in_log())
    return fail(bad_plan(pointer + "/layout", "must not be log: order revolve overwrites states"));
  if (p.remove_read && (p.revolves() || p.in_log()))
    return fail(bad_plan(pointer + "/remove_read", "needs a file for each state, which this order or layout has not"));
  if (p.remove_read && !capabilities.path)
    return fail(bad_plan(pointer + "/remove_read", "needs a backend whose files have names"));
  if (p.verify == Verify::full && !capabilities.data)
    return fail(bad_plan(pointer + "/verify", "must be none: this backend holds no data"));
  if (p.sync == StepSync::close && !p.in_log() && !capabilities.metadata)
    return fail(bad_plan(pointer + "/sync", "close needs layout log, or a backend with metadata operations"));
  if (p.shape(1).directory_count() > StepShape::most_directories)
    return fail(bad_plan(pointer + "/steps", "with this layout make more than " +
                                                 std::to_string(StepShape::most_directories) + " directories"));
  return {};
}

Needs needs_of_stepfile(const StepfileParameters& p, const PlannedLayout& layout) {
  const StepShape shape = p.shape(static_cast<std::uint64_t>(layout.ranks));
  const Count states = Count(shape.steps) * in_blocks(p.state_bytes);
  const Count log = p.in_log() ? LogIndex::bytes(p.steps, 4096) : 0;
  return {(states + log) * shape.ranks, Count(shape.file_count()) + shape.directory_count(), 1};
}

}  // namespace ullage
