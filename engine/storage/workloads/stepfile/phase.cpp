// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/phase.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/count.hpp"
#include "base/json.hpp"
#include "storage/workloads/shared_dataset.hpp"

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

namespace {

constexpr std::uint64_t most_helpers = 64;

PayloadSpec payload_of(const StepfileState& state) {
  PayloadSpec spec;
  spec.run_key = state.context->run_key;
  spec.transfer_bytes = state.parameters->state_bytes;
  return spec;
}

/// The parts of this phase, in the order of the enumeration.
std::vector<StepPart> with_common(std::vector<StepPart> parts, bool computes, std::uint64_t depth) {
  if (computes) parts.push_back(StepPart::compute);
  if (depth > 0) parts.push_back(StepPart::wait);
  parts.push_back(StepPart::exposed);
  std::ranges::sort(parts);
  return parts;
}

}  // namespace

StepPhase::StepPhase(const StepfileState& state, RevolveState* revolve, Direction direction, std::uint64_t depth,
                     std::vector<StepPart> parts)
    : state_(state),
      revolve_(revolve),
      direction_(direction),
      depth_(depth),
      compute_(parameters().compute_s, parameters().jitter, parameters().imbalance, state.rank(),
               static_cast<std::uint64_t>(state.context->world->size())),
      payload_(payload_of(state)),
      files_(state),
      account_(with_common(std::move(parts), works_inline(), depth), parameters().steps),
      slots_(*state.context->buffer, parameters().state_bytes,
             std::max(buffer_alignment, state.capabilities.alignment_bytes)) {
  slots_.allocate(works_inline() ? depth + 1 : slots_.count_in(cached_bytes, parameters().steps));
}

PhaseInfo StepPhase::info() const {
  PhaseInfo info;
  info.name = direction_ == Direction::write ? "forward" : "adjoint";
  info.access = direction_ == Direction::write ? Access::write : Access::read;
  info.clock_stops = !works_inline();
  info.bytes_at_once = parameters().state_bytes * (depth_ + 1);
  info.parts = account_.part_names();
  return info;
}

Status StepPhase::before() {
  for (std::size_t tier = 0; tier < state_.tiers->size(); ++tier) {
    Status status = state_.tiers->at(tier).backend->make_ready(state_.context->buffer->bytes(), {});
    if (!status) return status;
  }
  return {};
}

void StepPhase::share() {
  states_at_.assign(state_.tiers->size(), 0);
  for (std::uint64_t place = 0; place < parameters().kept(); ++place) ++states_at_[state_.tiers->tier_of(place)];
  account_.share(state_.context->world->all());
  state_.context->world->all().sum_all(states_at_);
}

Counters StepPhase::counters() const {
  return {{"states", states_moved_}, {"files_removed", files_removed_}, {"steps_recomputed", steps_recomputed_}};
}

Gauges StepPhase::gauges() const { return {{"compute_s", account_.compute_s()}, {"exposed_s", account_.exposed_s()}}; }

void StepPhase::add_facts(Json& facts) const {
  facts["timeline"] = account_.timeline();
  if (states_at_.size() < 2) return;
  facts["tiers"] = Json::array();
  for (std::size_t tier = 0; tier < states_at_.size(); ++tier)
    facts["tiers"].push_back({{"target", state_.tiers->at(tier).target}, {"states", states_at_[tier]}});
}

void StepPhase::fill(std::span<std::byte> data, std::uint64_t step) const {
  payload_.fill(data, state_.rank(), step * parameters().state_bytes);
}

/// Also makes the buffer one that nothing was read into.
void StepPhase::check(std::span<std::byte> data, std::uint64_t step) {
  if (!verifies()) return;
  const std::uint64_t at = step * parameters().state_bytes;
  add_check(verification_, data.size(), payload_.check(data, state_.rank(), at), [&](Mismatch wrong) {
    wrong.offset_bytes -= at;
    const std::uint64_t place = parameters().revolves() ? 0 : step;
    Error error = wrong_data(state_.tiers->of(place), state_.file_of(place), wrong);
    error.text = "the state of rank " + std::to_string(state_.rank()) + " at step " + std::to_string(step) +
                 " differs from what was written";
    return error;
  });
  Payload::poison(data);
}

void StepPhase::compute_until(std::int64_t until_ns, Meter& meter) {
  constexpr std::int64_t now_and_then_ns = 100'000'000;
  std::int64_t told_ns = meter.clock_ns();
  for (std::int64_t now = told_ns; now < until_ns; now = meter.clock_ns()) {
    if (now - told_ns < now_and_then_ns) continue;
    meter.report_alive();
    told_ns = now;
  }
}

void StepPhase::name_ahead(std::uint64_t first, std::uint64_t count,
                           const std::function<std::uint64_t(std::uint64_t)>& place_of) {
  std::vector<std::uint64_t> places(count);
  for (std::uint64_t i = 0; i < count; ++i) places[i] = place_of(first + i);
  files_.name_ahead(places);
}

Status StepPhase::start_helpers(StepHelpers::Job job) {
  if (depth_ == 0) return {};
  const auto served = static_cast<std::uint64_t>(state_.capabilities.file_threads);
  const std::uint64_t most = parameters().in_log() ? 1 : std::min(served, most_helpers);
  helpers_ = std::make_unique<StepHelpers>(static_cast<std::size_t>(slots_.count()), std::move(job));
  return helpers_->start(static_cast<std::size_t>(std::min(depth_, most)));
}

void StepPhase::take(const std::optional<StepHelpers::Outcome>& outcome, Meter* meter, Status& first) {
  if (!outcome) return;
  if (!*outcome) return keep_first(first, fail(outcome->error()));
  ++states_moved_;
  if (meter != nullptr) account_.add(*meter, **outcome);
}

void StepPhase::drain(Meter* meter, Status& first) {
  if (!helpers_) return;
  for (std::uint64_t i = 0; i < slots_.count(); ++i)
    take(helpers_->wait(i,
                        [meter] {
                          if (meter != nullptr) meter->report_alive();
                        }),
         meter, first);
}

}  // namespace ullage
