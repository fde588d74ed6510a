// What it costs a view to show a batch, and when it is cheaper to show the list anew.

public import StrataLists

/// What a view should do with a batch.
public enum ListAdvice: Hashable, Sendable {
  /// Show change by change.
  case batch
  /// Show the new list whole. The batch is as complete as any.
  case reload
}

extension ListChanges {
  /// How many changes there are, each item and section counted once for what happened to it.
  public var changeCount: Int { count }

  /// How many cells and headers a view takes away, builds, moves or fills: a move counts twice, for both of its
  /// ends, and everything else once. Items of deleted and inserted sections are counted as what they are.
  public var estimatedCost: Int { count + moves.count + sectionMoves.count }

  /// Whether a view had better show the new list whole: nobody can follow more changes with their eyes than fit on
  /// a few screens. From which cost on a reload is faster too is the view's to measure.
  ///
  /// - Parameter limit: the greatest estimated cost that the view wants to show.
  public func advice(above limit: Int) -> ListAdvice { estimatedCost > limit ? .reload : .batch }
}
