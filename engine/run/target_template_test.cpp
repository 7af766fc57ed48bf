// SPDX-License-Identifier: Apache-2.0
#include "run/target_template.hpp"

#include <gtest/gtest.h>

namespace ullage::target_template_test {

const RankLocation somewhere{5, 1, 2, "n7", 1, 3};

TEST(TargetTemplate, EveryWordIsReplacedWhereverItStands) {
  EXPECT_EQ(expand_path("/a", somewhere), "/a");
  EXPECT_EQ(expand_path("/pmem{socket}/{rank}-{local_rank}", somewhere), "/pmem1/5-1");
  EXPECT_EQ(expand_path("/{numa}{node}/{host}", somewhere), "/32/n7");
}

std::string refusal(const std::string& path, const RankLocation& location = somewhere) {
  const auto found = expand_path(path, location);
  return found ? "" : to_line(found.error());
}

TEST(TargetTemplate, MistakesAreNamed) {
  EXPECT_NE(refusal("/{socked}").find("{socked}: is no word of a target's path"), std::string::npos);
  EXPECT_NE(refusal("/{rank").find("has a '{' without its '}'"), std::string::npos);
}

TEST(TargetTemplate, ARankThatMayMoveBetweenNodesHasNone) {
  const RankLocation anywhere{0, 0, 0, "n", std::nullopt, std::nullopt};
  EXPECT_NE(refusal("/{numa}", anywhere).find("bind each rank to a core"), std::string::npos);
  EXPECT_NE(refusal("/{socket}", anywhere).find("rank 0 may run"), std::string::npos);
  EXPECT_EQ(expand_path("/{rank}", anywhere), "/0");
}

TEST(MpiTargetTemplate, ARankOnOneCpuKnowsItsSocketAndNode) {
  const mpi::World world;
  const auto before = own_cpus();
  ASSERT_TRUE(pin_to(before.back()));
  const RankLocation here = locate_rank(world);
  ASSERT_TRUE(keep_on(before));
  EXPECT_EQ(here.rank, world.rank());
  EXPECT_TRUE(here.numa.has_value());
  EXPECT_FALSE(here.host.empty());
}

}  // namespace ullage::target_template_test
