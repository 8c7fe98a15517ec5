import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createLocalSessions,
  createSessionStores,
  emptySession,
  evolve,
  type NodeDeps,
  type SessionState,
} from '@holdfast/core'
import type { Blobs, ModelRequest, Store } from '@holdfast/core/ports'
import { createRequestBuilder } from '@holdfast/core/requests'
import { createTranscript, type Message, ok, type Recorded, type SessionId } from '@holdfast/protocol'
import { openTestRuntime } from '@holdfast/testkit'
import { createMemoryBlobs } from '../../../store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../../../store/memory/memory-store.ts'
import { newHandle, newSessionId } from '../../../system/identity.ts'
import type { ImportDeps } from '../host/import-deps.ts'
import { createImportHost } from '../host/import-host.ts'
import { type ImportedFile, importPaths } from '../import-paths.ts'
import type { FormatName } from '../parse/format.ts'

/** A runtime in memory, and a folder of its own to import from. */
export interface TestImporter extends Disposable {
  readonly store: Store
  readonly blobs: Blobs
  readonly directory: string
  readonly deps: ImportDeps
  /** Returns the dependencies with another store or node. */
  depsOn(changes: Partial<NodeDeps>): ImportDeps
  /** Writes files into the folder; returns the path of the first. */
  place(files: Readonly<Record<string, string | Uint8Array>>): string
  import(path: string, from?: FormatName): Promise<readonly ImportedFile[]>
  /** Places a file of these lines, and imports it. */
  importLines(name: string, lines: readonly unknown[]): Promise<ImportedFile>
  records(session: SessionId): Promise<readonly Recorded[]>
  state(session: SessionId): Promise<SessionState>
  messages(session: SessionId): Promise<readonly Message[]>
  /** Builds the request that the next prompt would send to a model. */
  request(session: SessionId): Promise<ModelRequest>
}

export async function openTestImporter(
  store: Store = createMemoryStore(),
  blobs: Blobs = createMemoryBlobs(),
): Promise<TestImporter> {
  const { registry } = await openTestRuntime({ store, blobs, takesOver: true })
  const sessions = createLocalSessions(registry)
  const directory = mkdtempSync(join(tmpdir(), 'hf-import-'))
  const depsOn = (changes: Partial<NodeDeps>): ImportDeps => {
    const changed = { ...registry.deps, ...changes }
    const stores = createSessionStores({ ...changed, memoryStore: changed.store })
    return {
      ...createImportHost({ stores, deps: changed, all: () => [] }, sessions),
      newSessionId,
      newHandle,
      now: changed.clock.now,
      homes: ['/home/mia'],
      defaultModel: changed.models.defaultModel(),
      resolveWorkdir: async (path) => ok(path),
    }
  }
  const deps = depsOn({})
  const place: TestImporter['place'] = (files) => {
    const paths = Object.entries(files).map(([name, text]) => {
      const path = join(directory, name)
      writeFileSync(path, text)
      return path
    })
    return paths[0] ?? directory
  }
  const records: TestImporter['records'] = async (session) =>
    (await store.read(session, { after: 0, limit: 1_000_000 })).flatMap((record) => ('lost' in record ? [] : [record]))
  const state: TestImporter['state'] = async (session) => {
    const row = await store.entry(session)
    return (await records(session)).filter(({ seq }) => seq > (row?.base ?? 0)).reduce(evolve, emptySession(row?.base))
  }
  const importAll: TestImporter['import'] = (path, from) => importPaths(deps, [path], { from })

  return {
    store,
    blobs,
    directory,
    deps,
    depsOn,
    place,
    records,
    state,
    import: importAll,
    async importLines(name, lines) {
      const path = place({
        [name]: lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
      })
      const [file] = await importAll(path)
      if (!file) throw new Error('nothing was looked at')
      return file
    },
    async messages(session) {
      const transcript = createTranscript()
      for (const record of await records(session)) transcript.add(record)
      return transcript.messages
    },
    async request(session) {
      const { line, seq, checkpoint, pins } = await state(session)
      const asked = { model: 'sim/model', thinkingLevel: 'off', system: 'Be kind.', tools: [] } as const
      return createRequestBuilder(store, blobs).build({ session, line, seq, checkpoint, pins, ...asked })
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}

export const sessionOf = ({ session, ...file }: ImportedFile): SessionId => {
  if (session === null) throw new Error(`no session: ${JSON.stringify(file)}`)
  return session
}
