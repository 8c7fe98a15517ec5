import type { SessionState } from '@holdfast/core'
import type { Event, Recorded, Trust } from '@holdfast/protocol'

/** Checks records independently of the fold: queue entries, approvals and trust. */
export type RecordChecker = {
  /** Returns the problem with a record or the state after it, or null. */
  problemWith(record: Recorded, state: SessionState): string | null
}

type Approved = Extract<Event, { type: 'call.approved' }>

export function createRecordChecker(): RecordChecker {
  /** The status of each queued prompt. */
  const entries = new Map<number, 'waiting' | 'sent' | 'removed'>()
  const contents = new Map<number, string>()
  const asked = new Set<number>()
  const started = new Set<number>()
  const approved = new Map<number, Approved>()
  const tools = new Map<number, string>()
  let trust: Trust[] = []
  /** Whether the model has finished its answer and no prompt came since. */
  let isAnswered = false
  /** How often in a row Stop hooks made the turn go on. */
  let goneOn = 0
  /** The model of the session, and its fallback in this turn. */
  let model = ''
  let fallback: string | null = null

  function leave(entry: number, content: unknown, how: 'sent' | 'removed'): string | null {
    const was = entries.get(entry)
    if (was !== 'waiting') return `queue entry ${entry} is ${how}, but was ${was ?? 'never queued'}`
    entries.set(entry, how)
    return contents.get(entry) === JSON.stringify(content)
      ? null
      : `queue entry ${entry} is ${how} with another content`
  }

  /** Checks that a call was approved by a person who was asked, or by a rule that applies. */
  function approvalProblem({ call, by, argsHash }: Approved): string | null {
    if (approved.has(call)) return `call ${call} is approved twice`
    if ('client' in by) return asked.has(call) ? null : `call ${call} was approved by a person without being asked`
    const scope = /^trust: (\w+)$/.exec(by.rule)?.[1]
    if (scope === undefined || scope === 'workspace') return null // workspace trust is not in this log
    const tool = tools.get(call)
    const isTrusted = trust.some(
      (one) => one.scope === scope && one.tool === tool && (one.argsHash === undefined || one.argsHash === argsHash),
    )
    return isTrusted ? null : `call ${call} is approved by trust for the ${scope}, but ${tool} is not trusted`
  }

  function entered({ seq, event }: Recorded): string | null {
    switch (event.type) {
      case 'prompt.queued':
        entries.set(seq, 'waiting')
        contents.set(seq, JSON.stringify(event.content))
        return null
      case 'queue.edited':
        contents.set(event.entry, JSON.stringify(event.content))
        return entries.get(event.entry) === 'waiting' ? null : `queue entry ${event.entry} is edited and does not wait`
      case 'queue.removed':
        return event.entries.map(({ id, content }) => leave(id, content, 'removed')).find(Boolean) ?? null
      case 'user.said':
        isAnswered = false
        goneOn = 0
        return event.entry === undefined ? null : leave(event.entry, event.content, 'sent')
      case 'session.started':
        model = event.settings.model
        return null
      case 'settings.changed':
        if (event.model === undefined) return null
        model = event.model
        fallback = null
        return null
      case 'turn.started':
        isAnswered = false
        goneOn = 0
        fallback = null
        return null
      case 'step.started':
        if (event.model !== (fallback ?? model)) return `step ${seq} asks ${event.model}, not ${fallback ?? model}`
        return isAnswered ? `step ${seq} started without a new prompt` : null
      case 'step.ended':
        isAnswered = event.finish === 'stop'
        fallback = event.fallback ?? fallback
        if (event.fallback === undefined || event.finish === 'failed') return null
        return `at ${seq} a fallback replaces a model that did not fail`
      case 'call.requested':
        tools.set(seq, event.tool)
        return null
      case 'approval.asked':
        asked.add(event.call)
        // The content of an approved call changed before it ran: the former answer no longer counts.
        if (started.has(event.call)) return `call ${event.call} is asked for after it started`
        return approved.delete(event.call) === (event.changed === true) ? null : `call ${event.call} is asked for twice`
      case 'call.rewritten':
        return asked.has(event.call) || approved.has(event.call)
          ? `call ${event.call} is rewritten after it was judged`
          : null
      case 'note.added':
        if (event.code !== 'stop_hook') return null
        isAnswered = false // a Stop hook makes the model go on
        return ++goneOn > 8 ? `Stop hooks made the turn go on ${goneOn} times in a row` : null
      case 'call.approved': {
        const problem = approvalProblem(event)
        approved.set(event.call, event)
        return problem
      }
      case 'call.started':
        started.add(event.call)
        return approved.has(event.call) ? null : `call ${event.call} started unapproved`
      case 'trust.granted':
        trust.push(event)
        return null
      case 'trust.revoked':
        trust = trust.filter(({ tool }) => event.tool !== null && tool !== event.tool)
        return null
      case 'turn.ended':
        trust = trust.filter(({ scope }) => scope !== 'turn')
        return null
      default:
        return null
    }
  }

  return {
    problemWith(record, state) {
      const problem = entered(record)
      if (problem !== null) return problem
      const waiting = [...entries].flatMap(([id, where]) => (where === 'waiting' ? [id] : []))
      const queue = state.queue.map(({ id }) => Number(id)).toSorted((left, right) => left - right)
      if (queue.join() !== waiting.join()) return `at ${record.seq} ${queue} wait, and should ${waiting}`
      const hasTurnTrust = state.trust.some(({ scope }) => scope === 'turn')
      // Trust for a turn can be given between turns: it covers the next one.
      return hasTurnTrust && record.event.type === 'turn.ended' ? `trust outlives its turn at ${record.seq}` : null
    },
  }
}
