@_exported public import StrataEvents
