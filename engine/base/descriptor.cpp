// SPDX-License-Identifier: Apache-2.0
#include "base/descriptor.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace ullage {
namespace {

std::unexpected<int> failed() { return std::unexpected<int>(errno); }

bool is_link(int directory, const std::string& name) {
  struct stat status{};
  return fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

/// Asks for the mount, not the device: subvolumes and overlays have several devices in one mount. Yes where the kernel
/// does not say.
bool is_on_mount_of(int directory, int opened) {
#ifdef STATX_MNT_ID
  const auto mount_of = [](int fd) -> std::optional<std::uint64_t> {
    struct statx status{};
    if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) != 0 || (status.stx_mask & STATX_MNT_ID) == 0) return {};
    return status.stx_mnt_id;
  };
  const auto here = mount_of(directory), there = mount_of(opened);
  return !here || !there || *here == *there;
#else
  return directory >= 0 && opened >= 0;
#endif
}

OrErrno<Descriptor> open_with_openat2(int directory, const std::string& name, int flags, unsigned mode) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  long fd = -1;
  do fd = syscall(SYS_openat2, directory, name.c_str(), &how, sizeof(how));
  while (fd < 0 && (errno == EINTR || errno == EAGAIN));
  if (fd < 0) return failed();
  return Descriptor(static_cast<int>(fd));
}

/// One component. A directory flag makes open(2) of a link say ENOTDIR; a link is ELOOP here whatever the flags.
OrErrno<Descriptor> open_component(int directory, const std::string& name, int flags, unsigned mode) {
  int fd = -1;
  do fd = openat(directory, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  const int error = errno;
  Descriptor opened(fd);
  if (opened && !is_on_mount_of(directory, fd)) return std::unexpected<int>(EXDEV);
  if (opened && (flags & O_PATH) != 0 && is_link(directory, name)) return std::unexpected<int>(ELOOP);
  if (opened) return opened;
  return std::unexpected<int>(is_link(directory, name) ? ELOOP : error);
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int Descriptor::release() noexcept { return std::exchange(fd_, -1); }

bool is_safe_name(std::string_view name) noexcept {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= name.size(); ++i) {  // one pass: names are checked while a clock runs
    if (i < name.size() && name[i] == '\0') return false;
    if (i < name.size() && name[i] != '/') continue;
    const std::string_view component = name.substr(begin, i - begin);
    if (component.empty() || component == "." || component == "..") return false;
    begin = i + 1;
  }
  return true;
}

SplitName split_name(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos) return {"", name};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

OrErrno<Descriptor> open_beneath(int directory, const std::string& name, int flags, unsigned mode) {
  if (!is_safe_name(name)) return std::unexpected<int>(EINVAL);
  auto opened = open_with_openat2(directory, name, flags | O_CLOEXEC, mode);
  // A kernel before 5.6, or a container's filter that does not know the call.
  if (!opened && (opened.error() == ENOSYS || opened.error() == EPERM))
    return open_by_component(directory, name, flags, mode);
  return opened;
}

OrErrno<Descriptor> open_by_component(int directory, const std::string& name, int flags, unsigned mode) {
  if (!is_safe_name(name)) return std::unexpected<int>(EINVAL);
  Descriptor current;
  std::size_t begin = 0;
  for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', begin)) {
    auto next =
        open_component(current ? current.get() : directory, name.substr(begin, slash - begin), O_PATH | O_DIRECTORY, 0);
    if (!next) return next;
    current = std::move(*next);
    begin = slash + 1;
  }
  return open_component(current ? current.get() : directory, name.substr(begin), flags, mode);
}

OrErrno<std::string> read_text(int fd, std::size_t most_bytes) {
  std::string text;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t n = ::read(fd, part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed();
    if (n == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(n));
    if (text.size() > most_bytes) return std::unexpected<int>(EFBIG);
  }
}

OrErrno<void> write_text(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed();
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

OrErrno<void> sync_descriptor(int fd) {
  int code = 0;
  do code = ::fsync(fd);
  while (code < 0 && errno == EINTR);
  if (code < 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS) return failed();
  return {};
}

}  // namespace ullage
