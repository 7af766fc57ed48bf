// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/sample_files.hpp"

#include <gtest/gtest.h>

namespace ullage::sample_files_test {
namespace {

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

}  // namespace
}  // namespace ullage::sample_files_test
