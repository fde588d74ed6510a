// Re-exports StrataDocuments: one import gives events and the documents in them.

@_exported public import StrataDocuments
