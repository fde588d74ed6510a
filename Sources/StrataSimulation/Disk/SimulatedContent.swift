// The bytes of one simulated file: those that a program reads, and those that would remain after a power cut.

/// The content of a file, twice: `live` as in the page cache, and `durable` as on the medium, with the state of each
/// sector.
///
///     live      [ A ][ B'][ C'][ D ]     what reads return
///     durable   [ A ][ B ][ C ]          what the medium holds; past its end it holds zeros
///     sectors     =    *    ?    *       clean, dirty, lost
struct SimulatedContent: Sendable {
  static let sectorSize = 512

  enum Sector: UInt8, Sendable {
    /// Live and durable are equal.
    case clean
    /// Written since the last sync; the next sync writes it to the medium.
    case dirty
    /// A failed sync marked it clean, although it is not on the medium: it can be read until the cache drops it, and no
    /// later sync writes it.
    case lost
  }

  private(set) var live: [UInt8] = []
  private(set) var durable: [UInt8] = []
  private(set) var sectors: [Sector] = []
  /// The range that contains all sectors that are not clean.
  private var touched: Range<Int> = 0..<0
  /// The smallest size of the file since its size was last made durable.
  private var lowestSize = 0

  init() {}

  /// Creates the content of a file that is completely on the medium.
  init(durable bytes: [UInt8]) {
    live = bytes
    durable = bytes
    sectors = Array(repeating: .clean, count: Self.sectorCount(bytes.count))
    lowestSize = bytes.count
  }

  static func sectorCount(_ size: Int) -> Int { (size + sectorSize - 1) / sectorSize }

  /// The number of sectors that a power cut may lose.
  var unsyncedSectorCount: Int { touched.count { sectors[$0] != .clean } }

  var isSizeUnsynced: Bool { live.count != durable.count || lowestSize < durable.count }

  var isFullyDurable: Bool { !isSizeUnsynced && unsyncedSectorCount == 0 }

  // MARK: Writing

  mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    guard !bytes.isEmpty else { return }
    let end = offset + bytes.count
    if end > live.count { extend(to: end) }
    live.withUnsafeMutableBytes { $0[offset..<end].copyBytes(from: bytes) }
    mark(offset / Self.sectorSize..<Self.sectorCount(end))
  }

  mutating func truncate(to size: Int) {
    guard size < live.count else { return extend(to: size) }
    live.removeLast(live.count - size)
    sectors.removeLast(sectors.count - Self.sectorCount(size))
    touched = touched.clamped(to: 0..<sectors.count)
    lowestSize = min(lowestSize, size)
  }

  /// Appends zeros up to the new size. They differ from the medium only where it still holds bytes that were cut off.
  private mutating func extend(to size: Int) {
    let before = live.count
    live.append(contentsOf: repeatElement(0, count: size - before))
    sectors.append(contentsOf: repeatElement(.clean, count: Self.sectorCount(size) - sectors.count))
    if before < durable.count {
      mark(before / Self.sectorSize..<Self.sectorCount(min(size, durable.count)))
    }
  }

  private mutating func mark(_ range: Range<Int>) {
    for index in range { sectors[index] = .dirty }
    touched =
      touched.isEmpty
      ? range : min(touched.lowerBound, range.lowerBound)..<max(touched.upperBound, range.upperBound)
  }

  // MARK: Syncing

  /// Writes the dirty sectors to the medium.
  /// - Parameter shrinks: whether a smaller size is made durable too. `syncData` guarantees only the length that is
  ///   needed to read the content back, so it does not shrink the file.
  mutating func sync(shrinks: Bool) {
    if live.count > durable.count {
      durable.append(contentsOf: repeatElement(0, count: live.count - durable.count))
    } else if shrinks {
      durable.removeLast(durable.count - live.count)
    }
    for index in touched where sectors[index] == .dirty {
      let range = liveRange(of: index)
      durable.replaceSubrange(range, with: live[range])
      sectors[index] = .clean
    }
    narrowTouched()
    lowestSize = live.count
  }

  /// Simulates a failed sync that marks the sectors clean which it could not write.
  mutating func loseDirtySectors() {
    for index in touched where sectors[index] == .dirty { sectors[index] = .lost }
  }

  /// Drops the sectors that the cache takes for clean, so that lost ones are read from the medium again.
  mutating func dropCache() {
    for index in touched where sectors[index] == .lost {
      let range = liveRange(of: index)
      live.replaceSubrange(range, with: durableBytes(range))
      sectors[index] = .clean
    }
    narrowTouched()
  }

  private mutating func narrowTouched() {
    guard let first = touched.first(where: { sectors[$0] != .clean }),
      let last = touched.last(where: { sectors[$0] != .clean })
    else {
      touched = 0..<0
      return
    }
    touched = first..<last + 1
  }

  private func liveRange(of sector: Int) -> Range<Int> {
    sector * Self.sectorSize..<min((sector + 1) * Self.sectorSize, live.count)
  }

  private func durableBytes(_ range: Range<Int>) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    for index in range where index < durable.count { bytes[index - range.lowerBound] = durable[index] }
    return bytes
  }

  // MARK: Power cuts

  /// Returns the file after a power cut, if nothing unsynced reached the medium.
  func droppingUnsynced() -> SimulatedContent { SimulatedContent(durable: durable) }

  /// Returns the file after a power cut, if some of the unsynced data reached the medium.
  ///
  /// The size is anywhere between the smallest and the largest that the medium may have recorded. One random draw
  /// decides how likely a sector is to be new, so that some cuts keep almost all sectors and some almost none.
  func keepingSome(garbage: Bool, using random: inout SeededGenerator) -> SimulatedContent {
    if isFullyDurable { return self }
    let size = crashSize(using: &random)
    var bytes = durable
    if size < bytes.count {
      bytes.removeLast(bytes.count - size)
    } else {
      bytes.append(contentsOf: repeatElement(0, count: size - bytes.count))
    }
    let chanceOfNew = Double.random(in: 0...1, using: &random)
    for index in touched where sectors[index] != .clean {
      let isNew = Double.random(in: 0..<1, using: &random) < chanceOfNew
      let isTorn = garbage && sectors[index] == .dirty && Int.random(in: 0..<4, using: &random) == 0
      let range = liveRange(of: index).clamped(to: 0..<size)
      if range.isEmpty { continue }
      if isTorn {
        tear(&bytes, range, using: &random)
      } else if isNew {
        bytes.replaceSubrange(range, with: live[range])
      }
    }
    return SimulatedContent(durable: bytes)
  }

  private func crashSize(using random: inout SeededGenerator) -> Int {
    let lowest = min(lowestSize, durable.count, live.count)
    let highest = max(durable.count, live.count)
    // Half of the cuts leave a size that some call has set; the others leave any size.
    return switch Int.random(in: 0..<6, using: &random) {
    case 0: live.count
    case 1: durable.count
    case 2: lowest
    default: Int.random(in: lowest...highest, using: &random)
    }
  }

  /// Fills a sector with new bytes up to some offset and old bytes after it, or with random bytes.
  private func tear(_ bytes: inout [UInt8], _ range: Range<Int>, using random: inout SeededGenerator) {
    if Bool.random(using: &random) {
      let cut = Int.random(in: range.lowerBound...range.upperBound, using: &random)
      bytes.replaceSubrange(range.lowerBound..<cut, with: live[range.lowerBound..<cut])
    } else {
      for index in range { bytes[index] = UInt8.random(in: 0...255, using: &random) }
    }
  }
}
