// The lookups that an append needs in the indexes of closed segments, one segment after another.

internal import StrataBase

/// Searches back through the closed segments until everything that is in one of them was found. It remembers its
/// position, so that each index is searched once, whatever has to be built in between.
struct ClosedLookup {
  /// The parts not yet searched, newest last.
  private var parts: [IndexPart]
  private var streams: Set<[UInt8]>
  /// The append's id, until it is found. Empty if the append has none.
  private var id: [UInt8]

  /// - Parameter draft: the append; its streams that the active segment does not contain are looked up.
  init(_ draft: AppendDraft, in index: StoreIndex) {
    var streams = Set(draft.expectations.map(\.stream))
    for mark in draft.marks { streams.insert(Array(draft.stream(of: mark))) }
    let (closed, unknown) = index.closedAndUnknown(of: streams)
    self.streams = unknown
    parts = closed.reversed()
    id = draft.id
    assert(zip(parts, parts.dropFirst()).allSatisfy { $0 < $1 }, "the newest segment is searched first")
  }

  /// Continues as far as indexes exist. Returns nil if the lookup is complete, otherwise the part whose index it needs.
  mutating func advance(in index: StoreIndex) throws(StoreError) -> IndexPart? {
    while let part = parts.last, !(streams.isEmpty && id.isEmpty) {
      let (streams, id) = (streams, id)
      do throws(StoreError) {
        (self.streams, self.id) = try index.asking(part, builds: false) { closed throws(StoreError) in
          var left = streams
          for stream in streams {
            let extent = try stream.lendBytes { name throws(StoreError) in try closed.extent(of: name) }
            if extent != nil { left.remove(stream) }
          }
          guard !id.isEmpty else { return (left, id) }
          let found = try id.lendBytes { bytes throws(StoreError) in try index.first(ofID: bytes, in: closed)
          }
          return (left, found == nil ? id : [])
        }
      } catch {
        guard error.reason == .indexMissing else { throw error }
        return part
      }
      parts.removeLast()
    }
    return nil
  }
}
