// SPDX-License-Identifier: Apache-2.0
#include "linear/kernel_choice.hpp"

#include <gtest/gtest.h>

namespace ullage::kernel_choice_test {
namespace {

std::string core_now() {
  const char* const found = std::getenv("OPENBLAS_CORETYPE");
  return found == nullptr ? "none" : found;
}

TEST(KernelChoice, IsToldForAsLongAsTheLibraryIsLoaded) {
  const KernelChoice outer("Zen");
  {
    const KernelChoice inner("Haswell");
    EXPECT_EQ(core_now(), "Haswell");
  }
  EXPECT_EQ(core_now(), "Zen");
  {
    const KernelChoice nothing("");
  }
  EXPECT_EQ(core_now(), "Zen");
}

}  // namespace
}  // namespace ullage::kernel_choice_test
