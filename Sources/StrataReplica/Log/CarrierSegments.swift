// The whole segments of a carrier: found by the last manifest, and read as files of a log.

internal import StrataBase
package import StrataLog

/// Reads segments and manifests in a carrier of files. Its calls block.
///
/// The name of a manifest stays taken for ever, so that one look at the next number tells whether the one that is known
/// counts still.
package final class CarrierSegments: Sendable {
  package let files: any CarrierFiles
  /// The store whose segments are expected; nil if any is.
  let storeID: StoreID?
  /// The last manifest that was found, nil if there was none; and whether one was looked for.
  private let known = Lock<(manifest: CarrierManifest?, isKnown: Bool)>((nil, false))

  init(_ files: any CarrierFiles, of storeID: StoreID?) {
    self.files = files
    self.storeID = storeID
  }

  static let manifestFolder = "manifest"
  static let segmentFolder = "segments"

  static func manifestName(_ number: UInt64) -> String { "\(manifestFolder)/\(SegmentName(number).digits)" }

  /// How often a manifest may be replaced while it is looked for.
  static let triesMax = 16

  /// The manifest that counts; nil if there is none. O(1) while it is the one that was found before, otherwise O(numbers
  /// of manifests).
  package func latest() throws(StoreError) -> CarrierManifest? {
    let (manifest, isKnown) = known.withLock { $0 }
    if isKnown, try !exists((manifest?.number ?? 0) + 1) { return manifest }
    for _ in 0..<Self.triesMax {
      guard let number = try lastNumber() else {
        known.withLock { $0 = (nil, true) }
        return nil
      }
      guard let found = try self.manifest(number) else { continue }
      known.withLock { $0 = (found, true) }
      return found
    }
    throw .replica(
      .carrierUnavailable, place: files.name, what: "the manifest is replaced again and again",
      next: "nothing: it is tried again")
  }

  /// Has the manifest looked for again. One that a power cut of the carrier took away before it was durable was read by
  /// some, and another may have its number since.
  func forget() { known.withLock { $0 = (nil, false) } }

  private func lastNumber() throws(StoreError) -> UInt64? {
    try asStoreError { () throws(CarrierError) in try files.fileNames(in: Self.manifestFolder) }
      .compactMap { SegmentName(digits: $0)?.firstSequence }.filter { $0 <= CarrierExtent.numberMax }.max()
  }

  private func exists(_ number: UInt64) throws(StoreError) -> Bool {
    var byte: UInt8 = 0
    return try asStoreError { () throws(CarrierError) in
      try withUnsafeMutableBytes(of: &byte) { buffer throws(CarrierError) in
        try files.readFile(Self.manifestName(number), at: 0, into: buffer)
      }
    } != nil
  }

  /// A manifest; nil if it is empty, since a later one has taken its place.
  private func manifest(_ number: UInt64) throws(StoreError) -> CarrierManifest? {
    let name = Self.manifestName(number)
    guard let bytes = try whole(name), !bytes.isEmpty else { return nil }
    func finding(_ kind: StoreFinding.Class, _ what: String) -> StoreFinding {
      StoreFinding(kind, file: files.place(of: name), offset: 0, first: 0, last: 0, what: what)
    }
    let found: CarrierManifest
    do throws(DecodingProblem) {
      found = try bytes.lendBytes { bytes throws(DecodingProblem) in try CarrierManifest(decoding: bytes) }
    } catch {
      // One of several pieces may have been read before it was emptied, and the others after.
      if try exists(number + 1) { return nil }
      switch error {
      case .damaged(let what): throw .damaged(finding(.corrupt, what))
      case .unsupported(let what): throw .unsupported(finding(.unsupported, what))
      }
    }
    guard found.storeID == storeID ?? found.storeID else {
      throw .damaged(finding(.misplaced, "the manifest is of the store \(found.storeID)"))
    }
    guard found.number == number else {
      throw .damaged(
        finding(.stale, "the manifest has number \(found.number), and was found under \(number)"))
    }
    return found
  }

  private func whole(_ name: String) throws(StoreError) -> [UInt8]? {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count <= CarrierManifest.lengthMax {
      let (offset, room) = (Int64(bytes.count), piece.count)
      let count = try asStoreError { () throws(CarrierError) in
        try piece.lendMutableBytes { buffer throws(CarrierError) in
          try files.readFile(name, at: offset, into: buffer)
        }
      }
      guard let count else { return nil }
      bytes += piece[..<count]
      if count < room { break }
    }
    return bytes
  }

  /// A segment as the log's own readers read it.
  func offer(_ entry: CarrierManifest.Entry) -> SegmentOffer {
    SegmentOffer(
      first: SegmentName(entry.first), last: entry.last, chain: entry.chain, size: entry.size,
      erasures: entry.erasures, revision: entry.revision,
      file: CarrierFile(
        files, "\(Self.segmentFolder)/\(entry.fileName)", size: Int64(clamping: entry.size),
        orElse: { [weak self] in self?.forget() }))
  }

  /// All segments of a manifest, in their order.
  func all(_ manifest: CarrierManifest) -> [CarriedSegment] {
    manifest.entries.map { CarriedSegment(offer: offer($0), storeID: manifest.storeID) }
  }

  func asStoreError<Result>(_ body: () throws(CarrierError) -> Result) throws(StoreError) -> Result {
    do throws(CarrierError) { return try body() } catch { throw .carrier(error, files.name) }
  }
}

/// A whole segment of a carrier.
package struct CarriedSegment {
  let offer: SegmentOffer
  let storeID: StoreID

  /// What messages call it.
  var place: String { offer.file.path }
  var last: UInt64 { offer.last }

  /// Reads the blocks of events, each checked, in their order; all of the segment is checked once it returns.
  func walk(_ visit: (DecodedBlock) throws(StoreError) -> Void) throws(StoreError) {
    try offer.walk(of: storeID, visit)
  }
}

extension CarrierLog {
  package func manifest() throws(StoreError) -> CarrierManifest? { try segments?.latest() }
}
