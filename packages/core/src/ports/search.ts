import type { Instant, MessageId, Result, SearchRole, SessionId } from '@holdfast/protocol'

export type SearchRequest = {
  /** Words that must all occur, in any case: `word`, `begin*`, `"a phrase"`. */
  readonly text: string
  readonly workspace?: string | undefined
  readonly session?: SessionId | undefined
  readonly role?: SearchRole | undefined
  /** Only calls of this tool and what they returned. */
  readonly tool?: string | undefined
  /** Said at this moment or later. */
  readonly since?: Instant | undefined
  /** Said before this moment. */
  readonly until?: Instant | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

export type SearchHit = {
  readonly session: SessionId
  readonly title: string
  /** The message to jump to. */
  readonly message: MessageId
  readonly role: SearchRole
  readonly at: Instant
  /** Some words around the first that was found, on one line. */
  readonly snippet: string
}

export type SearchPage = { readonly hits: readonly SearchHit[]; readonly next: string | null }

/** Finding messages by their words. Follows the log within a second, and can be made anew from it. */
export interface Search {
  /**
   * The newest 1,000 messages that match, best first. Sessions in the trash are left out.
   * Refused: bad_request for a text without a word, or a cursor no search gave out.
   */
  search(request: SearchRequest): Promise<Result<SearchPage>>
}
