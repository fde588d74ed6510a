// Events in RocksDB: one column family by sequence, and one of keys that are a stream's name and a sequence.
//
// Options are those that its wiki recommends to begin with, with LZ4 and the cache of the comparison; blocks keep their
// default size of 4 KiB, which suits random reads.

#include "Library.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

namespace {

using namespace rocksdb;

void check(const Status &status) {
  if (!status.ok()) fail("RocksDB: " + status.ToString());
}

std::string key(uint64_t sequence) {
  uint64_t big = __builtin_bswap64(sequence);
  return {reinterpret_cast<const char *>(&big), 8};
}

class RocksEvents : public Library {
public:
  explicit RocksEvents(const Opening &opening) : isIndexed(opening.indexed) {
    Options options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.IncreaseParallelism(2);
    options.bytes_per_sync = 1 << 20;
    options.compression = kLZ4Compression;
    options.level_compaction_dynamic_level_bytes = true;
    options.compaction_pri = kMinOverlappingRatio;
    BlockBasedTableOptions table;
    table.block_cache = NewLRUCache(cacheSize);
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    table.cache_index_and_filter_blocks = true;
    table.pin_l0_filter_and_index_blocks_in_cache = true;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, options}, {"streams", options}};
    check(DB::Open(options, opening.path, families, &handles, &db));
    writing.sync = opening.synced;
  }

  void append(const std::vector<Event> &events, uint64_t begin, uint64_t end) override {
    WriteBatch batch;
    std::string value;
    for (uint64_t number = begin; number < end; number++) {
      const Event &event = events[number % events.size()];
      encode(event, value);
      std::string sequence = key(number + 1);
      check(batch.Put(handles[0], sequence, value));
      if (isIndexed) check(batch.Put(handles[1], event.stream + '\0' + sequence, Slice()));
    }
    check(db->Write(writing, &batch));
  }

  Found read(uint64_t sequence) override {
    PinnableSlice value;
    check(db->Get(ReadOptions(), handles[0], key(sequence), &value));
    Found found;
    add(value, found);
    return found;
  }

  Found readStream(const std::string &stream) override {
    std::string prefix = stream + '\0', bound = stream + '\1';
    Slice upper(bound);
    ReadOptions options;
    options.iterate_upper_bound = &upper;
    std::vector<std::string> keys;
    std::unique_ptr<Iterator> iterator(db->NewIterator(options, handles[1]));
    for (iterator->Seek(prefix); iterator->Valid(); iterator->Next()) {
      keys.emplace_back(iterator->key().data() + prefix.size(), 8);
    }
    check(iterator->status());
    std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    db->MultiGet(
      ReadOptions(), handles[0], slices.size(), slices.data(), values.data(), statuses.data(), /* sorted */ true);
    Found found;
    for (size_t index = 0; index < keys.size(); index++) {
      check(statuses[index]);
      add(values[index], found);
    }
    return found;
  }

  Found scan() override {
    ReadOptions options;
    options.fill_cache = false;
    options.readahead_size = 2 << 20;
    std::unique_ptr<Iterator> iterator(db->NewIterator(options, handles[0]));
    Found found;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) add(iterator->value(), found);
    check(iterator->status());
    return found;
  }

  void settle() override {
    for (auto *handle : handles) {
      check(db->Flush(FlushOptions(), handle));
      check(db->CompactRange(CompactRangeOptions(), handle, nullptr, nullptr));
    }
  }

  void close() override {
    check(db->FlushWAL(true));
    for (auto *handle : handles) check(db->DestroyColumnFamilyHandle(handle));
    check(db->Close());
    delete db;
  }

private:
  static void add(const Slice &value, Found &found) {
    auto payload = payloadOf(value.data(), value.size());
    found.add(payload.data(), payload.size());
  }

  DB *db = nullptr;
  std::vector<ColumnFamilyHandle *> handles;
  WriteOptions writing;
  bool isIndexed;
};

} // namespace

std::unique_ptr<Library> openRocksDB(const Opening &opening) { return std::make_unique<RocksEvents>(opening); }
std::string versionOfRocksDB() { return GetRocksVersionAsString(); }
