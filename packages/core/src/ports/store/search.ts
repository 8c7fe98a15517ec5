import type { Instant, MessageId, Result, SearchRole, SessionId } from '@holdfast/protocol'

/** What to search for; all conditions must hold. */
export type SearchRequest = {
  /** Words that must all occur, in any case: `word`, `begin*`, `"a phrase"`. */
  readonly text: string
  /** Only messages of sessions of this folder. */
  readonly workspace?: string | undefined
  /** Only messages of this session. */
  readonly session?: SessionId | undefined
  /** Only messages of sessions of this tenant. A store without tenants has none. */
  readonly tenant?: string | undefined
  /** Only messages of this author. */
  readonly role?: SearchRole | undefined
  /** Only calls of this tool and their results. */
  readonly tool?: string | undefined
  /** Said at this time or later. */
  readonly since?: Instant | undefined
  /** Said before this time. */
  readonly until?: Instant | undefined
  /** The largest number of hits to return. */
  readonly limit: number
  /** The `next` of the page before; the first page when absent. */
  readonly cursor?: string | undefined
}

/** A message that matches a search. */
export type SearchHit = {
  /** The session of the message. */
  readonly session: SessionId
  /** The title of the session. */
  readonly title: string
  /** The message to jump to. */
  readonly message: MessageId
  /** Who wrote the message. */
  readonly role: SearchRole
  /** When it was said. */
  readonly at: Instant
  /** Some words around the first match, on one line. */
  readonly snippet: string
  /** The rank and the cursor after this hit, so that the hits of two stores can be merged. */
  readonly score: number
  /** The cursor that continues after this hit. */
  readonly behind: string
}

/** A page of hits, best first. */
export type SearchPage = {
  /** The messages that match. */
  readonly hits: readonly SearchHit[]
  /** The cursor of the next page; null at the end. */
  readonly next: string | null
  /** True if the index is so far behind the log that some messages were not searched. */
  readonly isIndexing?: true | undefined
}

/** Finds messages by their words. The index follows the log within a second and can be rebuilt from it. */
export interface Search {
  /**
   * Searches the newest 1,000 matching messages, best first, without the trash. Refused: bad_request for a text without
   * words or an unknown cursor.
   */
  search(request: SearchRequest): Promise<Result<SearchPage>>
}
