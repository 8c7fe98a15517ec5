import type { Append, CatalogueEntry, EncodedRecord, NewSession, ReadRecord, Store } from '@holdfast/core/ports'
import {
  ClientId,
  CommandId,
  type Event,
  Handle,
  Key,
  type Meta,
  type Result,
  SessionId,
  StepId,
  TurnNumber,
} from '@holdfast/protocol'
import { afterEach, beforeEach, expect } from 'vitest'
import { aMeta } from '../fixtures.ts'

/** Opens an empty store. The suite closes it. */
export type OpenStore = () => Promise<Store>

export const at = '2026-01-02T03:04:05.678Z'
export const sessionId = (number: number) => SessionId.parse(`ses_0${String(number).padStart(25, '0')}`)
export const handleOf = (number: number) => Handle.parse(`calm-harbor-${number}`)
export const key = (text: string) => Key.parse(text)
export const commandId = (text: string) => CommandId.parse(text)
export const clientId = (text: string) => ClientId.parse(text)

/** Opens a store before each test and closes it afterwards. */
export function useStore(open: OpenStore): () => Store {
  let store: Store | null = null
  beforeEach(async () => {
    store = await open()
  })
  afterEach(async () => {
    await store?.close()
    store = null
  })
  return () => {
    if (store === null) throw new Error('the store is open only while a test runs')
    return store
  }
}

export const textSaid = (text: string): Event => ({
  type: 'text.said',
  turn: TurnNumber.parse(0),
  step: StepId.parse(1),
  text,
  provider: 'demo',
})

export const note = (text: string): Event => ({
  type: 'note.added',
  turn: TurnNumber.parse(0),
  kind: 'system',
  level: 'info',
  text,
})

export function recordAt(
  seq: number,
  event: Event,
  more: { readonly by?: ClientId; readonly commandId?: CommandId } = {},
): EncodedRecord {
  return { record: { seq, at, v: 1, ...more, event }, body: JSON.stringify(event) }
}

export const textsAfter = (after: number, ...texts: readonly string[]): readonly EncodedRecord[] =>
  texts.map((text, index) => recordAt(after + index + 1, textSaid(text)))

export function entryOf(
  number: number,
  { meta, ...more }: Partial<Omit<CatalogueEntry, 'meta'>> & { readonly meta?: Partial<Meta> } = {},
): CatalogueEntry {
  const id = sessionId(number)
  const whole = aMeta({ id, handle: handleOf(number), title: `Session ${number}`, createdAt: at, lastMessageAt: at })
  return { meta: { ...whole, ...meta }, spoken: true, busy: false, activeAt: number, ...more }
}

/** A new session with an owner. */
export type OwnedSession = NewSession & { readonly owner: string }

export const newSession = (number: number, more: Partial<OwnedSession> = {}): OwnedSession => ({
  session: sessionId(number),
  parent: null,
  base: 0,
  owner: 'node-a',
  records: textsAfter(more.base ?? 0, 'first'),
  entry: entryOf(number),
  blobs: [],
  ...more,
})

export const appendTo = (number: number, after: number, more: Partial<Append> = {}): Append => ({
  session: sessionId(number),
  after,
  epoch: 1,
  records: textsAfter(after, `at ${after + 1}`),
  entry: entryOf(number),
  clearDraft: false,
  blobs: [],
  trust: [],
  ...more,
})

export async function mustCreate(store: Store, ...sessions: readonly NewSession[]): Promise<void> {
  for (const session of sessions) expect(await store.create(session)).toEqual({ ok: true, value: undefined })
}

export async function mustAppend(store: Store, append: Append): Promise<void> {
  expect(await store.append(append)).toEqual({ ok: true, value: undefined })
}

export const codeOf = (result: Result<unknown>): string => (result.ok ? 'ok' : result.fault.code)

export const seqsOf = (records: readonly ReadRecord[]): readonly number[] => records.map(({ seq }) => seq)

export const readAll = (store: Store, number: number): Promise<readonly ReadRecord[]> =>
  store.read(sessionId(number), { after: 0, limit: 1000 })
