// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/state.hpp"

#include "storage/workloads/sar/test_support.hpp"

namespace ullage::sar_test {
namespace {

class MpiSarState : public OneRepetition {};

TEST_F(MpiSarState, ARankKnowsWhoseImagesItsSourceHasRead) {
  for (const char* whose : {"own", "other-rank", "other-node"}) {
    SarState state(parameters_of({{"read_back", words(whose)}}), context());
    find_sources(state);
    const bool own = std::string(whose) == "own";
    EXPECT_EQ(state.source_rank(), own ? state.rank() : (state.rank() + 1) % ranks()) << whose;
    EXPECT_EQ(state.source_owner, own ? state.rank() : (state.rank() + 2) % ranks()) << whose;
    EXPECT_EQ(state.source.data_of, own || ranks() == 1 ? "own" : "other-rank") << "there is one node";
  }
}

TEST_F(MpiSarState, SharedFilesAreDealtOutToTheRanksOfTheFolder) {
  const SarState state(parameters_of({}), context());
  for (std::uint64_t number = 0; number < 9; ++number) EXPECT_EQ(world().all().sum(state.makes(number) ? 1U : 0U), 1U);
}

}  // namespace
}  // namespace ullage::sar_test
