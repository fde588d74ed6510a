// A list of documents in a collection view. Compiled where UIKit is; elsewhere this file is empty.

#if canImport(UIKit)
  import Strata
  import StrataViews
  import UIKit

  nonisolated struct Note: Codable, Identifiable, Sendable {
    var id: String
    var folder: String
    var title: String
  }

  /// Notes in sections, kept live: each change of the store is one batch of the collection view.
  @MainActor
  final class NoteController: UIViewController, UICollectionViewDataSource {
    private let list: FetchController<Note, String>
    private var shown: ListSnapshot<Note, String>?
    private var following: Task<Void, Never>?
    private var collectionView: UICollectionView!

    private let cells = UICollectionView.CellRegistration<UICollectionViewListCell, Note?> { cell, _, note in
      var content = cell.defaultContentConfiguration()
      content.text = note?.title
      cell.contentConfiguration = content
    }
    private lazy var headers = UICollectionView.SupplementaryRegistration<UICollectionViewListCell>(
      elementKind: UICollectionView.elementKindSectionHeader
    ) { [weak self] header, _, indexPath in
      var content = UIListContentConfiguration.header()
      content.text = self?.shown?.sectionIdentifier(at: indexPath.section)
      header.contentConfiguration = content
    }

    init(_ notes: DocumentCollection<Note>) {
      list = FetchController(ListRequest(Note.self).sectioned(by: \.folder).sorted(by: \.title), from: notes)
      super.init(nibName: nil, bundle: nil)
    }

    required init?(coder: NSCoder) { nil }

    override func viewDidLoad() {
      super.viewDidLoad()
      var configuration = UICollectionLayoutListConfiguration(appearance: .plain)
      configuration.headerMode = .supplementary
      collectionView = UICollectionView(
        frame: view.bounds,
        collectionViewLayout: UICollectionViewCompositionalLayout.list(using: configuration))
      collectionView.autoresizingMask = [.flexibleWidth, .flexibleHeight]
      collectionView.dataSource = self
      _ = headers
      view.addSubview(collectionView)
    }

    // What is not on screen is not kept up to date: the first update on the next appearance is the whole list.
    override func viewWillAppear(_ animated: Bool) {
      super.viewWillAppear(animated)
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

    override func viewDidDisappear(_ animated: Bool) {
      super.viewDidDisappear(animated)
      following?.cancel()
    }

    private func show(_ update: ListUpdate<Note, String>) {
      // Without a window, UIKit counts the rows before it knows of changes.
      guard update.before != nil, collectionView.window != nil else {
        shown = update.after
        collectionView.reloadData()
        return
      }
      let batch = update.changes.batch()
      collectionView.performBatchUpdates { [self] in
        shown = update.after
        collectionView.deleteSections(batch.sectionDeletions.indexSet)
        collectionView.insertSections(batch.sectionInsertions.indexSet)
        for move in batch.sectionMoves { collectionView.moveSection(move.from, toSection: move.to) }
        collectionView.deleteItems(at: batch.deletions.indexPaths)
        collectionView.reloadItems(at: batch.reloads.indexPaths)
        collectionView.insertItems(at: batch.insertions.indexPaths)
        for move in batch.moves { collectionView.moveItem(at: move.from.indexPath, to: move.to.indexPath) }
      }
      collectionView.reconfigureItems(at: batch.reconfigures.indexPaths)
      if !batch.sectionReloads.isEmpty { collectionView.reloadSections(batch.sectionReloads.indexSet) }
    }

    func numberOfSections(in collectionView: UICollectionView) -> Int { shown?.numberOfSections ?? 0 }

    func collectionView(_ collectionView: UICollectionView, numberOfItemsInSection section: Int) -> Int {
      shown?.numberOfItems(inSectionAt: section) ?? 0
    }

    func collectionView(
      _ collectionView: UICollectionView, cellForItemAt indexPath: IndexPath
    ) -> UICollectionViewCell {
      let note = shown?.row(at: ListIndex(indexPath))
      return collectionView.dequeueConfiguredReusableCell(using: cells, for: indexPath, item: note)
    }

    func collectionView(
      _ collectionView: UICollectionView, viewForSupplementaryElementOfKind kind: String,
      at indexPath: IndexPath
    ) -> UICollectionReusableView {
      collectionView.dequeueConfiguredReusableSupplementary(using: headers, for: indexPath)
    }
  }

  /// The same list through a diffable data source, which compares by itself.
  @MainActor
  func follow(
    _ list: FetchController<Note, String>, in dataSource: UICollectionViewDiffableDataSource<String, String>
  ) async throws {
    for try await update in list.updates(.latest) {
      let snapshot = try DiffableSnapshot(update.after, reconfiguredSince: update.before)
      await dataSource.apply(snapshot.nsSnapshot, animatingDifferences: update.before != nil)
    }
  }
#endif
