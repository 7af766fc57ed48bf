// SPDX-License-Identifier: Apache-2.0
// What the workloads over a tree of small files have in common: how their dataset begins and ends.
#pragma once

#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

class TreeWorkload : public Workload {
 public:
  [[nodiscard]] LocalSteps begin() override {
    if (!makes_dataset()) return {{"find dataset", [this] { return find_dataset(); }}};
    return steps_to_make_tree(context_, dataset());
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
    append(steps, steps_to_remove_tree(context_, dataset()));
    return steps;
  }

 protected:
  explicit TreeWorkload(const StorageContext& context) : context_(context) {}
  [[nodiscard]] const StorageContext& bound() const { return context_; }

  [[nodiscard]] virtual const DatasetEntry& dataset() const = 0;
  /// The first phase makes it; else another case has.
  [[nodiscard]] virtual bool makes_dataset() const = 0;
  [[nodiscard]] virtual bool changes_dataset() const { return true; }
  /// All of it is there, after phases that went well; the same on every rank.
  [[nodiscard]] virtual bool is_whole() const = 0;
  /// Takes over what another case has made.
  [[nodiscard]] virtual Status find_dataset() = 0;
  [[nodiscard]] virtual Status enter_dataset() const = 0;

 private:
  StorageContext context_;
};

}  // namespace ullage
