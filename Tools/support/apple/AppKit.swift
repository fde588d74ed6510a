// Signatures of AppKit as Apple documents them, as far as this package and its examples call them: nothing happens here.

@_exported public import Foundation

@MainActor open class NSResponder: NSObject {
  public override init() {}

  public required init?(coder: NSCoder) { nil }
}

@MainActor open class NSView: NSResponder {
  public init(frame: NSRect) { super.init() }

  public required init?(coder: NSCoder) { nil }
}

@MainActor open class NSScrollView: NSView {
  open var documentView: NSView?
}

@MainActor open class NSTextField: NSView {
  public convenience init(labelWithString string: String) { self.init(frame: .zero) }

  open var stringValue = ""
}

@MainActor open class NSViewController: NSResponder {
  public init(nibName: String?, bundle: Bundle?) { super.init() }

  public required init?(coder: NSCoder) { nil }

  open var view = NSView(frame: .zero)
  open func loadView() {}
  open func viewDidLoad() {}
  open func viewWillAppear() {}
  open func viewDidDisappear() {}
}

public struct NSUserInterfaceItemIdentifier: Hashable, RawRepresentable, Sendable {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  public init(_ rawValue: String) { self.rawValue = rawValue }
}

@MainActor open class NSCollectionViewItem: NSViewController {
  open var textField: NSTextField?
}

@MainActor open class NSCollectionViewLayout: NSObject {}

@MainActor open class NSCollectionViewFlowLayout: NSCollectionViewLayout {
  open var itemSize = NSSize(width: 50, height: 50)
}

@MainActor open class NSCollectionView: NSView {
  public typealias SupplementaryElementKind = String

  open weak var dataSource: (any NSCollectionViewDataSource)?
  open var collectionViewLayout: NSCollectionViewLayout?

  open func register(
    _ itemClass: AnyClass?, forItemWithIdentifier identifier: NSUserInterfaceItemIdentifier
  ) {}
  open func makeItem(
    withIdentifier identifier: NSUserInterfaceItemIdentifier, for indexPath: IndexPath
  ) -> NSCollectionViewItem { NSCollectionViewItem(nibName: nil, bundle: nil) }

  open func reloadData() {}
  open func performBatchUpdates(_ updates: (() -> Void)?, completionHandler: ((Bool) -> Void)? = nil) {}
  open func insertSections(_ sections: IndexSet) {}
  open func deleteSections(_ sections: IndexSet) {}
  open func reloadSections(_ sections: IndexSet) {}
  open func moveSection(_ section: Int, toSection newSection: Int) {}
  open func insertItems(at indexPaths: Set<IndexPath>) {}
  open func deleteItems(at indexPaths: Set<IndexPath>) {}
  open func reloadItems(at indexPaths: Set<IndexPath>) {}
  open func moveItem(at indexPath: IndexPath, to newIndexPath: IndexPath) {}
}

@MainActor public protocol NSCollectionViewDataSource: NSObjectProtocol {
  func numberOfSections(in collectionView: NSCollectionView) -> Int
  func collectionView(_ collectionView: NSCollectionView, numberOfItemsInSection section: Int) -> Int
  func collectionView(
    _ collectionView: NSCollectionView, itemForRepresentedObjectAt indexPath: IndexPath
  ) -> NSCollectionViewItem
}

public struct NSDiffableDataSourceSnapshot<
  SectionIdentifierType: Hashable & Sendable, ItemIdentifierType: Hashable & Sendable
>: Sendable {
  public init() {}

  public mutating func appendSections(_ identifiers: [SectionIdentifierType]) {}
  public mutating func appendItems(
    _ identifiers: [ItemIdentifierType], toSection sectionIdentifier: SectionIdentifierType? = nil
  ) {}
  public mutating func reloadSections(_ identifiers: [SectionIdentifierType]) {}
  public mutating func reloadItems(_ identifiers: [ItemIdentifierType]) {}
}

extension IndexPath {
  public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

  public var section: Int { self[0] }
  public var item: Int { self[1] }
}
