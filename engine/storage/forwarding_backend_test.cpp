// SPDX-License-Identifier: Apache-2.0
#include "storage/forwarding_backend.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::forwarding_backend_test {

TEST(MpiForwardingBackend, CanDoWhatTheInnerOneCan) {
  test::Bench bench;
  const ForwardingBackend posix(bench.make("posix"));
  EXPECT_TRUE(posix.capabilities().metadata && posix.capabilities().data);
  EXPECT_FALSE(posix.capabilities().views);
  ForwardingBackend null(bench.make("null"));
  EXPECT_TRUE(null.capabilities().views);
  EXPECT_FALSE(null.capabilities().data || null.capabilities().arrays);
  EXPECT_EQ(null.open_arrays({"a", OpenMode::create, true, 0}, {}).error().kind, ErrorKind::unsupported);
}

TEST(MpiForwardingBackend, HandsEveryCallOn) {
  test::Bench bench;
  ForwardingBackend backend(bench.make("posix"));
  const std::string own = "r" + std::to_string(bench.world().rank());
  test::Transfers transfers(2, 4096, 3);
  EXPECT_TRUE(backend.make_ready(transfers.memory(), {}));
  EXPECT_TRUE(backend.make_directory(own));
  test::write_out(backend, own + "/f", transfers);
  EXPECT_EQ(backend.inspect(own + "/f")->size_bytes, 8192U);
  EXPECT_TRUE(backend.drop_cached(own + "/f"));
  EXPECT_EQ(test::wrong_bytes_read_back(backend, own + "/f", transfers), 0U);
  EXPECT_TRUE(backend.make_metadata());
  EXPECT_TRUE(backend.remove_file(own + "/f"));
  EXPECT_TRUE(backend.remove_directory(own));
}

TEST(MpiForwardingBackend, WhatTheInnerOneHasNotIsUnsupported) {
  test::Bench bench;
  ForwardingBackend backend(bench.make("null"));
  Backend& as_backend = backend;
  EXPECT_EQ(as_backend.make_directory("d").error().kind, ErrorKind::unsupported);
  EXPECT_EQ(as_backend.make_metadata().error().kind, ErrorKind::unsupported);
  EXPECT_TRUE(as_backend.make_ready({}, {}));
  EXPECT_TRUE(as_backend.open_viewed({"v", OpenMode::create, true, 0}, {}));
}

}  // namespace ullage::forwarding_backend_test
