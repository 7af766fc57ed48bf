// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "base/permutation.hpp"

namespace ullage::permutation_property_test {

RC_GTEST_PROP(PermutationProperty, IsABijection, (std::uint64_t key)) {
  const auto size = *rc::gen::inRange<std::uint64_t>(1, 5000);
  const Permutation permutation(size, key);
  std::vector<bool> seen(size, false);
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::uint64_t image = permutation(i);
    RC_ASSERT(image < size);
    RC_ASSERT(!seen[image]);
    seen[image] = true;
  }
}

RC_GTEST_PROP(PermutationProperty, KeysGiveDifferentOrders, (std::uint64_t key)) {
  const auto size = *rc::gen::inRange<std::uint64_t>(64, 5000);
  const Permutation first(size, key);
  const Permutation second(size, key + 1);
  std::uint64_t same = 0;
  for (std::uint64_t i = 0; i < size; ++i) same += first(i) == second(i);
  RC_ASSERT(same < 16);  // expected 1
}

RC_GTEST_PROP(PermutationProperty, UnmixUndoesMix, ()) {
  const auto value = *rc::gen::arbitrary<std::uint64_t>();
  RC_ASSERT(unmix64(mix64(value)) == value);
  RC_ASSERT(mix64(unmix64(value)) == value);
}

}  // namespace ullage::permutation_property_test
