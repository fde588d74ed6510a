// Notices ids that are integers in one line and text in another, such as 1 and "1": they are one row.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// The kinds of ids that an import has met.
///
/// A row's id is text, so that the integer 1 and the text "1" are the same row, and the later line replaces the earlier
/// one. The first id that comes as both is named, with what it was before.
struct ImportIDKinds {
  /// The kinds of an id whose text is that of an integer. Ids of other texts cannot be taken for each other.
  enum Kind {
    case integer, text

    /// Nil for what is no id, and for text that no integer has.
    init?(of value: DocumentValue) {
      switch value {
      case .int, .uint, .bigInt: self = .integer
      case .string(let text) where ImportIDKinds.isInteger(text.utf8): self = .text
      default: return nil
      }
    }

    func described(_ id: String) -> String {
      switch self {
      case .integer: "the integer \(id)"
      case .text: "the text \(String(reflecting: id))"
      }
    }
  }

  /// Whether a text is how an integer is written: digits without a zero before them, after a minus sign or without.
  static func isInteger(_ text: some Collection<UInt8>) -> Bool {
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = text.dropFirst(isNegative ? 1 : 0)
    guard let first = digits.first, digits.allSatisfy({ $0 &- UInt8(ascii: "0") <= 9 }) else { return false }
    return first != UInt8(ascii: "0") || (digits.count == 1 && !isNegative)
  }

  /// The number of ids that are looked up in the store, which tells what the ids of earlier imports are.
  private static let lookupsMax = 100
  /// The number of ids that are remembered, so that memory is bounded.
  private static let rememberedMax = 1 << 16

  private let fields: ImportFieldRules
  private let noun: String
  /// The kind and the line of each remembered id, by the id's hash. Two ids with one hash may cause a note that is wrong.
  private var met: [UInt64: (kind: Kind, line: UInt64)] = [:]
  private var lookups = 0
  private var isNoted = false

  init(_ fields: ImportFieldRules, noun: String) {
    self.fields = fields
    self.noun = noun
  }

  /// Takes the id of a line, and returns what there is to say about it; nil in general.
  mutating func take(
    _ kind: Kind, _ id: String, line: UInt64, store: EventStore
  ) throws(StoreError) -> String? {
    guard !isNoted else { return nil }
    let hash = XXH64.of(Array(id.utf8))
    let before: String
    if let known = met[hash] {
      guard known.kind != kind else { return nil }
      before = "that of \(noun) \(known.line) is \(known.kind.described(id))"
    } else {
      if met.count < Self.rememberedMax { met[hash] = (kind, line) }
      guard let stored = try storedKind(of: id, in: store), stored != kind else { return nil }
      before = "the store has \(stored.described(id))"
    }
    isNoted = true
    met = [:]
    return
      "the id of \(noun) \(line) is \(kind.described(id)), and \(before): an integer and its text are one row"
  }

  /// The kind of id that the row's last document has, if the store has the row and few ids were looked up.
  private mutating func storedKind(of id: String, in store: EventStore) throws(StoreError) -> Kind? {
    guard lookups < Self.lookupsMax, store.head.sequence > 0 else { return nil }
    lookups += 1
    let stream = StreamName(category: fields.table, id: id)
    let revision = try store.log.index.revision(of: Array(stream.text.utf8))
    guard revision > 0, let event = try store.eventsBlocking(in: stream, after: revision - 1, limit: 1).first,
      let document = try? event.document().cbor()
    else { return nil }
    return document.withUnsafeBytes { document in
      fields.id.find(in: document).flatMap { try? DocumentValue(cbor: $0) }.flatMap { Kind(of: $0) }
    }
  }
}
