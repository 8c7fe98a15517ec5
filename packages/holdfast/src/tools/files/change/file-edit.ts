import type { BlobHash, LineChange, SeenFile } from '@holdfast/protocol'
import { splitLines } from '../../edits/lines.ts'
import type { Replacement } from '../../edits/replace-text.ts'
import type { KnownContent } from '../io/replace-file.ts'
import type { Place } from '../io/workspace-file.ts'

/** What a call would do to one file. Plain data, which can be sent to a thread. */
export type FileEdit = Place & {
  readonly path: string
  /** What the session has seen of files; absent if that does not matter. */
  readonly seen?: readonly SeenFile[] | undefined
} & Readonly<
    | { type: 'write'; content: string }
    | { type: 'replace'; edits: readonly Replacement[] }
    | { type: 'patch'; diff: string }
    | { type: 'delete' }
  >

/** An edit that leaves a file. */
export type ContentEdit = Exclude<FileEdit, { readonly type: 'delete' }>

/** What an edit makes of a file. */
export type ComputedEdit = {
  readonly shown: string
  /** The text before; null if there is no file, or none that is text. Of a long file, only the lines around the change. */
  readonly before: string | null
  readonly after: string
  /** How many lines of the file are before these texts. */
  readonly firstLine: number
  readonly parts: readonly Uint8Array[]
  /** Counts the lines of the whole new text. */
  readonly countLines: () => number
  readonly contentHash: BlobHash
  /** The bytes before, with their hash; null without a file, or for one that is too long. */
  readonly known: KnownContent | null
  readonly changes: readonly LineChange[]
  readonly alwaysAsk: string | null
  /** For people, before the diff. */
  readonly note: string
  /** For the model. */
  readonly notes: readonly string[]
  /** Whether the session knows every line of the new content. */
  readonly isSeen: boolean
}

/** Returns a new text that is held whole. */
export const wholeText = (after: string, bytes: Uint8Array) => ({
  after,
  firstLine: 0,
  parts: [bytes],
  countLines: () => splitLines(after).count,
})
