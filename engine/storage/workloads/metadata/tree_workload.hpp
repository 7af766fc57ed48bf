// SPDX-License-Identifier: Apache-2.0
// What the workloads over a tree of small files have in common: how their dataset begins and ends.
#pragma once

#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

/// P: its parameters; State: what its phases share.
template <class P, class State>
class TreeWorkload : public Workload {
 public:
  [[nodiscard]] LocalSteps begin() override {
    if (!parameters_.makes_dataset()) return {{"find dataset", [this] { return find_dataset(); }}};
    return steps_to_make_tree(context_, state_.dataset);
  }

  [[nodiscard]] LocalSteps end(bool whole) override {
    if (!context_.dataset.empty() && !changes_dataset()) return {};  // whatever was found: it is as it was
    const bool is_there = whole && is_whole();
    LocalSteps steps;
    if (!context_.dataset.empty()) {
      if (is_there) return {{"enter facts", [this] { return enter_dataset(); }}};
      steps.push_back(step_to_remove_facts(context_));
    } else if (context_.keep && is_there) {
      return {};
    }
    append(steps, steps_to_remove_tree(context_, state_.dataset));
    return steps;
  }

  [[nodiscard]] std::size_t phases() const final { return parameters_.phases.size(); }

 protected:
  TreeWorkload(const P& parameters, const StorageContext& context, const TreeShape& tree)
      : parameters_(parameters), context_(context) {
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.dataset = dataset_of(context);
    state_.dataset.tree = tree;
    state_.data_key = context.run_key;
  }

  [[nodiscard]] virtual bool changes_dataset() const { return true; }
  /// All of it is there, after phases that went well; the same on every rank.
  [[nodiscard]] virtual bool is_whole() const = 0;
  /// Takes over what another case has made.
  [[nodiscard]] virtual Status find_dataset() = 0;
  [[nodiscard]] virtual Status enter_dataset() const = 0;

  P parameters_;
  StorageContext context_;
  State state_;
};

}  // namespace ullage
