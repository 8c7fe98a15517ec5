import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Session } from '@holdfast/client'
import type { StoredToken } from '@holdfast/core/ports'
import { orThrow, type SessionId } from '@holdfast/protocol'
import { openHoldfast } from '../../../open.ts'
import { everyRecord, everySession } from '../../read-only-store.ts'
import { openReadOnlyStore } from '../open-read-only.ts'
import { openDiskStore } from '../open-storage.ts'
import { type DiskLocation, parseDiskUrl, type SavedLocation } from '../store-location.ts'

/** Returns the location of a test store in a directory. */
export function locationIn(directory: string, kind: DiskLocation['kind'], name = kind as string): DiskLocation {
  const home = { storePath: join(directory, 'none.db'), blobsDir: join(directory, 'none.blobs') }
  return orThrow(parseDiskUrl(`${kind}:${join(directory, name)}`, home))
}

export type FilledStore = {
  readonly talk: SessionId
  readonly fork: SessionId
  /** Purged, except for the records that `orphan` shares. */
  readonly purged: SessionId
  readonly orphan: SessionId
  readonly trashed: SessionId
}

/** Recent: opening a store removes sessions after 30 days in the trash. */
export const trashedAt = Date.now() - 60_000

/**
 * Fills a store through the runtime: a session with a file and a tool call, its fork, a fork whose parent is purged, a
 * session in the trash, and a trust.
 */
export async function fillStore(location: DiskLocation, directory: string): Promise<FilledStore> {
  const workdir = join(directory, 'work')
  mkdirSync(workdir, { recursive: true })
  const environment = { HOLDFAST_HOME: join(directory, 'home'), DEMO_PACE: '0' }
  const holdfast = await openHoldfast({
    store: location.url,
    environment,
    onProblem: ({ cause }) => void console.error(cause),
  })
  const say = async ({ id }: Session, content: Parameters<Session['sendPrompt']>[0]) => {
    const handle = orThrow(await holdfast.handles.open(id))
    const { seq } = orThrow(await handle.submit({ type: 'sendPrompt', content }))
    for await (const frame of handle.subscribe({ after: seq }))
      if (frame.type === 'record' && frame.record.event.type === 'turn.ended') return
  }
  const speak = async (text: string) => {
    const session = await holdfast.startSession({ workdir })
    await say(session, text)
    return session
  }
  const talk = await speak('hello there')
  const { file } = await holdfast.storeFile(Buffer.from('a note to keep'), { name: 'note.txt' })
  await say(talk, [{ type: 'text', text: 'read this' }, file])
  await talk.setToolTrust('write_file', 'workspace')
  const fork = await holdfast.fork(talk.id)
  await say(fork, 'on my own')
  const parent = await speak('I will be gone')
  const orphan = await holdfast.fork(parent.id)
  await say(orphan, 'all that is left')
  const trashed = await speak('throw me away')
  await holdfast.close()

  const opened = orThrow(await openDiskStore(location, () => undefined))
  orThrow(await opened.store.purge(parent.id))
  orThrow(await opened.store.trash(trashed.id, trashedAt))
  orThrow(await opened.store.addToken(aToken))
  await opened.store.close()
  return { talk: talk.id, fork: fork.id, purged: parent.id, orphan: orphan.id, trashed: trashed.id }
}

const aToken: StoredToken = {
  id: 'tok_0123456789abcdef',
  hash: 'ab'.repeat(32),
  name: 'phone',
  role: 'driver',
  session: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  createdBy: null,
  expiresAt: null,
  lastUsedAt: null,
}

/** Reads all rows and records of a store, for a comparison. */
export async function contentOf(location: SavedLocation) {
  const source = orThrow(await openReadOnlyStore(location))
  if (source === null) return null
  const sessions = []
  for await (const session of everySession(source)) {
    const { order: _, ...rest } = session
    const records = []
    for await (const record of everyRecord(source, session)) records.push(record)
    sessions.push({ ...rest, records })
  }
  const [trusts, tokens] = [await source.trusts(), await source.tokens()]
  await source.close()
  return { sessions, trusts, tokens }
}

/** Returns the hash of each file in a directory, except for SQLite's files beside an open database. */
export function hashesOf(directory: string): Readonly<Record<string, string>> {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted()
  return Object.fromEntries(
    files
      .filter((file) => statSync(join(directory, file)).isFile() && !/-(wal|shm)$|\.lock$/.test(file))
      .map((file) => [
        file,
        createHash('sha256')
          .update(readFileSync(join(directory, file)))
          .digest('hex'),
      ]),
  )
}
