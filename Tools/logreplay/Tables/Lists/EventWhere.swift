// `log --where`: which events pass a filter over their types, streams, metadata and payloads.

internal import LogreplayEvents
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// A filter whose fields are those that `log -o json` prints of an event. It is decided on the recorded bytes: neither the
/// payload nor the metadata is decoded, except for payloads of JSON.
struct EventWhere: Sendable {
  /// The fields of events that a filter may name.
  private enum Field: String, CaseIterable { case type, stream, version, metadata, payload }

  private let filter: CompiledFilter
  private let fields: [(field: Field, key: [UInt8])]

  /// Parses a filter. Throws a usage error for fields that no event has.
  init(_ text: String, times: TimeText) throws(CommandFailure) {
    let filter = try ListQuery.filter(text, times)
    let names = Field.allCases.map(\.rawValue).joined(separator: ", ")
    var fields: Set<Field> = []
    for path in filter.fields where path != .id && path != .revision && path != .time {
      if let name = path.names.first, let field = Field(rawValue: name) {
        fields.insert(field)
        continue
      }
      throw CommandFailure(
        ExitStatus.usage, "an event has no field \(path): it has \(names), and $id, $revision and $time",
        at: "--where",
        next: path == .section
          ? "compare one of these"
          : "write payload.\(path) for a field of the payload, or put a text in quotes")
    }
    self.filter = filter.compiled()
    self.fields = Field.allCases.filter { fields.contains($0) }.map {
      ($0, DocumentValue.string($0.rawValue).cbor())
    }
  }

  /// Whether an event passes. What was erased, or is not readable by this version, passes no filter that reads it.
  func passes(_ event: RecordedEvent) -> Bool {
    var document: [UInt8] = [0xA0 | UInt8(fields.count)]
    for (field, key) in fields {
      document += key
      switch field {
      case .type: document += DocumentValue.string(event.type).cbor()
      case .stream: document += DocumentValue.string(event.stream.text).cbor()
      case .version: document += DocumentValue(event.revision).cbor()
      case .metadata:
        guard event.state == .whole else { return false }
        document += event.metadataBytes.isEmpty ? [0xA0] : Self.item(event.metadataBytes) ?? [0xF6]
      case .payload:
        guard event.state == .whole else { return false }
        document += Self.document(event.payload) ?? [0xF6]
      }
    }
    var id = event.stream.id
    return id.withUTF8 { id in
      document.withUnsafeBytes { document in
        let row = RowView(
          id: UnsafeRawBufferPointer(id), revision: event.sequence, created: event.sequence,
          time: event.time.nanoseconds, document: document)
        return filter.matches(row) { .null }
      }
    }
  }

  /// A payload as CBOR; nil if it is no document.
  private static func document(_ payload: EventPayload) -> [UInt8]? {
    if payload.codec == .cbor { return item(payload.bytes) }
    return payload.codec == .json ? try? payload.document().cbor() : nil
  }

  /// Bytes that are one item; nil for others, which would move the fields after them.
  private static func item(_ bytes: [UInt8]) -> [UInt8]? {
    bytes.withUnsafeBytes { CBORItem.end(of: $0, at: 0) } == bytes.count ? bytes : nil
  }
}
