// SPDX-License-Identifier: Apache-2.0
// Workload `ping-pong`: one-way times between pairs.
#include "message/ping_pong/ping_pong.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t most_under_way_bytes = 1ULL << 30;

/// Checks what spans parameters and layout.
Status check_ping_pong(const PingPongParameters& parameters, int ranks, const std::string& pointer) {
  if (ranks < fewest_ends) return fail(bad_plan(pointer, "ping-pong needs two ranks or more"));
  if (parameters.at_once && parameters.pairs == PairChoice::sampled)
    return fail(bad_plan(pointer + "/at_once", "must be false with pairs sampled, which are measured one at a time"));
  if (parameters.traffic == PairTraffic::one_way && parameters.loops * parameters.message_bytes > most_under_way_bytes)
    return fail(
        bad_plan(pointer + "/loops", "all messages of a measurement are in flight at once and must not exceed 1 GiB"));
  if (parameters.every > 1 && parameters.pairs == PairChoice::sampled)
    return fail(bad_plan(pointer + "/every", "must be 1 with pairs sampled, where it follows from budget_s"));
  const auto ends = (static_cast<std::uint64_t>(ranks) + parameters.every - 1) / parameters.every;
  if (parameters.between == PairEnds::ranks && ends < std::uint64_t{fewest_ends})
    return fail(
        bad_plan(pointer + "/every", "leaves one of " + std::to_string(ranks) + " ranks; choose a smaller one"));
  if (parameters.pairs == PairChoice::all && parameters.between == PairEnds::ranks &&
      ends > std::uint64_t{PingPongPhase::most_ends})
    return fail(bad_plan(pointer + "/pairs",
                         "all pairs are possible for at most 1024 ends; choose sampled, a larger "
                         "every, or between nodes"));
  return {};
}

const Registered<WorkloadEntry> registered_ping_pong{without_storage<PingPongParameters>({
    .name = "ping-pong",
    .doc = "Sends messages between pairs of ranks or nodes: all pairs in the rounds of a tournament, or a sample of "
           "them.",
    .check = check_ping_pong,
    .make = single_phase<PingPongPhase>,
})};

}  // namespace

Table<PingPongParameters> PingPongParameters::table() {
  using P = PingPongParameters;
  return joined<P>(
      Table<P>{
          choice("pairs", &P::pairs, {{PairChoice::all, "all"}, {PairChoice::sampled, "sampled"}},
                 "Choose every ordered pair, or those among every k-th end that fit into budget_s, by HPCC's rule."),
          choice("between", &P::between, {{PairEnds::ranks, "ranks"}, {PairEnds::nodes, "nodes"}},
                 "Choose the ends of the pairs: every rank, or the lowest rank of each node."),
          choice("traffic", &P::traffic, {{PairTraffic::ping_pong, "ping-pong"}, {PairTraffic::one_way, "one-way"}},
                 "Send one message at a time in alternating directions, or all messages of a measurement one way at "
                 "once."),
          flag("at_once", &P::at_once,
               "Measure all disjoint pairs of a round at once. If false, measure one pair while the others wait."),
          bytes("message_bytes", &P::message_bytes, {1, 2147483647}, "Set the bytes of each message."),
          count("loops", &P::loops, {1, 1'000'000}, "Send this many messages each way in a measurement."),
          count("measurements", &P::measurements, {1, 10'000},
                "Measure each ordered pair this many times. The shortest time counts."),
          seconds("budget_s", &P::budget_s, {1e-6, 86400},
                  "Plan this many seconds for all pairs. The number of sampled pairs follows from it."),
          count("every", &P::every, {1, 1'000'000},
                "Measure all pairs of every N-th end only, for example of every 5th rank."),
          flag("table", &P::keeps_table,
               "Write the times of the pairs to a table beside the records, also where the record has room for them."),
      },
      MessagePages::table());
}

}  // namespace ullage
