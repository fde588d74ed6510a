// The decoders that are fuzzed, each behind one function of bytes.

/// A law that some input broke: a defect of the code under test.
package struct BrokenLaw: Error, CustomStringConvertible {
  package var description: String

  init(_ what: String) { description = what }
}

/// Throws where a law does not hold.
func law(_ holds: Bool, _ what: @autoclosure () -> String) throws(BrokenLaw) {
  if !holds { throw BrokenLaw(what()) }
}

/// What takes hostile bytes. Each does more than to parse: what it accepts must be consistent, and must say the same
/// when it is written again and read back.
package enum FuzzTarget: String, CaseIterable, Sendable {
  case block, segment, head, cbor, json, filter, point

  /// Puts an input through the target. Whatever the bytes are, only a defect throws, traps or does not end.
  package func run(_ bytes: [UInt8]) throws(BrokenLaw) {
    guard bytes.count <= Self.lengthMax else { return }
    switch self {
    case .block: try BlockTarget.run(bytes)
    case .segment: try SegmentTarget.run(bytes)
    case .head: try HeadTarget.run(bytes)
    case .cbor: try CBORTarget.run(bytes)
    case .json: try JSONTarget.run(bytes)
    case .filter: try FilterTarget.run(bytes)
    case .point: try PointTarget.run(bytes)
    }
  }

  /// Longer inputs find nothing that shorter ones do not.
  package static let lengthMax = 1 << 16
}
