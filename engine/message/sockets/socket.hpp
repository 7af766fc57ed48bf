// SPDX-License-Identifier: Apache-2.0
// Thin RAII over the calls on sockets. Nothing here waits longer than it is told to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "message/sockets/endpoint.hpp"
#include "message/sockets/sockets_parameters.hpp"

namespace ullage {

/// A descriptor; move-only, closed when it goes.
class Socket final {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  /// Whoever waits in a call on it returns, now and later; from any thread.
  void wake() const;
  [[nodiscard]] Result<int> option(int level, int name) const;
  [[nodiscard]] Status set_option(int level, int name, int value) const;
  /// The port it was bound to.
  [[nodiscard]] Result<std::uint16_t> port() const;

 private:
  int descriptor_ = -1;
};

/// Bound to a port of the kernel's choice.
[[nodiscard]] Result<Socket> listening_socket(const std::string& address, int backlog);
[[nodiscard]] Result<Socket> datagram_socket(const std::string& address);

/// Buffers and TCP_NODELAY as asked for; before anybody connects, so that the window follows.
[[nodiscard]] Status apply_buffers(const Socket& socket, const SocketsParameters& parameters);

/// Connects from `local`, within the patience; buffers are set before.
[[nodiscard]] Result<Socket> connected_socket(const std::string& local, const std::string& remote, std::uint16_t port,
                                              const SocketsParameters& parameters);
[[nodiscard]] Status connect_datagrams(const Socket& socket, const std::string& remote, std::uint16_t port);
/// The next connection; a timeout where none comes until `deadline_ns` of now_ns().
[[nodiscard]] Result<Socket> accept_until(const Socket& listening, std::int64_t deadline_ns);

/// All of it, or an error; a timeout at `deadline_ns`.
[[nodiscard]] Status send_until(const Socket& socket, std::span<const std::byte> data, std::int64_t deadline_ns);
[[nodiscard]] Status receive_until(const Socket& socket, std::span<std::byte> data, std::int64_t deadline_ns);

/// A call on sockets that failed, by errno.
[[nodiscard]] std::unexpected<Error> socket_failure(const std::string& operation, const std::string& where);

}  // namespace ullage
