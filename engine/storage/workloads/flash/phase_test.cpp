// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/flash/phase.hpp"

#include <gtest/gtest.h>

#include "storage/hdf5_library.hpp"
#include "storage/workloads/flash/test_support.hpp"

namespace ullage::flash_test {
namespace {

class MpiFlashPhase : public OneFlash {
 protected:
  /// Collective. Writes and reads the last blocks of a run with so many, one a rank, and no others: the file is sparse.
  Json run_last_blocks(const FlashParameters& parameters, std::uint64_t total_blocks) {
    const StorageContext bound = context();
    FlashState state;
    state.parameters = &parameters;
    state.context = &bound;
    state.capabilities = backend_->capabilities();
    state.dataset.directory = "large";
    state.layout = parameters.layout(1);
    state.layout.total_blocks = total_blocks;
    state.arrays = state.layout.arrays();
    state.first_block = total_blocks - static_cast<std::uint64_t>(world().size() - world().rank());
    state.blocks = 1;
    if (world().root()) {
      EXPECT_TRUE(bench_.folder().make_directory("large"));
    }
    Json records = Json::array();
    for (const Direction direction : {Direction::write, Direction::read}) {
      world().all().barrier();
      const auto phase = std::make_unique<FlashPhase>(state, direction);
      Json record;
      status_ = run_phase(run_context(), &bench_.folder(), *phase, record).status;
      EXPECT_EQ(status_, PhaseStatus::ok) << record.dump();
      records.push_back(record);
    }
    expect_last_element(state);
    world().all().barrier();
    if (world().root()) std::filesystem::remove_all(bench_.path("large"));
    world().all().barrier();
    return Json::parse(world().all().broadcast(records.dump(), 0));
  }

  /// Read without the backend, where the format is ours.
  void expect_last_element(const FlashState& state) {
    if (format_ != "raw" || !world().root()) return;
    const ArraySpec& spec = state.arrays.back();
    const std::uint64_t end = flash_offsets(state.arrays).back() + spec.size_bytes();
    const ElementRun run{42, state.arrays.size() - 1, spec.type, spec.rows() * spec.row_elements() - 1};
    std::string bytes(bytes_of(spec.type), '\0');
    std::ifstream stream(bench_.path(state.dataset.file_name(0)), std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(end - bytes.size()));
    stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    ASSERT_TRUE(stream);
    EXPECT_EQ(check_elements(run, std::as_bytes(std::span(bytes))).wrong_elements, 0U);
  }
};

/// The checkpoint of 512 ranks, of 32.6 GB: block data and unknowns lie beyond 2 and 4 GiB.
TEST_F(MpiFlashPhase, BlocksOfALargeRunAreWrittenWhereTheyBelong) {
  std::vector<std::pair<const char*, bool>> ways{{"posix", false}, {"mpiio", false}, {"mpiio", true}};
  if (hdf5_library()) ways.insert(ways.end(), {{"hdf5", false}, {"hdf5", true}});
  for (const auto& [backend, collective] : ways) {
    SCOPED_TRACE(std::string(backend) + (collective ? " together" : " alone"));
    use(backend, collective ? Values{{"collective", true}} : Values{});
    FlashParameters parameters;
    parameters.cells = 16;
    parameters.format = format_ == "raw" ? FileFormat::raw : FileFormat::arrays;
    const Json records = run_last_blocks(parameters, 41'471);
    const std::uint64_t data_bytes = 41'471ULL * (24 * 4096 * 8 + 164);
    EXPECT_EQ(records[1]["verified_bytes"], static_cast<std::uint64_t>(world().size()) * (24 * 4096 * 8 + 164));
    const auto found = records[0]["facts"]["file_bytes"].get<std::uint64_t>();
    if (format_ == "raw")
      EXPECT_EQ(found, data_bytes + FlashLayout::header_bytes);
    else
      EXPECT_GT(found, data_bytes);
  }
}

/// Header, block data and unknowns are told apart, and the order of ranks is that of their blocks.
TEST_F(MpiFlashPhase, PartsAreToldApartAndBlocksLieInTheOrderOfTheRanks) {
  use("posix");
  std::string content;
  const Json records = run({{"file", std::string("plot-centred")}, {"cells", 2}}, [&] {
    if (world().root()) content = test::read_file(file());
  });
  ASSERT_EQ(status_, PhaseStatus::ok) << records.dump();
  if (!world().root()) return;
  for (const char* gauge : {"metadata_s", "unknowns_s"}) EXPECT_GT(records[0]["gauges"][gauge]["most"], 0) << gauge;
  EXPECT_EQ(records[0]["counters"]["blocks"], flash_blocks_before(0, static_cast<std::uint64_t>(world().size())));
  const FlashLayout layout{FlashFile::plot_centred, 2, 4,
                           flash_blocks_before(0, static_cast<std::uint64_t>(world().size()))};
  const auto arrays = layout.arrays();
  const auto offsets = flash_offsets(arrays);
  ASSERT_EQ(content.size(), FlashLayout::header_bytes + layout.data_bytes());
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    const ElementRun run{42, a, arrays[a].type, 0};  // all ranks' blocks are one run
    const auto bytes = std::as_bytes(std::span(content)).subspan(offsets[a], arrays[a].size_bytes());
    EXPECT_EQ(check_elements(run, bytes).wrong_elements, 0U) << arrays[a].name;
  }
}

using namespace test;

class MpiRawArrays : public testing::TestWithParam<const char*> {};

TEST_P(MpiRawArrays, AHeaderThatDiffersIsFound) {
  Bench bench;
  const auto backend = bench.make(GetParam());
  const auto arrays = FlashLayout{FlashFile::plot_centred, 2, 4, 9}.arrays();
  RawArraysRequest request{{"f", OpenMode::create, true, 0}, arrays, false, true, bench.world().root()};
  auto file = open_raw_arrays(*backend, request);
  ASSERT_TRUE(file) << line_of(file);
  EXPECT_TRUE((*file)->sync());
  EXPECT_TRUE((*file)->close());
  bench.world().all().barrier();
  request.file.mode = OpenMode::read;
  file = open_raw_arrays(*backend, request);
  ASSERT_TRUE(file) << line_of(file);
  EXPECT_TRUE((*file)->close());
  bench.world().all().barrier();
  if (bench.world().root()) {
    std::fstream stream(bench.path("f"), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(100);
    stream.put('#');
  }
  bench.world().all().barrier();
  const auto bad = open_raw_arrays(*backend, request);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, ErrorKind::verification);
  EXPECT_EQ(bad.error().offset_bytes, 100U);
}

INSTANTIATE_TEST_SUITE_P(Backends, MpiRawArrays, testing::Values("posix", "mpiio"));

}  // namespace
}  // namespace ullage::flash_test
