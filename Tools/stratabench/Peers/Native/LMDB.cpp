// Events in LMDB: a table by sequence, to which keys are appended, and one of the sequences of each stream.
//
// Stores that are not synced have MDB_NOSYNC, and one sync at the end.

#include "Library.h"

#include <lmdb.h>
#include <sys/stat.h>

namespace {

void check(int error) {
  if (error != 0) fail(std::string("LMDB: ") + mdb_strerror(error));
}

class LMDBEvents : public Library {
public:
  explicit LMDBEvents(const Opening &opening) : isIndexed(opening.indexed) {
    mkdir(opening.path.c_str(), 0755);
    check(mdb_env_create(&environment));
    check(mdb_env_set_maxdbs(environment, 2));
    check(mdb_env_set_mapsize(environment, size_t(32) << 30));
    check(mdb_env_open(environment, opening.path.c_str(), opening.synced ? 0 : MDB_NOSYNC, 0644));
    MDB_txn *transaction;
    check(mdb_txn_begin(environment, nullptr, 0, &transaction));
    check(mdb_dbi_open(transaction, "events", MDB_CREATE | MDB_INTEGERKEY, &byNumber));
    check(mdb_dbi_open(transaction, "streams", MDB_CREATE | MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP, &byStream));
    check(mdb_txn_commit(transaction));
    check(mdb_txn_begin(environment, nullptr, MDB_RDONLY, &reader));
    mdb_txn_reset(reader);
  }

  void append(const std::vector<Event> &events, uint64_t begin, uint64_t end) override {
    MDB_txn *transaction;
    check(mdb_txn_begin(environment, nullptr, 0, &transaction));
    std::string value;
    for (uint64_t number = begin; number < end; number++) {
      const Event &event = events[number % events.size()];
      encode(event, value);
      // Writers that take turns do not write in the order of their numbers.
      size_t sequence = number + 1;
      MDB_val key = of(sequence), data = of(value);
      int error = mdb_put(transaction, byNumber, &key, &data, MDB_APPEND);
      if (error == MDB_KEYEXIST) error = mdb_put(transaction, byNumber, &key, &data, 0);
      check(error);
      if (!isIndexed) continue;
      MDB_val name = {event.stream.size(), const_cast<char *>(event.stream.data())};
      MDB_val item = of(sequence);
      check(mdb_put(transaction, byStream, &name, &item, 0));
    }
    check(mdb_txn_commit(transaction));
  }

  Found read(uint64_t sequence) override {
    check(mdb_txn_renew(reader));
    Found found;
    add(sequence, found);
    mdb_txn_reset(reader);
    return found;
  }

  Found readStream(const std::string &stream) override {
    check(mdb_txn_renew(reader));
    MDB_cursor *cursor;
    check(mdb_cursor_open(reader, byStream, &cursor));
    MDB_val name = {stream.size(), const_cast<char *>(stream.data())}, item;
    Found found;
    int error = mdb_cursor_get(cursor, &name, &item, MDB_SET_KEY);
    while (error == 0) {
      size_t sequence;
      memcpy(&sequence, item.mv_data, sizeof sequence);
      add(sequence, found);
      error = mdb_cursor_get(cursor, &name, &item, MDB_NEXT_DUP);
    }
    if (error != MDB_NOTFOUND) check(error);
    mdb_cursor_close(cursor);
    mdb_txn_reset(reader);
    return found;
  }

  Found scan() override {
    check(mdb_txn_renew(reader));
    MDB_cursor *cursor;
    check(mdb_cursor_open(reader, byNumber, &cursor));
    MDB_val key, data;
    Found found;
    int error;
    while ((error = mdb_cursor_get(cursor, &key, &data, MDB_NEXT)) == 0) {
      auto payload = payloadOf(data.mv_data, data.mv_size);
      found.add(payload.data(), payload.size());
    }
    if (error != MDB_NOTFOUND) check(error);
    mdb_cursor_close(cursor);
    mdb_txn_reset(reader);
    return found;
  }

  void settle() override {}

  void close() override {
    mdb_txn_abort(reader);
    check(mdb_env_sync(environment, 1));
    mdb_env_close(environment);
  }

private:
  static MDB_val of(size_t &number) { return {sizeof number, &number}; }
  static MDB_val of(std::string &bytes) { return {bytes.size(), bytes.data()}; }

  void add(size_t sequence, Found &found) {
    MDB_val key = of(sequence), data;
    check(mdb_get(reader, byNumber, &key, &data));
    auto payload = payloadOf(data.mv_data, data.mv_size);
    found.add(payload.data(), payload.size());
  }

  MDB_env *environment = nullptr;
  MDB_dbi byNumber = 0;
  MDB_dbi byStream = 0;
  MDB_txn *reader = nullptr;
  bool isIndexed;
};

} // namespace

std::unique_ptr<Library> openLMDB(const Opening &opening) { return std::make_unique<LMDBEvents>(opening); }

std::string versionOfLMDB() {
  int major, minor, patch;
  mdb_version(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}
