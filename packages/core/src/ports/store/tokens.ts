import type { Instant, ListedToken, Result, TokenId } from '@holdfast/protocol'

/** A token as a store keeps it: with the SHA-256 of its secret in hex, never the secret itself. */
export type StoredToken = ListedToken & { readonly hash: string }

/** The tokens that let clients in. */
export interface TokenRows {
  /** Adds a token. Resolves once it would survive a power cut. Refused: storage_error. */
  addToken(token: StoredToken): Promise<Result<void>>
  /** Returns all tokens in the order in which they were added, also those that have expired. */
  tokens(): Promise<readonly StoredToken[]>
  /** Removes a token and returns whether there was one. Resolves once that would survive a power cut. Refused: storage_error. */
  removeToken(id: TokenId): Promise<Result<boolean>>
  /** Records when a token was used. An unknown token stays unknown. Refused: storage_error. */
  touchToken(id: TokenId, at: Instant): Promise<Result<void>>
}
