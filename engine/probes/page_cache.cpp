// SPDX-License-Identifier: Apache-2.0
#include "probes/page_cache.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/json.hpp"
#include "base/std.hpp"
#include "probes/probe.hpp"

namespace ullage {
namespace {

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

// Linux 6.5; libc headers may be older. The number is the same on every architecture that got its numbers after 2019.
#ifdef SYS_cachestat
constexpr long cachestat_call = SYS_cachestat;
#else
constexpr long cachestat_call = 451;
#endif

std::expected<void, int> by_cachestat(int fd, FilePages& pages) {
  struct {
    std::uint64_t offset_bytes = 0;
    std::uint64_t length_bytes = 0;  // to the end
  } range;
  struct {
    std::uint64_t cached = 0;
    std::uint64_t dirty = 0;
    std::uint64_t write_back = 0;
    std::uint64_t evicted = 0;
    std::uint64_t recently_evicted = 0;
  } state;
  if (syscall(cachestat_call, fd, &range, &state, 0U) != 0) return std::unexpected(errno);
  pages.resident = state.cached;
  pages.dirty = state.dirty + state.write_back;
  return {};
}

/// A window of the file mapped, never touched.
std::expected<std::uint64_t, int> resident_in(int fd, std::uint64_t offset_bytes, std::uint64_t length_bytes,
                                              std::vector<unsigned char>& flags) {
  const auto length = static_cast<std::size_t>(length_bytes);
  void* const window = mmap(nullptr, length, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offset_bytes));
  if (window == MAP_FAILED) return std::unexpected(errno);
  const int failed = mincore(window, length, flags.data()) == 0 ? 0 : errno;
  munmap(window, length);
  if (failed != 0) return std::unexpected(failed);
  const auto pages = static_cast<std::ptrdiff_t>((length_bytes + page_bytes() - 1) / page_bytes());
  return static_cast<std::uint64_t>(
      std::count_if(flags.begin(), flags.begin() + pages, [](unsigned char flag) { return (flag & 1) != 0; }));
}

std::expected<void, int> by_mincore(int fd, std::uint64_t size_bytes, FilePages& pages) {
  constexpr std::uint64_t window_bytes = 1ULL << 28;
  std::vector<unsigned char> flags(window_bytes / page_bytes());
  for (std::uint64_t offset = 0; offset < size_bytes; offset += window_bytes) {
    const auto resident = resident_in(fd, offset, std::min(window_bytes, size_bytes - offset), flags);
    if (!resident) return std::unexpected(resident.error());
    pages.resident += *resident;
  }
  return {};
}

}  // namespace

std::expected<FilePages, int> file_pages(int fd, PageSource source) {
  struct stat status{};
  if (fstat(fd, &status) != 0) return std::unexpected(errno);
  const auto size_bytes = static_cast<std::uint64_t>(status.st_size);
  FilePages pages;
  pages.total = (size_bytes + page_bytes() - 1) / page_bytes();
  const auto counted = source == PageSource::cachestat ? by_cachestat(fd, pages) : by_mincore(fd, size_bytes, pages);
  if (!counted) return std::unexpected(counted.error());
  return pages;
}

namespace {

class ResidentProbe final : public Probe {
 public:
  void begin(const PhaseScope& scope) override {
    failed_ = false;
    before_ = count(scope);
  }

  void end(const PhaseScope& scope) override { (void)scope; }

  /// Not before every rank is done: counting takes a core's time, and the phase is not over.
  void settle(const PhaseScope& scope) override { after_ = count(scope); }

  void report(const PhaseScope& scope, Json& record) override {
    const bool looked = scope.folder != nullptr && !scope.files.empty();
    std::array<std::uint64_t, 7> sums{std::max(before_.total, after_.total),
                                      before_.resident,
                                      after_.resident,
                                      after_.dirty,
                                      looked ? 1U : 0U,
                                      looked && failed_ ? 1U : 0U,
                                      looked && source_ == PageSource::mincore ? 1U : 0U};
    scope.world->all().sum_all(sums);
    if (!scope.world->root()) return;
    if (sums[4] == 0) {
      record["resident"] = nullptr;  // nothing that could be in a page cache
    } else if (sums[5] != 0) {
      record["resident"] = {
          {"source", "none"}, {"total_pages", 0}, {"before_pages", 0}, {"after_pages", 0}, {"dirty_after_pages", 0}};
    } else {
      record["resident"] = {{"source", sums[6] == 0 ? "cachestat" : "mincore"},
                            {"total_pages", sums[0]},
                            {"before_pages", sums[1]},
                            {"after_pages", sums[2]},
                            {"dirty_after_pages", sums[3]}};
    }
  }

 private:
  [[nodiscard]] FilePages count(const PhaseScope& scope) {
    FilePages sum;
    if (scope.folder == nullptr) return sum;
    for (const std::string& name : scope.files) {
      const auto file = scope.folder->open_file(name, O_RDONLY);
      if (!file && file.error().errno_value == ENOENT) continue;  // before its first writing phase: no pages
      const auto pages = file ? pages_of(file->get()) : std::unexpected(file.error().errno_value);
      if (!pages) {
        failed_ = true;
        continue;
      }
      sum.total += pages->total;
      sum.resident += pages->resident;
      sum.dirty += pages->dirty;
    }
    return sum;
  }

  [[nodiscard]] std::expected<FilePages, int> pages_of(int fd) {
    const auto pages = file_pages(fd, source_);
    if (pages || source_ == PageSource::mincore) return pages;
    source_ = PageSource::mincore;  // an older kernel, or a sandbox that refuses the call: so for the rest of the run
    return file_pages(fd, source_);
  }

  PageSource source_ = PageSource::cachestat;
  bool failed_ = false;
  FilePages before_;
  FilePages after_;
};

const Registered<ProbeEntry> registered_resident{{
    .description = {.name = "resident",
                    .doc = "Counts the pages of the dataset in the page cache before and after each phase (cachestat, "
                           "else mincore)."},
    .make = [] { return std::make_unique<ResidentProbe>(); },
}};

}  // namespace
}  // namespace ullage
