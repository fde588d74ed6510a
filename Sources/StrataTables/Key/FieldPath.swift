// The position of a value in a row: the text `impact.level`, prepared for searching.

/// The path to one value of a row.
///
/// ```
/// impact            a field of the document
/// impact.level      a field of an object in it
/// `odd name`.`a``b` any name may be in backquotes; two backquotes inside a name are one
/// $id $revision $time $section     the row's own values
/// ```
///
/// Names without backquotes consist of letters, digits and `_`, and do not begin with a digit. Names are compared by
/// their UTF-8. Arrays are not searched.
public struct FieldPath: Sendable {
  /// What a path leads to.
  package enum Subject: UInt8, Hashable, Sendable {
    /// A field of the document.
    case field
    /// The row's id, a string.
    case id
    /// The sequence of the last event that changed the row.
    case revision
    /// The own time of that event.
    case time
    /// The value of the section that the row is in.
    case section
  }

  package let subject: Subject
  /// The names from the document inwards; empty for a path to one of the row's own values.
  package let names: [String]
  /// The names' UTF-8, one after another.
  package let nameBytes: [UInt8]
  /// The end of each name in `nameBytes`.
  package let nameEnds: [Int]

  package init(_ subject: Subject) {
    self.init(subject, names: [])
  }

  /// The path through these names. There must be at least one, and none may be empty.
  package init(names: [String]) {
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

  /// The paths to the row's own values, by name.
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
