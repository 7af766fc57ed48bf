// SPDX-License-Identifier: Apache-2.0
// What the tests of workload `b-eff-io` share. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "storage/workloads/test_support.hpp"

namespace ullage::test {

inline constexpr std::int64_t mib = 1 << 20;

/// So long that room alone ends patterns, so that repetitions are known.
inline const Values& by_room() {
  static const Values values{{"unit_s", 1000.0}, {"most_bytes", 12 * mib}};
  return values;
}

inline std::vector<int> numbers_of(const std::vector<Json>& records) {
  std::vector<int> numbers;
  for (const Json& record : records) numbers.push_back(record["facts"]["pattern"]);
  return numbers;
}

inline std::vector<std::uint64_t> repetitions_of(const std::vector<Json>& records) {
  std::vector<std::uint64_t> repetitions;
  for (const Json& record : records) repetitions.push_back(record["facts"]["repetitions"]);
  return repetitions;
}

/// Holds what one rank has of files with views, and what it was asked to do. Files are as long as this rank's part
/// reaches; what others wrote is zeros here.
struct ViewedStore {
  std::map<std::string, std::vector<std::byte>> files;
  std::vector<OpenRequest> opened;
  std::vector<Map> open_hints;
  std::vector<FileView> views;
  std::vector<Map> hints;  // of views, and alone
  int closed = 0;
  int syncs = 0;
  int moves = 0;
  int empty_moves = 0;            // by a rank in error
  int fails_at = -1;              // number of the move that is an error
  std::function<void()> in_move;  // called in each
};

class StoredViewedFile final : public ViewedFile {
 public:
  StoredViewedFile(ViewedStore& store, const mpi::Comm& everyone, std::string name)
      : store_(store), everyone_(everyone), name_(std::move(name)) {}

  [[nodiscard]] Status set_view(const FileView& view, const Map& hints) override {
    view_ = view;
    own_ = shared_ = 0;
    store_.views.push_back(view);
    store_.hints.push_back(hints);
    return {};
  }
  [[nodiscard]] Status set_hints(const Map& hints) override {
    store_.hints.push_back(hints);
    return {};
  }
  [[nodiscard]] Status move(Direction direction, Pointer pointer, std::span<std::byte> data) override {
    if (store_.in_move) store_.in_move();
    if (!failure_ && store_.moves++ == store_.fails_at) failure_ = errno_error(ENOSPC, "write", name_);
    if (failure_) {
      ++store_.empty_moves;
      data = {};
    }
    std::uint64_t begin = own_;
    if (pointer == Pointer::together) everyone_.barrier();
    if (pointer == Pointer::ordered) {
      begin = shared_ + everyone_.sum_before(data.size());
      shared_ += everyone_.sum(data.size());
    }
    own_ += data.size();
    for (std::size_t done = 0; done < data.size() && !failure_;) {
      const auto run = data.subspan(done, std::min(data.size() - done, contiguous_from(begin + done)));
      if (!move_run(direction, offset_of(begin + done), run))
        failure_ = errno_error(EIO, "read", name_, offset_of(begin + done));
      done += run.size();
    }
    return failure_ ? fail(*failure_) : Status{};
  }
  [[nodiscard]] Status sync() override {
    ++store_.syncs;
    return {};
  }
  [[nodiscard]] Status close() override {
    ++store_.closed;
    return {};
  }
  [[nodiscard]] Map hints_granted() const override { return store_.hints.back(); }

 private:
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t seen) const {
    if (view_.chunk_bytes == 0) return view_.displacement_bytes + seen;
    const auto part = static_cast<std::uint64_t>(view_.part);
    const auto parts = static_cast<std::uint64_t>(view_.parts);
    return view_.displacement_bytes + (seen / view_.chunk_bytes * parts + part) * view_.chunk_bytes +
           seen % view_.chunk_bytes;
  }
  [[nodiscard]] std::size_t contiguous_from(std::uint64_t seen) const {
    if (view_.chunk_bytes == 0) return std::numeric_limits<std::size_t>::max();
    return static_cast<std::size_t>(view_.chunk_bytes - seen % view_.chunk_bytes);
  }
  bool move_run(Direction direction, std::uint64_t at, std::span<std::byte> data) {
    auto& file = store_.files[name_];
    if (direction == Direction::write && file.size() < at + data.size()) file.resize(at + data.size());
    if (file.size() < at + data.size()) return false;
    if (direction == Direction::write)
      std::memcpy(file.data() + at, data.data(), data.size());
    else
      std::memcpy(data.data(), file.data() + at, data.size());
    return true;
  }

  ViewedStore& store_;
  const mpi::Comm& everyone_;
  std::string name_;
  FileView view_;
  std::uint64_t own_ = 0;
  std::uint64_t shared_ = 0;
  std::optional<Error> failure_;
};

class StoredViews final : public Backend {
 public:
  StoredViews(ViewedStore& store, const mpi::World& world) : store_(store), world_(world) {}
  [[nodiscard]] Capabilities capabilities() const override { return {.path = false, .views = true}; }
  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    return fail(unsupported("open", request.name));
  }
  [[nodiscard]] Result<std::unique_ptr<ViewedFile>> open_viewed(const OpenRequest& request, const Map& hints) override {
    store_.opened.push_back(request);
    store_.open_hints.push_back(hints);
    if (request.mode == OpenMode::create) store_.files[request.name].clear();
    return std::make_unique<StoredViewedFile>(store_, world_.all(), request.name);
  }
  [[nodiscard]] Status drop_cached(const std::string&) override {
    ++drops;
    return {};
  }
  [[nodiscard]] Map hints_given() const override { return {{"romio_cb_read", "enable"}}; }

  int drops = 0;

 private:
  ViewedStore& store_;
  const mpi::World& world_;
};

/// Cases of the workload one after the other, as in a launch, on one book of datasets.
class BEffIoCases : public StorageWorkloadTest {
 protected:
  BEffIoCases() : StorageWorkloadTest("0123456789abcdef") {
    has_path_ = false;
    backend_ = std::make_unique<StoredViews>(store_, world_);
  }

  /// Collective: all phases, until one is not ok. Their records, on every rank.
  std::vector<Json> run(const std::string& type, const std::string& access, Values given = {}) {
    given["type"] = type;
    given["access"] = access;
    given.emplace("lmax_bytes", 16384);
    given.emplace("unit_s", 1e-4);
    const auto* entry = Registry<WorkloadEntry>::instance().find("b-eff-io");
    const auto values = complete(entry->description.parameters, given, "");
    EXPECT_TRUE(values.has_value()) << line_of(values);
    StorageContext bound = context();
    bound.dataset = "h0-" + type;
    bound.datasets = &book_;
    bound.run_key = run_key_++;
    const auto workload = std::get<StorageWork>(entry->work).make(values.value_or(Values{}), bound);
    const Json records = run_phases(*workload);
    return {records.begin(), records.end()};
  }
  /// First writes of the types that settle the segments.
  void write_first_types() {
    for (const char* type : {"scatter", "shared", "separated"}) {
      run(type, "write");
      EXPECT_EQ(status_, PhaseStatus::ok) << type;
    }
  }
  [[nodiscard]] Json facts_of(const std::string& type) const {
    const Json* facts = book_.find("h0-" + type);
    return facts == nullptr ? Json() : *facts;
  }
  [[nodiscard]] int drops() const { return static_cast<const StoredViews&>(*backend_).drops; }

  const mpi::World& world_ = world();
  ViewedStore store_;
  DatasetFacts book_;
  std::uint64_t run_key_ = 42;
};

}  // namespace ullage::test
