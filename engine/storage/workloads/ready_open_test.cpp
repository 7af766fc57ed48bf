// SPDX-License-Identifier: Apache-2.0
// What the opening of files needs besides the API's own calls is done before the timer, in all workloads that open them
// in the stage for it.

#include "storage/forwarding_backend.hpp"
#include "storage/workloads/test_support.hpp"

namespace ullage::ready_open_test {

/// Notes what is opened that was not readied since the last open() of it.
class Noting final : public ForwardingBackend {
 public:
  using ForwardingBackend::ForwardingBackend;
  [[nodiscard]] Status ready_open(const OpenRequest& request, std::span<const ArraySpec> arrays) override {
    readied_.emplace(request.name, request.mode);
    return ForwardingBackend::ready_open(request, arrays);
  }
  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    note(request);
    return ForwardingBackend::open(request);
  }
  [[nodiscard]] Result<std::unique_ptr<ViewedFile>> open_viewed(const OpenRequest& request, const Map& hints) override {
    note(request);
    return ForwardingBackend::open_viewed(request, hints);
  }
  [[nodiscard]] std::size_t opened() const { return opened_; }
  [[nodiscard]] std::size_t unready() const { return unready_; }
  void forget() { opened_ = unready_ = 0; }

 private:
  void note(const OpenRequest& request) {
    ++opened_;
    unready_ += readied_.erase({request.name, request.mode}) > 0 ? 0 : 1;
  }
  std::set<std::pair<std::string, OpenMode>> readied_;
  std::size_t opened_ = 0;
  std::size_t unready_ = 0;
};

struct Work {
  std::string workload;
  std::string backend;
  Values given;
};

class MpiReadyOpen : public test::StorageWorkloadTest, public testing::WithParamInterface<Work> {
 protected:
  MpiReadyOpen() : StorageWorkloadTest("00000000000000a1") {}
};

/// Each phase up to the end of its open stage; all of it, then, so that the next one finds its files.
TEST_P(MpiReadyOpen, NoPhaseOpensWhatItHasNotReadied) {
  auto noting = std::make_unique<Noting>(bench_.make(GetParam().backend));
  Noting& noted = *noting;
  backend_ = std::move(noting);
  const WorkloadEntry& entry = *Registry<WorkloadEntry>::instance().find(GetParam().workload);
  const auto values = complete(entry.description.parameters, GetParam().given, "");
  ASSERT_TRUE(values) << test::line_of(values);
  const auto workload = std::get<StorageWork>(entry.work).make(*values, context());
  ASSERT_TRUE(begin_together(*workload, world().all()).everywhere);
  std::size_t opened = 0;
  for (std::size_t i = 0; i < workload->phases(); ++i) {
    const auto work = workload->phase(i);
    noted.forget();
    ASSERT_TRUE(world().all().all(work->allocate().has_value()));
    EXPECT_TRUE(work->before());
    EXPECT_EQ(noted.opened(), 0U);
    const std::uint64_t prepared = work->operations() > 0 ? work->prepare(0, work->operations()) : 0;
    EXPECT_TRUE(work->open());
    opened += noted.opened();
    EXPECT_EQ(noted.unready(), 0U) << work->info().name;
    meter_.use_parts(work->info().parts.size());
    meter_.start(now_ns());
    EXPECT_TRUE(prepared == 0 || work->execute(meter_));
    EXPECT_TRUE(work->close());
    (void)work->after(meter_.operations(), meter_);
    world().all().barrier();
  }
  EXPECT_TRUE(world().all().any(opened > 0)) << "ranks without a tile open nothing";
  EXPECT_TRUE(end_together(*workload, false, world().all()).everywhere);
}

std::vector<Work> works() {
  const auto kib = [](std::int64_t count) { return count * 1024; };
  const Values transfer{{"transfer_bytes", kib(4)}, {"block_bytes", kib(16)}};
  Values own = transfer;
  own["file_mode"] = std::string("per-process");
  Values again = transfer;
  again["phases"] = std::vector<std::string>{"write", "rewrite", "read", "mixed"};
  again["read_share"] = 0.5;
  return {{"transfer", "posix", again},
          {"transfer", "mpiio", transfer},
          {"transfer", "mpiio", own},
          {"overlap", "mpiio", {{"transfer_bytes", kib(4)}, {"method", std::string("nonblocking")}}},
          {"flash", "mpiio", {{"cells", 4}, {"blocks", 2}}},
          {"vpic", "mpiio", {{"particles", 64}, {"steps", 2}}},
          {"pio", "mpiio", {{"request_bytes", kib(4)}}},
          {"tile", "mpiio", {{"tile_x", 32}, {"tile_y", 32}}}};
}

INSTANTIATE_TEST_SUITE_P(All, MpiReadyOpen, testing::ValuesIn(works()), [](const auto& one) {
  return one.param.workload + "_" + one.param.backend + "_" + std::to_string(one.index);
});

}  // namespace ullage::ready_open_test
