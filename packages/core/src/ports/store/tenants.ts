import type { BlobHash, Result } from '@holdfast/protocol'

/**
 * The files that tenants stored. The same bytes of two tenants are one blob, so that its hash alone must give no access:
 * a tenant can name a file in a prompt that it stored itself, at whichever node.
 */
export interface Tenants {
  /** Remembers for a week that a tenant stored a file. Refused: storage_error. */
  addFile(tenant: string, hash: BlobHash): Promise<Result<void>>
  /** Returns whether the tenant stored the file. */
  hasFile(tenant: string, hash: BlobHash): Promise<boolean>
}
