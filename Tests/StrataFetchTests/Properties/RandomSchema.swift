// The documents of a random table: which fields they have, of which types, and how often fields are missing.

internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
internal import StrataTables
internal import StrataTesting

/// The fields that requests may name, with the values that they take, and the ids of the rows.
struct RandomSchema {
  /// Whether rows are decoded as `TypedRow`.
  let isTyped: Bool
  /// The paths, with their names separated by dots.
  let section: String
  let sorts: [String]
  let ids: [String]
  let sections: [DocumentValue?]
  /// The values for each path in `sorts`.
  let keys: [[DocumentValue?]]

  init(_ random: inout SeededGenerator) {
    func chance(_ sides: Int) -> Bool { Int.random(in: 0..<sides, using: &random) == 0 }
    func some<Value>(_ values: [Value], _ counts: ClosedRange<Int>) -> [Value] {
      Array(values.shuffled(using: &random).prefix(Int.random(in: counts, using: &random)))
    }
    isTyped = chance(6)
    let isLarge = chance(20)
    let count = Int.random(in: isLarge ? 20...50 : 4...14, using: &random)
    let names = ["a", "ab", "b", "é", "e\u{301}", "", "z\u{0}", "z"]
    ids = some(names, 0...4) + (0..<count).map { "row \($0)" }
    let texts: [DocumentValue] = [
      .string("x"), .string(""), .string("é"), .string("e\u{301}"), .string("y"), .string("xy"),
    ]
    // A section is found by linear search among few, and in a dictionary among many: both cases need rows.
    let isWide = isLarge && chance(2)
    if isTyped {
      section = "s"
      sorts = ["k", "m.l"]
      sections = some(texts + [nil, .null], isWide ? 8...8 : 1...5) + (chance(6) ? [.int(3)] : [])
      keys = [
        some([nil, .null, .int(-1), .int(0), .int(7), .int(300)], 1...5) + (chance(6) ? [.string("7")] : []),
        some([nil, .double(-0.0), .double(0), .double(.nan), .double(-.infinity), .double(7.5)], 1...5),
      ]
    } else {
      section = ["s", "m.s", "m.n.s"].randomElement(using: &random)!
      sorts = [
        ["k", "m.k", "a.b.c"].randomElement(using: &random)!, ["l", "m.l"].randomElement(using: &random)!,
      ]
      let mixed: [DocumentValue?] = [nil, .null, .int(1), .double(1), .int(2), .bool(true), .double(0.5)]
      let all = mixed + texts.map { $0 }
      sections = isWide ? all + (3..<12).map { .int($0) } : some(chance(3) ? texts.map { $0 } : all, 1...5)
      let numbers: [DocumentValue?] = [
        nil, .double(-0.0), .int(0), .double(.nan), .double(-.infinity), .int(7), .double(7), .string("7"),
      ]
      keys = [some(numbers, 1...6), chance(3) ? texts.map { $0 } : (0..<4).map { .int($0) }]
    }
  }
}

extension RandomSchema {
  /// A document that is made from another one, or from nothing.
  func document(
    _ id: String, from old: DocumentObject?, _ random: inout SeededGenerator
  ) -> DocumentObject {
    var document = old ?? [:]
    if isTyped { document["id"] = .string(id) }
    func chance(_ sides: Int) -> Bool { Int.random(in: 0..<sides, using: &random) == 0 }
    // A value that is not an object has no fields.
    if !isTyped, chance(20) { document["m"] = .int(3) }
    func set(_ path: String, _ values: [DocumentValue?]) {
      document.set(values.randomElement(using: &random)!, at: path.split(separator: "."))
    }
    if chance(2) { set(section, sections) }
    for (path, values) in zip(sorts, keys) where chance(2) { set(path, values) }
    if chance(2) { document["flag"] = .bool(!chance(4)) }
    if chance(2) { document["content"] = .int(Int64.random(in: 0..<3, using: &random)) }
    return document
  }

  /// - Parameter isSectioned: whether the list has sections; nil for a random choice.
  func request(isSectioned: Bool? = nil, _ random: inout SeededGenerator) -> ModelRequest {
    func chance(_ sides: Int) -> Bool { Int.random(in: 0..<sides, using: &random) == 0 }
    var request = ModelRequest()
    request.isTyped = isTyped
    let values = sections.map { $0 ?? .null }.filter { value in
      if case .int = value { !isTyped } else { true }
    }
    if isSectioned ?? !chance(6) {
      // Rows may also be in sections by a field that other requests sort by.
      request.section = !isTyped && chance(8) ? sorts[0] : section
    }
    switch Int.random(in: 0..<10, using: &random) {
    case 0: request.order = .keyDescending
    case 1: request.order = .list(values.shuffled(using: &random).dropLast())
    case 2, 3: request.order = .first
    case 4: request.order = .count
    case 5: request.order = .ranked
    case 6: request.order = .compared
    case 7, 8:
      let path = !isTyped && chance(3) ? ModelRequest.revision : sorts.randomElement(using: &random)!
      request.order = .extreme(path, isMaximum: chance(2), isDescending: chance(2))
    default: break
    }
    for field in sorts where !chance(3) {
      request.sorts.append(.init(field: field, isDescending: chance(2), areNilsLast: chance(3)))
    }
    if chance(4) { (request.flag, request.isFilterText) = (!chance(4), chance(2)) }
    (request.window, request.sectionWindow) = windows(&random)
    if chance(4) { request.nils = chance(2) ? .last : .required }
    if chance(4) {
      let strange: [DocumentValue] = isTyped ? [] : [.double(2), .array([1])]
      request.declared = Array(
        (values + [.string("never")] + strange).shuffled(using: &random)
          .prefix(Int.random(in: 1...3, using: &random)))
      // A list with both is refused.
      if request.nils == .required { request.declared.removeAll { $0.isNull } }
    }
    return request
  }

  /// A window over the list, and one over each section.
  func windows(_ random: inout SeededGenerator) -> (ListWindow, ListWindow) {
    func chance(_ sides: Int) -> Bool { Int.random(in: 0..<sides, using: &random) == 0 }
    func window(_ longest: Int, isOften: Bool) -> ListWindow {
      guard chance(isOften ? 2 : 8) else { return .all }
      // Windows larger than the number of rows show everything.
      let shortest = chance(8) ? 0 : longest / 4
      let length = chance(8) ? nil : Int.random(in: shortest...longest, using: &random)
      let offset = chance(4) ? Int.random(in: 0...longest / 2, using: &random) : 0
      return ListWindow(length: length, offset: offset, pin: chance(2) ? .beginning : .end)
    }
    return (window(8, isOften: true), window(4, isOften: false))
  }
}
