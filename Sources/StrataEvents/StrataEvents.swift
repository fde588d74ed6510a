// Documents come with the events that hold them: one import gives both.

@_exported public import StrataDocuments
