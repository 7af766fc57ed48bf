// SPDX-License-Identifier: Apache-2.0
#include "mpi/clock_sync.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdlib>

#include "base/clock.hpp"
#include "base/permutation.hpp"

namespace ullage::mpi {
namespace {

constexpr int tag_turn = 51;
constexpr int tag_question = 52;
constexpr std::size_t most_trips = 30;
constexpr std::size_t fewest_trips = 5;
constexpr std::int64_t budget_ns = 1'000'000'000;  // for all ranks together, as long as each gets its fewest

enum Question : std::int64_t { what_time, no_more };

void send_number(const Comm& comm, std::int64_t value, int to, int tag) {
  comm.send(std::as_bytes(std::span(&value, 1)), to, tag);
}

struct Received {
  std::int64_t value = 0;
  int from = 0;
};
Received receive_number(const Comm& comm, int from, int tag) {
  Received received;
  received.from = comm.receive(std::as_writable_bytes(std::span(&received.value, 1)), from, tag);
  return received;
}

/// Rank 0's side: one asker after the other, so that none waits behind another's questions.
void answer(const Comm& comm, const LocalClock& clock, std::uint64_t askers) {
  for (std::uint64_t served = 0; served < askers; ++served) {
    const int asker = receive_number(comm, Comm::any_source, tag_turn).from;
    send_number(comm, 0, asker, tag_turn);
    while (receive_number(comm, asker, tag_question).value == what_time)
      send_number(comm, clock.read_ns(), asker, tag_question);
  }
}

OffsetEstimate ask(const Comm& comm, const LocalClock& clock, std::int64_t patience_ns) {
  send_number(comm, 0, 0, tag_turn);
  receive_number(comm, 0, tag_turn);
  std::vector<RoundTrip> trips;
  const std::int64_t begun_ns = clock.read_ns();
  while (trips.size() < fewest_trips || (trips.size() < most_trips && clock.read_ns() - begun_ns < patience_ns)) {
    RoundTrip trip;
    trip.sent_ns = clock.read_ns();
    send_number(comm, what_time, 0, tag_question);
    trip.answered_ns = receive_number(comm, 0, tag_question).value;
    trip.received_ns = clock.read_ns();
    trips.push_back(trip);
  }
  send_number(comm, no_more, 0, tag_question);
  return estimate_offset(trips);
}

/// Asks rank 0 for the time. Those who ask are of every node the leader and those whose clock is not the leader's,
/// unless they have rank 0's clock. A node's other ranks take over what its leader found.
OffsetEstimate calibrate_against_root(const World& world, const LocalClock& clock) {
  const std::int64_t roots = world.all().broadcast(clock.identity, 0);
  const std::int64_t leaders = world.node().broadcast(clock.identity, 0);
  const bool other_clock = clock.identity != roots;
  const bool asks = other_clock && (world.topology().leader() || clock.identity != leaders);
  const std::uint64_t askers = world.all().sum(asks ? 1 : 0);
  OffsetEstimate mine;
  if (world.root()) answer(world.all(), clock, askers);
  if (asks) mine = ask(world.all(), clock, budget_ns / static_cast<std::int64_t>(askers));
  std::array<std::int64_t, 3> of_leader{mine.offset_ns, mine.residual_ns, mine.measured_ns};
  world.node().broadcast(std::as_writable_bytes(std::span(of_leader)), 0);
  if (other_clock && !asks) mine = {of_leader[0], of_leader[1], of_leader[2]};
  return mine;
}

/// The kernel slews a clock by 500 ppm at most, and quartz is off by less than 100.
constexpr double fastest_drift = 1e-3;

std::int64_t times(double factor, std::int64_t ns) { return std::llround(factor * static_cast<double>(ns)); }

/// Two clocks of quartz, each off by 50 ppm: what is assumed until it has been measured.
constexpr double assumed_drift = 100e-6;

}  // namespace

OffsetEstimate estimate_offset(std::span<const RoundTrip> trips) {
  const auto shortest =
      std::ranges::min_element(trips, {}, [](const RoundTrip& trip) { return trip.received_ns - trip.sent_ns; });
  const std::int64_t round_ns = shortest->received_ns - shortest->sent_ns;
  const std::int64_t middle_ns = shortest->sent_ns + round_ns / 2;
  return {shortest->answered_ns - middle_ns, round_ns - round_ns / 2, middle_ns};
}

LocalClock local_clock() {
  std::string identity = kernel_identity();
  std::array<char, 64> space{};  // "time:[4026531834]"; missing before Linux 5.6, where all of a boot share the clock
  if (readlink("/proc/self/ns/time", space.data(), space.size() - 1) > 0) identity += space.data();
  return {stable_hash(identity), now_ns};
}

ClockSync calibrate_clocks(const World& world) { return calibrate_clocks(world, local_clock()); }

ClockSync calibrate_clocks(const World& world, const LocalClock& clock) {
  std::array<std::int64_t, 2> bounds{clock.identity, -clock.identity};
  world.all().max_all(bounds);
  if (bounds[0] == -bounds[1]) return {};
  const bool reads_roots = world.all().broadcast(clock.identity, 0) == clock.identity;
  const OffsetEstimate mine = calibrate_against_root(world, clock);
  ClockSync sync{mine.offset_ns, mine.residual_ns, mine.measured_ns, reads_roots, true, 0, 0, 0};
  sync.largest_offset_rank = world.all().max_location(std::llabs(mine.offset_ns)).rank;
  sync.largest_offset_ns = world.all().broadcast(mine.offset_ns, sync.largest_offset_rank);
  sync.largest_residual_ns = world.all().max(mine.residual_ns);
  return sync;
}

ClockLine::ClockLine(const OffsetEstimate& measured, double drift)
    : before_(measured), last_ns_(measured.measured_ns), drift_(drift), least_residual_ns_(measured.residual_ns) {}

ClockLine::ClockLine(const OffsetEstimate& before, const OffsetEstimate& after)
    : before_(before),
      last_ns_(after.measured_ns),
      least_residual_ns_(std::max(before.residual_ns, after.residual_ns)) {
  const std::int64_t span_ns = std::max<std::int64_t>(last_ns_ - before_.measured_ns, 1);
  const std::int64_t change_ns = after.offset_ns - before_.offset_ns;
  slope_ = static_cast<double>(change_ns) / static_cast<double>(span_ns);
  drift_ = slope_;
  const std::int64_t surely_ns = std::llabs(change_ns) - before_.residual_ns - after.residual_ns;
  if (surely_ns > times(fastest_drift, span_ns)) jump_ns_ = std::llabs(change_ns);
}

std::int64_t ClockLine::to_root(std::int64_t local_ns) const noexcept {
  return local_ns + before_.offset_ns + times(slope_, local_ns - before_.measured_ns);
}

std::int64_t ClockLine::to_local(std::int64_t root_ns) const noexcept {
  const std::int64_t shifted_ns = root_ns - before_.offset_ns;
  return shifted_ns - times(slope_ / (1 + slope_), shifted_ns - before_.measured_ns);
}

std::int64_t ClockLine::residual_ns(std::int64_t local_ns) const noexcept {
  if (has_jumped()) return least_residual_ns_ + jump_ns_;
  const std::int64_t age_ns = std::min(std::llabs(local_ns - before_.measured_ns), std::llabs(local_ns - last_ns_));
  return least_residual_ns_ + times(std::abs(drift_), age_ns);
}

CommonClock::CommonClock(const World& world, LocalClock clock, const Ages& ages)
    : world_(&world), clock_(std::move(clock)), ages_(ages), drift_(assumed_drift) {
  measure();
}

void CommonClock::measure() {
  const std::int64_t begun_ns = clock_.read_ns();
  sync_ = calibrate_clocks(*world_, clock_);
  measured_ns_ = clock_.read_ns();
  took_ns_ = measured_ns_ - begun_ns;
}

/// Rank 0 decides for all.
bool CommonClock::due() const {
  if (!several_clocks()) return false;
  const std::int64_t age_ns = clock_.read_ns() - measured_ns_;
  const std::int64_t most_ns =
      std::max(drift_known_ ? ages_.drift_known_ns : ages_.drift_unknown_ns, ages_.costs * took_ns_);
  return world_->all().broadcast(age_ns > most_ns ? 1 : 0, 0) != 0;
}

void CommonClock::before_phase() {
  if (due()) (void)measure_again();
}

CommonClock::Around CommonClock::after_phase() {
  if (due()) return {measure_again(), true};
  return {sync_.reads_roots ? ClockLine() : ClockLine(mine(), drift_), false};
}

ClockLine CommonClock::measure_again() {
  const OffsetEstimate before = mine();
  measure();
  drift_known_ = true;
  if (sync_.reads_roots) return {};
  const ClockLine line(before, mine());
  const auto span_ns = static_cast<double>(std::max<std::int64_t>(sync_.measured_ns - before.measured_ns, 1));
  const double found = std::abs(line.drift());
  const double uncertain = static_cast<double>(before.residual_ns + sync_.residual_ns) / span_ns;
  if (!line.has_jumped()) drift_ = std::min(found + uncertain, std::max(found, assumed_drift));
  return line;
}

}  // namespace ullage::mpi
