// SPDX-License-Identifier: Apache-2.0
// What a folder says of a workload on cores, memory or messages, in terms of its own parameters.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "work/workload.hpp"

namespace ullage {

/// A workload that is nothing but its phase.
class SinglePhaseWorkload final : public Workload {
 public:
  using MakePhase = std::function<std::unique_ptr<PhaseWork>()>;
  explicit SinglePhaseWorkload(MakePhase make_phase) : make_phase_(std::move(make_phase)) {}

  [[nodiscard]] std::size_t phases() const override { return 1; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t) override { return make_phase_(); }

 private:
  MakePhase make_phase_;
};

// These are for `make` of a workload: all of these make one of its parameters and the context.

template <class Made>
constexpr auto workload_of = [](const auto& parameters, const WorkloadContext& context) -> std::unique_ptr<Workload> {
  return std::make_unique<Made>(parameters, context);
};

template <class Phase>
constexpr auto single_phase = [](const auto& parameters, const WorkloadContext& context) -> std::unique_ptr<Workload> {
  return std::make_unique<SinglePhaseWorkload>([=] { return std::make_unique<Phase>(parameters, context); });
};

template <class P>
[[nodiscard]] auto single_phase_by(std::unique_ptr<PhaseWork> (*make_phase)(const P&, const WorkloadContext&)) {
  return [make_phase](const P& parameters, const WorkloadContext& context) -> std::unique_ptr<Workload> {
    return std::make_unique<SinglePhaseWorkload>([=] { return make_phase(parameters, context); });
  };
}

/// A workload with parameters P, which have a static table(). It runs on backend `null` and needs no room on storage.
template <class P>
struct WithoutStorage {
  std::string name;
  std::string doc;
  std::vector<std::string> capabilities = {};  // `describe` adds that it needs no storage
  /// Checks what spans parameters, and what they ask of the number of ranks; null: nothing.
  std::function<Status(const P&, int ranks, const std::string& pointer)> check = nullptr;
  std::function<std::unique_ptr<Workload>(const P&, const WorkloadContext&)> make = nullptr;
};

/// Is for `check` of a workload that asks nothing of the number of ranks.
template <class P>
[[nodiscard]] auto on_any_ranks(Status (*check)(const P&, const std::string&)) {
  return [check](const P& parameters, int, const std::string& pointer) { return check(parameters, pointer); };
}

/// `Work` is the kind of work: ComputeWork, or MessageWork between ranks.
template <class P, class Work = ComputeWork>
[[nodiscard]] WorkloadEntry without_storage(WithoutStorage<P> own) {
  Work work;
  if (own.check)
    work.check = [check = std::move(own.check)](const Values& values, const PlannedLayout& layout,
                                                const std::string& pointer) {
      return check(bind_parameters<P>(values), layout.ranks, pointer);
    };
  work.make = [make = std::move(own.make)](const Values& values, const WorkloadContext& context) {
    return make(bind_parameters<P>(values), context);
  };
  return {.description = {.name = std::move(own.name),
                          .doc = std::move(own.doc),
                          .parameters = specs_of(P::table()),
                          .capabilities = std::move(own.capabilities)},
          .work = std::move(work)};
}

/// The workload of an entry that is no work on storage.
[[nodiscard]] inline std::unique_ptr<Workload> make_without_storage(const WorkloadEntry& entry, const Values& values,
                                                                    const WorkloadContext& context) {
  if (const auto* messages = std::get_if<MessageWork>(&entry.work)) return messages->make(values, {context});
  return std::get<ComputeWork>(entry.work).make(values, {context});
}

}  // namespace ullage
