// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/step_account.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.hpp"

namespace ullage {
namespace {

constexpr std::array<const char*, step_part_count> part_words{"compute", "recompute", "open", "transfer", "sync",
                                                              "close",   "remove",    "wait", "exposed"};

}  // namespace

std::string word(StepPart part) { return part_words.at(static_cast<std::size_t>(part)); }

StepAccount::StepAccount(std::vector<StepPart> parts, std::uint64_t steps)
    : parts_(std::move(parts)),
      steps_(steps),
      steps_an_interval_((steps + most_intervals - 1) / most_intervals),
      interval_compute_ns_((steps + steps_an_interval_ - 1) / steps_an_interval_),
      interval_exposed_ns_(interval_compute_ns_.size()) {
  number_of_.fill(-1);
  for (std::size_t i = 0; i < parts_.size(); ++i)
    number_of_.at(static_cast<std::size_t>(parts_[i])) = static_cast<int>(i);
}

std::vector<std::string> StepAccount::part_names() const {
  std::vector<std::string> names;
  names.reserve(parts_.size());
  for (const StepPart part : parts_) names.push_back(word(part));
  return names;
}

void StepAccount::add(Meter& meter, StepPart part, std::int64_t took_ns) {
  const int number = number_of_.at(static_cast<std::size_t>(part));
  if (number >= 0) meter.add_part(static_cast<std::size_t>(number), took_ns);
}

void StepAccount::add(Meter& meter, const StepTimes& times) {
  add(meter, StepPart::open, times.open_ns);
  add(meter, StepPart::transfer, times.transfer_ns);
  if (times.sync_ns > 0) add(meter, StepPart::sync, times.sync_ns);
  add(meter, StepPart::close, times.close_ns);
  add(meter, StepPart::remove, times.remove_ns);
}

void StepAccount::step_done(Meter& meter, std::uint64_t step, std::int64_t took_ns, std::int64_t computed_ns) {
  const std::int64_t exposed_ns = std::max<std::int64_t>(took_ns - computed_ns, 0);
  add(meter, StepPart::exposed, exposed_ns);
  computed_ns_ += computed_ns;
  exposed_ns_ += exposed_ns;
  interval_compute_ns_[step / steps_an_interval_] += static_cast<std::uint64_t>(computed_ns);
  interval_exposed_ns_[step / steps_an_interval_] += static_cast<std::uint64_t>(exposed_ns);
}

void StepAccount::share(const mpi::Comm& all) {
  all.sum_all(interval_compute_ns_);
  all.sum_all(interval_exposed_ns_);
}

Json StepAccount::timeline() const {
  return {{"steps", steps_},
          {"steps_an_interval", steps_an_interval_},
          {"compute_ns", interval_compute_ns_},
          {"exposed_ns", interval_exposed_ns_}};
}

}  // namespace ullage
