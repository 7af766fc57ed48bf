// SPDX-License-Identifier: Apache-2.0
#include "run/stop_rule.hpp"

namespace ullage {
namespace {

struct FixedParameters {
  std::int64_t count = 3;
};

const Table<FixedParameters>& fixed_table() {
  static const Table<FixedParameters> fields{
      count("count", &FixedParameters::count, {1, 1e6}, "Run this many counted repetitions of each case.")};
  return fields;
}

class Fixed final : public StopRule {
 public:
  explicit Fixed(const FixedParameters& parameters) : parameters_(parameters) {}
  [[nodiscard]] StopDecision judge(const Samples& samples) const override {
    const bool enough = repetitions(samples) >= static_cast<std::size_t>(parameters_.count);
    return {enough, enough ? "count" : "", relative_median_width(samples, 0.95)};
  }

 private:
  FixedParameters parameters_;
};

const Registered<StopRuleEntry> registered_fixed{{
    .description = {.name = "fixed",
                    .doc = "Stops after a fixed number of repetitions.",
                    .parameters = specs_of(fixed_table())},
    .make = [](const Values& values) { return std::make_unique<Fixed>(bind_parameters(fixed_table(), values)); },
}};

}  // namespace
}  // namespace ullage
