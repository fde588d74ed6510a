// The emitters over batches between versions of real lists.

internal import StrataEvents
@testable internal import StrataFetch
internal import StrataTesting

/// Bytes that are what they are: Swift's strings are equal where their bytes are not.
typealias KeyBytes = [UInt8]

extension EmitterChecks where SectionID == KeyBytes, ItemID == KeyBytes {
  /// - Parameter diff: the batch between the two lists.
  init(_ before: ModelList, _ after: ModelList, _ diff: ListDiff) {
    func data(_ list: ModelList) -> Data {
      Data(
        sections: list.sections.map { section in
          .init(
            id: section.value.cbor(), version: section.count,
            cells: section.items.map { .init(id: $0.id, version: Int($0.revision)) })
        })
    }
    // The text of an id is taken as its bytes, and a section is only looked at by its place.
    self.init(
      old: data(before), new: data(after),
      changes: ListChanges(diff, id: { Array($0.utf8) }, { ModelList.value(of: Array($0)).cbor() }))
  }
}
