// SPDX-License-Identifier: Apache-2.0
// Workload `congestion`: what other ranks' messages do to those of a few.
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "message/congestion/phase.hpp"
#include "message/congestion/roles.hpp"
#include "mpi/agreement.hpp"
#include "work/single_phase.hpp"

namespace ullage {
namespace {

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

const Registered<WorkloadEntry> registered_congestion{without_storage<CongestionParameters, MessageWork>({
    .name = "congestion",
    .doc = "Some ranks, the victims, exchange messages in random rings, alone and while the other ranks load the "
           "network.",
    .check = check_congestion,
    .make = workload_of<CongestionWorkload>,
})};

}  // namespace
}  // namespace ullage
