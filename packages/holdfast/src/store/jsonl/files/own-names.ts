/** The names of all that a store or a mirror makes in its directory. */
export const ownNames =
  /^(?:ses_[0-9a-z]+(?:\.shared)?\.jsonl|catalogue\.jsonl|(?:holdfast|trust|trash|nodes|tokens|spending|holder)\.json|probe|drafts|snapshots|blobs|quarantine|\.lock)(?:\.new-.*)?$/i
