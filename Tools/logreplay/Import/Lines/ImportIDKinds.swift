// Notices ids that are integers in one line and text in another, such as 1 and "1": they are one row.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// The kinds of ids that an import has met.
///
/// A row's id is text, so that the integer 1 and the text "1" are the same row, and the later line replaces the earlier
/// one. Where a table has both kinds, that is said once, with a line of each kind.
struct ImportIDKinds {
  /// The kinds of an id whose text is that of an integer. Ids of other texts cannot be taken for each other.
  enum Kind {
    case integer, text

    /// Nil for what is no id, and for text that no integer has.
    init?(of value: DocumentValue) {
      switch value {
      case .int, .uint, .bigInt: self = .integer
      case .string(let text) where Self.isInteger(text): self = .text
      default: return nil
      }
    }

    /// Whether a text is how an integer is written: digits without a zero before them, after a minus sign or without.
    private static func isInteger(_ text: String) -> Bool {
      let isNegative = text.utf8.first == UInt8(ascii: "-")
      let digits = text.utf8.dropFirst(isNegative ? 1 : 0)
      guard let first = digits.first, digits.allSatisfy({ $0 &- UInt8(ascii: "0") <= 9 }) else {
        return false
      }
      return first != UInt8(ascii: "0") || (digits.count == 1 && !isNegative)
    }

    func described(_ id: String) -> String {
      switch self {
      case .integer: "the integer \(id)"
      case .text: "the text \(String(reflecting: id))"
      }
    }
  }

  /// The number of ids that are looked up in the store, which tells what the ids of earlier imports are.
  private static let lookupsMax = 1000

  private let table: String
  private let idField: String
  private var first: (kind: Kind, what: String)?
  private var lookups = 0
  private var isNoted = false

  init(table: String, idField: String) {
    self.table = table
    self.idField = idField
  }

  /// Takes the id of a line, and returns what there is to say about it; nil in general.
  mutating func take(
    _ kind: Kind, _ id: String, line: UInt64, store: EventStore
  ) throws(StoreError) -> String? {
    guard !isNoted else { return nil }
    if let stored = try storedKind(of: id, in: store) {
      lookups = Self.lookupsMax
      first = (stored, "the store has \(stored.described(id))")
    }
    guard let first else {
      self.first = (kind, "line \(line) has \(kind.described(id))")
      return nil
    }
    guard first.kind != kind else { return nil }
    isNoted = true
    return
      "the id of line \(line) is \(kind.described(id)), and \(first.what): an integer and its text are one row"
  }

  /// The kind of id that the row's last document has, if one of the first ids is that of a row in the store.
  private mutating func storedKind(of id: String, in store: EventStore) throws(StoreError) -> Kind? {
    guard lookups < Self.lookupsMax, store.head.sequence > 0 else { return nil }
    lookups += 1
    let stream = StreamName(category: table, id: id)
    let revision = try store.log.index.revision(of: Array(stream.text.utf8))
    guard revision > 0, let event = try store.eventsBlocking(in: stream, after: revision - 1, limit: 1).first,
      let document = try? event.document()
    else { return nil }
    return document[idField].flatMap { Kind(of: $0) }
  }
}
