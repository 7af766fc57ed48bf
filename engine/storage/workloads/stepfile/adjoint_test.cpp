// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/phase.hpp"

#include "storage/workloads/stepfile/test_support.hpp"

namespace ullage::stepfile_test {
namespace {

class MpiStepAdjoint : public OneRepetition {};

TEST_F(MpiStepAdjoint, ADamagedStateIsFoundByRankAndStep) {
  const std::uint64_t last = ranks() - 1;
  for (const std::int64_t depth : {0, 2}) {
    const Values given{{"prefetch", number(depth)}};
    const Json records = run(given, [&] {
      if (!world().root()) return;
      std::fstream file(state_path(given, last, 7), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(1033);
      file << "XY";
    });
    EXPECT_EQ(status_, PhaseStatus::failed);
    expect_nothing_left();
    if (!world().root()) continue;
    const std::string failure = records[1]["failures"][0].dump();
    EXPECT_NE(failure.find("rank " + std::to_string(last) + " at step 7"), std::string::npos) << failure;
    EXPECT_NE(failure.find("s." + std::to_string(last) + ".7"), std::string::npos) << failure;
    EXPECT_EQ(records[1]["failures"][0]["offset_bytes"], 1033) << failure;
    EXPECT_EQ(records[1]["bad_blocks"], 1);
  }
}

TEST_F(MpiStepAdjoint, StatesThatChangedPlacesAreFound) {
  const Values given{};
  const Json records = run(given, [&] {
    if (!world().root()) return;
    std::filesystem::rename(state_path(given, 0, 3), state_path(given, 0, 4));
    std::filesystem::copy(state_path(given, 0, 4), state_path(given, 0, 3));
  });
  EXPECT_EQ(status_, PhaseStatus::failed);
  if (!world().root()) return;
  const std::string found = records[1]["failures"][0]["found"];
  EXPECT_NE(found.find("block of rank 0, offset 12288"), std::string::npos) << found << " is 3 states of 4096";
}

TEST_F(MpiStepAdjoint, ADamagedIndexOfALogIsFound) {
  const Values given{{"layout", words("log")}};
  const Json records = run(given, [&] {
    if (!world().root()) return;
    std::fstream file(state_path(given, 0, 0), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(12 * 4096 + 16);
    file << 'X';
  });
  EXPECT_EQ(status_, PhaseStatus::failed);
  if (world().root()) {
    EXPECT_EQ(records[1]["failures"][0]["text"], "the index does not match its checksum");
  }
  expect_nothing_left();
}

}  // namespace
}  // namespace ullage::stepfile_test
