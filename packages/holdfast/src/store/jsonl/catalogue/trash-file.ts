import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { OnProblem } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { readTextIfExists, replaceFile } from '../files/atomic-file.ts'
import { appendChecksum, readChecksum } from '../log/log-line.ts'
import { linkUnusedName } from '../log/torn-tail.ts'

/** What is in the trash and since when. No log says so, and the catalogue may be deleted: it has a file of its own. */
export interface TrashFile {
  all(): ReadonlyMap<SessionId, number>
  /** Durable once resolved, and as it was once rejected. Who asks while the file is written shares the next writing. */
  put(session: SessionId, at: number): Promise<void>
  remove(session: SessionId): Promise<void>
  /** Drops a session that is gone. Nobody waits for this: an id without a session means nothing. */
  forget(session: SessionId): void
  /** Resolves when the file says nothing of a session that is gone, so that another of its name can begin. */
  cleared(session: SessionId): Promise<void>
  close(): Promise<void>
}

const name = 'trash'

type Change = { readonly session: SessionId; readonly at: number | null; readonly written: PromiseWithResolvers<void> }

/** A file that is damaged is put aside and told of: what was in the trash is then listed again, and nothing is lost. */
export async function openTrashFile(path: string, onProblem: OnProblem): Promise<TrashFile> {
  const found = await read(path)
  let held: ReadonlyMap<SessionId, number> = found ?? new Map()
  let isDamaged = found === null
  if (isDamaged) await putAside().catch(() => undefined) // a full disk must not keep anyone from reading
  const gone = new Set<SessionId>()
  let waiting: Change[] = []
  let writing: Promise<void> | null = null

  async function putAside(): Promise<void> {
    const kept = await linkUnusedName(path, path, 'damaged')
    await rm(path)
    await syncDirectory(dirname(path))
    isDamaged = false
    const cause = new Error(
      `The list of the trash is damaged. It was moved to ${kept}, and its sessions are listed again.`,
    )
    onProblem({ where: 'reading the trash', cause })
  }

  async function writeAll(): Promise<void> {
    await null // those who ask in the same breath are one group
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      await write(group)
    }
    writing = null
  }

  async function write(group: readonly Change[]): Promise<void> {
    const next = new Map(held)
    const dropped = [...gone]
    for (const session of dropped) next.delete(session)
    for (const { session, at } of group) {
      if (at === null) next.delete(session)
      else next.set(session, at)
    }
    try {
      if (isDamaged) await putAside()
      await replaceFile(path, encode(next))
      held = next
      for (const session of dropped) gone.delete(session)
      for (const { written } of group) written.resolve()
    } catch (error) {
      for (const { written } of group) written.reject(error)
    }
  }

  function change(session: SessionId, at: number | null): Promise<void> {
    const written = Promise.withResolvers<void>()
    waiting.push({ session, at, written })
    writing ??= writeAll()
    return written.promise
  }

  return {
    all: () => held,
    put: change,
    remove: (session) => change(session, null),
    forget(session) {
      if (held.has(session)) gone.add(session)
    },
    async cleared(session) {
      if (gone.has(session)) await change(session, null)
    },
    async close() {
      await writing
      const [first] = gone
      // What cannot be dropped now is dropped by whoever opens it next.
      if (first !== undefined) await change(first, null).catch(() => undefined)
    },
  }
}

function encode(trashed: ReadonlyMap<SessionId, number>): string {
  const open = JSON.stringify({ trashed: Object.fromEntries(trashed) }, null, 2)
  return appendChecksum(name, open.slice(0, -1).trimEnd())
}

/** What the file says; null when it is not as it was written. */
export function parseTrash(text: string): Map<SessionId, number> | null {
  if (readChecksum(name, Buffer.from(text).subarray(0, -1)) === null) return null
  const { trashed } = JSON.parse(text) as { readonly trashed: Readonly<Record<SessionId, number>> } // sealed by us
  return new Map(Object.entries(trashed) as [SessionId, number][]) // as above
}

/** Null when it is damaged. */
async function read(path: string): Promise<ReadonlyMap<SessionId, number> | null> {
  const text = await readTextIfExists(path)
  if (text === null) return new Map()
  return parseTrash(text)
}
