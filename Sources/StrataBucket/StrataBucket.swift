// Copies of a store in a bucket of an S3-compatible object store.

@_exported public import StrataReplica
