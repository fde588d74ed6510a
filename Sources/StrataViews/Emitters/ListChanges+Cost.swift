// What it costs a view to show a batch, and when it is cheaper to reload the whole list.

public import StrataLists

/// What a view should do with a batch.
public enum ListAdvice: Hashable, Sendable {
  /// Show the changes one by one.
  case batch
  /// Reload the whole list. The batch is complete even so.
  case reload
}

extension ListChanges {
  /// The number of changes; each item and each section that changed counts once.
  public var changeCount: Int { count }

  /// The number of cells and headers that a view removes, creates, moves or fills. A move counts twice, once for each
  /// end, and everything else counts once. The items of deleted and inserted sections count individually, too.
  public var estimatedCost: Int { count + moves.count + sectionMoves.count }

  /// Advises whether a view should show the changes one by one or reload the whole list.
  ///
  /// A user cannot follow more changes than fit on a few screens. The cost above which a reload is also faster depends
  /// on the view, and has to be measured there.
  ///
  /// - Parameter limit: the greatest estimated cost at which the view shows the changes one by one.
  public func advice(above limit: Int) -> ListAdvice { estimatedCost > limit ? .reload : .batch }
}
