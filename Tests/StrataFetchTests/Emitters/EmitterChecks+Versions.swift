// The emitters over batches between versions of real lists.

internal import StrataEvents
@testable internal import StrataLists
internal import StrataTesting

/// Bytes that are what they are: Swift's strings are equal where their bytes are not.
typealias KeyBytes = [UInt8]

extension EmitterChecks where SectionID == Int, ItemID == Int {
  /// Ids and sections are numbered by their bytes: numbers are copied and compared faster, and a hundred thousand
  /// runs do little else.
  ///
  /// - Parameter diff: the batch between the two lists.
  init(_ before: ModelList, _ after: ModelList, _ diff: ListDiff) {
    var numbers: [KeyBytes: Int] = [:]
    var sections: [KeyBytes: Int] = [:]
    func number(_ bytes: KeyBytes, _ numbers: inout [KeyBytes: Int]) -> Int {
      if let number = numbers[bytes] { return number }
      numbers[bytes] = numbers.count
      return numbers.count - 1
    }
    func data(_ list: ModelList) -> Data {
      Data(
        sections: list.sections.map { section in
          .init(
            id: number(section.value.cbor(), &sections), version: section.count,
            cells: section.items.map { .init(id: number($0.id, &numbers), version: Int($0.revision)) })
        })
    }
    let (old, new) = (data(before), data(after))
    self.init(
      old: old, new: new,
      changes: ListChanges(
        diff, id: { number(Array($0.utf8), &numbers) },
        { number(ModelList.value(of: Array($0)).cbor(), &sections) }))
  }
}
