// StrataEvents: typed events, streams, expected versions and the change feed over a log.
