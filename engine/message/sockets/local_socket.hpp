// SPDX-License-Identifier: Apache-2.0
// Sockets and pipes between two processes of a node, without a network. Their names are the kernel's (abstract), so
// nothing is left of them in any file system.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "base/std.hpp"
#include "message/sockets/socket.hpp"

namespace ullage {

/// One way.
struct Pipe {
  Socket from;
  Socket to;
};

/// Both ways; both ends of each are open in both processes, so that either can wake itself.
struct PipePair {
  Pipe there;
  Pipe back;
};

inline constexpr int pipe_ends = 4;

struct LocalListening {
  Socket socket;
  std::string name;  // without the zero that all such names begin with
};

inline Result<Socket> local_socket() {
  Socket made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!made.is_open()) return socket_failure("socket", "unix");
  return made;
}

/// Under a name of the kernel's choice.
[[nodiscard]] inline Result<LocalListening> listening_local_socket(int backlog) {
  auto made = local_socket();
  if (!made) return fail(made.error());
  sockaddr_un own{};
  own.sun_family = AF_UNIX;
  socklen_t length = sizeof own.sun_family;  // no name: the kernel makes one
  if (bind(made->get(), reinterpret_cast<const sockaddr*>(&own), length) != 0) return socket_failure("bind", "unix");
  if (listen(made->get(), backlog) != 0) return socket_failure("listen", "unix");
  length = sizeof own;
  if (getsockname(made->get(), reinterpret_cast<sockaddr*>(&own), &length) != 0)
    return socket_failure("getsockname", "unix");
  const std::size_t before = offsetof(sockaddr_un, sun_path) + 1;
  return LocalListening{std::move(*made), std::string(own.sun_path + 1, length - before)};
}

[[nodiscard]] inline Result<Socket> connected_local_socket(const std::string& name) {
  auto made = local_socket();
  if (!made) return made;
  sockaddr_un there{};
  there.sun_family = AF_UNIX;
  if (name.empty() || name.size() + 1 > sizeof there.sun_path)
    return fail(environment_error("unix", "the peer has no name for its sockets"));
  std::memcpy(there.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (connect(made->get(), reinterpret_cast<const sockaddr*>(&there), length) != 0)
    return socket_failure("connect", "unix");
  return made;
}

[[nodiscard]] inline Result<PipePair> make_pipes() {
  std::array<int, pipe_ends> ends{-1, -1, -1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return socket_failure("open", "pipe");
  PipePair made{{Socket(ends[0]), Socket(ends[1])}, {}};
  if (pipe2(ends.data() + 2, O_CLOEXEC) != 0) return socket_failure("open", "pipe");
  made.back = {Socket(ends[2]), Socket(ends[3])};
  return made;
}

/// A message of one byte with room for the descriptors of both pipes.
struct PipesMessage {
  char byte = 0;
  iovec place{&byte, 1};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(pipe_ends * sizeof(int))> control{};
  msghdr header{};

  PipesMessage() {
    header.msg_iov = &place;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  PipesMessage(const PipesMessage&) = delete;
  PipesMessage& operator=(const PipesMessage&) = delete;
};

[[nodiscard]] inline Status send_pipes(const Socket& socket, const PipePair& pipes) {
  const std::array ends{pipes.there.from.get(), pipes.there.to.get(), pipes.back.from.get(), pipes.back.to.get()};
  PipesMessage message;
  cmsghdr* const control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof ends);
  std::memcpy(CMSG_DATA(control), ends.data(), sizeof ends);
  if (sendmsg(socket.get(), &message.header, MSG_NOSIGNAL) != 1) return socket_failure("send", "pipe");
  return {};
}

[[nodiscard]] inline Result<PipePair> receive_pipes(const Socket& socket, std::int64_t deadline_ns) {
  if (const Status ready = wait_for(socket, POLLIN, deadline_ns, "receive"); !ready) return fail(ready.error());
  PipesMessage message;
  if (recvmsg(socket.get(), &message.header, MSG_CMSG_CLOEXEC) != 1) return socket_failure("receive", "pipe");
  const cmsghdr* const control = CMSG_FIRSTHDR(&message.header);
  std::array<int, pipe_ends> ends{-1, -1, -1, -1};
  if (control == nullptr || control->cmsg_type != SCM_RIGHTS || control->cmsg_len != CMSG_LEN(sizeof ends))
    return fail(environment_error("pipe", "the peer has sent no descriptors"));
  std::memcpy(ends.data(), CMSG_DATA(control), sizeof ends);
  return PipePair{{Socket(ends[0]), Socket(ends[1])}, {Socket(ends[2]), Socket(ends[3])}};
}

}  // namespace ullage
