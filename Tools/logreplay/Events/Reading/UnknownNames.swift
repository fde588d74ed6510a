// Warnings about requested types and streams that no event has, with similar names as suggestions.

internal import LogreplayShell
internal import StrataLog

/// Reports which patterns of `--type` and `--stream` match no event of the log, and suggests names that the log has.
struct UnknownNames {
  /// The most distinct names that are kept; further names are not suggested.
  private static let namesMax = 10_000

  private let types: [Glob]
  private let streams: [Glob]
  private var typeIsFound: [Bool]
  private var streamIsFound: [Bool]
  private var typeNames: Set<String> = []
  private var categories: Set<String> = []
  /// Streams whose category is named by some pattern.
  private var streamNames: Set<String> = []
  private let wantedCategories: Set<String>

  private init(_ filter: EventFilter) {
    (types, streams) = (filter.types, filter.streams)
    typeIsFound = types.map { _ in false }
    streamIsFound = streams.map { _ in false }
    wantedCategories = Set(streams.map { Self.category(of: $0.pattern) })
  }

  /// Reports the patterns that match nothing in the whole log. Reads the log once, and stops when every pattern has
  /// matched. Damage ends the pass silently, because the read before it has already reported the damage.
  static func report(_ filter: EventFilter, _ opened: OpenedStore) {
    guard !filter.types.isEmpty || !filter.streams.isEmpty else { return }
    var names = UnknownNames(filter)
    var cursor = opened.log.cursor(after: opened.log.mark.logBegin - 1)
    var last: (type: [UInt8], stream: [UInt8]) = ([], [])
    while !names.isComplete, let block = try? cursor.next() {
      try? block.forEachEvent { event, _, _ in
        // Neighbouring events often have the same names.
        if !event.type.elementsEqual(last.type) {
          last.type = Array(event.type)
          names.add(type: String(decoding: last.type, as: UTF8.self))
        }
        if !event.stream.elementsEqual(last.stream) {
          last.stream = Array(event.stream)
          names.add(stream: String(decoding: last.stream, as: UTF8.self))
        }
      }
    }
    names.note()
  }

  private var isComplete: Bool {
    !typeIsFound.contains(false) && !streamIsFound.contains(false)
  }

  private static func category(of stream: String) -> String {
    String(decoding: stream.utf8.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
  }

  private mutating func add(type: String) {
    guard !typeNames.contains(type) else { return }
    if typeNames.count < Self.namesMax { typeNames.insert(type) }
    for (index, glob) in types.enumerated() where glob.matches(type) { typeIsFound[index] = true }
  }

  private mutating func add(stream: String) {
    for (index, glob) in streams.enumerated() where !streamIsFound[index] && glob.matches(stream) {
      streamIsFound[index] = true
    }
    let category = Self.category(of: stream)
    if categories.count < Self.namesMax { categories.insert(category) }
    if wantedCategories.contains(category), streamNames.count < Self.namesMax { streamNames.insert(stream) }
  }

  private func note() {
    for (glob, isFound) in zip(types, typeIsFound) where !isFound {
      let what = glob.isLiteral ? "the type \(glob.pattern)" : "a type that matches \(glob.pattern)"
      note("no event has \(what)", NearNames.hint(for: glob.pattern, among: Array(typeNames)))
    }
    for (glob, isFound) in zip(streams, streamIsFound) where !isFound {
      let what = glob.isLiteral ? "the stream \(glob.pattern)" : "a stream that matches \(glob.pattern)"
      note("no event is in \(what)", hint(forStream: glob))
    }
  }

  /// Suggests streams of the pattern's category, or the same id in a category with a similar name.
  private func hint(forStream glob: Glob) -> String? {
    let category = Self.category(of: glob.pattern)
    let rest = glob.pattern.dropFirst(category.count)
    if categories.contains(category), rest.isEmpty { return "did you mean \(category)/*?" }
    if glob.isLiteral {
      let near = NearNames.near(
        glob.pattern, among: streamNames.filter { Self.category(of: $0) == category })
      if !near.isEmpty { return NearNames.hint(for: glob.pattern, among: near) }
    }
    let near = NearNames.near(category, among: categories.subtracting([category]))
    if !near.isEmpty {
      let names = near.map { $0 + (rest.isEmpty ? "/*" : rest) }
      return "did you mean \(names.joined(separator: ", or "))?"
    }
    return NearNames.hint(for: "", among: categories.map { $0 + "/*" })
  }

  private func note(_ what: String, _ hint: String?) {
    Terminal.note("logreplay: warning: " + PeopleText.printable(what + (hint.map { "; \($0)" } ?? "")))
  }
}
