// Where a value is in a row: the text `impact.level`, ready for searching.

/// The way to one value of a row.
///
/// ```
/// impact            a field of the document
/// impact.level      a field of an object in it
/// `odd name`.`a``b` any name can stand in backquotes; two of them are one
/// $id $revision $time $section     the row's own
/// ```
///
/// Names that need no backquotes are made of letters, digits and `_`, and do not begin with a digit. Names
/// are compared by their UTF-8. Arrays are not searched.
public struct FieldPath: Sendable {
  /// What a path leads to.
  package enum Subject: UInt8, Hashable, Sendable {
    /// A field of the document.
    case field
    /// The row's id, a string.
    case id
    /// The sequence of the last event that changed the row.
    case revision
    /// The commit time of that event.
    case time
    /// The value of the section that the row is in.
    case section
  }

  package let subject: Subject
  /// The names from the document inwards; empty for what is the row's own.
  public let names: [String]
  /// The names' UTF-8, one after the other.
  package let nameBytes: [UInt8]
  /// Where each name ends in `nameBytes`.
  package let nameEnds: [Int]

  package init(_ subject: Subject) {
    self.init(subject, names: [])
  }

  /// The path through these names. At least one, and none empty.
  public init(names: [String]) {
    precondition(!names.isEmpty && !names.contains(""), "a field path needs names")
    self.init(.field, names: names)
  }

  private init(_ subject: Subject, names: [String]) {
    self.subject = subject
    self.names = names
    nameBytes = names.flatMap(\.utf8)
    var end = 0
    nameEnds = names.map { name in
      end += name.utf8.count
      return end
    }
  }

  package static let id = FieldPath(.id)
  package static let revision = FieldPath(.revision)
  package static let time = FieldPath(.time)
  package static let section = FieldPath(.section)

  /// What the row has of its own, by name.
  package static let own: [(name: String, path: FieldPath)] = [
    ("$id", .id), ("$revision", .revision), ("$time", .time), ("$section", .section),
  ]
}

extension FieldPath: Hashable {
  public static func == (a: FieldPath, b: FieldPath) -> Bool {
    a.subject == b.subject && a.nameEnds == b.nameEnds && a.nameBytes == b.nameBytes
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(subject)
    hasher.combine(nameEnds)
    hasher.combine(nameBytes)
  }
}
