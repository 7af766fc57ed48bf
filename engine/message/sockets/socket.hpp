// SPDX-License-Identifier: Apache-2.0
// Thin RAII over the calls on sockets. Nothing here waits longer than it is told to.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "message/sockets/endpoint.hpp"
#include "message/sockets/sockets_parameters.hpp"

namespace ullage {

/// A call on sockets that failed, by errno.
[[nodiscard]] inline std::unexpected<Error> socket_failure(const std::string& operation, const std::string& where) {
  return fail(errno_error(errno, operation, where));
}

/// A descriptor; move-only, closed when it goes.
class Socket final {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

  Socket& operator=(Socket&& other) noexcept {
    if (this != &other) {
      if (descriptor_ >= 0) ::close(descriptor_);
      descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
  }

  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  /// Whoever waits in a call on it returns, now and later; from any thread.
  void wake() const { (void)shutdown(descriptor_, SHUT_RDWR); }

  [[nodiscard]] Result<int> option(int level, int name) const {
    int value = 0;
    socklen_t length = sizeof value;
    if (getsockopt(descriptor_, level, name, &value, &length) != 0) return socket_failure("getsockopt", "socket");
    return value;
  }

  [[nodiscard]] Status set_option(int level, int name, int value) const {
    if (setsockopt(descriptor_, level, name, &value, sizeof value) != 0) return socket_failure("setsockopt", "socket");
    return {};
  }

  /// The port it was bound to.
  [[nodiscard]] Result<std::uint16_t> port() const {
    SocketAddress own;
    own.length = sizeof own.storage;
    if (getsockname(descriptor_, own.get(), &own.length) != 0) return socket_failure("getsockname", "socket");
    if (own.family() == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(own.get())->sin_port);
    return ntohs(reinterpret_cast<const sockaddr_in6*>(own.get())->sin6_port);
  }

 private:
  int descriptor_ = -1;
};

inline Result<Socket> bound_socket(const std::string& address, int type) {
  const auto place = socket_address(address, 0);
  if (!place) return fail(place.error());
  Socket made(socket(place->family(), type | SOCK_CLOEXEC, 0));
  if (!made.is_open()) return socket_failure("socket", address);
  if (bind(made.get(), place->get(), place->length) != 0) return socket_failure("bind", address);
  return made;
}

/// Bound to a port of the kernel's choice.
[[nodiscard]] inline Result<Socket> listening_socket(const std::string& address, int backlog) {
  auto made = bound_socket(address, SOCK_STREAM);
  if (made && listen(made->get(), backlog) != 0) return socket_failure("listen", address);
  return made;
}

[[nodiscard]] inline Result<Socket> datagram_socket(const std::string& address) {
  return bound_socket(address, SOCK_DGRAM);
}

/// Buffers and TCP_NODELAY as asked for; before anybody connects, so that the window follows.
[[nodiscard]] inline Status apply_buffers(const Socket& socket, const SocketsParameters& p) {
  if (p.send_buffer_bytes > 0)
    if (auto done = socket.set_option(SOL_SOCKET, SO_SNDBUF, static_cast<int>(p.send_buffer_bytes)); !done) return done;
  if (p.receive_buffer_bytes > 0)
    if (auto done = socket.set_option(SOL_SOCKET, SO_RCVBUF, static_cast<int>(p.receive_buffer_bytes)); !done)
      return done;
  if (p.no_delay) return socket.set_option(IPPROTO_TCP, TCP_NODELAY, 1);
  return {};
}

inline Status set_blocking(const Socket& socket, bool blocking) {
  const int flags = fcntl(socket.get(), F_GETFL, 0);
  const int wanted = blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK;
  if (flags < 0 || fcntl(socket.get(), F_SETFL, wanted) != 0) return socket_failure("fcntl", "socket");
  return {};
}

inline std::unexpected<Error> too_late(const std::string& operation) {
  Error error;
  error.kind = ErrorKind::timeout;
  error.errno_value = ETIMEDOUT;
  error.operation = operation;
  error.where = "socket";
  error.text = "the peer did not answer in time";
  return fail(std::move(error));
}

/// Waits until `events` or the deadline; what poll() says of errors is left to the next call.
inline Status wait_for(const Socket& socket, short events, std::int64_t deadline_ns, const std::string& operation) {
  for (;;) {
    const std::int64_t left_ms = (deadline_ns - now_ns() + 999'999) / 1'000'000;
    if (left_ms <= 0) return too_late(operation);
    pollfd watched{socket.get(), events, 0};
    const auto limit = static_cast<int>(std::min<std::int64_t>(left_ms, std::numeric_limits<int>::max()));
    const int ready = poll(&watched, 1, limit);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return socket_failure(operation, "socket");
  }
}

inline Status finish_connect(const Socket& socket, const std::string& remote, std::int64_t deadline_ns) {
  if (const Status ready = wait_for(socket, POLLOUT, deadline_ns, "connect"); !ready) return ready;
  const auto outcome = socket.option(SOL_SOCKET, SO_ERROR);
  if (!outcome) return fail(outcome.error());
  if (*outcome != 0) return fail(errno_error(*outcome, "connect", remote));
  return {};
}

/// Connects from `local`, within the patience; buffers are set before.
[[nodiscard]] inline Result<Socket> connected_socket(const std::string& local, const std::string& remote,
                                                     std::uint16_t port, const SocketsParameters& p) {
  auto made = bound_socket(local, SOCK_STREAM);
  if (!made) return made;
  const auto there = socket_address(remote, port);
  if (!there) return fail(there.error());
  if (const Status set = apply_buffers(*made, p); !set) return fail(set.error());
  if (const Status set = set_blocking(*made, false); !set) return fail(set.error());
  const std::int64_t deadline_ns = now_ns() + static_cast<std::int64_t>(p.patience_s * 1e9);
  if (connect(made->get(), there->get(), there->length) != 0) {
    if (errno != EINPROGRESS) return socket_failure("connect", remote);
    if (const Status done = finish_connect(*made, remote, deadline_ns); !done) return fail(done.error());
  }
  if (const Status set = set_blocking(*made, true); !set) return fail(set.error());
  return made;
}

[[nodiscard]] inline Status connect_datagrams(const Socket& socket, const std::string& remote, std::uint16_t port) {
  const auto there = socket_address(remote, port);
  if (!there) return fail(there.error());
  if (connect(socket.get(), there->get(), there->length) != 0) return socket_failure("connect", remote);
  return {};
}

/// The next connection; a timeout where none comes until `deadline_ns` of now_ns().
[[nodiscard]] inline Result<Socket> accept_until(const Socket& listening, std::int64_t deadline_ns) {
  if (const Status ready = wait_for(listening, POLLIN, deadline_ns, "accept"); !ready) return fail(ready.error());
  Socket made(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!made.is_open()) return socket_failure("accept", "socket");
  return made;
}

/// All of it, or an error; a timeout at `deadline_ns`.
[[nodiscard]] inline Status send_until(const Socket& socket, std::span<const std::byte> data,
                                       std::int64_t deadline_ns) {
  while (!data.empty()) {
    if (const Status ready = wait_for(socket, POLLOUT, deadline_ns, "send"); !ready) return ready;
    const ssize_t sent = send(socket.get(), data.data(), data.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return socket_failure("send", "socket");
    if (sent > 0) data = data.subspan(static_cast<std::size_t>(sent));
  }
  return {};
}

[[nodiscard]] inline Status receive_until(const Socket& socket, std::span<std::byte> data, std::int64_t deadline_ns) {
  while (!data.empty()) {
    if (const Status ready = wait_for(socket, POLLIN, deadline_ns, "receive"); !ready) return ready;
    const ssize_t got = recv(socket.get(), data.data(), data.size(), MSG_DONTWAIT);
    if (got == 0) return fail(errno_error(ECONNRESET, "receive", "socket"));
    if (got < 0 && errno != EAGAIN && errno != EINTR) return socket_failure("receive", "socket");
    if (got > 0) data = data.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace ullage
