// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "run/stop_rule.hpp"

namespace ullage {
namespace {

struct TimeParameters {
  double seconds = 10;
  std::int64_t minimum = 3;
};

const Table<TimeParameters>& time_table() {
  static const Table<TimeParameters> fields{
      seconds("seconds", &TimeParameters::seconds, {0.001, 1e7},
              "Measure a case for this many seconds, all phases added."),
      count("minimum", &TimeParameters::minimum, {1, 1e6}, "Run at least this many repetitions."),
  };
  return fields;
}

class Time final : public StopRule {
 public:
  explicit Time(const TimeParameters& parameters) : parameters_(parameters) {}
  [[nodiscard]] StopDecision judge(const Samples& samples) const override {
    std::int64_t measured_ns = 0;
    for (const auto& [phase, values] : samples)
      measured_ns = std::accumulate(values.begin(), values.end(), measured_ns);
    const bool enough = repetitions(samples) >= static_cast<std::size_t>(parameters_.minimum) &&
                        static_cast<double>(measured_ns) >= parameters_.seconds * 1e9;
    return {enough, enough ? "time" : "", relative_median_width(samples, 0.95)};
  }

 private:
  TimeParameters parameters_;
};

const Registered<StopRuleEntry> registered_time{{
    .description = {.name = "time",
                    .doc = "Stops when a case has been measured for a given time.",
                    .parameters = specs_of(time_table())},
    .make = [](const Values& values) { return std::make_unique<Time>(bind_parameters(time_table(), values)); },
}};

}  // namespace
}  // namespace ullage
