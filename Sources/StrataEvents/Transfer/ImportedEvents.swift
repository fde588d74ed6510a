// The result of an import of events.

/// What an import of events found and did.
public struct ImportedEvents: Sendable, Hashable {
  /// How the events of an export relate to those of the store.
  public enum Relation: Sendable, Hashable {
    /// The store has the events of the export with the same sequences and the same chain: it was empty, or had the
    /// first ones of them.
    case same
    /// The store has other events, or the export only a part of them: each append was appended with its own time.
    case added
  }

  /// The number of appends and of events that were read.
  public internal(set) var appendsRead: UInt64 = 0
  public internal(set) var eventsRead: UInt64 = 0
  /// The number of appends that were appended.
  public internal(set) var appended: UInt64 = 0
  /// The number of appends that the store had already.
  public internal(set) var known: UInt64 = 0
  /// The number of events that were left out because their streams are Strata's own: their names begin with `$`.
  public internal(set) var ownLeftOut: UInt64 = 0
  /// The names of the consumers whose last positions are among them, in order of their UTF-8: each goes on in this store
  /// from the position that it has here, or from the beginning. The first thousand that were found, if there are more.
  public internal(set) var consumersLeftOut: [String] = []
  /// The number of events that were left out because their content was erased before the export.
  public internal(set) var erasedLeftOut: UInt64 = 0
  /// The number of appends whose time was earlier than that of the append before it in the store. Points by time find
  /// them by their own times.
  public internal(set) var raised: UInt64 = 0
  /// The number of events that were erased at the end, by orders that the export has and that were not carried out.
  public internal(set) var erased: UInt64 = 0
  /// The number of such orders that were left out, with the stream of orders: the events that they name are in the store.
  public internal(set) var openOrdersLeftOut: UInt64 = 0
  public internal(set) var relation = Relation.added
  /// The sequences of what was appended; nil if nothing was.
  public internal(set) var sequences: ClosedRange<UInt64>?
}
