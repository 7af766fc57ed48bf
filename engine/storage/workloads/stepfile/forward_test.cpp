// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/phase.hpp"

#include "storage/workloads/stepfile/test_support.hpp"

namespace ullage::stepfile_test {
namespace {

class MpiStepForward : public OneRepetition {};

TEST_F(MpiStepForward, SyncsAreAsManyAsAreAskedFor) {
  const auto syncs = [&](const char* sync, const char* layout) {
    const Json records = run({{"sync", words(sync)}, {"sync_every", number(5)}, {"layout", words(layout)}});
    EXPECT_EQ(status_, PhaseStatus::ok) << sync;
    if (!world().root()) return std::uint64_t{0};
    const Json& part = records[0]["latency_parts"].contains("sync") ? records[0]["latency_parts"]["sync"] : Json();
    return part.is_object() ? part["operations"].get<std::uint64_t>() : records[0]["syncs"].get<std::uint64_t>();
  };
  for (const char* layout : {"dir-per-rank", "log"}) {
    const std::uint64_t none = syncs("none", layout), each = syncs("fsync", layout), some = syncs("every", layout),
                        once = syncs("close", layout);
    if (!world().root()) continue;
    EXPECT_EQ(none, 0U);
    EXPECT_EQ(each, 12 * ranks());
    EXPECT_EQ(some, 2 * ranks()) << "steps 4 and 9 of 12";
    EXPECT_EQ(once, ranks()) << "a sync stage of each rank";
  }
}

}  // namespace
}  // namespace ullage::stepfile_test
