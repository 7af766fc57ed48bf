// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/sample_files.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ullage::sample_files_test {

SampleFiles files_of(std::uint64_t samples, std::uint64_t per_file, std::uint64_t groups,
                     std::uint64_t deviation = 300) {
  return SampleFiles(
      {samples, per_file, {.mean_bytes = 1000, .deviation_bytes = deviation, .unit_bytes = 8, .seed = 3}, groups});
}

TEST(SampleFiles, SamplesLieOneBehindTheOther) {
  for (const std::uint64_t deviation : {0U, 300U}) {
    const SampleFiles files = files_of(10, 4, 1, deviation);
    EXPECT_EQ(files.files(), 3U);
    std::uint64_t file = 0;
    std::uint64_t end = 0;
    for (std::uint64_t sample = 0; sample < 10; ++sample) {
      const SamplePlace place = files.place(sample);
      if (place.file != file) {
        EXPECT_EQ(files.file_bytes(file), end);
        file = place.file;
        end = 0;
      }
      EXPECT_EQ(place.file, sample / 4);
      EXPECT_EQ(place.offset_bytes, end);
      end += place.bytes;
    }
    EXPECT_EQ(files.end_sample(2), 10U) << "the last file is not full";
    EXPECT_EQ(files.file_bytes(2), end);
  }
}

TEST(SampleFiles, GroupsShareTheSamplesByFile) {
  const SampleFiles files = files_of(10, 4, 2);
  EXPECT_EQ(files.samples_of_group(0, 10), 6U);  // files 0 and 2, which has 2
  EXPECT_EQ(files.samples_of_group(1, 10), 4U);
  EXPECT_EQ(files.sample_of_group(0, 4), 8U);
  EXPECT_EQ(files.sample_of_group(1, 3), 7U);
  EXPECT_EQ(files.samples_of_group(0, 3), 3U);
  EXPECT_EQ(files.samples_of_group(1, 3), 0U) << "of the first file alone";
  EXPECT_EQ(files.group_of(5), 1U);
}

TEST(SampleSizes, WithoutDeviationAllAreTheMeanInUnits) {
  const SampleSizes sizes({.mean_bytes = 114660, .deviation_bytes = 0, .unit_bytes = 8, .seed = 1});
  EXPECT_EQ(sizes.bytes(0), 114664U);
  EXPECT_EQ(sizes.bytes(123456), 114664U);
  EXPECT_EQ(sizes.most_bytes(10), 10U * 114664);
}

TEST(SampleSizes, HaveTheMeanAndTheDeviationOfThePreset) {
  constexpr std::uint64_t count = 20000;
  const SampleSizes sizes({.mean_bytes = 2828486, .deviation_bytes = 71311, .unit_bytes = 8, .seed = 7});
  double sum = 0;
  double squares = 0;
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto size = static_cast<double>(sizes.bytes(i));
    ASSERT_LE(sizes.bytes(i), sizes.largest());
    total += sizes.bytes(i);
    sum += size;
    squares += size * size;
  }
  const double mean = sum / count;
  EXPECT_NEAR(mean, 2828486, 5 * 71311 / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count - mean * mean), 71311, 71311 * 0.04);
  EXPECT_LE(total, sizes.most_bytes(count));
}

TEST(SampleSizes, OfADeviationNearTheMeanStayPositiveAroundIt) {
  constexpr std::uint64_t count = 20000;
  const SampleSizes sizes({.mean_bytes = 146600628, .deviation_bytes = 68341808, .unit_bytes = 4096, .seed = 1});
  double sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(sizes.bytes(i) % 4096, 0U);
    ASSERT_GE(sizes.bytes(i), 146600628U / 16 - 4096);
    ASSERT_LE(sizes.bytes(i), sizes.largest());
    sum += static_cast<double>(sizes.bytes(i));
  }
  EXPECT_NEAR(sum / count, 146600628, 5 * 68341808 / std::sqrt(count));
}

TEST(SampleSizes, FollowFromTheSeed) {
  const SampleSizeSpec spec{.mean_bytes = 100000, .deviation_bytes = 20000, .unit_bytes = 8, .seed = 1};
  SampleSizeSpec other = spec;
  other.seed = 2;
  int alike = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(SampleSizes(spec).bytes(i), SampleSizes(spec).bytes(i));
    alike += SampleSizes(spec).bytes(i) == SampleSizes(other).bytes(i) ? 1 : 0;
  }
  EXPECT_LT(alike, 10);
}

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

}  // namespace ullage::sample_files_test
