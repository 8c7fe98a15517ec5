import { type FileHandle, open } from 'node:fs/promises'
import type { SessionId } from '@holdfast/protocol'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'
import { systemErrorCode } from '../../../system/system-error.ts'
import { replaceFile } from '../files/atomic-file.ts'
import { appendChecksum, readChecksum } from '../log/log-line.ts'
import { scanLines } from '../log/scan-lines.ts'
import type { SessionRow } from '../log/session-row.ts'

/** The rows on disk: one line for each change, the last one counts. Written behind the logs, and may be deleted any time. */
export interface CatalogueFile {
  /** Notes that a row changed; it is written a little later. */
  changed(row: SessionRow): void
  removed(session: SessionId): void
  /** Writes what is noted; with `synced` it is durable afterwards. */
  flush(options?: { readonly synced: boolean }): Promise<void>
  close(): Promise<void>
}

const flushAfterMs = 250
const linesSpareMax = 1000
const name = 'catalogue'

type Line = SessionRow | { readonly id: SessionId; readonly isGone: true }

const encode = (line: Line): string =>
  appendChecksum(name, JSON.stringify({ ...line, trashedAt: undefined }).slice(0, -1))

/** A catalogue as it was found: `isWhole` when every line of it could be read. */
export type ReadCatalogue = {
  readonly rows: ReadonlyMap<SessionId, SessionRow>
  readonly lines: number
  readonly isWhole: boolean
}

/** The rows of the file, as far as it can be read; a row that is missing is made anew from its log. */
export async function readCatalogue(path: string): Promise<ReadCatalogue> {
  const rows = new Map<SessionId, SessionRow>()
  await using file = await openIfThere(path)
  if (file === null) return { rows, lines: 0, isWhole: false }
  let [lines, isWhole] = [0, true]
  await scanLines(file, (bytes, _, isEnded) => {
    lines += 1
    if (!isEnded || readChecksum(name, bytes) === null) {
      isWhole = false
      return
    }
    const line = { ...JSON.parse(bytes.toString('utf8')), trashedAt: null } as Line // sealed by us
    if ('isGone' in line) rows.delete(line.id)
    else rows.set(line.id, line)
  })
  return { rows, lines, isWhole }
}

/** Brings the file to these rows, which were taken from it or made since, and keeps it in step. */
export async function openCatalogueFile(
  path: string,
  found: ReadCatalogue,
  rows: ReadonlyMap<SessionId, SessionRow>,
): Promise<CatalogueFile> {
  const noted = new Map<SessionId, Line>()
  let lines = found.lines
  let mustRewrite = !found.isWhole
  let timer: NodeJS.Timeout | null = null
  const inTurn = createSerialQueue()

  async function write(synced: boolean): Promise<void> {
    const taken = [...noted.values()]
    noted.clear()
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
      mustRewrite = true // half a line may stand there
      throw error
    }
  }

  function flush({ synced } = { synced: false }): Promise<void> {
    if (timer !== null) clearTimeout(timer)
    timer = null
    return inTurn(() => (noted.size > 0 || mustRewrite ? write(synced) : undefined))
  }

  function note(line: Line): void {
    noted.set(line.id, line)
    // What cannot be written now is made anew from the logs, or written with the next change.
    timer ??= setTimeout(() => void flush().catch(() => undefined), flushAfterMs).unref()
  }

  for (const [id, row] of rows) if (found.rows.get(id) !== row) noted.set(id, row)
  for (const id of found.rows.keys()) if (!rows.has(id)) noted.set(id, { id, isGone: true })
  await flush().catch(() => undefined) // a full disk must not keep anyone from reading
  return {
    changed: note,
    removed: (id) => note({ id, isGone: true }),
    flush,
    close: () => flush({ synced: true }).catch(() => undefined), // what is missing is made anew from the logs
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null
    throw error
  }
}
