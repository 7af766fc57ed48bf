// SPDX-License-Identifier: Apache-2.0
// Workload `ping-pong`: one-way times between pairs.
#include "message/ping_pong/ping_pong.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/clock.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

constexpr int fewest_ends = 2;
constexpr std::uint64_t most_under_way_bytes = 1ULL << 30;
constexpr int tag_name = 1;
constexpr int tag_answers = 2;

/// Whole ps: what is below is noise, and only makes the records longer.
double in_picoseconds(double seconds) { return std::round(seconds * 1e12) / 1e12; }

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

PingPongPhase::PingPongPhase(const PingPongParameters& parameters, const WorkloadContext& context)
    : parameters_(parameters), world_(*context.world), key_(context.run_key), tables_(context.tables) {}

Status PingPongPhase::allocate() {
  const mpi::Topology& topology = world_.topology();
  const bool of_nodes = parameters_.between == PairEnds::nodes;
  is_end_ = !of_nodes || topology.leader();
  end_count_ = of_nodes ? topology.nodes : topology.ranks;
  if (end_count_ < fewest_ends) return fail(environment_error("pairs", "all ranks are on one node"));
  stride_ = static_cast<int>(std::min<std::uint64_t>(parameters_.every, static_cast<std::uint64_t>(end_count_)));
  if (ends_taking_part() < fewest_ends) return fail(environment_error("every", "leaves one end, which has no pair"));
  if (ends_taking_part() > most_ends && parameters_.pairs == PairChoice::all)
    return fail(environment_error("pairs", std::to_string(ends_taking_part()) +
                                               " ends, but all pairs are possible for at most 1024; choose a larger "
                                               "every"));
  if (is_end_)
    timer_ = std::make_unique<PairTimer>(ends_, of_nodes ? topology.node : topology.rank, parameters_.job(), key_);
  return {};
}

Status PingPongPhase::before() {
  ends_ = world_.all().split(is_end_ ? 0 : 1, world_.rank());
  stride_ = choose_stride();
  schedule_.emplace(end_count_, parameters_.at_once ? PairConcurrency::together : PairConcurrency::alone, stride_);
  answers_.reserve(static_cast<std::size_t>(ends_taking_part()));
  return {};
}

/// Chooses by the first end with the last.
int PingPongPhase::choose_stride() {
  if (parameters_.pairs == PairChoice::all) return stride_;
  std::int64_t took_ns = 0;
  if (is_end_) {
    ends_.barrier();
    const std::int64_t start = now_ns();
    if (ends_.rank() == 0) (void)timer_->ask(end_count_ - 1);
    if (ends_.rank() == end_count_ - 1) timer_->answer(0);
    took_ns = now_ns() - start;
  }
  took_ns = std::max<std::int64_t>(1, world_.all().broadcast(took_ns, 0));
  return sampling_stride(end_count_, parameters_.budget_s, static_cast<double>(took_ns) * 1e-9);
}

std::uint64_t PingPongPhase::operations() const { return is_end_ && schedule_ ? schedule_->turns() : 0; }

Status PingPongPhase::execute(Meter& meter) {
  for (std::uint64_t turn = first_; turn < first_ + prepared_; ++turn) {
    const std::uint64_t before_bytes = timer_->sent_bytes();
    ends_.barrier();
    if (const auto mine = schedule_->at(turn, ends_.rank())) take(*mine);
    (void)meter.completed(timer_->sent_bytes() - before_bytes);
  }
  return {};
}

void PingPongPhase::take(const PairTurn& turn) {
  if (turn.client == ends_.rank())
    answers_.push_back({turn.client, turn.server, in_picoseconds(timer_->ask(turn.server))});
  else
    timer_->answer(turn.client);
}

Verification PingPongPhase::after(std::uint64_t, Meter&) {
  reduce();
  Verification found = timer_ == nullptr ? Verification{} : timer_->found();
  if (!is_end_) return found;
  if (!makes_table()) {
    gather();
    return found;
  }
  if (const Status kept = keep_table(); !kept && !found.first) found.first = kept.error();
  return found;
}

bool PingPongPhase::makes_table() const {
  const auto ends = static_cast<std::uint64_t>(ends_taking_part());
  return parameters_.keeps_table || ends * (ends - 1) > most_told_pairs;
}

std::string PingPongPhase::table_path() const { return tables_ + ".pairs"; }

Status PingPongPhase::keep_table() const {
  if (tables_.empty()) return fail(environment_error("pairs", "there is no place for a table of so many pairs"));
  const mpi::Topology& topology = world_.topology();
  const PairEnd mine = pair_end(topology.rank, topology.node, topology.node_name);
  return write_pair_table(ends_, table_path(), stride_, mine, answers_);
}

void PingPongPhase::reduce() {
  std::array least{std::numeric_limits<double>::max()};
  std::array most{0.0};
  std::array sums{0.0, 0.0};
  for (const PairTime& answer : answers_) {
    least[0] = std::min(least[0], answer.one_way_s);
    most[0] = std::max(most[0], answer.one_way_s);
    sums[0] += answer.one_way_s;
    sums[1] += 1;
  }
  const mpi::Comm& all = world_.all();
  all.min_all(least);
  all.max_all(most);
  all.sum_all(sums);
  least_s_ = least[0];
  most_s_ = most[0];
  pairs_ = sums[1];
  mean_s_ = sums[0] / sums[1];
}

/// The first end, which is rank 0, hears the others that took part, few as they are, one after the other.
void PingPongPhase::gather() {
  const mpi::Topology& topology = world_.topology();
  const std::string name = "node" + std::to_string(topology.node) + ":rank" + std::to_string(topology.rank);
  const Json mine{{"name", name}, {"host", topology.node_name}};
  if (ends_.rank() % stride_ != 0) return;
  if (ends_.rank() != 0) {
    ends_.send(json_text(mine), 0, tag_name);
    std::string bytes(answers_.size() * sizeof(PairTime), '\0');
    if (!answers_.empty()) std::memcpy(bytes.data(), answers_.data(), bytes.size());
    ends_.send(bytes, 0, tag_answers);
    return;
  }
  for (int end = 0; end < end_count_; end += stride_) {
    const Json one = end == 0 ? mine : parse_json(ends_.receive_text(end, tag_name));
    std::vector<PairTime> answers = answers_;
    if (end > 0) {
      const std::string bytes = ends_.receive_text(end, tag_answers);
      answers.resize(bytes.size() / sizeof(PairTime));
      if (!answers.empty()) std::memcpy(answers.data(), bytes.data(), bytes.size());
    }
    keep(answers);
    ends_told_.push_back(one["name"]);
    hosts_told_.push_back(one["host"]);
  }
}

void PingPongPhase::keep(const std::vector<PairTime>& answers) {
  for (const PairTime& answer : answers)
    matrix_told_.push_back(Json::array({answer.client, answer.server, answer.one_way_s}));
}

Gauges PingPongPhase::gauges() const {
  return {{"least_one_way_s", least_s_},
          {"mean_one_way_s", mean_s_},
          {"most_one_way_s", most_s_},
          {"message_bytes", static_cast<double>(parameters_.message_bytes)},
          {"pairs", pairs_}};
}

void PingPongPhase::add_facts(nlohmann::json& facts) const {
  facts["traffic"] = parameters_.traffic == PairTraffic::ping_pong ? "ping-pong" : "one-way";
  facts["at_once"] = parameters_.at_once;
  facts["stride"] = stride_;
  if (makes_table()) {
    const std::string path = table_path();
    const auto pairs = static_cast<std::uint64_t>(pairs_);
    facts["table"] = {{"name", path.substr(path.rfind('/') + 1)}, {"ends", ends_taking_part()}, {"pairs", pairs}};
  } else {
    facts["ends"] = ends_told_;
    facts["hosts"] = hosts_told_;
    facts["one_way_s"] = matrix_told_;
  }
  if (timer_ != nullptr) facts["pages"] = timer_->pages();
}

namespace {

const Registered<WorkloadEntry> registered_ping_pong{without_storage<PingPongParameters>({
    .name = "ping-pong",
    .doc = "Sends messages between pairs of ranks or nodes: all pairs in the rounds of a tournament, or a sample of "
           "them.",
    .check = check_ping_pong,
    .make = single_phase<PingPongPhase>,
})};

}  // namespace
}  // namespace ullage
