// Showing the output of the emitters in a mock list view.

public import StrataViews

extension MockListView {
  /// Performs one batch, and then the reloads and reconfigurations that follow it.
  public mutating func show(_ batch: ListBatch, _ data: Data) throws(MockListError) {
    if batch.hasOperations {
      try performBatchUpdates { updates in
        updates.data = data
        updates.batch = batch
      }
    } else {
      // Without an operation, content may change, but no count may.
      try performBatchUpdates { $0.data = data }
    }
    try reconfigureItems(at: batch.reconfigures)
    if !batch.sectionReloads.isEmpty {
      try performBatchUpdates { $0.reloadedSections = batch.sectionReloads }
    }
    try reconfigureSections(at: batch.sectionUpdates)
  }

  /// Shows one stage after another.
  ///
  /// - Parameter data: returns the data source's data for a stage's snapshot.
  public mutating func show(
    _ stages: [ListStage<ItemID, SectionID>], _ data: (DiffableSnapshot<ItemID, SectionID>) -> Data
  ) throws(MockListError) {
    for stage in stages { try show(stage.batch, data(stage.data)) }
  }
}
