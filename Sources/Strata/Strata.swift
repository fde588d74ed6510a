// One import for applications: the public API of every module.

@_exported public import StrataDocuments
@_exported public import StrataEvents
@_exported public import StrataFetch
@_exported public import StrataLists
@_exported public import StrataLog
@_exported public import StrataPast
@_exported public import StrataTables
