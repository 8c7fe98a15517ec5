import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { OnProblem } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { readTextIfExists, replaceFile } from '../files/replace-file.ts'
import { appendChecksum, readChecksum } from '../log/log-line.ts'
import { linkUnusedName } from '../log/log-writer.ts'

export type TrashFile = Awaited<ReturnType<typeof openTrashFile>>

const name = 'trash'

type Change = { readonly session: SessionId; readonly at: number | null; readonly written: PromiseWithResolvers<void> }

/** Opens the list of trashed sessions, which no log records. A damaged one is moved aside, and its sessions are listed. */
export async function openTrashFile(path: string, onProblem: OnProblem) {
  const text = await readTextIfExists(path)
  const found = text === null ? new Map<SessionId, number>() : parseTrash(text)
  let trashed: ReadonlyMap<SessionId, number> = found ?? new Map()
  let isDamaged = found === null
  if (isDamaged) await moveAside().catch(() => undefined) // a full disk must not prevent reading
  const forgotten = new Set<SessionId>()
  let waiting: Change[] = []
  let writing: Promise<void> | null = null

  async function moveAside(): Promise<void> {
    const movedTo = await linkUnusedName(path, path, 'damaged')
    await rm(path)
    await syncDirectory(dirname(path))
    isDamaged = false
    const cause = new Error(`The trash list is damaged. It was moved to ${movedTo}; its sessions are listed again.`)
    onProblem({ where: 'reading the trash', cause })
  }

  async function writeAll(): Promise<void> {
    await null // changes made in the same tick are written together
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      await write(group)
    }
    writing = null
  }

  async function write(group: readonly Change[]): Promise<void> {
    const next = new Map(trashed)
    const dropped = [...forgotten]
    for (const session of dropped) next.delete(session)
    for (const { session, at } of group) {
      if (at === null) next.delete(session)
      else next.set(session, at)
    }
    try {
      if (isDamaged) await moveAside()
      await replaceFile(path, encode(next))
      trashed = next
      for (const session of dropped) forgotten.delete(session)
      for (const { written } of group) written.resolve()
    } catch (error) {
      for (const { written } of group) written.reject(error)
    }
  }

  /** Sets the time of a session, or removes it. Durable when resolved; calls during a write share the next write. */
  function change(session: SessionId, at: number | null): Promise<void> {
    const written = Promise.withResolvers<void>()
    waiting.push({ session, at, written })
    writing ??= writeAll()
    return written.promise
  }

  return {
    all: () => trashed,
    change,
    /** Drops a removed session with the next write: an id without a session has no meaning. */
    forget(session: SessionId): void {
      if (trashed.has(session)) forgotten.add(session)
    },
    /** Resolves when the file no longer names a removed session, so that its id can be used again. */
    async cleared(session: SessionId): Promise<void> {
      if (forgotten.has(session)) await change(session, null)
    },
    async close(): Promise<void> {
      await writing
      const [first] = forgotten
      // If this fails, the next open drops them.
      if (first !== undefined) await change(first, null).catch(() => undefined)
    },
  }
}

function encode(trashed: ReadonlyMap<SessionId, number>): string {
  const open = JSON.stringify({ trashed: Object.fromEntries(trashed) }, null, 2)
  return appendChecksum(name, open.slice(0, -1).trimEnd())
}

/** Parses the file; returns null if it is damaged. */
export function parseTrash(text: string): Map<SessionId, number> | null {
  if (readChecksum(name, Buffer.from(text).subarray(0, -1)) === null) return null
  const { trashed } = JSON.parse(text) as { readonly trashed: Readonly<Record<SessionId, number>> } // checksum verified
  return new Map(Object.entries(trashed) as [SessionId, number][]) // as above
}
