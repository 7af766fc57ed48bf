// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/flash/phase.hpp"

#include "storage/workloads/flash/test_support.hpp"

namespace ullage::flash_test {
namespace {

class MpiFlashPhase : public OneFlash {};

/// Header, block data and unknowns are told apart, and the order of ranks is that of their blocks.
TEST_F(MpiFlashPhase, PartsAreToldApartAndBlocksLieInTheOrderOfTheRanks) {
  use("posix");
  std::string content;
  const Json records = run({{"file", std::string("plot-centred")}, {"cells", std::int64_t{2}}}, [&] {
    if (world().root()) content = test::read_file(file());
  });
  ASSERT_EQ(status_, PhaseStatus::ok) << records.dump();
  if (!world().root()) return;
  for (const char* gauge : {"metadata_s", "unknowns_s"}) EXPECT_GT(records[0]["gauges"][gauge]["most"], 0) << gauge;
  EXPECT_EQ(records[0]["counters"]["blocks"], flash_blocks_before(0, static_cast<std::uint64_t>(world().size())));
  const FlashLayout layout{FlashFile::plot_centred, 2, 4,
                           flash_blocks_before(0, static_cast<std::uint64_t>(world().size()))};
  const auto arrays = layout.arrays();
  const auto offsets = flash_offsets(arrays);
  ASSERT_EQ(content.size(), FlashLayout::header_bytes + layout.data_bytes());
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    const ElementRun run{42, a, arrays[a].type, 0};  // all ranks' blocks are one run
    const auto bytes = std::as_bytes(std::span(content)).subspan(offsets[a], arrays[a].size_bytes());
    EXPECT_EQ(check_elements(run, bytes).wrong_elements, 0U) << arrays[a].name;
  }
}

}  // namespace
}  // namespace ullage::flash_test
