// Buffers that a fold reuses.

/// The buffers of one fold. Used by one thread at a time; nothing that is filled from them keeps them.
package final class FoldScratch {
  // A fold guarantees one thread at a time, so the checks of exclusive access are left out: they cost a tenth of a
  // fold.
  @exclusivity(unchecked) var value: [UInt8] = []
  /// The value that a changed row had before; empty if there was none, or no view follows the change.
  @exclusivity(unchecked) var old: [UInt8] = []
  @exclusivity(unchecked) var keys = ViewScratch()
  /// The rows that the current event changed, where something follows the fold event by event.
  @exclusivity(unchecked) var rows = EventRows()
  /// Measures the views; nil if they may take any amount of time.
  @exclusivity(unchecked) var meter: ViewMeter?
  /// How many bytes of rows may still be put into tables before the fold stops.
  @exclusivity(unchecked) var bytesLeft = Int.max

  package init() {}
}

/// A row's previous position in a view and the new one, as buffers that are reused.
package struct ViewScratch: ~Copyable {
  private var old = PlacedKey()
  private var new = PlacedKey()
  private var writer = SortKeyWriter()

  package init() {}

  /// Lets a view follow the change of a row.
  @inline(__always)
  package mutating func change(
    _ view: inout View, id: UnsafeRawBufferPointer, from oldRow: RowView?, to newRow: RowView?
  ) {
    old.place(oldRow, by: view.definition, &writer)
    new.place(newRow, by: view.definition, &writer)
    view.change(id: id, from: old, to: new)
  }
}
