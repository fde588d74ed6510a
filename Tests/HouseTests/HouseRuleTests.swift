// The rules that every source file keeps, so that nobody has to look for them in a review.

import Foundation
import Testing

@Suite struct HouseRuleTests {
  private static let code = Repository.swiftFiles("Sources") + Repository.swiftFiles("Tools")
  private static let all = code + Repository.swiftFiles("Tests")

  private func lines(_ path: String) throws -> [Substring] {
    try Repository.text(path).split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// The modules that a file imports.
  private func imports(_ path: String) throws -> Set<String> {
    Set(
      try lines(path).compactMap { line -> String? in
        let words = line.split(separator: " ")
        guard let place = words.firstIndex(of: "import"), place <= 2, words.count > place + 1,
          words[..<place].allSatisfy({
            ["public", "package", "internal", "fileprivate", "private", "@testable", "@_exported"].contains(
              $0)
          })
        else { return nil }
        return String(words[words.count - 1].split(separator: ".")[0])
      })
  }

  @Test func `there are sources to look at`() { #expect(Self.code.count > 100) }

  @Test func `every file of the product begins with a sentence that says what it is`() throws {
    for path in Self.code {
      let head = try lines(path).prefix { $0.hasPrefix("//") }.joined(separator: " ")
      #expect(head.hasPrefix("// ") && !head.hasPrefix("// swift-"), "\(path) begins with no comment")
      #expect(head.contains(where: { ".:?".contains($0) }), "\(path) begins with no sentence: \(head)")
    }
  }

  @Test func `no file has more than 600 lines`() throws {
    for path in Self.all { #expect(try lines(path).count <= 601, "\(path)") }
  }

  @Test func `every test is named by a sentence, once`() throws {
    for path in Repository.swiftFiles("Tests") {
      let text = try Repository.text(path)
      for test in text.matches(of: /@Test(\(\s*")?[^`]{0,400}?func (`?)/) {
        #expect(test.1 == nil && test.2 == "`", "\(path): \(test.0)")
      }
    }
  }

  @Test func `each floor imports only lower ones, and the log no Foundation`() throws {
    let floors = [
      "StrataBase", "StrataDocuments", "StrataLog", "StrataEvents", "StrataReplica", "StrataBucket",
      "StrataJetStream", "StrataTables", "StrataPast", "StrataObservability", "StrataLists", "StrataFetch",
      "Strata", "StrataViews",
    ]
    for (height, floor) in floors.enumerated() {
      let higher = Set(
        floors[height...] + ["StrataCheck", "StrataSimulation", "StrataTesting", "ArgumentParser"])
      for path in Repository.swiftFiles("Sources/\(floor)") {
        let found = try imports(path)
        #expect(found.isDisjoint(with: higher), "\(path) imports \(found.intersection(higher))")
        if floor == "StrataBase" || floor == "StrataLog" {
          #expect(
            found.isDisjoint(with: ["Foundation", "FoundationEssentials"]), "\(path) imports Foundation")
        }
      }
    }
  }

  /// The folders of modules that are large, lowest first.
  private static let folders = [
    "StrataTables": ["Tree", "Key", "Row", "View", "Table", "Fold", "Source"],
    "StrataPast": ["State", "History", "Projector", "Past", "Read"],
  ]

  @Test(arguments: folders.keys.sorted())
  func `each folder of a large module uses types of lower ones only`(module: String) throws {
    let folders = try #require(Self.folders[module])
    var heights: [Substring: Int] = [:]
    let declaration =
      /(?:struct|class|enum|protocol|typealias) ([A-Z]\w*)/
    let code = try Repository.swiftFiles("Sources/\(module)").map { path in
      let folder = String(path.split(separator: "/")[2])
      let height = try #require(folders.firstIndex(of: folder), "\(path) is in no folder of the list")
      return (path, height, try lines(path).filter { !$0.drop { $0 == " " }.hasPrefix("//") })
    }
    for (_, height, lines) in code {
      for line in lines where !line.hasPrefix(" ") && !line.hasPrefix("extension") {
        if let match = line.firstMatch(of: declaration) { heights[match.1] = height }
      }
    }
    #expect(heights.count > 50)
    for (path, height, lines) in code {
      for line in lines {
        for match in line.matches(of: /\b[A-Z]\w+\b/) where heights[match.0, default: 0] > height {
          Issue.record("\(path) uses \(match.0), which is in \(folders[heights[match.0]!])")
        }
      }
    }
  }

  @Test(arguments: folders.keys.sorted())
  func `each folder of a large module calls what lower ones add to types of other modules`(module: String)
    throws
  {
    let folders = try #require(Self.folders[module])
    let texts = try Repository.swiftFiles("Sources/\(module)").map { path in
      let folder = String(path.split(separator: "/")[2])
      return (path, try #require(folders.firstIndex(of: folder)), try lines(path))
    }
    var own: Set<Substring> = []
    for line in texts.lazy.flatMap(\.2) where !line.hasPrefix("extension") {
      if let match = line.firstMatch(of: /(?:struct|class|enum|protocol|typealias) ([A-Z]\w*)/) {
        own.insert(match.1)
      }
    }
    // Functions by their names: where each is declared in an extension of a type of another module, and everywhere.
    var added: [Substring: Set<Int>] = [:]
    var declared: [Substring: Int] = [:]
    for (_, height, lines) in texts {
      var isOther = false
      for line in lines {
        if let match = line.firstMatch(of: /^(extension )?(?:\w+ )*?([A-Z]\w*)/), !line.hasPrefix(" ") {
          isOther = match.1 != nil && !own.contains(match.2)
        }
        guard let name = line.firstMatch(of: /^ +(?:[a-z@()]+ )*func (\w+)/)?.1 else { continue }
        declared[name, default: 0] += 1
        if isOther, line.prefix(while: { $0 == " " }).count == 2 { added[name, default: []].insert(height) }
      }
    }
    // A name of one word may also be a case, or a function of another module.
    added = added.filter {
      $0.value.count == 1 && declared[$0.key] == 1 && $0.key.contains(where: \.isUppercase)
    }
    #expect(added.count > 2)
    for (path, height, lines) in texts {
      for line in lines where !line.drop(while: { $0 == " " }).hasPrefix("//") {
        for match in line.matches(of: /\b(\w+)\(/) where added[match.1]?.first ?? 0 > height {
          Issue.record("\(path) calls \(match.1), which \(folders[added[match.1]!.first!]) adds")
        }
      }
    }
  }

  @Test func `nothing in the product stops the program on data, and nothing is left to do`() throws {
    let banned = ["try" + "!", "fatal" + "Error(", "TO" + "DO", "FIX" + "ME", "as" + "! "]
    for path in Self.code {
      for (number, line) in try lines(path).enumerated() {
        // A tree cannot refuse an answer, and gives no wrong one: see the comment there.
        if path.hasSuffix("Tree/PageSource.swift"), line.contains(banned[1]) { continue }
        for word in banned { #expect(!line.contains(word), "\(path):\(number + 1) has \(word)") }
      }
    }
  }

  /// Names that a file which imports SwiftUI, UIKit, AppKit, Core Data, Combine or Foundation has already.
  private static let taken: Set<String> = [
    "App", "Alert", "Animation", "Array", "AsyncStream", "AttributeContainer", "Attribute", "Binding",
    "Bundle",
    "Button", "Cancellable", "Clock", "Color", "ColumnIndex", "Commands", "Context", "Data", "Date",
    "DateFormatter", "DateInterval", "Decimal", "Dictionary", "Document", "DocumentGroup", "Edge",
    "Environment",
    "FetchDescriptor", "FetchRequest", "FetchedResults", "FetchedResultsController", "FileDocument",
    "FileHandle", "FileManager", "Filter", "FocusState", "Form", "Grid", "Group", "History", "Host", "Image",
    "IndexPath", "IndexSet", "Item", "JSONDecoder", "JSONEncoder", "Label", "Layout", "List", "Locale",
    "Lock",
    "Measurement", "Menu", "Model", "ModelContainer", "ModelContext", "Mutex", "Namespace", "Notification",
    "ObservableObject",
    "Operation", "Operators", "Path", "Picker", "Pipe", "Predicate", "Process", "Progress", "Published",
    "Publisher", "Query", "Record", "Result", "RunLoop", "Scene", "Schema", "Scope", "Section",
    "SectionedFetchRequest", "Selection",
    "Sequence", "Set", "Shape", "Slider", "Snapshot", "SortDescriptor", "SortOrder", "Stack", "State",
    "StateObject", "Stream",
    "String", "Subscriber", "Subscription", "Tab", "Table", "TableColumn", "Task", "Text", "Thread", "Timer",
    "TimeZone",
    "Toggle", "Transaction", "Transition", "URL", "UUID", "Undo", "UndoManager", "Unit", "Update", "View",
    "ViewBuilder",
    "Window",
  ]

  @Test func `no public type has a name that an application's file has already`() throws {
    let declaration = try Regex(
      #"^\s*(?:@\w+(?:\([^)]*\))?\s+)*public\s+(?:final\s+|indirect\s+|nonisolated\s+)*(?:struct|class|enum|actor|protocol|typealias)\s+(\w+)"#
    )
    let modules: Set<String> = [
      "Strata", "StrataBase", "StrataDocuments", "StrataLog", "StrataEvents", "StrataTables", "StrataPast",
      "StrataLists",
      "StrataFetch", "StrataReplica", "StrataBucket", "StrataJetStream", "StrataObservability", "StrataViews",
      "StrataSimulation",
      "StrataTesting", "StrataCheck",
    ]
    var found = 0
    for path in Repository.swiftFiles("Sources") {
      for line in try lines(path) {
        guard let match = line.firstMatch(of: declaration), let name = match.output[1].substring else {
          continue
        }
        // A nested type is written with the name of the one around it.
        if line.hasPrefix(" ") { continue }
        found += 1
        #expect(!Self.taken.contains(String(name)), "\(path): \(name)")
        #expect(!modules.contains(String(name)), "\(path): \(name) is a module's name")
      }
    }
    #expect(found > 20)
  }
}
