// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/retrieve.hpp"

#include "storage/workloads/sar/test_support.hpp"

namespace ullage::sar_test {
namespace {

class MpiSarRetrieve : public OneRepetition {};

TEST_F(MpiSarRetrieve, AWrongByteOfAnImageIsFoundAtItsPlaceInTheFile) {
  const std::string file = "l.8/i.8.1";
  const Json in_file = run({}, [&](std::size_t next) {
    if (next == k3 && world().root()) flip_byte(in_dataset(file), 777);
  });
  expect_wrong_data(in_file, k3, file, 777);
  const std::uint64_t at = 2 * 50 * 37 * 4 + 333;
  const Json in_container = run({{"layout", words("containers")}}, [&](std::size_t next) {
    if (next == k3 && world().root()) flip_byte(in_dataset("c.8"), at);
  });
  expect_wrong_data(in_container, k3, "c.8", at);
}

TEST_F(MpiSarRetrieve, ImagesThatChangedPlacesAreFound) {
  const Json records = run({}, [&](std::size_t next) {
    if (next != k3 || !world().root()) return;
    std::filesystem::rename(in_dataset("l.4/i.4.0"), in_dataset("other"));
    std::filesystem::rename(in_dataset("l.4/i.4.2"), in_dataset("l.4/i.4.0"));
    std::filesystem::rename(in_dataset("other"), in_dataset("l.4/i.4.2"));
  });
  EXPECT_EQ(status_, PhaseStatus::failed);
  EXPECT_GT(records[k3]["bad_blocks"], 20);
  expect_nothing_left();
}

TEST_F(MpiSarRetrieve, AFileOfDetectionsHasAGroupForEachPair) {
  std::uintmax_t bytes = 0;
  const Json records = run({}, [&](std::size_t next) {
    world().all().barrier();
    if (next != k4) return;
    for (std::uint64_t rank = 0; rank < ranks(); ++rank)
      bytes += std::filesystem::file_size(in_dataset("detections." + std::to_string(rank)));
  });
  EXPECT_EQ(status_, PhaseStatus::ok) << records.dump(1);
  EXPECT_EQ(bytes, 18U * 2 * 9 * 9 * 4);
  EXPECT_EQ(records[k3]["counters"]["written_bytes"], bytes);
  EXPECT_EQ(records[k3]["bytes"], 18U * 2 * 50 * 37 * 4) << "of whole images alone";
  EXPECT_EQ(records[k3]["verified_bytes"], 18U * 2 * 50 * 37 * 4 + bytes);
  EXPECT_EQ(records[k3]["counters"]["subimages"], 36);
  EXPECT_EQ(records[k3]["counters"]["files"], 36 + ranks());
  EXPECT_EQ(records[k3]["latency_parts"]["subimages"]["operations"], 18);
}

}  // namespace
}  // namespace ullage::sar_test
