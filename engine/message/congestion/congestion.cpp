// SPDX-License-Identifier: Apache-2.0
// Workload `congestion`: what ranks that fill the network do to the messages of others, by the same test alone and
// beside them.
#include <chrono>
#include <thread>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/std.hpp"
#include "message/call_windows.hpp"
#include "message/congestion/load.hpp"
#include "message/congestion/work.hpp"
#include "mpi/agreement.hpp"
#include "mpi/mailbox.hpp"
#include "work/entry.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

struct CongestionParameters {
  LoadKind load = LoadKind::incast;
  std::uint64_t load_bytes = 4096;
  double victim_share = 0.2;
  std::uint64_t seed = 1;
  std::uint64_t rings = 30;
  double test_s = 0.2;
  std::uint64_t message_bytes = 8;
  std::uint64_t bulk_bytes = 131072;
  std::uint64_t outstanding = 8;

  [[nodiscard]] static Table<CongestionParameters> table() {
    using P = CongestionParameters;
    return {
        choice<P>(
            "load", &P::load, {{LoadKind::incast, "incast"}, {LoadKind::alltoall, "alltoall"}},
            "Choose the load of the ranks that are not victims: all send to one of them (incast), or each sends to "
            "each (alltoall)."),
        bytes("load_bytes", &P::load_bytes, {1, 1 << 24}, "Set the bytes of a message of the load."),
        number("victim_share", &P::victim_share, {0.01, 0.9},
               "Make this share of all ranks victims: at least 2 ranks, at most all but 2."),
        count("seed", &P::seed, {}, "Set the seed of the choice of victims and of the order of their rings."),
        count("rings", &P::rings, {1, 1000}, "Measure this many random orders of the victims."),
        seconds("test_s", &P::test_s, {1e-3, 60}, "Let each test last this many seconds when nothing disturbs it."),
        bytes("message_bytes", &P::message_bytes, {8, 4096},
              "Set the bytes of a message of the latency test and of the allreduce, a multiple of 8."),
        bytes("bulk_bytes", &P::bulk_bytes, {1, 1 << 24}, "Set the bytes of a message of the bandwidth test."),
        count("outstanding", &P::outstanding, {1, 64},
              "Keep this many messages of the bandwidth test in flight at once."),
    };
  }
};

constexpr int fewest_in_a_scene = 4;
constexpr std::uint64_t number_bytes_of_sum = 8;

Status check_congestion(const CongestionParameters& p, int ranks, const std::string& pointer) {
  if (ranks < fewest_in_a_scene)
    return fail(bad_plan(pointer + "/victim_share",
                         "congestion needs 4 ranks or more, 2 victims and 2 that load the network; the layout has " +
                             std::to_string(ranks)));
  if (p.message_bytes % number_bytes_of_sum != 0)
    return fail(bad_plan(pointer + "/message_bytes", "must be a multiple of 8 for an allreduce of 64-bit numbers"));
  return {};
}

enum class CongestionTest { latency, bandwidth, allreduce };

int other_than(const std::vector<int>& victims) {
  int rank = 0;
  while (std::ranges::binary_search(victims, rank)) ++rank;
  return rank;
}

/// Knows who is who; what all phases of a repetition share. Collective to make and to end.
struct CongestionSetup {
  CongestionSetup(const mpi::World& world, std::vector<int> chosen)
      : victims(std::move(chosen)),
        is_victim(std::ranges::binary_search(victims, world.rank())),
        mine(world.all().split(is_victim ? 0 : 1, world.rank())),
        mailbox(world.all()),
        relay(mine),
        first_other(other_than(victims)) {}

  std::vector<int> victims;  // rising
  bool is_victim;
  mpi::Comm mine;  // the victims, or the others
  mpi::Mailbox mailbox;
  mpi::Mailbox relay;  // among `mine`
  int first_other;
};

constexpr double most_stretch = 10;
constexpr std::chrono::microseconds load_nap{50};
constexpr std::size_t most_told = 32;

std::string word_of(CongestionTest test) {
  static constexpr std::array<const char*, 3> words{"latency", "bandwidth", "allreduce"};
  return words.at(static_cast<std::size_t>(test));
}

/// One test, isolated or congested. The victims run it in `rings` random orders, as often in each; every run is one
/// operation of the meter, on the victims only. The others rest, or load the network from before the victims' first run
/// until after their last. A congested test that takes most_stretch times as long as it should ends early, after a
/// whole ring. Gauges, the same on all ranks but for load_s: victims, load_ranks, rings (done), runs_a_ring,
/// operation_bytes (sent by a victim in one run), load_s (this rank's, under load). Counters: load_bytes.
class CongestionPhase final : public PhaseWork {
 public:
  CongestionPhase(const CongestionParameters& parameters, const WorkloadContext& context, CongestionSetup& setup,
                  CongestionTest test, bool is_congested)
      : parameters_(parameters),
        world_(*context.world),
        setup_(setup),
        test_(test),
        is_congested_(is_congested),
        key_(context.run_key) {}

  [[nodiscard]] PhaseInfo info() const override {
    return {.name = word_of(test_) + (is_congested_ ? "-congested" : "-isolated"), .collective = true};
  }

  [[nodiscard]] Status allocate() override {
    const CongestionParameters& p = parameters_;
    operation_bytes_ = test_ == CongestionTest::bandwidth ? p.bulk_bytes * p.outstanding : p.message_bytes;
    if (setup_.is_victim)
      make_work();
    else
      load_ = std::make_unique<CongestionLoad>(setup_.mine, setup_.mailbox, setup_.relay, p.load, p.load_bytes);
    return {};
  }

  [[nodiscard]] Status before() override {
    if (setup_.is_victim) calibrate();
    runs_ =
        static_cast<std::uint64_t>(world_.all().broadcast(static_cast<std::int64_t>(runs_), setup_.victims.front()));
    return {};
  }

  /// The others have one operation, their whole load, which no meter counts.
  [[nodiscard]] std::uint64_t operations() const override { return setup_.is_victim ? parameters_.rings * runs_ : 1; }
  [[nodiscard]] Status execute(Meter& meter) override {
    if (setup_.is_victim) {
      measure(meter);
      return {};
    }
    const std::int64_t start = now_ns();
    if (is_congested_) {
      load_->run_until_stopped(setup_.victims.front(), meter);
      load_s_ = static_cast<double>(now_ns() - start) * 1e-9;
    } else {
      load_->rest_until_stopped(meter);
    }
    return {};
  }

  [[nodiscard]] Verification after(std::uint64_t, Meter&) override {
    rings_done_ = static_cast<std::uint64_t>(
        world_.all().broadcast(static_cast<std::int64_t>(rings_done_), setup_.victims.front()));
    Verification found;
    found.verified_bytes = setup_.is_victim ? rings_done_ * operation_bytes_ : 0;
    if (wrong_rings_ == 0) return found;
    found.bad_blocks = wrong_rings_;
    found.first = verification_error("verify", "rank " + std::to_string(world_.rank()),
                                     "wrong data after " + std::to_string(wrong_rings_) + " rings");
    return found;
  }

  [[nodiscard]] Counters counters() const override { return {{"load_bytes", load_ ? load_->sent_bytes() : 0}}; }
  [[nodiscard]] Gauges gauges() const override {
    const auto victims = static_cast<double>(setup_.victims.size());
    return {{"victims", victims},
            {"load_ranks", world_.size() - victims},
            {"rings", static_cast<double>(rings_done_)},
            {"runs_a_ring", static_cast<double>(runs_)},
            {"operation_bytes", static_cast<double>(operation_bytes_)},
            {"load_s", load_s_}};
  }

  void add_facts(Json& facts) const override {
    if (setup_.victims.size() <= most_told) facts["victims"] = setup_.victims;
  }

 private:
  void make_work() {
    const CongestionParameters& p = parameters_;
    if (test_ == CongestionTest::allreduce) {
      work_ = std::make_unique<AllreduceWork>(setup_.mine, p.message_bytes, key_);
      return;
    }
    const bool is_bulk = test_ == CongestionTest::bandwidth;
    const RingWork::Shape shape{is_bulk ? p.bulk_bytes : p.message_bytes, is_bulk ? p.outstanding : 1, p.rings, p.seed};
    work_ = std::make_unique<RingWork>(setup_.mine, shape, key_);
  }

  /// Runs of a ring, by the first one: nothing loads the network yet.
  void calibrate() {
    CallWindowParameters window;
    window.window_s = parameters_.test_s / static_cast<double>(parameters_.rings);
    window.warm_up_s = window.window_s;
    runs_ = calls_of_a_window(setup_.mine, window, [this](std::uint64_t runs) {
      const std::int64_t start = now_ns();
      for (std::uint64_t i = 0; i < runs; ++i) work_->run(0);
      return now_ns() - start;
    });
  }

  void measure(Meter& meter) {
    if (is_congested_) await_load(meter);
    const std::int64_t start = now_ns();
    const auto most_ns = static_cast<std::int64_t>(most_stretch * parameters_.test_s * 1e9);
    for (std::uint64_t ring = 0; ring < parameters_.rings; ++ring) {
      run_ring(ring, meter);
      if (setup_.mine.max(now_ns() - start) > most_ns) break;
    }
    end_load();
  }

  void run_ring(std::uint64_t ring, Meter& meter) {
    work_->run(ring);  // its first messages may set up a connection
    setup_.mine.barrier();
    meter.resume(now_ns());
    for (std::uint64_t i = 0; i < runs_; ++i) {
      work_->run(ring);
      (void)meter.completed(operation_bytes_);  // no rank stops alone
    }
    if (!work_->is_right(ring)) ++wrong_rings_;
    ++rings_done_;
  }

  /// Waits until the first round of the load is done.
  void await_load(Meter& meter) {
    if (world_.rank() == setup_.victims.front())
      while (!setup_.mailbox.look()) {
        std::this_thread::sleep_for(load_nap);
        meter.report_alive();
      }
    setup_.mine.barrier();
  }

  /// The first of the others tells the rest.
  void end_load() {
    if (world_.rank() == setup_.victims.front()) setup_.mailbox.post(setup_.first_other, congestion_stop, {});
  }

  CongestionParameters parameters_;
  const mpi::World& world_;
  CongestionSetup& setup_;
  CongestionTest test_;
  bool is_congested_;
  std::uint64_t key_;
  std::unique_ptr<CongestionWork> work_;
  std::unique_ptr<CongestionLoad> load_;
  std::uint64_t operation_bytes_ = 0;
  std::uint64_t runs_ = 1;
  std::uint64_t rings_done_ = 0;
  std::uint64_t wrong_rings_ = 0;
  double load_s_ = 0;
};

/// Each test alone, and right after it beside the load.
constexpr std::array<std::pair<CongestionTest, bool>, 6> course{{{CongestionTest::latency, false},
                                                                 {CongestionTest::latency, true},
                                                                 {CongestionTest::bandwidth, false},
                                                                 {CongestionTest::bandwidth, true},
                                                                 {CongestionTest::allreduce, false},
                                                                 {CongestionTest::allreduce, true}}};

class CongestionWorkload final : public Workload {
 public:
  CongestionWorkload(const CongestionParameters& parameters, const WorkloadContext& context)
      : parameters_(parameters), context_(context) {}

  void find_peers() override {
    const mpi::World& world = *context_.world;
    std::vector<int> victims;
    mpi::allocate_or_throw(world.all(), [&] {
      victims =
          choose_victims(world.size(), count_of_victims(world.size(), parameters_.victim_share), parameters_.seed);
    });
    setup_.emplace(world, std::move(victims));
  }
  [[nodiscard]] std::size_t phases() const override { return course.size(); }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    const auto [test, is_congested] = course.at(index);
    return std::make_unique<CongestionPhase>(parameters_, context_, *setup_, test, is_congested);
  }

 private:
  CongestionParameters parameters_;
  WorkloadContext context_;
  std::optional<CongestionSetup> setup_;
};

const Registered<WorkloadEntry> registered_congestion{without_storage<CongestionParameters>({
    .name = "congestion",
    .doc = "Some ranks, the victims, exchange messages in random rings, alone and while the other ranks load the "
           "network.",
    .check = check_congestion,
    .make = workload_of<CongestionWorkload>,
})};

}  // namespace
}  // namespace ullage
