// SPDX-License-Identifier: Apache-2.0
// Workload `overlap`: how much of the I/O of a computing program is hidden, and what that costs the computation.
#include "storage/workloads/overlap/overlap.hpp"

#include "storage/workloads/overlap/phase.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t most_stretch_bytes = std::uint64_t{16} << 30;  // a rank holds a stretch in memory

Table<OverlapParameters> overlap_sizes() {
  using P = OverlapParameters;
  return {
      choice("method", &P::method, {{OverlapMethod::threads, "threads"}, {OverlapMethod::nonblocking, "nonblocking"}},
             "Choose who moves the data while a rank computes: threads (helper threads with blocking calls), or "
             "nonblocking (calls that only begin a transfer)."),
      bytes("transfer_bytes", &P::transfer_bytes, {8, 1 << 30}, "Move this many bytes in each transfer."),
      count("depth", &P::depth, {1, P::most_depth},
            "Begin this many transfers before a computation, and wait for all of them after it. Method threads has as "
            "many helper threads."),
      count("batches", &P::batches, {1, 1e6},
            "Do this many batches in a stretch. A batch is the transfers, the computation and the wait."),
      count("rounds", &P::rounds, {1, 1000},
            "Measure each stretch this many times: I/O alone, computation alone, both at once, one after the other."),
      count("tests", &P::tests, {0, 1e6},
            "With method nonblocking, ask this many times during each computation whether the transfers have ended, so "
            "that a library may move them on."),
  };
}

Table<OverlapParameters> overlap_conditions() {
  using P = OverlapParameters;
  return {
      number("computation", &P::computation, {0.001, 1000},
             "Let the computation of a batch last this many times as long as its I/O, by a measurement before."),
      count("blocks", &P::blocks, {0, 1e15},
            "Let the computation of a batch have this many blocks of 16 additions. 0: as many as computation says."),
      flag("read", &P::read, "Read the data again, with the same stretches."),
      flag("sync", &P::sync, "Sync the file after all stretches of the write; it is in none of their times."),
      choice("cache", &P::cache, "Before the read, drop the file from the page cache, or do nothing."),
      choice("verify", &P::verify, nothing_or_all(),
             "Choose what to verify after each stretch of the read, outside of its time: nothing, or all."),
  };
}

/// Files are opened by the rank's own thread. How many other threads may use them.
int helpers_served(const Capabilities& capabilities) {
  return capabilities.thread_files ? 0 : capabilities.file_threads;
}

/// Why this backend cannot do what the method says; nothing where it can.
std::string why_not(const OverlapParameters& p, const Capabilities& capabilities) {
  const bool by_threads = p.method == OverlapMethod::threads;
  if ((by_threads ? helpers_served(capabilities) : capabilities.nonblocking) > 0) return {};
  const bool is_other_served = (by_threads ? capabilities.nonblocking : helpers_served(capabilities)) > 0;
  const std::string why = by_threads ? "only the rank's own thread may use files of this backend"
                                     : "this backend has no call that only begins a transfer";
  return is_other_served ? std::string("must be ") + (by_threads ? "nonblocking: " : "threads: ") + why
                         : why + ", and no other way to move data while its rank computes";
}

Status check_depth(const OverlapParameters& p, const Capabilities& capabilities, const std::string& pointer) {
  const bool by_threads = p.method == OverlapMethod::threads;
  const auto served = static_cast<std::uint64_t>(by_threads ? helpers_served(capabilities) : capabilities.nonblocking);
  const std::uint64_t most = by_threads ? std::min(served, OverlapParameters::most_helpers) : served;
  if (p.depth <= most) return {};
  return fail(
      bad_plan(pointer + "/depth", "must be at most " + std::to_string(most) + " with this method and backend"));
}

class Overlap final : public Workload {
 public:
  Overlap(const OverlapParameters& parameters, const StorageContext& context)
      : parameters_(parameters), context_(context) {
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.capabilities = context.backend->capabilities();
    state_.dataset = dataset_of(context, static_cast<std::uint64_t>(context.world->size()));
  }

  [[nodiscard]] LocalSteps begin() override {
    // The plan could not be checked for a backend that wraps another one.
    LocalSteps steps{{"check method", [this] { return check_overlap(parameters_, state_.capabilities, ""); }},
                     {"check alignment", [this] {
                        return check_direct_size("transfer_bytes", parameters_.transfer_bytes, state_.capabilities);
                      }}};
    if (makes_files())
      append(steps, steps_to_make_tree(context_, state_.dataset));
    else if (state_.capabilities.data)
      steps.push_back(step_to_make_directory(context_, state_.dataset));
    return steps;
  }

  [[nodiscard]] std::size_t phases() const override { return parameters_.read ? 2 : 1; }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    return std::make_unique<OverlapPhase>(state_, index == 0 ? Direction::write : Direction::read);
  }

  [[nodiscard]] LocalSteps end(bool whole) override {
    if (!state_.capabilities.data || (context_.keep && whole)) return {};
    if (makes_files()) return steps_to_remove_tree(context_, state_.dataset);
    return {{"remove own file", [this] { return context_.backend->remove_file(state_.file_name()); }},
            step_to_remove_directory(context_, state_.dataset)};
  }

 private:
  /// Else a backend holds the data where no manifest can list it, or none at all.
  [[nodiscard]] bool makes_files() const { return state_.capabilities.path && makes_tree(context_); }

  OverlapParameters parameters_;
  StorageContext context_;
  OverlapState state_;
};

const Registered<WorkloadEntry> registered_overlap{on_storage<OverlapParameters>({
    .name = "overlap",
    .doc = "Moves data while the rank computes, by helper threads or by calls that only begin a "
           "transfer, and measures both alone.",
    .check = on_any_layout(check_overlap),
    .needs = needs_of_overlap,
    .make = workload_of<Overlap>,
})};

}  // namespace

Table<OverlapParameters> OverlapParameters::table() {
  return joined<OverlapParameters>(overlap_sizes(), overlap_conditions());
}

Status check_overlap(const OverlapParameters& p, const Capabilities& capabilities, const std::string& pointer) {
  if (p.transfer_bytes % 8 != 0) return fail(bad_plan(pointer + "/transfer_bytes", "must be a multiple of 8"));
  if (const std::string why = why_not(p, capabilities); !why.empty()) return fail(bad_plan(pointer + "/method", why));
  if (auto status = check_depth(p, capabilities, pointer); !status) return status;
  if (p.tests > 0 && p.method == OverlapMethod::threads)
    return fail(bad_plan(pointer + "/tests", "must be 0: helper threads need no calls of the thread that computes"));
  if (p.verify == Verify::full && !capabilities.data)
    return fail(bad_plan(pointer + "/verify", "must be none: this backend holds no data"));
  if (p.shape().area_bytes() > most_stretch_bytes)
    return fail(bad_plan(pointer + "/batches", "with depth and transfer_bytes make a stretch of more than 16 GiB"));
  return {};
}

Needs needs_of_overlap(const OverlapParameters& parameters, const PlannedLayout& layout) {
  const auto ranks = static_cast<std::uint64_t>(layout.ranks);
  return file_needs(ranks, parameters.shape().file_bytes());
}

}  // namespace ullage
