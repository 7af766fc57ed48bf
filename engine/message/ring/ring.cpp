// SPDX-License-Identifier: Apache-2.0
// Workload `ring`: HPCC's naturally and randomly ordered rings.
#include "message/ring/ring.hpp"

#include <cmath>

namespace ullage {
Table<RingParameters> RingParameters::table() {
  using P = RingParameters;
  return joined<P>(
      Table<P>{
          choice("order", &P::order, {{RingOrder::natural, "natural"}, {RingOrder::random, "random"}},
                 "Choose the order: in natural order the neighbours of a rank have the next lower and higher numbers, "
                 "in random order any."),
          count("rings", &P::rings, {1, 10'000},
                "Measure this many rings of all ranks, one after the other. In natural order there is one."),
          bytes("message_bytes", &P::message_bytes, {1, 1U << 30U},
                "Set the bytes of each message. A rank has buffers for four of them."),
          count("loops", &P::loops, {1, 1'000'000'000},
                "Run this many loops in each measurement. In a loop each rank sends two messages."),
          count("measurements", &P::measurements, {1, 10'000},
                "Measure each ring this many times. The shortest time counts."),
          flag("grow", &P::grow, "Increase the loops by half each time until they take 10 us on every rank."),
          count("seed", &P::seed, {}, "Set the seed of the random orders."),
          choice("permutation", &P::permutation,
                 "Choose uniform, where every order is equally likely, or slot-probe, as HPCC, where neighbours stay "
                 "neighbours too often."),
      },
      MessagePages::table());
}

std::vector<double> ring_times(const std::vector<double>& times_s, std::size_t measurements) {
  std::vector<double> rings;
  for (auto from = times_s.begin(); from != times_s.end(); from += static_cast<std::ptrdiff_t>(measurements))
    rings.push_back(*std::min_element(from, from + static_cast<std::ptrdiff_t>(measurements)));
  return rings;
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

namespace {

Status check_rings(const RingParameters& p, int ranks, const std::string& pointer) {
  if (ranks < 2) return fail(bad_plan(pointer, "ring needs two ranks or more"));
  if (p.order == RingOrder::natural && p.rings != 1)
    return fail(bad_plan(pointer + "/rings", "must be 1 in natural order, where all rings are the same"));
  return {};
}

const Registered<WorkloadEntry> registered_ring{without_storage<RingParameters>({
    .name = "ring",
    .doc = "Sends messages in rings over all ranks, in natural or random order. Each rank exchanges messages with both "
           "neighbours.",
    .check = check_rings,
    .make = single_phase<RingPhase>,
})};

}  // namespace
}  // namespace ullage
