// A mock list view that shows what the emitters make.

public import StrataViews

extension MockListView {
  /// Shows one batch, and then what follows it.
  public mutating func show(_ batch: ListBatch, _ data: Data) throws(MockListError) {
    if batch.hasOperations {
      try performBatchUpdates { updates in
        updates.data = data
        updates.batch = batch
      }
    } else {
      // No count may change without an operation, but content may.
      try performBatchUpdates { $0.data = data }
    }
    try reconfigureItems(at: batch.reconfigures)
    if !batch.sectionReloads.isEmpty {
      try performBatchUpdates { $0.reloadedSections = batch.sectionReloads }
    }
    try reconfigureSections(at: batch.sectionUpdates)
  }

  /// Shows stage after stage.
  ///
  /// - Parameter data: what the data source says of a stage's snapshot.
  public mutating func show(
    _ stages: [ListStage<ItemID, SectionID>], _ data: (DiffableSnapshot<ItemID, SectionID>) -> Data
  ) throws(MockListError) {
    for stage in stages { try show(stage.batch, data(stage.data)) }
  }
}
