// Which field of a document is what, and what a record's event is: the same for every format.

internal import StrataDocuments
internal import StrataEvents

/// The rules that make rows of documents.
struct ImportFieldRules {
  var table: String
  var id: ImportFieldPath
  var time: ImportFieldPath?
  var timeFormat = ImportTimeFormat()
  /// Whether a document is a merge patch (RFC 7396), and not the whole row.
  var isMerge = false
  /// Whether numbers that no double keeps are rounded, and not bad.
  var roundsNumbers = false
  /// Which documents delete their row.
  var deleteWhen: ImportCondition?
  var metadata = ImportMetadata.none
  /// What makes events of records in place of all of this but `roundsNumbers`; nil in general.
  var mapping: (any ImportRecordMapping)?

  /// Whether records may have times of their own.
  var hasTimes: Bool { time != nil || mapping?.hasTimes ?? false }

  /// What the event of a document is.
  func kind(of document: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer) -> ImportRow.Kind {
    if let deleteWhen, deleteWhen.matches(document, id: id) { return .delete }
    return isMerge ? .merge : .put
  }
}

/// A record's row: what is appended, apart from the document.
struct ImportRow {
  enum Kind {
    case put, merge, delete

    /// The type of the event.
    var type: String {
      switch self {
      case .put: DocumentEvent.put
      case .merge: DocumentEvent.merge
      case .delete: DocumentEvent.delete
      }
    }
  }

  /// In which table it is.
  enum Target {
    /// That of the rules.
    case only
    case table(String)
    /// None: the event is no row's.
    case event
  }

  var kind = Kind.put
  var target = Target.only
  /// The id and its kind, if its text is that of an integer.
  var integerID: (text: String, kind: ImportIDKinds.Kind)?
  var time: Int64?
  /// Whether a number of the record was rounded.
  var hasRounded = false
}
