// What each library of the comparison does, in its own way: a store of events by sequence, and of each stream's events.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

struct Event {
  std::string stream;
  std::string payload;
};

/// The same as `eventSum` in EventFile.swift, so that all libraries can be seen to read the same.
inline uint64_t eventSum(const void *data, size_t count) {
  const auto *bytes = static_cast<const unsigned char *>(data);
  uint64_t sum = count;
  size_t offset = 0;
  for (; offset + 8 <= count; offset += 8) {
    uint64_t word;
    memcpy(&word, bytes + offset, 8);
    sum += word;
  }
  for (; offset < count; offset++) sum += bytes[offset];
  return sum;
}

/// What was read: how many events, and the sum of their payloads.
struct Found {
  uint64_t count = 0;
  uint64_t sum = 0;

  void add(const void *payload, size_t size) {
    count++;
    sum += eventSum(payload, size);
  }
};

/// How a store is opened.
struct Opening {
  std::string path;
  /// Whether each batch is on disk when `append` returns. Otherwise all of them are when `close` does.
  bool synced = false;
  /// Whether the events of a stream can be found.
  bool indexed = false;
};

class Library {
public:
  virtual ~Library() = default;

  /// Appends a batch: event n of the store is event n modulo their number. May be called by several threads.
  virtual void append(const std::vector<Event> &events, uint64_t begin, uint64_t end) = 0;
  virtual Found read(uint64_t sequence) = 0;
  virtual Found readStream(const std::string &stream) = 0;
  virtual Found scan() = 0;
  /// Leaves the files as they are after a long rest.
  virtual void settle() = 0;
  /// Makes everything durable, and ends.
  virtual void close() = 0;
};

/// The memory that a library may use to keep what it has read. LMDB reads from the system's pages instead.
constexpr size_t cacheSize = 64 << 20;

std::unique_ptr<Library> openRocksDB(const Opening &);
std::unique_ptr<Library> openLMDB(const Opening &);
std::unique_ptr<Library> openSQLite(const Opening &);
std::string versionOfRocksDB();
std::string versionOfLMDB();
std::string versionOfSQLite();

[[noreturn]] inline void fail(const std::string &what) { throw std::runtime_error(what); }

// Stores of keys and values keep an event as the length of its stream's name in two bytes, the name, and the payload.

inline void encode(const Event &event, std::string &value) {
  auto count = static_cast<uint16_t>(event.stream.size());
  value.assign(reinterpret_cast<const char *>(&count), 2);
  value += event.stream;
  value += event.payload;
}

inline std::string_view payloadOf(const void *data, size_t size) {
  uint16_t count;
  memcpy(&count, data, 2);
  return {static_cast<const char *>(data) + 2 + count, size - 2 - count};
}
