// What a mapping makes of a record: the event, with all that is said about it.

internal import StrataEvents

/// Says what the event of a record is.
protocol ImportRecordMapping: Sendable {
  /// How a record is known again.
  var identity: ImportIdentity { get }
  /// Whether records may have times of their own.
  var hasTimes: Bool { get }
  /// The fields that every record must have, for formats that know their fields before the first record.
  var fields: [ImportFieldPath] { get }
  /// The fields that are read as text: in formats whose fields are text, they stay what they are.
  var textFields: [ImportFieldPath] { get }

  /// The event of a record, which is an object in deterministic CBOR; nil if the record is to be passed over.
  func event(of record: UnsafeRawBufferPointer) throws(ImportMappingProblem) -> ImportMappedEvent?
}

/// How an import knows the records that it has appended before.
enum ImportIdentity: Equatable, Sendable {
  /// By the source, the record's number and its hash.
  case source
  /// By an append id that the record itself says.
  case appendID
  /// By the row: a record is known if its row has its document already.
  case rows
}

/// The event of a record.
struct ImportMappedEvent {
  var stream: [UInt8]
  var type: String
  /// What the event does to a row; nil for an event that is no row's.
  var row: (kind: ImportRow.Kind, table: String)?
  var codec = PayloadCodec.cbor.rawValue
  var payload: [UInt8] = []
  /// An object as CBOR; nothing if there is none.
  var metadata: [UInt8] = []
  /// Nanoseconds since 1970; nil for the time of the import.
  var time: Int64?
  /// The append id that the record says; nothing if it says none.
  var appendID: [UInt8] = []
  /// The id and its kind, if its text is that of an integer.
  var integerID: (text: String, kind: ImportIDKinds.Kind)?
}

/// Why a record has no event.
struct ImportMappingProblem: Error {
  /// The field that is wrong; nil for the record as a whole.
  var field: ImportFieldPath?
  var why: String

  init(_ field: ImportFieldPath? = nil, _ why: String) {
    self.field = field
    self.why = why
  }
}
