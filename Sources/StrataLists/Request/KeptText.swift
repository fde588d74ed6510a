// A request as text, which is the same in every process for the same request.

internal import StrataTables

/// The name and the version that a program gives to a list that is kept.
struct KeptName: Hashable, Sendable {
  var name: String
  /// Nil if the program relies on what the request says of itself.
  var version: Int?
}

/// A request as text: one line for each part, its name and content, in which no part can look like another.
package struct KeptText {
  private(set) var text = ""
  /// The first part whose code nothing identifies.
  private(set) var unknown: String?
  /// Whether the program's code orders sections.
  private(set) var callsProgram = false

  // By scalars, because a line break after a carriage return is no character of its own.
  mutating func add(_ part: String, _ content: String) {
    var line = part.unicodeScalars
    line.append("=")
    for scalar in content.unicodeScalars {
      switch scalar {
      case "\\": line.append(contentsOf: #"\\"#.unicodeScalars)
      case "\n": line.append(contentsOf: #"\n"#.unicodeScalars)
      default: line.append(scalar)
      }
    }
    line.append("\n")
    text.unicodeScalars.append(contentsOf: line)
  }

  /// The parts of a text in their order; nil if it is not one that `add` made.
  package static func parts(of text: String) -> [(name: String, content: String)]? {
    var parts: [(String, String)] = []
    for line in text.unicodeScalars.split(separator: "\n") {
      guard let equals = line.firstIndex(of: "=") else { return nil }
      var content = String.UnicodeScalarView()
      var isEscaped = false
      for scalar in line[line.index(after: equals)...] {
        let begins = !isEscaped && scalar == "\\"
        if !begins { content.append(isEscaped && scalar == "n" ? "\n" : scalar) }
        isEscaped = begins
      }
      parts.append((String(String.UnicodeScalarView(line[..<equals])), String(content)))
    }
    return parts
  }

  mutating func add(_ part: String, _ bytes: [UInt8]) {
    add(part, bytes.map { String($0, radix: 16) }.joined(separator: " "))
  }

  mutating func add<Item>(_ part: String, _ key: KeyPart<Item>) {
    add("\(part) \(key.options.rawValue) \(key.isRequired)", name(key))
  }

  mutating func add<Item, Section>(_ order: SectionOrderPart<Item, Section>.Identity) {
    switch order {
    case .key: add("order", "key")
    case .keyDescending: add("order", "key descending")
    case .first: add("order", "first")
    case .count: add("order", "count")
    case .list(let sections): for section in sections { add("order", section) }
    case .ranked(let identity, let direction):
      callsProgram = true
      add("ranked \(direction)", identity)
    case .compared(let identity):
      callsProgram = true
      add("compared", identity)
    case .extreme(let key, let aggregate):
      add("extreme \(aggregate.isMaximum) \(aggregate.isDescending)", key)
    }
  }

  mutating func add<Item>(_ filter: FilterPart<Item>.Identity) {
    switch filter {
    case .filter(let filter): add("filter", filter.description)
    case .malformed(let template): add("malformed", template.text)
    case .closure(let identity): add("closure", identity)
    case .predicate(let identity):
      guard let text = identity.text else { return lack("a predicate with a computed property", "predicate") }
      add("predicate", text)
    case .search(let query, let parts):
      add("search", query.description)
      for part in parts {
        guard let name = part.name else { return lack("a search in a computed property", "search") }
        add("searched", name)
      }
    }
  }

  private mutating func add(_ part: String, _ identity: ClosureIdentity) {
    switch identity {
    case .id(let id): add(part, id.bytes)
    case .unnamed: lack("a closure without an id", part)
    }
  }

  private mutating func name<Item>(_ key: KeyPart<Item>) -> String {
    guard let path = key.keyPath else { return "\(key.isManual ? "manual" : "field") \(key.name)" }
    guard let name = path.storedName else {
      lack("a computed property", "key")
      return "computed"
    }
    return name
  }

  private mutating func lack(_ what: String, _ part: String) {
    unknown = unknown ?? what
    add(part, "only the version says which")
  }
}
