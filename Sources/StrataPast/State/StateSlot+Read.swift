// What the directory of a state on disk names.

internal import StrataBase
internal import StrataLog
internal import StrataTables

extension StateSlot {
  /// What the directory of the state names, and its open files.
  func entries(
    _ files: StateFiles, _ cache: PageCache
  ) throws(PageDamage) -> (entries: StateEntries, reader: StateReader, directory: Tree) {
    var open: [UInt32: any File] = [:]
    // A state without tables has an empty directory, which has no page.
    if root.total > 0 {
      guard let first = files.openPages(root.address.file) else {
        throw PageDamage("a page file is missing")
      }
      // The directory may be in several files, but says itself in which.
      open = [root.address.file: first]
    }
    for number in (try? files.pageFiles()) ?? [] where open[number] == nil {
      open[number] = files.openPages(number)
    }
    let lineage = StateLineage()
    let directory = try StateReader(open, lineage, cache).wholeTree(
      root, pageSize: StateDirectory.pageSize
    ) { _, _ in true }
    let entries = try StateEntries(directory)
    // They stay open, so that a page that is read later is found also when a writer has replaced its file.
    open = open.filter { entries.pageFiles.contains($0.key) }
    guard open.count == entries.pageFiles.count else { throw PageDamage("a page file is missing") }
    return (entries, StateReader(open, lineage, cache), directory)
  }
}
