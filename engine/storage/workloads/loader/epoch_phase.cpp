// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/loader_state.hpp"

#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/workers.hpp"
#include "storage/workloads/loader/accelerator.hpp"
#include "work/phase_work.hpp"

namespace ullage {
namespace {

/// Says where a node may read what it has written itself.
Notice same_node_notice(std::uint64_t nodes) {
  if (nodes == 1)
    return {"read-back-same-node", "there is one node: it reads what it has written itself",
            "the page cache of this node holds it unless it is dropped"};
  return {"read-back-same-node", "all accelerators share all samples, so a node also reads what it has written itself",
          "use as many accelerators on each node, on the nodes that wrote the samples"};
}

class EpochPhase final : public PhaseWork {
 public:
  /// `epoch` from 0. The totals in `state` go on with it.
  EpochPhase(LoaderState& state, std::uint64_t epoch)
      : state_(state), epoch_(epoch), account_(static_cast<std::size_t>(state.own_accelerators())) {
    const std::size_t each = SampleReader::bytes_needed(state);
    const auto own = static_cast<std::size_t>(state.own_accelerators());
    AlignedBuffer& buffer = *state.context->buffer;
    if (buffer.size() < each * own) buffer = AlignedBuffer(each * own);
    for (std::size_t i = 0; i < own; ++i) {
      const SampleOrder order(state.files, state.readers, state.number_of(i), epoch);
      accelerators_.push_back(
          std::make_unique<Accelerator>(state, order, buffer.bytes().subspan(i * each, each), account_));
    }
  }

  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info{.name = "epoch-" + std::to_string(epoch_ + 1),
                   .access = Access::read,
                   .bytes_at_once = SampleReader::bytes_needed(state_) * accelerators_.size(),
                   .cache_control = state_.capabilities.direct ? "direct"
                                    : drops()                  ? "advise"
                                                               : "none",
                   .parts = TrainingAccount::part_names()};
    if (!state_.capabilities.data) return info;
    info.data_of = state_.readers.by_node ? "other-node" : "own";
    if (!state_.readers.by_node && epoch_ == 0)
      info.notices.push_back(same_node_notice(static_cast<std::uint64_t>(state_.context->world->topology().nodes)));
    return info;
  }

  [[nodiscard]] Status before() override {
    for (const auto& accelerator : accelerators_) accelerator->reader().poison();
    Status status = state_.context->backend->make_ready(state_.context->buffer->bytes(), {});
    if (drops() && !state_.capabilities.direct)
      if (const Status dropped = drop_caches(); status) status = dropped;
    for (const auto& accelerator : accelerators_)
      if (status) status = accelerator->start();
    if (!status) return status;
    return threads_.prepare(accelerators_.size(), [this](std::size_t i) -> Status {
      accelerators_[i]->work();
      return {};
    });
  }

  [[nodiscard]] std::uint64_t operations() const override {
    std::uint64_t steps = 0;
    for (const auto& accelerator : accelerators_) steps += accelerator->steps();
    return steps;
  }

  [[nodiscard]] Status execute(Meter& meter) override {
    account_.start(meter, now_ns());
    threads_.go();
    return account_.wait_for_all();
  }

  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override {
    state_.totals.compute_s += account_.sum().compute_s;
    state_.totals.run_s += account_.sum().run_s;
    Verification verification;
    if (parameters().verify == Verify::none || executed < operations()) return verification;
    progress.start(now_ns());
    for (const auto& accelerator : accelerators_) {
      accelerator->reader().check_kept(accelerator->samples(), verification);
      if (parameters().verify == Verify::full) check_all(*accelerator, progress, verification);
    }
    return verification;
  }

  [[nodiscard]] Counters counters() const override {
    return {{"samples", account_.samples()}, {"samples_of_own_node", account_.of_own_node()}};
  }

  /// Returns seconds of all accelerators of the rank, without their first steps; `all_` adds the epochs before this
  /// one.
  [[nodiscard]] Gauges gauges() const override {
    return {
        {"compute_s", account_.sum().compute_s},    {"run_s", account_.sum().run_s},
        {"all_compute_s", state_.totals.compute_s}, {"all_run_s", state_.totals.run_s},
        {"least_use", account_.least_use()},        {"late_s", static_cast<double>(account_.most_late_ns()) * 1e-9}};
  }

  void add_facts(Json& facts) const override {
    facts["accelerators"] = state_.accelerators();
    facts["epoch"] = epoch_ + 1;
    facts["writers_known"] = state_.own_group.has_value();
  }

  [[nodiscard]] Map hints_given() const override { return state_.context->backend->hints_given(); }
  [[nodiscard]] Map hints_granted() const override { return state_.context->backend->hints_granted(); }

 private:
  [[nodiscard]] const LoaderParameters& parameters() const { return *state_.parameters; }
  [[nodiscard]] bool drops() const { return epoch_ == 0 && parameters().cache == AdviseCache::advise; }
  /// Every node drops all files that are read, whoever wrote them: earlier repetitions have read them anywhere.
  [[nodiscard]] Status drop_caches() const {
    const mpi::Topology& place = state_.context->world->topology();
    const std::uint64_t files = state_.files.files_of(state_.readers.samples);
    const auto ranks = static_cast<std::uint64_t>(place.ranks_on_node);
    for (auto file = static_cast<std::uint64_t>(place.rank_on_node); file < files; file += ranks)
      if (auto status = state_.context->backend->drop_cached(state_.dataset.file_name(file)); !status) return status;
    return {};
  }

  void check_all(Accelerator& accelerator, Meter& progress, Verification& verification) const {
    Status status;
    for (std::uint64_t index = 0; status && index < accelerator.samples(); ++index)
      status = accelerator.reader().check_again(index, progress, verification);
    if (!status && !verification.first) verification.first = status.error();
  }

  LoaderState& state_;
  std::uint64_t epoch_;
  TrainingAccount account_;
  std::vector<std::unique_ptr<Accelerator>> accelerators_;
  Workers threads_;  // one an accelerator
};

}  // namespace

std::unique_ptr<PhaseWork> make_epoch_phase(LoaderState& state, std::uint64_t epoch) {
  return std::make_unique<EpochPhase>(state, epoch);
}

}  // namespace ullage
