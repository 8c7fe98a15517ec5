import type { Append } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'

/** What the database has seen, kept apart from its tables, and what must never happen. */
export type Audit = {
  readonly violations: string[]
  /** The seqs at which each command was recorded, by session and command id. */
  readonly commands: ReadonlyMap<string, readonly number[]>
  /** The calls of tools that began, by their nonce. */
  readonly begun: ReadonlySet<string>
  /** Notes that a session has an owner in an epoch. */
  owns(session: SessionId, epoch: number, node: string | null): void
  /** Notes records that were written, and by which node. */
  wrote(append: Append, node: string): void
  /** Notes that a tool is about to change something for the first time. */
  begins(nonce: string): void
}

export function createAudit(): Audit {
  const violations: string[] = []
  const owners = new Map<string, string>()
  const current = new Map<SessionId, { readonly epoch: number; readonly node: string | null }>()
  const heads = new Map<SessionId, number>()
  const commands = new Map<string, number[]>()
  const started = new Set<string>()
  const begun = new Set<string>()
  const say = (problem: string) => void violations.push(problem)

  function claimEpoch(session: SessionId, epoch: number, node: string): void {
    const key = `${session} ${epoch}`
    const owner = owners.get(key)
    if (owner !== undefined && owner !== node) say(`${owner} and ${node} own ${session} in epoch ${epoch}`)
    owners.set(key, node)
  }

  return {
    violations,
    commands,
    begun,
    owns(session, epoch, node) {
      current.set(session, { epoch, node })
      if (node !== null) claimEpoch(session, epoch, node)
    },
    wrote({ session, epoch, records }, node) {
      claimEpoch(session, epoch, node)
      const now = current.get(session)
      if (now?.epoch !== epoch || now.node !== node)
        say(`${node} writes to ${session} in epoch ${epoch}, and ${now?.node} owns it in epoch ${now?.epoch}`)
      for (const { record } of records) {
        const { seq, event, commandId } = record
        const head = heads.get(session) ?? 0
        if (seq !== head + 1) say(`${session}: seq ${seq} follows ${head}`)
        heads.set(session, seq)
        if (commandId !== undefined) {
          const key = `${session} ${commandId}`
          commands.set(key, [...new Set([...(commands.get(key) ?? []), seq])])
        }
        if (event.type !== 'call.started' && event.type !== 'call.settled') continue
        const key = `${session} ${event.type} ${event.call}`
        if (started.has(key)) say(`${session}: ${event.type} of ${event.call} is recorded twice`)
        started.add(key)
      }
    },
    begins(nonce) {
      if (begun.has(nonce)) say(`the call ${nonce} began twice`)
      begun.add(nonce)
    },
  }
}
