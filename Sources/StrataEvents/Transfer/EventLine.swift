// One line of an export, or one made by hand, as values.

internal import StrataBase
internal import StrataDocuments
internal import StrataLog

/// What one event line says. Each part is there if the line has it.
struct EventLine {
  /// What an event has for content.
  enum Content {
    /// A payload with its codec's number.
    case payload(codec: UInt64, bytes: [UInt8])
    case erased(hash: UInt64, length: UInt64)
    case opaque(kind: UInt8, hash: UInt64, bytes: [UInt8])
  }

  var sequence: UInt64?
  /// The number of events of the append that begins with this line.
  var append: Int?
  var id: [UInt8]?
  var time: Int64?
  var committed: Int64?
  var isErasable = false
  var stream: [UInt8] = []
  var type: [UInt8] = []
  var revision: UInt64?
  var content = Content.payload(codec: PayloadCodec.cbor.rawValue, bytes: [])
  var metadata: [UInt8] = []
  var salt: [UInt8] = []
  var expected: ExpectedVersion?
  var chain: UInt64?

  /// Whether the line says something that only an append's first line may say.
  var beginsAppend: Bool { append != nil || id != nil || committed != nil || isErasable }

  /// Reads a line.
  init(_ line: UnsafeRawBufferPointer, _ transcoder: inout CBORTranscoder) throws(EventLineProblem) {
    var reader = EventLineReader(line)
    self = try reader.read(&transcoder)
  }

  init() {}
}
