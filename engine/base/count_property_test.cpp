// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/count.hpp"

namespace ullage::count_property_test {

__extension__ using Wide = unsigned __int128;
constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

Count of(Wide exact) { return exact < most ? Count(static_cast<std::uint64_t>(exact)) : Count(most); }

/// Any size is as likely as any other, and so are products about 2^64.
std::uint64_t any() { return *rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(0U, 64U); }

RC_GTEST_PROP(CountProperty, IsTheExactNumberOrMoreThanAllOthers, ()) {
  const std::uint64_t a = any(), b = any(), c = any();
  RC_ASSERT(Count(a) + b == of(Wide{a} + b));
  RC_ASSERT(Count(a) * b == of(Wide{a} * b));
  RC_ASSERT((Count(a) * b + c).is_known() == (Wide{a} * b + c < most));
  RC_ASSERT(Count(a) + b >= Count(a));
  RC_ASSERT(!(Count(most) + a).is_known());
}

RC_GTEST_PROP(CountProperty, PartsAndWholeBlocksAreRoundedUp, ()) {
  const std::uint64_t a = any();
  const auto all = *rc::gen::inRange<std::uint64_t>(1, 1U << 20U);
  const auto some = *rc::gen::inRange<std::uint64_t>(0, all + 1);
  RC_ASSERT(Count(a).part(some, all) == of((Wide{a} * some + all - 1) / all));
  RC_ASSERT(Count(a).rounded_up(all) == of((Wide{a} + all - 1) / all * all));
  RC_ASSERT(!Count(most).part(some, all).is_known());
}

}  // namespace ullage::count_property_test
