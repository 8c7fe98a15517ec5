import { isDeepStrictEqual } from 'node:util'
import { addToView, type Frame, type FrameOf, type SessionHandle, type SessionView } from '@holdfast/protocol'
import type { AttachedClient, Client } from '../state.ts'

/** The live view of a client that disconnects and reconnects with its cursor. */
export type ClientView = {
  readonly client: Client
  readonly handle: SessionHandle
  readonly role: AttachedClient['role'] | null
}

export type Attachment = {
  readonly client: Client
  detach(): void
  /** Returns the difference from the session, or null. */
  problem(now: FrameOf<'snapshot'>, attachments: readonly AttachedClient[]): string | null
}

/** The state that each client keeps between connections. */
export type Memory = Map<Client, { cursor: number; view: SessionView }>

export function attach({ client, handle, role }: ClientView, memory: Memory): Attachment {
  const before = memory.get(client)
  const connection = new AbortController()
  const problems: string[] = []
  let cursor = before?.cursor ?? null
  let view = before?.view ?? null
  let presence: FrameOf<'presence'>['clients'] = []

  function take(frame: Frame): void {
    if (frame.type === 'presence') presence = frame.clients
    if (frame.type === 'resync') problems.push(`${client} must begin again: ${frame.reason}`)
    if (frame.type === 'snapshot') {
      if (cursor !== null) problems.push(`${client} gets a snapshot at ${frame.seq}, and has come to ${cursor}`)
      ;({ seq: cursor, view } = frame)
    }
    if (frame.type === 'record') {
      if (cursor !== null && frame.record.seq !== cursor + 1)
        problems.push(`${client}: ${frame.record.seq} after ${cursor}`)
      cursor = frame.record.seq
      view = view && addToView(view, frame.record)
    }
    if (cursor !== null && view) memory.set(client, { cursor, view })
  }

  async function follow(): Promise<void> {
    const after = cursor === null ? {} : { after: cursor }
    const options = { client, mayDrive: true, ...(role && { role }), ...after, signal: connection.signal }
    for await (const frame of handle.subscribe(options)) take(frame)
  }
  follow().catch((cause) => problems.push(`${client}: ${cause}`))

  return {
    client,
    detach: () => connection.abort(),
    problem(now, attachments) {
      if (problems.length > 0) return problems.join('\n')
      if (cursor !== now.seq) return `${client} has come to ${cursor}, and the session to ${now.seq}`
      if (!isDeepStrictEqual(view, now.view))
        return `${client} sees ${JSON.stringify(view)}\nand not ${JSON.stringify(now.view)}`
      const shown = attachments.map(({ client: who, role: as }) => ({ client: who, role: as }))
      if (isDeepStrictEqual(presence, shown)) return null
      return `${client} sees ${JSON.stringify(presence)} sit, and not ${JSON.stringify(shown)}`
    },
  }
}
