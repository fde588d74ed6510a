// Conversions to the types that Apple's list views take. Compiled on Apple's platforms only.

#if (canImport(UIKit) && !os(watchOS)) || (canImport(AppKit) && !targetEnvironment(macCatalyst))
  public import Foundation
  public import StrataLists

  #if canImport(UIKit)
    public import UIKit
  #else
    public import AppKit
  #endif

  extension ListIndex {
    public var indexPath: IndexPath { IndexPath(item: item, section: section) }

    public init(_ indexPath: IndexPath) { self.init(section: indexPath.section, item: indexPath.item) }
  }

  extension [ListIndex] {
    /// The index paths, in the same order.
    public var indexPaths: [IndexPath] { map(\.indexPath) }

    #if !canImport(UIKit)
      /// The index paths as AppKit's collection views take them.
      public var indexPathSet: Set<IndexPath> { Set(indexPaths) }
    #endif
  }

  extension [Int] {
    public var indexSet: IndexSet { IndexSet(self) }
  }

  extension DiffableSnapshot {
    /// The snapshot that diffable data sources take, with the same sections, items and marks. O(n).
    ///
    /// It is a value and can be made on any thread; a data source takes it on the main actor. AppKit's snapshots cannot
    /// mark items to be reconfigured, so these items are marked to be reloaded there.
    public var nsSnapshot: NSDiffableDataSourceSnapshot<Section, ItemID> {
      var snapshot = NSDiffableDataSourceSnapshot<Section, ItemID>()
      snapshot.appendSections(sectionIdentifiers)
      for section in sectionIdentifiers {
        snapshot.appendItems(itemIdentifiers(inSection: section), toSection: section)
      }
      snapshot.reloadSections(reloadedSectionIdentifiers)
      snapshot.reloadItems(reloadedItemIdentifiers)
      #if canImport(UIKit)
        snapshot.reconfigureItems(reconfiguredItemIdentifiers)
      #else
        snapshot.reloadItems(reconfiguredItemIdentifiers)
      #endif
      return snapshot
    }
  }
#endif
