// A list of documents in AppKit's collection view. Compiled where AppKit is; elsewhere this file is empty.

#if canImport(AppKit)
  import AppKit
  import Strata
  import StrataViews

  nonisolated struct Note: Codable, Identifiable, Sendable {
    var id: String
    var folder: String
    var title: String
  }

  /// Notes in sections, kept live: each change of the store is one batch of the collection view.
  @MainActor
  final class NoteController: NSViewController, NSCollectionViewDataSource {
    private static let cell = NSUserInterfaceItemIdentifier("note")

    private let list: FetchController<Note, String>
    private let collectionView = NSCollectionView(frame: .zero)
    private var shown: ListSnapshot<Note, String>?
    private var following: Task<Void, Never>?

    init(_ notes: DocumentCollection<Note>) {
      list = FetchController(ListRequest(Note.self).sectioned(by: \.folder).sorted(by: \.title), from: notes)
      super.init(nibName: nil, bundle: nil)
    }

    required init?(coder: NSCoder) { nil }

    override func loadView() {
      let layout = NSCollectionViewFlowLayout()
      layout.itemSize = NSSize(width: 240, height: 24)
      collectionView.collectionViewLayout = layout
      collectionView.register(NoteItem.self, forItemWithIdentifier: Self.cell)
      collectionView.dataSource = self
      let scrollView = NSScrollView(frame: .zero)
      scrollView.documentView = collectionView
      view = scrollView
    }

    override func viewWillAppear() {
      super.viewWillAppear()
      following = Task { [weak self, list] in
        do {
          for try await update in list.updates(.latest) {
            guard let self else { return }
            self.show(update)
          }
        } catch {
          // The list cannot go on; what is shown stays. An application says so here.
        }
      }
    }

    override func viewDidDisappear() {
      super.viewDidDisappear()
      following?.cancel()
    }

    private func show(_ update: ListUpdate<Note, String>) {
      guard update.before != nil else {
        shown = update.after
        collectionView.reloadData()
        return
      }
      let batch = update.changes.batch(.reload)
      collectionView.performBatchUpdates { [self] in
        shown = update.after
        collectionView.deleteSections(batch.sectionDeletions.indexSet)
        collectionView.insertSections(batch.sectionInsertions.indexSet)
        for move in batch.sectionMoves { collectionView.moveSection(move.from, toSection: move.to) }
        collectionView.deleteItems(at: batch.deletions.indexPathSet)
        collectionView.reloadItems(at: batch.reloads.indexPathSet)
        collectionView.insertItems(at: batch.insertions.indexPathSet)
        for move in batch.moves { collectionView.moveItem(at: move.from.indexPath, to: move.to.indexPath) }
      }
      // A row that moved and changed: AppKit has no call that changes a cell in place.
      collectionView.reloadItems(at: batch.reconfigures.indexPathSet)
      if !batch.sectionReloads.isEmpty { collectionView.reloadSections(batch.sectionReloads.indexSet) }
    }

    func numberOfSections(in collectionView: NSCollectionView) -> Int { shown?.numberOfSections ?? 0 }

    func collectionView(_ collectionView: NSCollectionView, numberOfItemsInSection section: Int) -> Int {
      shown?.numberOfItems(inSectionAt: section) ?? 0
    }

    func collectionView(
      _ collectionView: NSCollectionView, itemForRepresentedObjectAt indexPath: IndexPath
    ) -> NSCollectionViewItem {
      let item = collectionView.makeItem(withIdentifier: Self.cell, for: indexPath)
      item.textField?.stringValue = shown?.row(at: ListIndex(indexPath))?.title ?? ""
      return item
    }
  }

  /// A cell with the title of a note.
  @MainActor
  final class NoteItem: NSCollectionViewItem {
    override func loadView() {
      let label = NSTextField(labelWithString: "")
      (textField, view) = (label, label)
    }
  }
#endif
