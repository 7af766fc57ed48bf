// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/endpoint.hpp"

#include <gtest/gtest.h>

namespace ullage::endpoint_test {

const Endpoint loopback{"lo", "127.0.0.1", 8, true, 0, 65536};
const Endpoint slow{"eth0", "192.0.2.7", 24, false, 1'000'000'000, 1500};
const Endpoint fast{"ib0", "198.51.100.7", 16, false, 100'000'000'000, 2044, "mlx5_core"};

Endpoint elsewhere(Endpoint endpoint, std::string address) {
  endpoint.address = std::move(address);
  return endpoint;
}

TEST(Endpoint, LoopbackIsForOneHostAndTheOthersAreForTwo) {
  const std::vector all{loopback, slow, fast};
  EXPECT_EQ(usable_endpoints(all, "", true).value(), std::vector{loopback});
  EXPECT_EQ(usable_endpoints(all, "", false).value(), (std::vector{slow, fast}));
  EXPECT_EQ(usable_endpoints(all, "eth0", true).value(), std::vector{slow});
}

TEST(Endpoint, AnInterfaceThatIsNotThereIsAnErrorWithWhatThereIs) {
  const auto none = usable_endpoints({loopback, slow}, "eth7", false);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::environment);
  EXPECT_NE(to_line(none.error()).find("eth7"), std::string::npos);
  EXPECT_NE(to_line(none.error()).find("lo (127.0.0.1), eth0 (192.0.2.7)"), std::string::npos);
  EXPECT_FALSE(usable_endpoints({}, "", false));
}

TEST(Endpoint, LinkIsTheFastestOfASharedSubnet) {
  const Link link = choose_link({slow, fast}, {elsewhere(slow, "192.0.2.9"), elsewhere(fast, "198.51.7.1")});
  EXPECT_EQ(link.mine.interface, "ib0");
  EXPECT_EQ(link.theirs.address, "198.51.7.1");
}

TEST(Endpoint, WithoutASharedSubnetItIsTheFirst) {
  const Link link = choose_link({slow, fast}, {elsewhere(slow, "203.0.113.9")});
  EXPECT_EQ(link.mine.interface, "eth0");
  EXPECT_EQ(link.theirs.address, "203.0.113.9");
}

TEST(Endpoint, SubnetsGoByTheirBits) {
  EXPECT_TRUE(same_subnet("10.0.0.1", "10.0.1.1", 23));
  EXPECT_FALSE(same_subnet("10.0.0.1", "10.0.1.1", 24));
  EXPECT_TRUE(same_subnet("10.0.0.1", "172.16.0.1", 0));
  EXPECT_TRUE(same_subnet("2001:db8::1", "2001:db8::ffff", 64));
  EXPECT_FALSE(same_subnet("2001:db8::1", "2001:db9::1", 32));
  EXPECT_FALSE(same_subnet("10.0.0.1", "2001:db8::1", 0));
  EXPECT_FALSE(same_subnet("host", "host", 0));
}

TEST(Endpoint, GoesThroughJsonUnchanged) { EXPECT_EQ(endpoint_from(to_json(fast)), fast); }

TEST(Endpoint, AddressesAreOfBothVersions) {
  const auto v4 = socket_address("127.0.0.1", 80);
  ASSERT_TRUE(v4);
  EXPECT_EQ(v4->family(), AF_INET);
  EXPECT_EQ(reinterpret_cast<const sockaddr_in*>(v4->get())->sin_port, htons(80));
  EXPECT_EQ(socket_address("::1", 80)->family(), AF_INET6);
  EXPECT_FALSE(socket_address("localhost", 80));
}

/// Drivers of virtual interfaces state a speed that nothing has (veth and tun 10 Gb/s, virtio_net what its host likes).
TEST(Endpoint, WhatStatesASpeedHasADriver) {
  for (const Endpoint& endpoint : local_endpoints(IpVersion::v4)) {
    if (endpoint.speed_bits_per_s > 0) {
      EXPECT_NE(endpoint.driver, "") << endpoint.interface;
    }
  }
}

TEST(Endpoint, ThisHostHasALoopback) {
  const auto here = local_endpoints(IpVersion::v4);
  const auto found = std::ranges::find_if(here, &Endpoint::loopback);
  ASSERT_NE(found, here.end());
  EXPECT_EQ(found->prefix_bits, 8);
  EXPECT_EQ(found->speed_bits_per_s, 0);
  EXPECT_GT(found->mtu_bytes, 0);
}

}  // namespace ullage::endpoint_test
