// SPDX-License-Identifier: Apache-2.0
#include "storage/forwarding_backend.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::forwarding_backend_test {
namespace {

TEST(MpiForwardingBackend, HasTheFacetsOfTheInnerOne) {
  test::Bench bench;
  ForwardingBackend posix(bench.make("posix"));
  EXPECT_NE(posix.names(), nullptr);
  EXPECT_NE(posix.metadata(), nullptr);
  EXPECT_NE(posix.cache(), nullptr);
  EXPECT_NE(posix.concurrency(), nullptr);
  EXPECT_EQ(posix.views(), nullptr);
  ForwardingBackend null(bench.make("null"));
  EXPECT_NE(null.views(), nullptr);
  EXPECT_EQ(null.names(), nullptr);
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

}  // namespace
}  // namespace ullage::forwarding_backend_test
