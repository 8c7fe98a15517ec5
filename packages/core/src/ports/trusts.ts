import type { Trust } from '@holdfast/protocol'

/** A change to what a workspace trusts, made in the same transaction as the records that say so. */
export type TrustChange =
  | { readonly type: 'granted'; readonly trust: Trust }
  /** Of one tool, or of all. */
  | { readonly type: 'revoked'; readonly tool: string | null }

/** What the people of a workspace have approved for good, over all its sessions. */
export interface Trusts {
  workspaceTrust(workspace: string): Promise<readonly Trust[]>
}
