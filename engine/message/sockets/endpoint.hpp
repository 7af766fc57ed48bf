// SPDX-License-Identifier: Apache-2.0
// Which addresses two ranks use to reach each other.
#pragma once

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <fstream>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
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

inline bool is_link_local(const sockaddr& address) {
  return address.sa_family == AF_INET6 &&
         IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr) != 0;
}

inline constexpr std::int64_t bits_of_a_mbit = 1'000'000;

/// Returns what the kernel says of an interface; 0 where it says nothing, or that it does not know (-1).
inline std::int64_t interface_number(const std::string& interface, const char* name) {
  std::ifstream file("/sys/class/net/" + interface + "/" + name);
  std::int64_t value = 0;
  if (!(file >> value) || value < 0) return 0;
  return value;
}

/// Returns the name as `ethtool -i` has it, which knows virtual interfaces too (veth, tun, bridge); empty where the
/// kernel does not say.
inline std::string driver_of(const std::string& interface) {
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_data = reinterpret_cast<char*>(&info);
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return {};
  const bool is_said = ioctl(socket, SIOCETHTOOL, &request) == 0;
  ::close(socket);
  return is_said ? std::string(info.driver, strnlen(info.driver, sizeof info.driver)) : std::string();
}

inline const void* address_of(const sockaddr& address) {
  if (address.sa_family == AF_INET) return &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  return &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
}

inline int prefix_of(const sockaddr* mask) {
  if (mask == nullptr) return 0;
  const bool is_v4 = mask->sa_family == AF_INET;
  const auto bytes =
      std::span(static_cast<const std::uint8_t*>(address_of(*mask)), is_v4 ? sizeof(in_addr) : sizeof(in6_addr));
  int bits = 0;
  for (const std::uint8_t byte : bytes) bits += std::popcount(byte);
  return bits;
}

inline Endpoint endpoint_of(const ifaddrs& entry) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(entry.ifa_addr->sa_family, address_of(*entry.ifa_addr), text.data(), text.size());
  const std::string name = entry.ifa_name;
  return {name,
          text.data(),
          prefix_of(entry.ifa_netmask),
          (entry.ifa_flags & IFF_LOOPBACK) != 0,
          interface_number(name, "speed") * bits_of_a_mbit,
          interface_number(name, "mtu"),
          driver_of(name)};
}

/// The addresses of interfaces that are up, but for link-local ones, which need more than an address to be reached.
[[nodiscard]] inline std::vector<Endpoint> local_endpoints(IpVersion ip) {
  const int family = ip == IpVersion::v4 ? AF_INET : AF_INET6;
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> entries(first, &freeifaddrs);
  std::vector<Endpoint> found;
  for (const ifaddrs* entry = entries.get(); entry != nullptr; entry = entry->ifa_next) {
    const bool is_up = (entry->ifa_flags & IFF_UP) != 0;
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != family || !is_up) continue;
    if (!is_link_local(*entry->ifa_addr)) found.push_back(endpoint_of(*entry));
  }
  return found;
}

inline std::string names_of(const std::vector<Endpoint>& endpoints) {
  std::string text;
  for (const Endpoint& one : endpoints) text += (text.empty() ? "" : ", ") + one.interface + " (" + one.address + ")";
  return text.empty() ? "none" : text;
}

/// Those of `interface`; without one, loopback addresses for peers on one host and the others for peers on two. An
/// error that says what there is where none is left.
[[nodiscard]] inline Result<std::vector<Endpoint>> usable_endpoints(const std::vector<Endpoint>& all,
                                                                    const std::string& interface, bool same_host) {
  std::vector<Endpoint> usable;
  for (const Endpoint& one : all)
    if (interface.empty() ? one.loopback == same_host : one.interface == interface) usable.push_back(one);
  if (!usable.empty()) return usable;
  const std::string wanted = interface.empty() ? "a network" : "interface " + interface;
  return fail(environment_error(wanted, "has no address of this version of IP here; available: " + names_of(all)));
}

struct Link {
  Endpoint mine;
  Endpoint theirs;
};

/// The bytes of an address in the order of the network; empty for what is none.
inline std::vector<std::uint8_t> address_bytes(const std::string& text) {
  std::array<std::uint8_t, sizeof(in6_addr)> raw{};
  if (inet_pton(AF_INET, text.c_str(), raw.data()) == 1) return {raw.begin(), raw.begin() + sizeof(in_addr)};
  if (inet_pton(AF_INET6, text.c_str(), raw.data()) == 1) return {raw.begin(), raw.end()};
  return {};
}

[[nodiscard]] inline bool same_subnet(const std::string& one, const std::string& other, int prefix_bits) {
  const auto a = address_bytes(one);
  const auto b = address_bytes(other);
  if (a.empty() || a.size() != b.size()) return false;
  for (std::size_t bit = 0; bit < std::min(static_cast<std::size_t>(prefix_bits), 8 * a.size()); bit += 8) {
    const auto left = static_cast<std::size_t>(prefix_bits) - bit;
    const auto mask = left >= 8 ? 0xffU : (0xffU << (8 - left)) & 0xffU;
    if ((a[bit / 8] & mask) != (b[bit / 8] & mask)) return false;
  }
  return true;
}

/// The fastest two of the same subnet; where none share one, the first two. Neither is empty. The same for both sides
/// when the lower rank chooses.
[[nodiscard]] inline Link choose_link(const std::vector<Endpoint>& mine, const std::vector<Endpoint>& theirs) {
  Link best{mine.front(), theirs.front()};
  std::int64_t best_speed = -1;
  for (const Endpoint& here : mine)
    for (const Endpoint& there : theirs) {
      const std::int64_t speed = std::min(here.speed_bits_per_s, there.speed_bits_per_s);
      const bool meet =
          here.prefix_bits == there.prefix_bits && same_subnet(here.address, there.address, here.prefix_bits);
      if (!meet || speed <= best_speed) continue;
      best = {here, there};
      best_speed = speed;
    }
  return best;
}

[[nodiscard]] inline Json to_json(const Endpoint& endpoint) {
  return {{"interface", endpoint.interface},
          {"address", endpoint.address},
          {"prefix_bits", endpoint.prefix_bits},
          {"loopback", endpoint.loopback},
          {"speed_bits_per_s", endpoint.speed_bits_per_s},
          {"mtu_bytes", endpoint.mtu_bytes},
          {"driver", endpoint.driver}};
}

[[nodiscard]] inline Endpoint endpoint_from(const Json& json) {
  return {json["interface"],        json["address"],   json["prefix_bits"], json["loopback"],
          json["speed_bits_per_s"], json["mtu_bytes"], json["driver"]};
}

/// An address with a port as the calls want it.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] int family() const { return storage.ss_family; }
};

/// An environment error for what is no address.
[[nodiscard]] inline Result<SocketAddress> socket_address(const std::string& address, std::uint16_t port) {
  SocketAddress made;
  const auto bytes = address_bytes(address);
  if (bytes.size() == sizeof(in_addr)) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, bytes.data(), bytes.size());
    std::memcpy(&made.storage, &v4, sizeof v4);
    made.length = sizeof v4;
  } else if (bytes.size() == sizeof(in6_addr)) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, bytes.data(), bytes.size());
    std::memcpy(&made.storage, &v6, sizeof v6);
    made.length = sizeof v6;
  } else {
    return fail(environment_error(address, "is no address of IPv4 or IPv6"));
  }
  return made;
}

}  // namespace ullage
