// SPDX-License-Identifier: Apache-2.0
#include "memory/stream/job.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace ullage::stream_job_test {

TEST(StreamJob, BytesAreCountedAsStreamDoes) {
  EXPECT_EQ(application_arrays(StreamKind::read), 1U);
  EXPECT_EQ(application_arrays(StreamKind::write), 1U);
  EXPECT_EQ(application_arrays(StreamKind::copy), 2U);
  EXPECT_EQ(application_arrays(StreamKind::scale), 2U);
  EXPECT_EQ(application_arrays(StreamKind::add), 3U);
  EXPECT_EQ(application_arrays(StreamKind::triad), 3U);
  EXPECT_EQ(application_arrays(StreamKind::read_write), 2U);
}

TEST(StreamJob, OrdinaryStoresReadTheLineFirst) {
  EXPECT_EQ(bus_arrays(StreamKind::write, Stores::ordinary), 2U);
  EXPECT_EQ(bus_arrays(StreamKind::copy, Stores::ordinary), 3U);
  EXPECT_EQ(bus_arrays(StreamKind::triad, Stores::ordinary), 4U);
  for (const StreamKind kind : {StreamKind::write, StreamKind::copy, StreamKind::triad})
    EXPECT_EQ(bus_arrays(kind, Stores::non_temporal), application_arrays(kind));
}

TEST(StreamJob, ReadingAndUpdatingInPlaceHaveNothingMoreToRead) {
  EXPECT_EQ(bus_arrays(StreamKind::read, Stores::ordinary), 1U);
  EXPECT_EQ(bus_arrays(StreamKind::read_write, Stores::ordinary), 2U);
}

TEST(StreamJob, ValuesAreScatteredAndResultsNeverRounded) {
  std::set<double> values;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    values.insert(stream_value(1, i));
    const double fraction = (stream_result(StreamKind::triad, i, i + 1)) * 0x1p20;
    EXPECT_EQ(fraction, std::floor(fraction));
    EXPECT_NE(stream_value(1, i), stream_value(2, i));
  }
  EXPECT_GT(values.size(), 990U);
}

TEST(StreamJob, ResultsFollowThePasses) {
  EXPECT_EQ(stream_result(StreamKind::write, 5, 1), stream_factor(0));
  EXPECT_NE(stream_result(StreamKind::write, 5, 2), stream_result(StreamKind::write, 5, 1));
  EXPECT_EQ(stream_result(StreamKind::scale, 5, 2), stream_factor(1) * stream_value(1, 5));
  EXPECT_EQ(stream_result(StreamKind::add, 5, 2), stream_value(1, 5) + stream_value(2, 5));
  EXPECT_EQ(stream_result(StreamKind::copy, 5, 2), stream_value(1, 5));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(stream_result(StreamKind::read_write, 5, 7)),
            std::bit_cast<std::uint64_t>(stream_value(0, 5)) + 7);
}

}  // namespace ullage::stream_job_test
