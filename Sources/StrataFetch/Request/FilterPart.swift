// One condition that rows must pass: a filter, or a closure.

internal import StrataEvents
internal import StrataLog
internal import StrataTables

/// A condition, known by its filter or by the closure's name and version.
struct FilterPart<Item: Sendable>: Sendable {
  private enum Identity: Hashable, Sendable {
    case filter(RowFilter)
    case malformed(String)
    case named(String, Int)
    case unnamed(Int)
  }

  enum Condition: Sendable {
    case filter(RowFilter)
    case malformed(FilterError)
    case closure(@Sendable (Item) -> Bool)
  }

  private let identity: Identity
  let condition: Condition

  init(_ filter: RowFilter) {
    identity = .filter(filter)
    condition = .filter(filter)
  }

  init(text: String) {
    do throws(FilterError) {
      let filter = try RowFilter(text)
      identity = .filter(filter)
      condition = .filter(filter)
    } catch {
      identity = .malformed(text)
      condition = .malformed(error)
    }
  }

  init(name: String, version: Int, _ passes: @escaping @Sendable (Item) -> Bool) {
    identity = .named(name, version)
    condition = .closure(passes)
  }

  init(_ passes: @escaping @Sendable (Item) -> Bool) {
    identity = .unnamed(unnamedClosures.withLock { $0 += 1; return $0 })
    condition = .closure(passes)
  }
}

extension FilterPart {
  /// The filter's text, or the name of its closure.
  var name: String {
    switch identity {
    case .filter(let filter): filter.description
    case .malformed(let text): text
    case .named(let name, let version): version == 1 ? name : "\(name) (version \(version))"
    default: "a closure without a name"
    }
  }
}

/// Counts closures without a name, each of which is its own kind.
private let unnamedClosures = Lock(0)

extension FilterPart: Hashable {
  static func == (a: Self, b: Self) -> Bool { a.identity == b.identity }
  func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
