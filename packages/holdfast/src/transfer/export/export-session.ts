import { openStoredHandle, type StoredHandle } from '@holdfast/core'
import type { Blobs } from '@holdfast/core/ports'
import {
  fault,
  HoldfastError,
  limits,
  type Message,
  MessageId,
  type Meta,
  orThrow,
  type SessionId,
  type TranscriptPage,
} from '@holdfast/protocol'
import * as html from './html.ts'
import { transcriptJson } from './json.ts'
import { type ExportedLog, sessionLines } from './jsonl.ts'
import * as markdown from './markdown.ts'
import { redactValue } from './redact.ts'

export const exportFormats = ['md', 'html', 'json', 'jsonl'] as const
export type ExportFormat = (typeof exportFormats)[number]

export type ExportOptions = {
  /** `md` when absent. */
  readonly format?: ExportFormat | undefined
  /** Removes what looks like a key, a token, an e-mail address or a home directory. */
  readonly redact?: boolean | undefined
}

/** A session as exports read it, without loading it into the runtime. */
type ExportSource = {
  readonly id: SessionId
  readonly meta: Meta
  readonly log: ExportedLog
  /** Null if its blobs are not available. */
  readonly blobs: Pick<Blobs, 'open'> | null
  /** The messages of the current line, oldest first. */
  pages(): AsyncIterable<readonly Message[]>
}

/** Exports a session piece by piece, never all of it in memory. */
export async function* exportSession(source: ExportSource, options: ExportOptions = {}): AsyncGenerator<string> {
  const { format = 'md', redact = false } = options
  if (!exportFormats.includes(format)) {
    const message = `Unknown export format '${format}'. Use one of ${exportFormats.join(', ')}.`
    throw new HoldfastError(fault('bad_request', message, { format }))
  }
  const { id, log, blobs } = source
  if (format === 'jsonl') return yield* sessionLines(log, id, redact ? null : blobs, redact)
  const redactIf = redact ? redactValue : <Value>(value: Value): Value => value
  const meta = redactIf(source.meta)
  const pages = redactPages(source.pages(), redactIf)
  if (format === 'json') return yield* transcriptJson(meta, pages, null)
  const write = format === 'md' ? markdown : html
  yield write.head(meta)
  for await (const messages of pages) yield messages.map(write.message).join('')
  if (write.tail !== '') yield write.tail
}

async function* redactPages(
  pages: AsyncIterable<readonly Message[]>,
  redactOne: <Value>(value: Value) => Value,
): AsyncGenerator<readonly Message[]> {
  for await (const messages of pages) yield messages.map(redactOne)
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

/** Opens a stored session for export. */
export async function openExportSource(
  store: Stored,
  blobs: Pick<Blobs, 'open'>,
  id: SessionId,
  isAlive: Parameters<typeof openStoredHandle>[2],
): Promise<ExportSource> {
  const { page } = orThrow(await openStoredHandle(store, id, isAlive))
  const { session: meta } = orThrow(await page({ limit: 1 }))
  return { id, meta, log: store, blobs, pages: () => readPages(page) }
}
