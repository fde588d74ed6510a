// One import for applications: every floor's public face.

@_exported public import StrataDocuments
@_exported public import StrataEvents
@_exported public import StrataFetch
@_exported public import StrataLists
@_exported public import StrataLog
@_exported public import StrataTables
