// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/payload_fill.hpp"
#include "base/permutation.hpp"

namespace ullage::payload_fill_avx2_test {
namespace {

TEST(PayloadFillAvx2, MakesWhatThePortableWayMakes) {
  const PayloadFill* portable = Registry<PayloadFill>::instance().find("portable");
  const PayloadFill* here = Registry<PayloadFill>::instance().find("avx2");
  ASSERT_NE(portable, nullptr);
  if (here == nullptr || !here->works_here()) GTEST_SKIP() << "this CPU has no avx2";
  EXPECT_EQ(here->vector_bytes, 32U);
  constexpr std::size_t blocks = 8;
  std::vector<std::uint64_t> pool(blocks * PayloadFill::block_bytes / sizeof(std::uint64_t));
  for (std::size_t i = 0; i < pool.size(); ++i) pool[i] = mix64(i);
  std::vector<std::uint64_t> keys(pool.begin(), pool.begin() + blocks);
  std::ranges::reverse(keys);
  std::vector<std::uint64_t> expected(pool.size());
  std::vector<std::uint64_t> found(pool.size());
  const std::byte* bytes = std::as_bytes(std::span(pool)).data();
  portable->blocks(std::as_writable_bytes(std::span(expected)).data(), bytes, keys.data(), blocks);
  here->blocks(std::as_writable_bytes(std::span(found)).data(), bytes, keys.data(), blocks);
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace ullage::payload_fill_avx2_test
