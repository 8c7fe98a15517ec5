import { setImmediate } from 'node:timers/promises'
import { openStoredHandle, type StoredHandle } from '@holdfast/core'
import type { Blobs } from '@holdfast/core/ports'
import {
  ExportOptions,
  limits,
  type Message,
  MessageId,
  type Meta,
  orThrow,
  parseOptions,
  type SessionId,
  type TranscriptPage,
} from '@holdfast/protocol'
import { createExportThread, type ExportThread } from './export-thread.ts'
import * as html from './html.ts'
import { transcriptJson } from './json.ts'
import { type ExportedLog, sessionLines } from './jsonl.ts'
import * as markdown from './markdown.ts'
import { pieceCharsMax } from './pieces.ts'

/** The formats of an export. */
export type ExportFormat = NonNullable<ExportOptions['format']>

/** A session as exports read it, without loading it into the runtime. */
type ExportSource = {
  readonly id: SessionId
  readonly log: ExportedLog
  /** Null if its blobs are not available. */
  readonly blobs: Pick<Blobs, 'open'> | null
  /** Folds the log, which the export of the log itself does not need. */
  transcript(): Promise<Transcript>
}

type Transcript = {
  readonly meta: Meta
  /** The messages of the current line, oldest first. */
  pages(): AsyncIterable<readonly Message[]>
}

/** Exports a session piece by piece, never all of it or of a long message in memory. */
export async function* exportSession(source: ExportSource, options: ExportOptions = {}): AsyncGenerator<string> {
  const { format = 'md', redact = false } = orThrow(parseOptions(ExportOptions, options, 'export'))
  await using thread = createExportThread(redact)
  let chars = 0
  for await (const piece of writeSession(source, format, redact, thread)) {
    yield piece
    chars += piece.length
    if (chars < pieceCharsMax) continue
    await setImmediate() // the caller may take pieces without ever waiting
    chars = 0
  }
}

async function* writeSession(
  source: ExportSource,
  format: ExportFormat,
  isRedacted: boolean,
  thread: ExportThread,
): AsyncGenerator<string> {
  const { id, log, blobs } = source
  if (format === 'jsonl') return yield* sessionLines(log, id, isRedacted ? null : blobs, isRedacted ? thread : null)
  const transcript = await source.transcript()
  const meta = await thread.redact(transcript.meta)
  const write = (message: Message) => thread.format(message, format)
  if (format === 'json') return yield* transcriptJson(meta, transcript.pages(), null, write)
  const { head, tail } = format === 'md' ? markdown : html
  yield head(meta)
  for await (const messages of transcript.pages()) for (const message of messages) yield* write(message)
  if (tail !== '') yield tail
}

/** Reads the whole line of a stored session, page by page. */
export async function* readPages(
  page: StoredHandle['page'],
  branch?: string | undefined,
): AsyncGenerator<readonly Message[]> {
  let after: MessageId | null = MessageId.parse(0)
  while (after !== null) {
    const next: TranscriptPage = orThrow(await page({ after, limit: limits.pageMessagesMax, branch }))
    yield next.messages
    after = next.after
  }
}

type Stored = Parameters<typeof openStoredHandle>[0] & ExportedLog

/** Creates the source of a stored session. */
export function createExportSource(
  store: Stored,
  blobs: Pick<Blobs, 'open'>,
  id: SessionId,
  isAlive: Parameters<typeof openStoredHandle>[2],
): ExportSource {
  return {
    id,
    log: store,
    blobs,
    async transcript() {
      const { page } = orThrow(await openStoredHandle(store, id, isAlive))
      const { session: meta } = orThrow(await page({ limit: 1 }))
      return { meta, pages: () => readPages(page) }
    },
  }
}
