// SPDX-License-Identifier: Apache-2.0
#include "storage/node_caches.hpp"

#include <gtest/gtest.h>

namespace ullage::node_caches_test {

TEST(NodeCaches, AreDroppedByRootAndRefusedToOthers) {
  const bool permitted = access("/proc/sys/vm/drop_caches", W_OK) == 0;
  for (const auto what : {CachesToDrop::pages, CachesToDrop::pages_and_names}) {
    const Status dropped = drop_node_caches(what);
    EXPECT_EQ(dropped.has_value(), permitted);
    if (!dropped) {
      EXPECT_EQ(dropped.error().where, "/proc/sys/vm/drop_caches");
    }
  }
}

}  // namespace ullage::node_caches_test
