// Every bit, every length and every file of the kept stores, under a HEAD of every age, held against the plain rule.

import Foundation
import StrataLog
import StrataSimulation
import Testing

@Suite struct GoldenDamageTests {
  /// Stores of which every byte is right: of each shape one.
  static let stores = [
    "segments", "groups", "recovered", "control-kinds", "sealed", "sealed-to-the-end", "erased",
    "sealed-by-the-writer", "zero-tail", "trimmed",
  ]

  /// Of each kind of damage some, by a step that meets every bit of a byte in turn. STRATA_DAMAGE_STEP is another one: the
  /// long run meets every bit, and builds that are slower still fewer.
  static var step: Int {
    if let step = ProcessInfo.processInfo.environment["STRATA_DAMAGE_STEP"].flatMap(Int.init), step > 0 {
      return step
    }
    #if DEBUG
      return 3_989
    #else
      return 13
    #endif
  }

  /// The long run sets STRATA_DAMAGE=all.
  static let underEveryHead = ProcessInfo.processInfo.environment["STRATA_DAMAGE"] == "all"

  private static func options(readsDamaged: Bool) -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.sealsInBackground = false
    options.readsDamaged = readsDamaged
    return options
  }

  /// What the undamaged store delivers, by the first sequence of each block.
  private static func contents(_ store: PlainStore) throws -> [UInt64: DecodedBlock] {
    let log = try Log.openReader(
      try GoldenText.disk(store.files), path: GoldenText.root, options: options(readsDamaged: false))
    let delivery = Delivery(log)
    #expect(delivery.error == nil && !delivery.blocks.isEmpty)
    return Dictionary(uniqueKeysWithValues: delivery.blocks.map { ($0.header.firstSequence, $0) })
  }

  @Test(arguments: stores)
  func `a damaged store is judged as the rule says, delivers nothing wrong, and is left as it is`(
    name: String
  ) throws {
    let store = try PlainStore(named: name)
    let contents = try Self.contents(store)
    var counts: [String: Int] = [:]
    var wrong = 0
    let base = try GoldenText.disk(store.files)
    try GoldenDamage.each(of: store, step: Self.step, underEveryHead: Self.underEveryHead) { damage in
      let problem = try check(damage, store, base, contents, &counts)
      guard let problem, wrong < 20 else { return }
      wrong += 1
      Issue.record("\(name), \(damage): \(problem)")
    }
    print(
      "\(name):", counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
    #expect(wrong == 0)
  }

  /// What does not hold for one damaged copy, or nil.
  private func check(
    _ damage: GoldenDamage, _ store: PlainStore, _ base: SimulatedDisk, _ contents: [UInt64: DecodedBlock],
    _ counts: inout [String: Int]
  ) throws -> String? {
    let files = damage.files(of: store)
    let disk = base.clone()
    for (path, bytes) in files where bytes != store.files[path] {
      disk.add("\(GoldenText.root)/\(path)", bytes)
    }
    for path in store.files.keys where files[path] == nil { disk.delete("\(GoldenText.root)/\(path)") }
    let number = counts["checked", default: 0]
    counts["checked"] = number + 1
    let rule = PlainRule(store, files: files, head: damage.slot(in: files))
    var verifier = LogVerifier(disk, path: GoldenText.root)
    let found: [GoldenAnswers.Place]
    do throws(StoreError) { found = try verifier.run().findings.map { GoldenAnswers.Place($0) } } catch {
      // Nothing is left of the store: neither a segment nor HEAD.
      guard error.reason == .notFound, rule.head == nil, PlainRule.firsts(files).isEmpty else {
        return "\(error)"
      }
      return nil
    }
    for finding in found { counts[finding.class, default: 0] += 1 }
    if found.isEmpty { counts["right", default: 0] += 1 }
    if found != rule.findings { return "found \(found), and the rule says \(rule.findings)" }
    if let problem = read(disk, rule, contents, counts: &counts) { return problem }
    // Where nothing keeps a writer from opening, one in some is enough: it starts threads.
    if number % 16 != 0, !Self.isRefusedAtOpen(rule) { return nil }
    let isRefused =
      (try? Log.openWriter(disk, path: GoldenText.root, options: Self.options(readsDamaged: false)).close())
      == nil
    let isWhole = rule.findings.allSatisfy { $0.class == "torn" } && !PlainRule.firsts(files).isEmpty
    if isRefused, isWhole { return "a writer is refused" }
    if !isRefused, Self.isRefusedAtOpen(rule) { return "a writer opens it" }
    let isKept = files.allSatisfy { path, bytes in
      if path == StoreLayout.lockName { return true }
      let now = disk.contents("\(GoldenText.root)/\(path)") ?? []
      if now == bytes { return true }
      // One that opened and closed says so in HEAD, and cuts zeros that nothing was written over.
      if isRefused { return false }
      return path == StoreLayout.headName
        || bytes.starts(with: now) && bytes.dropFirst(now.count).allSatisfy { $0 == 0 }
    }
    return isKept ? nil : "a writer's open changed a file"
  }

  /// True for what every open must notice: headers, missing files, the active segment and HEAD. A closed segment's
  /// blocks are looked at when they are needed.
  private static func isRefusedAtOpen(_ rule: PlainRule) -> Bool {
    let last = PlainRule.firsts(rule.files).last
    return rule.findings.contains { finding in
      guard finding.class != "torn" else { return false }
      if finding.offset == 0, finding.file != StoreLayout.headName { return true }
      return last.map { finding.file == $0.path && rule.store.segments[$0]?.isRewritten == false }
        ?? false
    }
  }

  private func read(
    _ disk: SimulatedDisk, _ rule: PlainRule, _ contents: [UInt64: DecodedBlock], counts: inout [String: Int]
  ) -> String? {
    for readsDamaged in [false, true] {
      let log: Log
      do throws(StoreError) {
        log = try Log.openReader(
          disk, path: GoldenText.root, options: Self.options(readsDamaged: readsDamaged))
      } catch {
        if !readsDamaged, rule.findings.allSatisfy({ $0.class == "torn" }),
          !PlainRule.firsts(rule.files).isEmpty
        {
          return "a reader is refused: \(error)"
        }
        continue
      }
      if !readsDamaged, Self.isRefusedAtOpen(rule) { return "a reader opens it" }
      let delivery = Delivery(log)
      for block in delivery.blocks {
        guard let right = contents[block.header.firstSequence], right.raw.elementsEqual(block.raw) else {
          return "other data at \(block.header.firstSequence)"
        }
      }
      // Everything before the first place in doubt is delivered, and nothing from a damaged block on.
      let begin = log.mark.logBegin
      let end = rule.findings.filter { $0.class != "torn" && $0.file != StoreLayout.headName }.map(\.first)
        .min()
      let delivered = delivery.blocks.last.map { $0.header.nextSequence } ?? begin
      // A gap before a header that is damaged too is told by nobody.
      let next = SegmentName(delivered)
      let isGap = rule.store.segments[next] != nil && rule.files[next.path] == nil
      if let end, end > delivered, contents[delivered] != nil, !isGap {
        return "delivery ends at \(delivered), before \(end)"
      }
      if end == nil, delivery.error != nil { return "reading fails: \(delivery.error!)" }
      try? log.close()
    }
    for (path, bytes) in rule.files where disk.contents("\(GoldenText.root)/\(path)") != bytes {
      return "reading changed \(path)"
    }
    return nil
  }
}
