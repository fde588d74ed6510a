// The page of all options against the options and their defaults.

import Foundation
import StrataEvents
import StrataLog
import StrataPast
import Testing

@Suite struct OptionPageTests {
  /// The rows of the page's tables: what each option's default is said to be, by the heading and the name.
  private static func said() throws -> [String: [String: String]] {
    var said: [String: [String: String]] = [:]
    var heading = ""
    for line in try Repository.text("Sources/Strata/Strata.docc/Options.md").split(separator: "\n") {
      if line.hasPrefix("### ") { heading = String(line.dropFirst(4)) }
      if let row = line.wholeMatch(of: /\| `(\w+)` \| ([^|]+) \| .+ \|/) {
        said[heading, default: [:]][String(row.1)] = String(row.2)
      }
    }
    return said
  }

  /// The public options of a type, from the list of public symbols.
  private static func options(of type: String) throws -> Set<String> {
    let found = try Repository.text("Tests/Golden/symbols.txt").matches(of: /: (\w+): var (\w+):/)
    return Set(found.filter { $0.1 == type }.map { String($0.2) })
  }

  /// A value as the page writes it.
  private static func text(_ value: Any) -> String {
    switch value {
    case let size as Int where size >= 1 << 20 && size % (1 << 20) == 0 && size >> 20 > 1: "\(size >> 20) MiB"
    case let size as Int where size >= 1 << 10 && size < 1 << 20 && size % (1 << 10) == 0: "\(size >> 10) KiB"
    case let count as Int: count.formatted(.number.locale(Locale(identifier: "en_US")))
    case let time as Duration where time.components.attoseconds == 0: "\(time.components.seconds) s"
    case let time as Duration: "\(time.components.attoseconds / 1_000_000_000_000_000) ms"
    case let isOn as Bool: "\(isOn)"
    default: "`.\(value)`"
    }
  }

  @Test func `the page has every option of a store, with its default`() throws {
    let said = try #require(try Self.said()["A store"])
    #expect(Set(said.keys) == (try Self.options(of: "StoreOptions")))
    let options = StoreOptions()
    #expect(options.history == .off && options.damageFound == nil && options.observer == nil)
    var known = ["history": "`.off`", "damageFound": "none", "observer": "none", "clock": "the system's"]
    for (name, value) in Mirror(reflecting: options).children {
      if let name, said[name] != nil, known[name] == nil { known[name] = Self.text(value) }
    }
    #expect(said == known)
  }

  @Test func `the page has every option of a consumer, with its default`() throws {
    let said = try #require(try Self.said()["A consumer"])
    #expect(Set(said.keys) == (try Self.options(of: "ConsumerOptions")))
    var known = ["selection": "`.all`"]
    for (name, value) in Mirror(reflecting: ConsumerOptions()).children {
      if let name, said[name] != nil, known[name] == nil { known[name] = Self.text(value) }
    }
    #expect(said == known)
  }
}
