// SPDX-License-Identifier: Apache-2.0
#include "run/stop_rule.hpp"

namespace ullage {
namespace {

struct MedianCiParameters {
  double relative_width = 0.05;
  std::int64_t minimum = 6;
  std::int64_t maximum = 15;
  double level = 0.95;
  double correlation = 0;
};

const Table<MedianCiParameters>& median_ci_table() {
  static const Table<MedianCiParameters> fields{
      number("relative_width", &MedianCiParameters::relative_width, {0, 10},
             "Stop when half the width of the median's interval, divided by the median, is at most this in the worst "
             "phase."),
      count("minimum", &MedianCiParameters::minimum, {1, 1e6}, "Run at least this many repetitions."),
      count("maximum", &MedianCiParameters::maximum, {1, 1e6}, "Run at most this many repetitions."),
      number("level", &MedianCiParameters::level, {0.5, 0.9999},
             "Set the confidence of the interval. Fewer than 6 repetitions have no interval of 95 % and never "
             "converge."),
      number("correlation", &MedianCiParameters::correlation, {0, 0.95},
             "Widen the interval for this correlation of each repetition with the one before. All cases together yield "
             "its value."),
  };
  return fields;
}

/// Returns whether so many repetitions are looked at: 6, 10, 15, 21, 28 ... Every further look is a further chance to
/// stop where the samples happen to lie close together, and more of those than leave 95 % of the intervals right.
bool is_look(std::size_t count) {
  std::size_t look = 3;
  for (std::size_t step = 3; look < count; ++step) look += step;
  return look == count && count > 3;
}

class MedianCi final : public StopRule {
 public:
  explicit MedianCi(const MedianCiParameters& parameters) : parameters_(parameters) {}
  [[nodiscard]] StopDecision judge(const Samples& samples) const override {
    const auto width = relative_median_width(samples, parameters_.level, parameters_.correlation);
    const std::size_t done = repetitions(samples);
    const bool narrow = width && *width <= parameters_.relative_width && is_look(done);
    if (narrow && done >= static_cast<std::size_t>(parameters_.minimum)) return {true, "converged", width};
    if (done >= static_cast<std::size_t>(parameters_.maximum)) return {true, "count", width};
    return {false, "", width};
  }

 private:
  MedianCiParameters parameters_;
};

const Registered<StopRuleEntry> registered_median_ci{{
    .description = {.name = "median-ci",
                    .doc = "Stops when the confidence interval of the median is narrow enough.",
                    .parameters = specs_of(median_ci_table())},
    .make = [](const Values& values) { return std::make_unique<MedianCi>(bind_parameters(median_ci_table(), values)); },
}};

}  // namespace
}  // namespace ullage
