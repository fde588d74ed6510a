// What it costs a view to show a batch.

public import StrataLists

extension ListChanges {
  /// The number of cells and headers that a view removes, creates, moves or fills. A move counts twice, once for each
  /// end, and everything else counts once. The items of deleted and inserted sections count individually, too.
  ///
  /// A user cannot follow more changes than fit on a few screens: above a cost of its choice, a view reloads the whole
  /// list. The cost above which that is also faster depends on the view, and has to be measured there.
  public var estimatedCost: Int { count + moves.count + sectionMoves.count }
}
