// SPDX-License-Identifier: Apache-2.0
// Pages of the dataset in the page cache before and after a phase.
#include <fcntl.h>

#include <array>
#include <cerrno>

#include "base/json.hpp"
#include "probes/page_cache.hpp"
#include "probes/probe.hpp"

namespace ullage {
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
