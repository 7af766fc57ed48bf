// SPDX-License-Identifier: Apache-2.0
#include "storage/file_mapping.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <csignal>
#include <mutex>

namespace ullage {

namespace detail {

thread_local constinit sigjmp_buf* after_bus_error = nullptr;

}  // namespace detail

namespace {

struct Installed {
  std::mutex mutex;
  int count = 0;              // guarded by mutex
  struct sigaction before{};  // guarded by mutex
};

Installed& installed() {
  static Installed one;
  return one;
}

/// The default action, by touching the page again, where nobody waits for it: a core file then shows the true place.
void go_on(int number) {
  if (detail::after_bus_error != nullptr) siglongjmp(*detail::after_bus_error, 1);
  struct sigaction end{};
  end.sa_handler = SIG_DFL;
  (void)sigaction(number, &end, nullptr);
}

// Linux 4.15 and 5.14 have these flags, older C libraries do not name them.
constexpr int map_shared_validate = 0x03;
constexpr int map_sync = 0x80000;
constexpr int populate_read = 22;
constexpr int populate_write = 23;

void unmap(std::byte* data, std::uint64_t size_bytes) { (void)munmap(data, size_bytes); }

int advice_of(MapAdvice advice) {
  switch (advice) {
    case MapAdvice::none:
      return MADV_NORMAL;
    case MapAdvice::sequential:
      return MADV_SEQUENTIAL;
    case MapAdvice::random:
      return MADV_RANDOM;
    case MapAdvice::hugepage:
      return MADV_HUGEPAGE;
  }
  return MADV_NORMAL;
}

}  // namespace

BusErrorHandler::BusErrorHandler() {
  Installed& one = installed();
  const std::scoped_lock lock(one.mutex);
  if (one.count++ > 0) return;
  struct sigaction action{};
  action.sa_handler = go_on;
  action.sa_flags = SA_NODEFER;  // the handler does not return, so nothing would unblock the signal
  (void)sigaction(SIGBUS, &action, &one.before);
}

BusErrorHandler::~BusErrorHandler() {
  Installed& one = installed();
  const std::scoped_lock lock(one.mutex);
  if (--one.count == 0) (void)sigaction(SIGBUS, &one.before, nullptr);
}

FileMapping::FileMapping(FileMapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_bytes_(other.size_bytes_),
      is_sync_(other.is_sync_),
      unmap_(other.unmap_) {}

FileMapping& FileMapping::operator=(FileMapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(is_sync_, other.is_sync_);
  std::swap(unmap_, other.unmap_);
  return *this;
}

FileMapping::~FileMapping() {
  if (data_ != nullptr) unmap_(data_, size_bytes_);
}

Result<FileMapping> FileMapping::map(int fd, std::uint64_t bytes, bool writes, const MappingParameters& parameters,
                                     const std::string& path) {
  const int protection = writes ? PROT_READ | PROT_WRITE : PROT_READ;
  void* found = MAP_FAILED;
  bool is_sync = false;
  if (parameters.map_sync != MapSync::off) {
    found = mmap(nullptr, bytes, protection, map_shared_validate | map_sync, fd, 0);
    is_sync = found != MAP_FAILED;
    if (!is_sync && parameters.map_sync == MapSync::needed) return fail(errno_error(errno, "map with MAP_SYNC", path));
  }
  if (!is_sync) found = mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
  if (found == MAP_FAILED) return fail(errno_error(errno, "map", path));
  FileMapping mapping(static_cast<std::byte*>(found), bytes, is_sync, unmap);
  if (auto status = mapping.advise(writes, parameters, path); !status) return fail(status.error());
  return mapping;
}

Status FileMapping::advise(bool writes, const MappingParameters& parameters, const std::string& path) const {
  if (parameters.advice != MapAdvice::none && madvise(data_, size_bytes_, advice_of(parameters.advice)) != 0)
    return fail(errno_error(errno, "advise", path));
  if (parameters.populate && madvise(data_, size_bytes_, writes ? populate_write : populate_read) != 0)
    return fail(errno_error(errno == EFAULT ? EIO : errno, "populate", path));
  return {};
}

}  // namespace ullage
