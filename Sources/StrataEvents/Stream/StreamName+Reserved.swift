// Names of streams that only Strata writes to.

extension StreamName {
  /// The category of the streams that hold the positions of consumers.
  static let consumerCategory = "$consumer"
}
