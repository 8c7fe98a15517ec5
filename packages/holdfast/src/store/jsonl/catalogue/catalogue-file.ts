import { type FileHandle, open } from 'node:fs/promises'
import type { SessionId } from '@holdfast/protocol'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'
import { systemErrorCode } from '../../../system/system-error.ts'
import { replaceFile } from '../files/replace-file.ts'
import { appendChecksum, readChecksum, scanLines } from '../log/log-line.ts'
import type { SessionRow } from '../log/session-row.ts'

export type CatalogueFile = Awaited<ReturnType<typeof openCatalogueFile>>

const flushAfterMs = 250
const linesSpareMax = 1000
const name = 'catalogue'

type Line = SessionRow | { readonly id: SessionId; readonly isGone: true }

const encode = (line: Line): string =>
  appendChecksum(name, JSON.stringify({ ...line, trashedAt: undefined }).slice(0, -1))

/** A catalogue as read from disk; `isWhole` if every line could be read. */
type ReadCatalogue = {
  readonly rows: ReadonlyMap<SessionId, SessionRow>
  readonly lines: number
  readonly isWhole: boolean
}

/** Reads the rows of the file, skipping damaged lines; a missing row is rebuilt from its log. */
export async function readCatalogue(path: string): Promise<ReadCatalogue> {
  const rows = new Map<SessionId, SessionRow>()
  await using file = await openIfExists(path)
  if (file === null) return { rows, lines: 0, isWhole: false }
  let [lines, isWhole] = [0, true]
  await scanLines(file, (bytes, _, isEnded) => {
    lines += 1
    if (!isEnded || readChecksum(name, bytes) === null) {
      isWhole = false
      return
    }
    const line = { ...JSON.parse(bytes.toString('utf8')), trashedAt: null } as Line // checksum verified
    if ('isGone' in line) rows.delete(line.id)
    else rows.set(line.id, line)
  })
  return { rows, lines, isWhole }
}

/** Keeps the file up to date: one line per change, the last one counts. Written after the logs; may be deleted. */
export async function openCatalogueFile(path: string, found: ReadCatalogue, rows: ReadonlyMap<SessionId, SessionRow>) {
  const queued = new Map<SessionId, Line>()
  let lines = found.lines
  let mustRewrite = !found.isWhole
  let timer: NodeJS.Timeout | null = null
  const serialize = createSerialQueue()

  async function write(synced: boolean): Promise<void> {
    const taken = [...queued.values()]
    queued.clear()
    try {
      if (mustRewrite || lines + taken.length > 2 * rows.size + linesSpareMax) {
        await replaceFile(path, [...rows.values()].map(encode).join(''))
        lines = rows.size
        mustRewrite = false
        return
      }
      await using file = await open(path, 'a', 0o600)
      await file.appendFile(taken.map(encode).join(''))
      if (synced) await file.datasync()
      lines += taken.length
    } catch (error) {
      mustRewrite = true // the file may end in half a line
      throw error
    }
  }

  /** Writes the queued rows; with `synced` they are durable afterwards. */
  function flush({ synced } = { synced: false }): Promise<void> {
    if (timer !== null) clearTimeout(timer)
    timer = null
    return serialize(() => (queued.size > 0 || mustRewrite ? write(synced) : undefined))
  }

  function queue(line: Line): void {
    queued.set(line.id, line)
    // If this write fails, the rows are rebuilt from the logs or written with the next change.
    timer ??= setTimeout(() => void flush().catch(() => undefined), flushAfterMs).unref()
  }

  for (const [id, row] of rows) if (found.rows.get(id) !== row) queued.set(id, row)
  for (const id of found.rows.keys()) if (!rows.has(id)) queued.set(id, { id, isGone: true })
  await flush().catch(() => undefined) // a full disk must not prevent reading
  return {
    changed: (row: SessionRow) => queue(row),
    removed: (id: SessionId) => queue({ id, isGone: true }),
    flush,
    close: () => flush({ synced: true }).catch(() => undefined), // missing rows are rebuilt from the logs
  }
}

async function openIfExists(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null
    throw error
  }
}
