// The events of a process as event lines, in the order of their times.

internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// One append of one event, as it is written to a line.
struct ImportProcessEvent {
  /// What tells it from the others of the source; two parts, of which the first is of any length.
  var id: String
  var part: String
  /// Nanoseconds since 1970; nil where the input has no time.
  var time: Int64?
  var stream: String
  var type: String
  var data: DocumentObject
  var metadata: DocumentValue?

  /// What about it a store would refuse; nil if nothing.
  var problem: String? {
    if type.isEmpty { return "an activity without a name" }
    if type.utf8.count > FormatLimits.typeLengthMax {
      return
        "the activity \(String(reflecting: String(type.prefix(40))))… has more than \(FormatLimits.typeLengthMax) bytes"
    }
    if type.utf8.first == UInt8(ascii: "$"), !DocumentEvent.all.contains(type) {
      return
        "the activity \(String(reflecting: type)) begins with a dollar sign, as only Strata's own events do"
    }
    if stream.utf8.count > FormatLimits.streamLengthMax {
      return
        "the id \(String(reflecting: String(stream.prefix(40))))… has more than \(FormatLimits.streamLengthMax) bytes "
        + "with its table"
    }
    return nil
  }

  /// The event line.
  func line(source: ImportSourceName?) -> [UInt8] {
    var object: DocumentObject = [
      "stream": .string(stream), "type": .string(type), "data": .object(data),
    ]
    if type == DocumentEvent.delete { object["data"] = nil }
    if let source { object["id"] = .string(Self.appendID(source, id, part)) }
    if let time { object["time"] = .string(Timestamp(nanoseconds: time).description) }
    if let metadata { object["metadata"] = metadata }
    var bytes = DocumentValue.object(object).jsonBytes()
    bytes.append(0x0A)
    return bytes
  }

  /// `SOURCE:ID:PART`, or with a hash in place of an id that is too long for it.
  private static func appendID(_ source: ImportSourceName, _ id: String, _ part: String) -> String {
    let head = String(decoding: source.bytes, as: UTF8.self)
    let whole = "\(head):\(id):\(part)"
    if whole.utf8.count <= FormatLimits.appendIDLengthMax { return whole }
    let hash = LogPosition.hex(XXH64.of(Array("\(id):\(part)".utf8)))
    return "\(head):~\(hash)"
  }
}

/// Sorts events by time, and appends them.
struct ImportProcessLines {
  private let sorter: ImportLineSorter
  private(set) var count: UInt64 = 0

  /// - Parameter folder: for temporary files.
  init(in folder: String, memoryMax: Int = 32 << 20) {
    sorter = ImportLineSorter(in: folder, memoryMax: memoryMax)
  }

  /// Adds a record, which comes after those of its time that were added before.
  mutating func add(_ time: Int64?, _ record: [UInt8], number: UInt64? = nil) throws(CommandFailure) {
    let key = ImportSortKey(time: time ?? .max, line: number ?? count)
    count += 1
    try record.lendBytes { bytes throws(CommandFailure) in try sorter.add(key, bytes) }
  }

  /// Lends each record in order. May be called again.
  func forEach(_ body: (UnsafeRawBufferPointer) throws(CommandFailure) -> Void) throws(CommandFailure) {
    try sorter.forEach { _, bytes throws(CommandFailure) in
      try body(bytes)
      return true
    }
  }
}
