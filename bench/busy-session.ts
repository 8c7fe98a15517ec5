import type { Blobs, Store } from '@holdfast/core/ports'
import { type Event, Handle, orThrow, type SessionId, StepId, TurnNumber } from '@holdfast/protocol'
import { encodeRecords } from '../packages/core/src/runtime/log/encode-append.ts'
import { type Folded, fold } from '../packages/core/src/runtime/log/load-session.ts'
import type { SessionState } from '../packages/core/src/session/state.ts'
import { newSessionId } from '../packages/holdfast/src/system/identity.ts'

const calls = 200
const line = 'export const somewhere = (value: number): string => "value of " + value // the tide turns\n'
const turn = TurnNumber.parse(0)
const argsHash = 'a'.repeat(64)
const usage = { input: 10, output: 10, cacheRead: 0, cacheWrite: 0, cost: 0 }

export type BusySession = { readonly id: SessionId; readonly state: SessionState }

/** Writes a session with a window of about `windowBytes`: one prompt with the files, and 200 calls. */
export async function writeBusySession(
  store: Store,
  { windowBytes, files }: { readonly windowBytes: number; readonly files: readonly StoredPng[] },
): Promise<BusySession> {
  const id = newSessionId()
  const text = line.repeat(Math.ceil(windowBytes / calls / line.length)).slice(0, Math.floor(windowBytes / calls))
  const events: unknown[] = [
    {
      type: 'session.started',
      handle: Handle.parse(`busy-bench-${files.length}`),
      workdir: '/bench',
      settings: { model: 'demo/agent', thinkingLevel: 'off', mode: 'exec', budgets: {} },
    },
    { type: 'turn.started', turn, cause: 'prompt' },
    { type: 'user.said', turn, content: [{ type: 'text', text: 'Read it all.' }, ...files] },
  ]
  for (let read = 0; read < calls; read++) {
    const step = StepId.parse(events.length + 1)
    const call = step + 2
    const path = `packages/core/src/part-${read}/module.ts`
    events.push(
      { type: 'step.started', turn, model: 'demo/agent', thinkingLevel: 'off', attempt: 1 },
      { type: 'text.said', turn, step, text: 'I read the next one.', provider: 'demo' },
      { type: 'call.requested', turn, step, tool: 'read_file', args: { path, offset: 1 }, provider: 'demo' },
      { type: 'step.ended', turn, step, finish: 'calls', usage },
      { type: 'call.approved', call, argsHash, by: { rule: 'read-only' }, scope: 'once' },
      { type: 'call.started', call },
      { type: 'call.settled', call, outcome: { type: 'ok', output: { text } }, durationMs: 1 },
    )
  }
  // Built as plain objects, with plain numbers as ids.
  const records = encodeRecords({ after: 0, atMs: Date.now(), events: events as Event[], commandId: null, by: null })
  const folded = records.reduce<Folded | null>((so, { record }) => fold(so, id, record), null)
  if (!folded) throw new Error('a session begins with a record')
  const { entry } = folded.row
  orThrow(
    await store.create({
      session: id,
      parent: null,
      base: 0,
      owner: 'bench',
      records,
      entry,
      blobs: files.map(({ blob }) => blob),
    }),
  )
  return { id, state: folded.state }
}

export type StoredPng = Extract<Extract<Event, { type: 'user.said' }>['content'][number], { readonly type: 'file' }>

/** Stores images of `bytesEach` bytes: a PNG header followed by random bytes. */
export async function storeImages(blobs: Blobs, count: number, bytesEach: number): Promise<readonly StoredPng[]> {
  const images: StoredPng[] = []
  for (let number = 0; number < count; number++) {
    const bytes = Buffer.alloc(bytesEach, number + 1)
    Buffer.from('89504e470d0a1a0a0000000d494844520000040000000400080600000000000000', 'hex').copy(bytes)
    const { hash } = orThrow(await blobs.put([bytes]))
    images.push({ type: 'file', blob: hash, mediaType: 'image/png', name: `shot-${number}.png`, bytes: bytesEach })
  }
  return images
}
