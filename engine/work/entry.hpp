// SPDX-License-Identifier: Apache-2.0
// What a folder says of its workload, in terms of its own parameters.
#pragma once

#include <functional>

#include "base/std.hpp"
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
constexpr auto workload_of = [](const auto& parameters, const auto& context) -> std::unique_ptr<Workload> {
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

/// A workload on a target with parameters P, which have a static table(). What its functions say is in StorageWork;
/// null: nothing, or never.
template <class P>
struct OnStorage {
  std::string name;
  std::string doc;
  std::function<Status(const P&, const Capabilities&, const PlannedLayout&, const std::string& pointer)> check;
  std::function<Needs(const P&, const PlannedLayout&)> needs;
  std::function<std::unique_ptr<Workload>(const P&, const StorageContext&)> make;
  std::function<bool(const P&)> uses_dataset = nullptr;
  std::function<Status(const P&, const std::string& pointer)> check_spill = nullptr;
  std::function<bool(const P&)> needs_one_folder = nullptr;
};

/// Is for `check` of a workload that asks nothing of the layout.
template <class P>
[[nodiscard]] auto on_any_layout(Status (*check)(const P&, const Capabilities&, const std::string&)) {
  return [check](const P& parameters, const Capabilities& capabilities, const PlannedLayout&,
                 const std::string& pointer) { return check(parameters, capabilities, pointer); };
}

/// Is for what a workload says whatever its parameters are.
constexpr auto always = [](const auto&) { return true; };

namespace detail {
/// A function of parameters P as one of the values they are bound to; null stays null.
template <class R, class P, class... More>
[[nodiscard]] std::function<R(const Values&, More...)> of_values(std::function<R(const P&, More...)> own) {
  if (!own) return nullptr;
  return [own = std::move(own)](const Values& values, More... more) {
    return own(bind_parameters<P>(values), std::forward<More>(more)...);
  };
}
}  // namespace detail

template <class P>
[[nodiscard]] WorkloadEntry without_storage(WithoutStorage<P> own) {
  WorkWithoutStorage work;
  if (own.check)
    work.check = [check = std::move(own.check)](const Values& values, const PlannedLayout& layout,
                                                const std::string& pointer) {
      return check(bind_parameters<P>(values), layout.ranks, pointer);
    };
  work.make = detail::of_values(std::move(own.make));
  return {.description = {.name = std::move(own.name),
                          .doc = std::move(own.doc),
                          .parameters = specs_of(P::table()),
                          .capabilities = std::move(own.capabilities)},
          .work = std::move(work)};
}

template <class P>
[[nodiscard]] WorkloadEntry on_storage(OnStorage<P> own) {
  return {.description = {.name = std::move(own.name), .doc = std::move(own.doc), .parameters = specs_of(P::table())},
          .work = StorageWork{.check = detail::of_values(std::move(own.check)),
                              .needs = detail::of_values(std::move(own.needs)),
                              .make = detail::of_values(std::move(own.make)),
                              .uses_dataset = detail::of_values(std::move(own.uses_dataset)),
                              .check_spill = detail::of_values(std::move(own.check_spill)),
                              .needs_one_folder = detail::of_values(std::move(own.needs_one_folder))}};
}

}  // namespace ullage
