// Events of a store as those of a process, and changes of rows as those of objects.

internal import StrataDocuments

/// An object that an event is about, as OCEL names it.
struct ProcessObjectName {
  var id: String
  var type: String
  var qualifier: String
}

/// One event of a process.
struct ProcessEvent {
  var sequence: UInt64
  /// Nanoseconds since 1970.
  var time: Int64
  var activity: String
  /// The category and the id of the stream.
  var category: String
  var stream: String
  /// What the mapping's field says; nil for the stream's id.
  var caseID: String?
  var objects: [ProcessObjectName] = []
  /// Scalars only.
  var attributes = DocumentObject()
}

/// A row that was written: its object has these attributes from then on.
struct ProcessRowChange {
  enum Kind: Int64 {
    case put, merge, delete
  }

  var sequence: UInt64
  var time: Int64
  var kind: Kind
  var category: String
  var stream: String
  /// Scalars only; null where a merge removes a field.
  var attributes = DocumentObject()
  /// The objects that its metadata names: those that it has a relation to.
  var objects: [ProcessObjectName] = []

  var object: ProcessObjectName {
    ProcessObjectName(id: stream.isEmpty ? category : "\(category)/\(stream)", type: category, qualifier: "")
  }
}

enum ProcessItem {
  case event(ProcessEvent)
  case change(ProcessRowChange)
}

/// What an export of a process counts.
struct ProcessCounts {
  var events: UInt64 = 0
  /// Events without an object.
  var withoutObject: UInt64 = 0
  /// Changes of rows.
  var changes: UInt64 = 0
  /// Objects, or cases.
  var objects: UInt64 = 0
  /// Fields that were left out because they hold no scalar.
  var nested: UInt64 = 0
}

extension DocumentValue {
  /// The text of a value that names something: a text, an integer or a boolean. Nil for any other.
  var processName: String? {
    switch self {
    case .string(let text): text
    case .int(let number): String(number)
    case .uint(let number): String(number)
    case .bool(let value): value ? "true" : "false"
    default: nil
    }
  }
}
