// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/sockets_parameters.hpp"

#include <gtest/gtest.h>

namespace ullage::sockets_parameters_test {

using P = SocketsParameters;

std::string refusal(const std::function<void(P&)>& change, int ranks = 2) {
  P p;
  change(p);
  const Status status = check_sockets(p, ranks, "/p");
  return status ? "" : to_line(status.error());
}

P of(SocketMode mode, SocketProtocol protocol) {
  P p;
  p.mode = mode;
  p.protocol = protocol;
  return p;
}

void expect_refused(const std::string& parameter, const std::function<void(P&)>& change) {
  EXPECT_NE(refusal(change).find("/p/" + parameter), std::string::npos) << parameter << ": " << refusal(change);
}

TEST(SocketsParameters, DefaultsAreFineForTwoRanksAndMore) {
  EXPECT_EQ(refusal([](P&) {}), "");
  EXPECT_EQ(refusal([](P&) {}, 5), "");
  EXPECT_NE(refusal([](P&) {}, 1).find("two ranks"), std::string::npos);
}

TEST(SocketsParameters, DatagramsHaveLimits) {
  expect_refused("block_bytes", [](P& p) {
    p.protocol = SocketProtocol::udp;
    p.block_bytes = 65508;
  });
  expect_refused("block_bytes", [](P& p) {
    p.protocol = SocketProtocol::udp;
    p.block_bytes = 15;
  });
  EXPECT_EQ(refusal([](P& p) {
              p = of(SocketMode::request, SocketProtocol::udp);
              p.block_bytes = 1;
            }),
            "");
}

TEST(SocketsParameters, WhatWouldBeIgnoredIsRefused) {
  expect_refused("mode", [](P& p) { p.protocol = SocketProtocol::icmp; });
  expect_refused("streams", [](P& p) {
    p = of(SocketMode::request, SocketProtocol::icmp);
    p.streams = 2;
  });
  expect_refused("direction", [](P& p) {
    p.mode = SocketMode::request;
    p.direction = SocketDirection::both;
  });
  expect_refused("no_delay", [](P& p) {
    p.protocol = SocketProtocol::udp;
    p.no_delay = true;
  });
  expect_refused("zero_copy", [](P& p) {
    p.mode = SocketMode::request;
    p.zero_copy = true;
  });
  expect_refused("receive_bytes", [](P& p) {
    p.protocol = SocketProtocol::udp;
    p.receive_bytes = 1;
  });
  expect_refused("batch", [](P& p) { p.batch = DatagramBatch::single; });
  expect_refused("rate", [](P& p) { p.rate = 1; });
  expect_refused("spin", [](P& p) { p.spin = true; });
  expect_refused("spin", [](P& p) {
    p = of(SocketMode::request, SocketProtocol::icmp);
    p.spin = true;
  });
  expect_refused("send_buffer_bytes", [](P& p) {
    p = of(SocketMode::request, SocketProtocol::icmp);
    p.send_buffer_bytes = 4096;
  });
  expect_refused("receive_buffer_bytes", [](P& p) {
    p = of(SocketMode::request, SocketProtocol::icmp);
    p.receive_buffer_bytes = 4096;
  });
  expect_refused("busy_poll_us", [](P& p) { p.busy_poll_us = 50; });
}

TEST(SocketsParameters, WordsAreTheTables) {
  EXPECT_EQ(word_of(DatagramBatch::many), "many");
  const auto specs = specs_of(P::table());
  EXPECT_EQ(specs.front().name, "mode");
  EXPECT_EQ(std::get<std::string>(specs.front().default_value), "stream");
}

}  // namespace ullage::sockets_parameters_test
