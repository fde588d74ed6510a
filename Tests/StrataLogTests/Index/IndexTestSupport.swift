import StrataBase
import StrataLog
import StrataSimulation

typealias Bytes = [UInt8]

/// A disk with one file at most, which keeps account of what is read and fails when it is told to.
final class OneFileDisk: FileSystem, File {
  struct State {
    var bytes: Bytes?
    var readCount = 0
    var longestRead = 0
    var failsReads = false
    var failsWrites = false
    var openCount = 0
  }

  let state: Lock<State>
  let path = "derived/test.index"

  init(_ bytes: Bytes? = []) { state = Lock(State(bytes: bytes)) }

  var bytes: Bytes { state.withLock { $0.bytes ?? [] } }
  var readCount: Int { state.withLock { $0.readCount } }
  var longestRead: Int { state.withLock { $0.longestRead } }
  var openCount: Int { state.withLock { $0.openCount } }

  func open(_ path: String, _ mode: FileOpenMode) throws(StoreError) -> any File {
    guard state.withLock({ $0.bytes != nil }) else { throw .refused("open", path, code: 2) }
    state.withLock { $0.openCount += 1 }
    return self
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError) -> Int {
    try state.withLock { (state) throws(StoreError) in
      if state.failsReads { throw .refused("read", path, code: 5) }
      state.readCount += 1
      state.longestRead = max(state.longestRead, buffer.count)
      let bytes = (state.bytes ?? []).dropFirst(Int(offset)).prefix(buffer.count)
      buffer.copyBytes(from: bytes)
      return bytes.count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      if state.failsWrites { throw .refused("write", path, code: 28) }
      var content = state.bytes ?? []
      let end = Int(offset) + bytes.count
      if content.count < end { content += Bytes(repeating: 0, count: end - content.count) }
      content.replaceSubrange(Int(offset)..<end, with: bytes)
      state.bytes = content
    }
  }

  func size() throws(StoreError) -> Int64 { Int64(bytes.count) }

  func truncate(to size: Int64) throws(StoreError) {
    state.withLock { $0.bytes = Bytes(($0.bytes ?? []).prefix(Int(size))) }
  }

  func close() { state.withLock { $0.openCount -= 1 } }
  func sync() throws(StoreError) {}
  func syncData() throws(StoreError) {}
  func dropCache() {}
  func tryLock(_ kind: FileLockKind) throws(StoreError) -> Bool { true }
  func unlock() {}
  var identity: String? { nil }
  func isStillAtItsPath() throws(StoreError) -> Bool { true }
  func createDirectory(_ path: String) throws(StoreError) {}
  func contents(ofDirectory path: String) throws(StoreError) -> [String] { [] }
  func kind(of path: String) throws(StoreError) -> FileKind? { nil }
  func rename(_ path: String, to newPath: String) throws(StoreError) {}
  func renameNew(_ path: String, to newPath: String) throws(StoreError) {}
  func remove(_ path: String) throws(StoreError) {}
  func syncDirectory(_ path: String) throws(StoreError) {}
}

extension IndexIdentity {
  static let example = IndexIdentity(
    store: StoreID(low: 0x1122_3344_5566_7788, high: 0x99AA_BBCC_DDEE_FF00),
    firstSequence: 1_001, lastSequence: 2_000, chain: 0xFEED_FACE_CAFE_BEEF
  )
}

/// What an index file should hold.
struct IndexModel {
  var values: [Bytes: Bytes] = [:]
  /// Append ids: the hash of each, and the distance of its append from the first sequence.
  var ids: [(hash: UInt64, distance: UInt32)] = []
  var leastTime = Int64.max

  var keys: [Bytes] { values.keys.sorted { $0.lexicographicallyPrecedes($1) } }

  func written(
    chunkLengthTarget: Int = 4096, over garbage: Bytes = [], identity: IndexIdentity = .example
  ) throws -> OneFileDisk {
    let disk = OneFileDisk(garbage)
    var writer = IndexFileWriter(file: disk, identity: identity, chunkLengthTarget: chunkLengthTarget)
    for key in keys { try writer.add(key, values[key]!) }
    try writer.finish(ids: ids, leastTime: leastTime)
    return disk
  }
}

extension IndexFileWriter {
  mutating func add(_ key: Bytes, _ value: Bytes) throws(StoreError) {
    let failure: StoreError? = key.withUnsafeBytes { key in
      value.withUnsafeBytes { value in
        do throws(StoreError) {
          try add(key: key, value: value)
          return nil
        } catch { return error }
      }
    }
    if let failure { throw failure }
  }
}

extension IndexFile {
  func value(_ key: Bytes) throws -> Bytes? {
    try key.withUnsafeBytes { try value(forKey: $0, hash: $0.keyHash) }
  }

  func entries(withPrefix prefix: Bytes = []) throws -> [(key: Bytes, value: Bytes)] {
    var entries: [(key: Bytes, value: Bytes)] = []
    try forEach(withPrefix: prefix) { key, value in
      entries.append((Bytes(key), Bytes(value)))
      return true
    }
    return entries
  }
}

extension IndexModel {
  /// The first sequences of the appends whose ids have a hash.
  func firsts(_ hash: UInt64) -> [UInt64] {
    ids.filter { $0.hash == hash }.map { IndexIdentity.example.firstSequence + UInt64($0.distance) }.sorted()
  }
}

extension OneFileDisk {
  func index(expecting identity: IndexIdentity = .example) -> IndexFile? {
    IndexFile.open(self, path: path, expecting: identity)
  }
}

extension SeededGenerator {
  mutating func bytes(_ count: Int) -> Bytes {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
  }

  /// A key of the kinds that go wrong: empty, zeros and 0xFF at the ends, long shared beginnings, one the
  /// beginning of another.
  mutating func key() -> Bytes {
    let beginnings: [Bytes] = [[], [0], [0xFF, 0xFF], Bytes("order/".utf8), Bytes(repeating: 97, count: 40)]
    let alphabet: Bytes = [0, 1, 97, 98, 0x7F, 0x80, 0xFF]
    let length = Int.random(in: 0...(Bool.random(using: &self) ? 4 : 20), using: &self)
    return beginnings.randomElement(using: &self)!
      + (0..<length).map { _ in alphabet.randomElement(using: &self)! }
  }

  mutating func model(keys: Int, ids: Int = 0, valueLengthMax: Int) -> IndexModel {
    var model = IndexModel()
    let span = IndexIdentity.example.lastSequence - IndexIdentity.example.firstSequence
    // Few different hashes, so that several ids have the same fingerprint.
    let hashes = (0...ids).map { _ in next() }
    for _ in 0..<ids {
      model.ids.append(
        (hashes.randomElement(using: &self)!, UInt32.random(in: 0...UInt32(span), using: &self)))
    }
    for _ in 0..<keys { model.values[key()] = bytes(Int.random(in: 0...valueLengthMax, using: &self)) }
    return model
  }
}
