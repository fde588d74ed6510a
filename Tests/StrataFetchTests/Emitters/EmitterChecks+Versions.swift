// The emitters over batches between versions of real lists.

internal import StrataEvents
@testable internal import StrataLists
internal import StrataTesting

/// Ids and sections as bytes, because Swift's strings can be equal although their bytes differ.
typealias KeyBytes = [UInt8]

extension EmitterChecks where SectionID == Int, ItemID == Int {
  /// Numbers ids and sections by their bytes. Numbers are faster to copy and compare, which takes most of the time of a
  /// hundred thousand runs.
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
