// SPDX-License-Identifier: Apache-2.0
// Which addresses two ranks use to reach each other.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "message/sockets/sockets_parameters.hpp"

namespace ullage {

/// An address of this host, and the interface it belongs to.
struct Endpoint {
  std::string interface;
  std::string address;  // as text, without a port
  int prefix_bits = 0;
  bool loopback = false;
  std::int64_t speed_bits_per_s = 0;  // of the interface, as the kernel has it; 0: not known
  std::int64_t mtu_bytes = 0;         // likewise
  std::string driver = {};            // of the interface: that of a virtual one makes its speed up; empty: not known

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// The addresses of interfaces that are up, but for link-local ones, which need more than an address to be reached.
[[nodiscard]] std::vector<Endpoint> local_endpoints(IpVersion ip);

/// Those of `interface`; without one, loopback addresses for peers on one host and the others for peers on two. An
/// error that says what there is where none is left.
[[nodiscard]] Result<std::vector<Endpoint>> usable_endpoints(const std::vector<Endpoint>& all,
                                                             const std::string& interface, bool same_host);

struct Link {
  Endpoint mine;
  Endpoint theirs;
};
/// The fastest two of the same subnet; where none share one, the first two. Neither is empty. The same for both sides
/// when the lower rank chooses.
[[nodiscard]] Link choose_link(const std::vector<Endpoint>& mine, const std::vector<Endpoint>& theirs);

[[nodiscard]] bool same_subnet(const std::string& one, const std::string& other, int prefix_bits);

[[nodiscard]] Json to_json(const Endpoint& endpoint);
[[nodiscard]] Endpoint endpoint_from(const Json& json);

/// An address with a port as the calls want it.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] int family() const { return storage.ss_family; }
};
/// An environment error for what is no address.
[[nodiscard]] Result<SocketAddress> socket_address(const std::string& address, std::uint16_t port);

}  // namespace ullage
