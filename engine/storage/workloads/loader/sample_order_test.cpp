// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/sample_order.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ullage::sample_order_test {
namespace {

std::vector<std::uint64_t> all_of(const SampleOrder& order) {
  std::vector<std::uint64_t> samples;
  for (std::uint64_t i = 0; i < order.count(); ++i) samples.push_back(order(i));
  return samples;
}

TEST(SampleOrder, IsAnotherInEachEpochAndTheSameForTheSameSeed) {
  const SampleFiles files({.samples = 1000});
  const SampleReaders readers{.accelerators = 2, .samples = 1000, .by_node = false, .seed = 5};
  const auto first = all_of(SampleOrder(files, readers, 0, 0));
  EXPECT_EQ(first, all_of(SampleOrder(files, readers, 0, 0)));
  EXPECT_NE(first, all_of(SampleOrder(files, readers, 0, 1)));
  SampleReaders other = readers;
  other.seed = 6;
  EXPECT_NE(first, all_of(SampleOrder(files, other, 0, 0)));
}

TEST(SampleOrder, NeighboursInTheOrderAreFarApart) {
  const SampleFiles files({.samples = 10000});
  const SampleOrder order(files, {.accelerators = 1, .samples = 10000, .by_node = false, .seed = 1}, 0, 0);
  int next_to_each_other = 0;
  for (std::uint64_t i = 0; i + 1 < order.count(); ++i) next_to_each_other += order(i + 1) == order(i) + 1 ? 1 : 0;
  EXPECT_LT(next_to_each_other, 20) << "about one in a true shuffle";
}

}  // namespace
}  // namespace ullage::sample_order_test
