// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "base/zipf.hpp"

namespace ullage::zipf_property_test {

std::vector<double> exact(std::uint64_t items, double theta) {
  std::vector<double> probability;
  double sum = 0;
  for (std::uint64_t k = 1; k <= items; ++k) {
    probability.push_back(std::pow(static_cast<double>(k), -theta));
    sum += probability.back();
  }
  for (double& p : probability) p /= sum;
  return probability;
}

/// Chi-square over the items expected at least 5 times, the others together; its mean and variance are known.
RC_GTEST_PROP(ZipfProperty, DrawsHaveTheExactDistribution, ()) {
  const auto items = *rc::gen::inRange<std::uint64_t>(1, 2000);
  const double theta = *rc::gen::inRange(0, 300) / 100.0;
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  constexpr std::uint64_t draws = 20'000;
  const Zipf zipf(items, theta);
  std::vector<std::uint64_t> found(items);
  for (std::uint64_t i = 0; i < draws; ++i) ++found.at(zipf(mix64(seed + i)));
  const auto probability = exact(items, theta);
  double chi = 0;
  double cells = 0;
  double rare = 0;
  double rare_found = 0;
  const auto add = [&](double observed, double expected) {
    chi += (observed - expected) * (observed - expected) / expected;
    ++cells;
  };
  for (std::uint64_t k = 0; k < items; ++k) {
    const double expected = probability[k] * static_cast<double>(draws);
    if (expected >= 5) {
      add(static_cast<double>(found[k]), expected);
    } else {
      rare += expected;
      rare_found += static_cast<double>(found[k]);
    }
  }
  if (rare >= 5) add(rare_found, rare);
  RC_ASSERT(chi <= cells + 7 * std::sqrt(2 * cells) + 12);
}

RC_GTEST_PROP(ZipfProperty, EveryDrawIsAnItem, ()) {
  const auto items = *rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 60);
  const Zipf zipf(items, *rc::gen::inRange(0, 1000) / 100.0);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  for (std::uint64_t i = 0; i < 100; ++i) RC_ASSERT(zipf(seed + i) < items);
}

}  // namespace ullage::zipf_property_test
