// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/detect.hpp"

#include "storage/workloads/sar/test_support.hpp"

namespace ullage::sar_test {
namespace {

class MpiSarDetect : public OneRepetition {
 protected:
  /// Calls of rank 0 that write, before its first record.
  [[nodiscard]] std::int64_t writes_before_records() const {
    const SarShape shape = parameters_of({}).shape(ranks());
    const std::uint64_t templates = (5 + ranks() - 1) / ranks();
    return static_cast<std::int64_t>(1 + templates + shape.images_of(0) + shape.pairs_of(1 % ranks()));
  }
  Json run_with_flip(const std::string& path, std::uint64_t at) {
    return run({}, [&](std::size_t next) {
      if (next == k4 && world().root()) flip_byte(in_dataset(path), at);
    });
  }
};

TEST_F(MpiSarDetect, AWrongByteOfAGroupIsFound) {
  expect_wrong_data(run_with_flip("detections.0", 1000), k4, "detections.0", 1000);
}

TEST_F(MpiSarDetect, AWrongByteOfATemplateIsFound) {
  expect_wrong_data(run_with_flip("template.3", 500), k4, "template.3", 500);
}

TEST_F(MpiSarDetect, ARecordThatWasNotWrittenAsItWasMeantIsFound) {
  use("fault", {{"inner", words("posix")},
                {"kind", words("flip")},
                {"operation", words("write")},
                {"rank", number(0)},
                {"after", number(writes_before_records())},
                {"flip_bit", number(8 * 5)}});
  expect_wrong_data(run({}), k4, "records.0", 5);
}

TEST_F(MpiSarDetect, ARankHasARecordForEachSubimage) {
  const Json records = run({});
  EXPECT_EQ(status_, PhaseStatus::ok) << records.dump(1);
  EXPECT_EQ(records[k4]["counters"]["written_bytes"], 36 * 64);
  EXPECT_EQ(records[k4]["counters"]["subimages"], 36);
  EXPECT_EQ(records[k4]["bytes"], 36U * 9 * 9 * 4 + ranks() * 5 * 1000) << "each rank reads all templates";
  EXPECT_EQ(records[k4]["counters"]["files"], 7 * ranks());
  EXPECT_EQ(records[k4]["verified_bytes"], 36U * 9 * 9 * 4 + ranks() * 5 * 1000 + 36 * 64);
}

}  // namespace
}  // namespace ullage::sar_test
