// SPDX-License-Identifier: Apache-2.0
#include "run/selftest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace ullage::selftest_test {

TEST(Selftest, SaysWhatItMeasured) {
  std::ostringstream out;
  const Status status = selftest(out);
  EXPECT_TRUE(status) << to_line(status.error());
  const std::string text = out.str();
  for (const char* part : {"clock", "histogram", "meter", "permutation", "payload of 16 MiB"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_EQ(text.find("WRONG"), std::string::npos);
  EXPECT_EQ(std::ranges::count(text, '\n'), 8);
}

}  // namespace ullage::selftest_test
