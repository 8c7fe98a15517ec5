import type { Instant, MessageId, Result, SearchRole, SessionId } from '@holdfast/protocol'

export type SearchRequest = {
  /** Words that must all occur, in any case: `word`, `begin*`, `"a phrase"`. */
  readonly text: string
  readonly workspace?: string | undefined
  readonly session?: SessionId | undefined
  readonly role?: SearchRole | undefined
  /** Only calls of this tool and their results. */
  readonly tool?: string | undefined
  /** Said at this time or later. */
  readonly since?: Instant | undefined
  /** Said before this time. */
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
  /** Some words around the first match, on one line. */
  readonly snippet: string
  /** The rank and the cursor after this hit, so that the hits of two stores can be merged. */
  readonly score: number
  readonly behind: string
}

export type SearchPage = { readonly hits: readonly SearchHit[]; readonly next: string | null }

/** Finds messages by their words. The index follows the log within a second and can be rebuilt from it. */
export interface Search {
  /**
   * Searches the newest 1,000 matching messages, best first, without the trash. Refused: bad_request for a text without
   * words or an unknown cursor.
   */
  search(request: SearchRequest): Promise<Result<SearchPage>>
}
