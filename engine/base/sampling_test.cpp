// SPDX-License-Identifier: Apache-2.0
#include "base/sampling.hpp"

#include <gtest/gtest.h>

namespace ullage::sampling_test {
namespace {

TEST(Sampling, TakesOneIn32WhateverThePeriodOfTheWork) {
  constexpr std::uint64_t looks = 320'000;
  for (const std::uint64_t period : {1U, 2U, 8U, 31U, 32U, 64U, 100U, 1024U})
    for (const std::uint64_t phase : {std::uint64_t{0}, period / 2, period - 1}) {
      std::uint64_t taken = 0;
      for (std::uint64_t i = 0; i < looks; ++i) taken += is_sampled(i * period + phase, 7) ? 1U : 0U;
      EXPECT_NEAR(static_cast<double>(taken), looks / 32.0, looks / 320.0) << period << " " << phase;
    }
}

TEST(Sampling, NoNumberIsTakenByEveryKeyOrByNone) {
  constexpr std::uint64_t keys = 32'000;
  for (const std::uint64_t n : {0U, 1U, 31U, 32U, 999U}) {
    std::uint64_t taken = 0;
    for (std::uint64_t key = 0; key < keys; ++key) taken += is_sampled(n, mix64(key)) ? 1U : 0U;
    EXPECT_NEAR(static_cast<double>(taken), keys / 32.0, keys / 160.0) << n;
  }
}

}  // namespace
}  // namespace ullage::sampling_test
